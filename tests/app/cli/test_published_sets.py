"""Published sets of human ratings come in by the recipes of docs/published-sets.md, from rows of their shape."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from tests.app.cli.command_line import CommandLine

DOC = Path(__file__).resolve().parents[3] / "docs" / "published-sets.md"


def expert(*grades: int) -> dict[str, int]:
    return dict(zip(("coherence", "consistency", "fluency", "relevance"), grades, strict=True))


FILES: dict[str, Any] = {
    "model_annotations.aligned.jsonl": [
        {"id": f"d{n}", "model_id": model, "decoded": "A summary.", "references": ["One."], "text": "The text.",
         "expert_annotations": [expert(1, 5, 4, n + 1), expert(1, 5, 4, n + 1), expert(2, 5, 4, n + 1)],
         "turker_annotations": [expert(3, 3, 3, 3)] * 5}
        for n in range(3) for model in ("M0", "M1")
    ],
    "mturk_cnndm.jsonl": [
        {"article": "Text.", "summary_sentences": [
            {"sentence": "One.", "responses": [{"worker_id": w, "response": "yes"} for w in range(3)]},
            {"sentence": "Two.", "responses": [{"worker_id": w, "response": "no" if w else "yes"} for w in range(3)]},
        ]},
        {"article": "More.", "summary_sentences": [
            {"sentence": "Three.", "responses": [{"worker_id": w, "response": "yes"} for w in (4, 5, 6)]},
        ]},
    ],
    "response.jsonl": [
        {"id": "0", "source_id": "s1", "model": "gpt-4", "temperature": 0.7, "response": "It opened in 1999.",
         "quality": "good", "labels": [{"start": 13, "end": 17, "text": "1999", "label_type": "Evident Conflict"}]},
        {"id": "1", "source_id": "s1", "model": "llama", "temperature": 0.7, "response": "It opened.", "split": "test",
         "quality": "good", "labels": []},
    ],
    "source_info.jsonl": [
        {"source_id": "s1", "task_type": "QA", "source": "MARCO", "source_info": {"question": "When?"},
         "prompt": "Answer: When?"},
    ],
    "batch_1.json": {"samples": [
        {"sample_id": 0, "source": "Text.", "summary": "A summary.", "metadata": {"summarizer": "m1"}, "annotations": [
            {"annot_id": 1, "annotator_name": "a1", "label": ["Unwanted", "Unwanted.Intrinsic"], "summary_span": "A",
             "summary_start": 0, "summary_end": 1, "note": ""},
            {"annot_id": 2, "annotator_name": "a2", "label": ["Benign"], "summary_span": "A", "summary_start": 0,
             "summary_end": 1, "note": ""},
        ]},
        {"sample_id": 1, "source": "Text.", "summary": "More.", "metadata": {"summarizer": "m1"}, "annotations": []},
    ]},
    "lfqa.json": [
        {"q_id": f"q{n}", "question_text": "Why?<br />So?", "answer1": "x", "answer2": "y", "annotator": a,
         "BetterAnswer": "Answer A" if n else "Answer B"}
        for n in range(3) for a in (12, 13)
    ],
    "r2_compiled_anon.jsonl": [
        {"question": "Why?", "annotator_id": "x1", "metadata": {"field": "Law"}, "answers": {
            "gpt4": {"answer_string": "So.", "usefulness": "Useful", "annotator_id": "x1", "claims": [
                {"claim_string": "So.", "support": "Complete", "correctness": "Definitely correct", "evidence": []},
                {"claim_string": "And.", "support": "Partial", "correctness": "Probably correct", "evidence": []},
            ]},
            "bing_chat": {"answer_string": "No.", "usefulness": "Not useful", "annotator_id": "x1", "claims": [
                {"claim_string": "No.", "support": "Missing", "correctness": "Definitely incorrect", "evidence": []},
            ]},
        }},
    ],
    "human_judgment.jsonl": [
        {"id": f"d{n}", "model_id": "A", "dialogue": "A: hi", "summary": "Hi.",
         "annotations": [expert(3, 5, 4, n), expert(3, 5, 4, n), expert(2, 4, 5, n)]}
        for n in range(1, 4)
    ],
    "human.parquet": [
        {"question_id": 81, "model_a": "a", "model_b": b, "winner": winner, "judge": judge, "turn": 1,
         "conversation_a": [{"content": "Hi", "role": "user"}], "conversation_b": [{"content": "Hi", "role": "user"}]}
        for b, winner in (("b", "model_a"), ("c", "tie")) for judge in ("author_0", "expert_1")
    ],
    "general_data.json": [
        {"ID": "1", "user_query": "Who?", "chatgpt_response": "He.", "hallucination": "yes"},
        {"ID": "2", "user_query": "What?", "chatgpt_response": "It.", "hallucination": "no", "hallucination_spans": []},
    ],
    "crag_task_1_and_2_dev_v4.jsonl": [
        {"interaction_id": "i1", "query": "Who?", "answer": "He", "alt_ans": ["Him"], "domain": "finance", "split": 0,
         "question_type": "simple", "search_results": [{"page_name": "P", "page_snippet": "He did."}]},
    ],
}  # fmt: skip
"""File of a published set → rows of its shape, made here; a set that is JSON lines although it ends otherwise too."""

MEASURED = {
    "SummEval": [(criterion, 6, 3) for criterion in ("coherence", "consistency", "fluency", "relevance")],
    "QAGS": [("value", 3, 6)],
    "LFQA-eval": [("value", 3, 2)],
    "DialSummEval": [(criterion, 3, 3) for criterion in ("coherence", "consistency", "fluency", "relevance")],
    "MT-Bench": [("value", 2, 2)],
}
"""Set → criterion, units and raters of the rows above."""

LINES = ("general_data.json",)


@pytest.fixture
def files(tmp_path: Path) -> Path:
    for name, content in FILES.items():
        path = tmp_path / name
        if name.endswith(".parquet"):
            pd.DataFrame(content).to_parquet(path)
        elif name.endswith(".jsonl") or name in LINES:
            path.write_text("".join(json.dumps(row) + "\n" for row in content))
        else:
            path.write_text(json.dumps(content))
    return tmp_path


def recipes() -> list[tuple[str, list[str]]]:
    """(set, arguments) of every command that the page gives."""
    found, name = [], ""
    for line in DOC.read_text().replace("\\\n", " ").splitlines():
        if line.startswith("## "):
            name = line[3:]
        elif re.match(r"    assay ", line):
            found.append((name, shlex.split(line)[1:]))
    return found


NAMES = (
    "SummEval",
    "QAGS",
    "RAGTruth",
    "FaithBench",
    "LFQA-eval",
    "ExpertQA",
    "DialSummEval",
    "MT-Bench",
    "HaluEval",
    "CRAG",
)


def test_every_set_has_a_recipe() -> None:
    assert {name.partition(" ")[0].strip(":") for name, _ in recipes()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_a_published_set_comes_in_by_its_recipe(
    begun: CommandLine, files: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(files)
    for of, arguments in recipes():
        if not of.startswith(name):
            continue
        given = [str(files / word) if (files / word).is_file() else word for word in arguments]
        document = begun.json(*given)
        if arguments[0] == "import":
            assert (document["rejected"], document["added"] + document["unchanged"] > 0) == ([], True)
        elif arguments[0] == "labels":
            assert document["labels"] > 0
        else:
            measured = [(one["criterion"], one["n_units"], one["n_raters"]) for one in document["criteria"]]
            assert measured == MEASURED[name]
