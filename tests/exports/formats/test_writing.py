"""What a format writes its own reader makes the same items of, and the files say again what they said."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from db.models import Document
from exports.bundles.bundle import export_project
from exports.bundles.contents import writers
from exports.bundles.typed import TYPED
from exports.bundles.verify import verify_against, verify_folder
from exports.formats import FORMATS
from tests.exports.formats.places import Place, as_json
from tests.exports.formats.test_recognising import SMALL

SAID = {"licence": "cc-by-4.0"}
"""What formats ask of who exports."""

REAL = {
    "fathoms": 1,
    "unidoc": 664,
    "double_bench": 600,
    "mmlongbench": 52,
    "ragchecker": 1,
    "refchecker": 200,
    "mmdocrag": 600,
}
"""The formats that there are real files of, and how many items these have at least."""


def there_and_back(place: Place, format_name: str, to: Path) -> Place:
    """Export in a format, take it into a project of its own, and hold the items against those that left."""
    manifest = export_project(
        place.db, place.actor, place.project, to=to, formats=[format_name], data_folder=place.home, options=SAID
    )
    assert verify_folder(to).ok
    again = Place(place.db, place.home)
    report = again.take(to / format_name, format_name=format_name)
    assert report.rejected == []
    items = as_json(place)
    assert manifest.counts[format_name] == len(items) == report.added
    assert f"{format_name}_left_out" not in manifest.counts
    back = as_json(again)
    assert back.keys() == items.keys()
    assert [(name, back[name], item) for name, item in items.items() if back[name] != item][:1] == []
    return again


def records(path: Path) -> Iterator[Any]:
    """The records of a file, or of the files of a folder, with the keys of their objects sorted."""
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.name.endswith((".json", ".jsonl")):
            data = file.read_bytes()
            found = (
                map(orjson.loads, filter(None, data.split(b"\n"))) if file.suffix == ".jsonl" else orjson.loads(data)
            )
            for record in found:
                yield orjson.dumps(record, option=orjson.OPT_SORT_KEYS)


def test_documents_with_titles_come_back_into_their_project_under_the_names_of_their_files(
    place: Place, tmp_path: Path
) -> None:
    source = tmp_path / "in"
    (source / "documents").mkdir(parents=True)
    (source / "documents" / "d.txt").write_text("Report")
    about = {"key": "d.txt", "title": "The report", "path": "documents/d.txt"}
    (source / "documents.jsonl").write_bytes(orjson.dumps(about))
    (source / "items.jsonl").write_bytes(orjson.dumps({"id": "a", "question": "Q?", "documents": ["d.txt"]}))
    assert place.take(source).rejected == []
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["table"], data_folder=place.home)
    assert (tmp_path / "out" / "table" / "documents" / "d.txt").is_file()
    report = place.take(tmp_path / "out" / "table")
    assert (report.rejected, report.unchanged, report.supplied) == ([], 1, 0)
    with place.db.read() as session:
        assert [document.title for document in session.exec(select(Document))] == ["The report"]


@pytest.mark.slow
@pytest.mark.parametrize("name", list(REAL))
def test_real_items_come_back_the_same(place: Place, tmp_path: Path, shared_data: Path, name: str) -> None:
    report = place.take(shared_data / name)
    assert report.added >= REAL[name]
    again = there_and_back(place, name, tmp_path / "out")
    unchanged = place.take(tmp_path / "out" / name, format_name=name)
    assert (unchanged.added, unchanged.revisions, unchanged.scores) == (0, [], 0)
    assert verify_against(again.db, place.actor, tmp_path / "out").ok


@pytest.mark.parametrize("name", ["unidoc", "double_bench", "mmlongbench", "refchecker"])
def test_real_records_come_back_word_for_word(place: Place, tmp_path: Path, shared_data: Path, name: str) -> None:
    place.take(shared_data / name)
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=[name])
    came, left = set(records(shared_data / name)), list(records(tmp_path / "out" / name))
    assert len(left) == len(set(left))
    assert set(left) == came


def test_real_pairs_come_back_with_their_raters(place: Place, tmp_path: Path, shared_data: Path) -> None:
    place.take(shared_data / "ragchecker")
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["ragchecker"])
    for name in ("human_labeled_data.json", "baseline_ragchecker.json"):
        came, left = (
            sorted(map(orjson.loads, records(path / name)), key=lambda row: (row["dataset"], row["query_id"]))
            for path in (shared_data / "ragchecker", tmp_path / "out/ragchecker")
        )
        assert len(came) in (280, 560)
        assert left == came


SAMPLES: dict[str, dict[str, Any]] = {
    "mramg": {
        "wit_mqa.jsonl": [
            {"id": "1", "question": "How?", "ground_truth": "So <PIC>.", "images_list": ["a b"], "provenance": [7]},
            {"id": 2, "question": "Why?", "ground_truth": "So.", "images_list": [], "level": 2},
        ],
        "doc_wit.jsonl": [[7, "Text <PIC>", ["a b"]]],
    },
    "mrag_suite": {
        "x.json": [
            {"id": "1", "dataset": "d", "question": "Q?", "short_answer": "S", "long_answer": "L", "evidence_imgs":
             ["a/b.png", {"path": "c.png", "caption": "C"}], "evidence_txts": ["t", {"text": "u"}], "retrieval_mode":
             "gt_plus_distractors", "system": "alpha"},
            {"question": "R?", "short_answer": ["S", "T"], "long_answer": None, "evidence_imgs": [], "evidence_txts":
             [{"text": "u", "role": "distractor", "rank": 3}], "split": "clear"},
        ]
    },
    "ragchecker": {
        "x.json": {"results": [
            {"query_id": 1, "query": "Q?", "gt_answer": "G", "response": "A", "system": "alpha", "retrieved_context":
             [{"doc_id": "d", "text": "T"}], "response_claims": [["a", "b", "c"]], "gt_answer_claims": ["g"],
             "answer2response": ["Entailment"], "response2answer": ["Neutral"], "retrieved2response": [["Neutral"]],
             "retrieved2answer": [["Contradiction"]], "metrics": {"f1": 0.5}, "own": 1}
        ], "metrics": {"overall": {"f1": 50.0}}},
    },
    "mmdocrag": {
        "gpt_multimodal_quotes15_response.jsonl": [{"q_id": 3, "model": "gpt", "response": "![x](image1)", "in": 4}],
        "gpt_multimodal_quotes15_llm-judge.jsonl": [{"q_id": 3, "model": "judge", "response": {"Fluency": 4}}],
        "evaluation_15.jsonl": [
            {"q_id": 3, "question": "Q?", "doc_name": "d", "domain": "News", "text_quotes":
             [{"quote_id": "text1", "type": "text", "text": "T", "page_id": 2}],
             "img_quotes": [{"quote_id": "image1", "type": "image", "img_path":
             "images/p.jpg", "img_description": "P"}], "gold_quotes": ["image1"], "answer_short": "S",
             "answer_interleaved": "S ![y](image1)", "question_type": "Compare"}
        ],
    },
    "fathoms": {
        "group/m.json": {"model": "m", "api_model": "n", "responses": [
            {"question": "Q?", "category": "Text", "ground_truth": [["a"]], "pred_answer": "A",
             "required_files": ["p.pdf"], "rag_context": ["plain",
             "File: p.pdf\nContent: c",
             {"file_name": "p.pdf", "content": "d", "page_number": 2, "score": 0.1}],
             "correctness_score": 0.5, "hallucinating": True, "file": "own"}
        ]},
        "q.json": {"Text": [{"question": "Q?", "files": ["p.pdf"], "answers": [["a", "b"]], "level": 1}]},
    },
    "double_bench": {
        "x.json": [{"uid": "1", "question": "Q?", "answer": "A", "reference_page": [1, 4, 9], "file_name": "d.pdf",
                    "steps": [{"question0": "S?", "answer0": "B", "reference_page": [1], "by": "x"},
                              {"question1": "T?", "answer1": "C", "reference_page": [4]}]}],
    },
    "unidoc": {
        "x.json": [{"rewritten_question_obscured": "Q?", "complete_answer": {"a": [1]}, "chunk_used": {
            "tab_0": {"used": None, "metadata": {"source": "x", "own": 1}}, "chunk_1": {"used": True, "metadata":
            "a_database/1_id_2_pg3.txt", "facts": ["f"]}}}],
    },
}  # fmt: skip


@pytest.mark.parametrize("name", list(SAMPLES))
def test_items_of_small_files_come_back_the_same(place: Place, tmp_path: Path, name: str) -> None:
    for file, value in SAMPLES[name].items():
        path = tmp_path / "in" / file
        path.parent.mkdir(parents=True, exist_ok=True)
        lines = b"\n".join(map(orjson.dumps, value)) if file.endswith(".jsonl") else orjson.dumps(value)
        path.write_bytes(lines)
    assert place.take(tmp_path / "in", format_name=name).rejected == []
    there_and_back(place, name, tmp_path / "out")


HOSTILE = [
    {"id": "a", "question": "=1+1", "answer": "line\r\nline, \"quoted\"; 'x", "system": "../../etc/passwd",
     "category": "a/b", "references": ["[x]", ["p", "q"]], "documents": ["../x.pdf"],
     "metadata": {"group": "../..", "n": 1, "query": "x"},
     "evidence": [{"kind": "page", "document": "../x.pdf", "pages": [2]}, {"kind": "table", "text": "T"}],
     "claims": [{"text": "C"}, {"text": "D", "of": "reference"}], "scores": [{"name": "s", "value": 0.5}]},
    {"id": "b", "question": "Q?", "answer": "\ud7ff \u2028", "metadata":
     {"pairs": [3, {"place": "model1"}], "verdicts": [1]}},
    {"id": "c", "question": "Q?", "answer": "A", "system": "x/y", "metadata": {"pairs": "no", "file": 3, "query": "y"}},
]  # fmt: skip


def filled(place: Place, tmp_path: Path) -> Place:
    lines = b"\n".join(map(orjson.dumps, HOSTILE))
    (tmp_path / "items.jsonl").write_bytes(lines)
    assert place.take(tmp_path / "items.jsonl").rejected == []
    return place


def test_a_table_holds_every_item(place: Place, tmp_path: Path) -> None:
    there_and_back(filled(place, tmp_path), "table", tmp_path / "out")
    first = (tmp_path / "out/table/items.csv").read_text().split("\n")[0].split(",")
    assert first[:6] == ["id", "question_key", "question", "answer", "system", "category"]
    assert first[-2:] == ["group", "metadata"]  # a column `query` would be read as the question


def test_a_table_comes_in_every_type_and_each_comes_back_the_same(place: Place, tmp_path: Path) -> None:
    filled(place, tmp_path)
    long = [{"id": name, "question": "Q?", "answer": text} for name, text in (("d", "x" * 40_000), ("e", "a\rb\x07c"))]
    (tmp_path / "long.jsonl").write_bytes(b"\n".join(map(orjson.dumps, long)))
    assert place.take(tmp_path / "long.jsonl").rejected == []
    types = ("parquet", "xlsx", "tsv")
    manifest = export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["table"], typed=types)
    items = as_json(place)
    assert verify_folder(tmp_path / "out").ok
    assert verify_against(place.db, place.actor, tmp_path / "out").ok
    left_out = {"xlsx": {"a", "d", "e"}}  # line ends of another kind, a cell too long, a control character
    assert manifest.counts == {"table": 5, "items_xlsx_left_out": 3}
    for ending in (*types, "csv"):
        again = Place(place.db, place.home)
        report = again.take(tmp_path / "out" / "table" / f"items.{ending}", format_name="table")
        assert report.rejected == []
        back = as_json(again)
        for name, item in items.items():
            if name in left_out.get(ending, ()):
                assert name not in back
            else:
                assert back[name] == item, (ending, name)
    dictionary = (tmp_path / "out" / "data_dictionary.csv").read_text()
    assert 'items,evidence,JSON,"units of evidence, each an object"' in dictionary
    assert "items,group,text,kept in the item's metadata" in dictionary


@pytest.mark.slow
def test_real_items_come_back_from_every_type_of_table(place: Place, tmp_path: Path, shared_data: Path) -> None:
    place.take(shared_data / "unidoc")
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", formats=["table"], typed=TYPED)
    items = as_json(place)
    for ending in TYPED:
        again = Place(place.db, place.home)
        assert again.take(tmp_path / "out" / "table" / f"items.{ending}", format_name="table").added == len(items)
        assert as_json(again) == items


@pytest.mark.parametrize("name", list(writers()))
def test_every_format_writes_what_it_can_of_any_item_and_counts_the_rest(
    place: Place, tmp_path: Path, name: str
) -> None:
    filled(place, tmp_path)
    manifest = export_project(
        place.db, place.actor, place.project, to=tmp_path / "out", formats=[name], data_folder=place.home, options=SAID
    )
    assert manifest.counts[name] + manifest.counts.get(f"{name}_left_out", 0) == len(HOSTILE)
    files = [path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert all(file == "manifest.json" or file.startswith(f"{name}/") for file in files)
    if manifest.counts[name]:
        again = Place(place.db, place.home)
        report = again.take(tmp_path / "out" / name, format_name=name)
        assert report.rejected == []
        assert report.added == manifest.counts[name]


def test_every_format_that_is_read_is_written() -> None:
    assert {*writers(), "native"} == set(FORMATS.names()) == set(SMALL)
