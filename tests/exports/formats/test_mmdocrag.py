"""MMDocRAG: answers with images by name, a judge's grades, the file of questions; and the real files."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import func, select

from annotators.scorers.shared.images import answer_images, wanted_images
from db.models import Run, Score
from tests.exports.formats.places import Place
from tests.exports.sources import write_jsonl, write_pdf

ANSWERS, GRADES = "alpha_multimodal_quotes15_response.jsonl", "alpha_multimodal_quotes15_llm-judge.jsonl"
TEXT = "Look:\n![The pier](image3)\nand ![again](image3), then ![a [map]](image1) and ![](https://x.example/p.png)."


def answer(q_id: int = 0, text: str = "See ![The pier](image3), ![again](image3) and ![](image1).", **more: Any) -> Any:
    return {"q_id": q_id, "model": "alpha-9b", "in_tok": 5, "response": text, **more}


def grade(q_id: int = 0, **grades: Any) -> Any:
    names = ("Fluency", "Citation Quality", "Text-Image Coherence", "Reasoning Logic", "Factuality")
    return {"q_id": q_id, "model": "judge-1", "response": dict.fromkeys(names, 4) | grades}


def question(q_id: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "q_id": q_id,
        "doc_name": "harbour.pdf",
        "domain": "Guidebook",
        "question": "Which pier is red?",
        "question_type": "Comparison",
        "text_quotes": [{"quote_id": "text1", "type": "text", "text": "North is red.", "page_id": 3, "layout_id": 9}],
        "img_quotes": [
            {"quote_id": f"image{n}", "type": "image", "img_path": f"images/h{n}.jpg", "img_description": f"Pier {n}",
             "page_id": n, "layout_id": n}
            for n in (1, 3)
        ],
        "gold_quotes": ["text1", "image3"],
        "answer_short": "North",
        "answer_interleaved": "It is ![the north one](image3).",
        **changes,
    }  # fmt: skip


def test_an_answer_is_bare_without_its_question_and_says_so(place: Place, tmp_path: Path) -> None:
    report = place.take(write_jsonl(tmp_path / ANSWERS, [answer(), answer(1, "None.", error="cut")]))
    assert (report.format, report.added, report.rejected) == ("mmdocrag", 2, [])
    assert report.notes[0].startswith("2 answers come without the file of questions. Such an item is bare: ")
    assert report.notes[1] == "The answers have 3 images by name."
    first, second = place.items()
    assert (first.id, first.question) == ("mmdocrag-0:multimodal_quotes15/alpha-9b", "mmdocrag-0")
    assert [(image.key, image.of, image.document, image.caption, dict(image.metadata)) for image in first.images] == [
        ("image3", "answer", None, "The pier", {}),
        ("image3-2", "answer", None, "again", {"name": "image3"}),
        ("image1", "answer", None, "", {}),
    ]
    assert (first.metadata, second.metadata) == ({"in_tok": 5}, {"in_tok": 5, "error": "cut"})


def test_an_address_is_a_name_and_one_that_can_be_no_key_is_kept(place: Place, tmp_path: Path) -> None:
    text = "![a](https://x.example/p.png) ![b](a|b) ![c]() ![d](:x)"
    report = place.take(write_jsonl(tmp_path / ANSWERS, [answer(text=text)]))
    assert report.notes[1] == "The answers have 3 images by name, 1 of them by an address, which is never fetched."
    images = place.items()[0].images
    assert [image.key for image in images] == [
        "https://x.example/p.png", f"image-at-{text.index('![b')}", f"image-at-{text.index('![d')}",
    ]  # fmt: skip
    assert [image.metadata.get("name") for image in images] == [None, "a|b", ":x"]


def test_grades_are_scores_of_the_answers(place: Place, tmp_path: Path) -> None:
    odd = {"q_id": 1, "model": "judge-1", "response": {"'Fluency'": 0, " Citation Quality": 5}}
    write_jsonl(tmp_path / "in" / ANSWERS, [answer(), answer(1), answer(2)])
    write_jsonl(tmp_path / "in/evaluation" / GRADES, [grade(), odd])
    report = place.take(tmp_path / "in")
    assert (report.added, report.rejected) == (3, [])
    assert report.notes[-1] == "3 grades are missing in the judge's lines: unscored, with the reason."
    with place.db.read() as session:
        rows = session.exec(select(Run.name, Run.parameters, Score.name, Score.value, Score.reason).join(Run)).all()
    assert {(name, str(parameters)) for name, parameters, *_ in rows} == {("imported:mmdocrag", "{'judge': 'judge-1'}")}
    assert Counter((name, value) for *_, name, value, _ in rows) == {
        ("fluency", 4.0): 1, ("citation_quality", 4.0): 1, ("text_image_coherence", 4.0): 1,
        ("reasoning_logic", 4.0): 1, ("factuality", 4.0): 1, ("fluency", 0.0): 1, ("citation_quality", 5.0): 1,
        ("text_image_coherence", None): 1, ("reasoning_logic", None): 1, ("factuality", None): 1,
    }  # fmt: skip
    assert {reason for *_, value, reason in rows if value is None} == {"the judge gave no grade"}


def test_earlier_names_of_the_files_say_the_same(place: Place, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in/alpha_pure-text_response_quotes20.jsonl", [answer()])
    write_jsonl(tmp_path / "in/alpha_pure-text_response_quotes20.jsonl_evaluation.jsonl", [grade()])
    write_jsonl(tmp_path / "in/plain_response.jsonl", [answer(1)])
    write_jsonl(tmp_path / "in/plain_llm-judge.jsonl", [grade(1)])
    assert place.take(tmp_path / "in").rejected == []
    assert [item.system for item in place.items()] == ["pure-text_quotes20/alpha-9b", "alpha-9b"]
    with place.db.read() as session:
        assert session.exec(select(func.count()).select_from(Score)).one() == 10


def test_grades_without_their_answers_are_named(place: Place, tmp_path: Path) -> None:
    alone = place.take(write_jsonl(tmp_path / "only" / GRADES, [grade(), grade(1)]))
    assert [bad.line for bad in alone.rejected] == [1]
    assert f"Import {ANSWERS}, which has the answers, together with them" in alone.rejected[0].reason
    write_jsonl(tmp_path / "in" / ANSWERS, [answer()])
    write_jsonl(tmp_path / "in" / GRADES, [grade(), grade(7)])
    [bad] = place.take(tmp_path / "in").rejected
    assert (bad.line, "question 7 have no answer" in bad.reason) == (2, True)


def test_questions_fill_in_the_items_and_give_the_reference(place: Place, tmp_path: Path) -> None:
    write_jsonl(tmp_path / "in" / ANSWERS, [answer(), answer(5)])
    write_jsonl(tmp_path / "in/evaluation_15.jsonl", [question()])
    write_pdf(tmp_path / "in/harbour.pdf")
    report = place.take(tmp_path / "in")
    assert (report.format, report.added, report.rejected, report.supplied) == ("mmdocrag", 3, [], 1)
    assert report.notes[0].startswith("1 answer is to a question that the file of questions lacks (q_id 5).")
    by_id = {item.id: item for item in place.items()}
    reference, item = by_id["mmdocrag-0:reference"], by_id["mmdocrag-0:multimodal_quotes15/alpha-9b"]
    assert reference.answer == "It is ![the north one](image3)."
    assert reference.question == item.question == "Which pier is red?"
    assert (item.category, item.references, item.documents) == ("Guidebook", ("North",), ("harbour.pdf",))
    assert [
        (evidence.key, evidence.kind, evidence.role, evidence.document, evidence.pages, evidence.text)
        for evidence in item.evidence
    ] == [
        ("text1", "passage", "gold", "harbour.pdf", (), "North is red."),
        ("image1", "figure", "distractor", "h1.jpg", (1,), "Pier 1"),
        ("image3", "figure", "gold", "h3.jpg", (1,), "Pier 3"),
    ]
    assert item.evidence[0].metadata == {"page_id": 3, "layout_id": 9}
    assert item.metadata["question_type"] == "Comparison"
    # The images of the answer and of the reference are the same pictures, so that the image metrics find them.
    assert answer_images(item) == [("h3.jpg", 1, None), ("h3.jpg", 1, None), ("h1.jpg", 1, None)]
    assert wanted_images(item, "auto") == wanted_images(item, "gold_evidence") == [("h3.jpg", 1, None)]


@pytest.mark.parametrize(
    ("name", "row", "words"),
    [
        (ANSWERS, {"model": "a", "response": "x"}, "`q_id` is missing"),
        (ANSWERS, {"q_id": [1], "model": "a", "response": "x"}, "`q_id` is [1]"),
        (ANSWERS, {"q_id": 1, "response": "x"}, "`model` is missing"),
        (ANSWERS, {"q_id": 1, "model": "a", "response": 4}, "`response` is 4, not a text"),
        (ANSWERS, [1], "the line is not an object"),
        (GRADES, grade(1, Fluency=6), "the grade 'Fluency' is 6. Grades are numbers from 0 to 5"),
        (GRADES, {"q_id": 1, "model": "j", "response": "5"}, "not an object of grades"),
        (GRADES, grade(0), "question 0 is graded again, after line 1"),
        ("questions.jsonl", question(1, doc_name=None), "`doc_name` is missing"),
        ("questions.jsonl", question(1, img_quotes=[3]), "`img_quotes` holds 3"),
        ("questions.jsonl", question(1, answer_short=None, answer_interleaved=None), "`answer_short` is missing"),
    ],
)
def test_a_bad_line_is_named(place: Place, tmp_path: Path, name: str, row: Any, words: str) -> None:
    good = {ANSWERS: answer(), GRADES: grade(), "questions.jsonl": question()}
    for file, first in good.items():
        write_jsonl(tmp_path / "in" / file, [first, *([row] if file == name else [])])
    [bad] = place.take(tmp_path / "in").rejected
    assert (bad.file, bad.line) == (f"in/{name}", 2)
    assert words in bad.reason


def test_the_real_answers_come_in_with_their_images_and_grades(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "mmdocrag")
    assert (report.format, report.added, report.rejected) == ("mmdocrag", 600, [])
    assert report.notes[0].startswith("600 answers come without the file of questions")
    items = place.items()
    assert sum(len(item.images) for item in items) == 1026
    systems = {"gpt-4.1": "gpt-4.1", "qwen2.5-vl-7b-instruct_vlm": "qwen2.5-vl-7b"}
    by_id = {item.id: item for item in items}
    for model, name in systems.items():
        path = shared_data / f"mmdocrag/{name}_multimodal_quotes15_response.jsonl"
        for line in path.read_bytes().splitlines():
            row = orjson.loads(line)
            item = by_id[f"mmdocrag-{row['q_id']}:multimodal_quotes15/{model}"]
            assert item.answer == row["response"]
            assert item.metadata == {k: row[k] for k in row if k not in ("q_id", "model", "response")}
    with place.db.read() as session:
        counted = session.exec(select(Score.name, func.count(), func.count(Score.value)).group_by(Score.name)).all()  # type: ignore[arg-type]
    # One of the 600 lines of the judge is empty.
    assert {name: (n, scored) for name, n, scored in counted} == dict.fromkeys(
        ("fluency", "citation_quality", "text_image_coherence", "reasoning_logic", "factuality"), (600, 599)
    )
