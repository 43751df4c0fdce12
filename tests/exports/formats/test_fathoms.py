"""FATHOMS: questions, results of local and closed systems, papers; and the real files where they are at hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.items.normal import question_key
from db.items.documents import list_documents
from db.items.read import item_counts, item_details
from db.models import Question, Run, Score
from tests.exports.formats.places import Place
from tests.exports.sources import write_pdf

QUESTION = "Which colour is the lighthouse?"


def response(**changes: Any) -> dict[str, Any]:
    return {
        "category": "Images",
        "question": QUESTION,
        "required_files": ["harbour.pdf"],
        "rag_context": [],
        "pred_answer": "It is red.",
        "ground_truth": [["red"], ["crimson", "dark"]],
        "correctness_score": 1.0,
        "suspected_hallucination": False,
        **changes,
    }


def result(path: Path, *responses: dict[str, Any], **changes: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    data = {"model": "pebble:7b", "api_model": "pebble", "scores": {"Images": 1.0}, "responses": responses, **changes}
    path.write_bytes(orjson.dumps(data, option=orjson.OPT_INDENT_2))
    return path


def test_a_result_file_gives_the_items_of_one_system(place: Place, tmp_path: Path) -> None:
    path = result(tmp_path / "Tide RAG/pebble.json", response(), response(question="Who built it?", difficulty=3))
    report = place.take(path)
    assert (report.format, report.added, report.rejected) == ("fathoms", 2, [])
    first, second = place.items()
    assert first.system == "Tide RAG/pebble:7b"
    assert first.id == f"{question_key(QUESTION, 'Images')}:Tide RAG/pebble:7b"
    assert (first.answer, first.category) == ("It is red.", "Images")
    assert first.references == (["red"], ["crimson", "dark"])
    assert first.documents == ("harbour.pdf",)
    assert first.metadata["group"] == "Tide RAG"
    assert first.metadata["file"] == {"model": "pebble:7b", "api_model": "pebble", "scores": {"Images": 1.0}}
    assert second.metadata["difficulty"] == 3


@pytest.mark.parametrize("name", ["suspected_hallucination", "hallucinating"])
def test_both_names_of_the_hallucination_flag_are_one_score(place: Place, tmp_path: Path, name: str) -> None:
    row = response(correctness_score=0.5)
    del row["suspected_hallucination"]
    place.take(result(tmp_path / "closed/x.json", {**row, name: True}))
    with place.db.read() as session:
        assert session.exec(select(Run.name).distinct()).all() == ["imported:fathoms"]
        rows = session.exec(select(Score.name, Score.value, Score.target).order_by(Score.name)).all()
    assert rows == [("correctness", 0.5, "item"), ("hallucination", 1.0, "item")]


def test_contexts_are_retrieved_evidence_in_their_rank(place: Place, tmp_path: Path) -> None:
    contexts = [
        {
            "chunk_id": 4,
            "file_name": "harbour.pdf",
            "page_number": 19,
            "relevance_score": 0.7,
            "content": "A red tower.",
        },
        {"chunk_id": 5, "file_name": "pier.pdf", "page_number": 0, "relevance_score": 0.6, "content": "A pier."},
        "File: pier.pdf\nContent: A long\npier.",
        "No file is named here.",
    ]
    place.take(result(tmp_path / "g/x.json", response(rag_context=contexts)))
    [item] = place.items()
    assert [(e.key, e.kind, e.role, e.rank, e.used) for e in item.evidence] == [
        (f"e{rank}", "passage", "retrieved", rank, None) for rank in (1, 2, 3, 4)
    ]
    assert [(e.document, e.pages, e.text) for e in item.evidence] == [
        ("harbour.pdf", (19,), "A red tower."),
        ("pier.pdf", (), "A pier."),
        ("pier.pdf", (), "A long\npier."),
        (None, (), "No file is named here."),
    ]
    assert item.evidence[0].metadata == {"chunk_id": 4, "relevance_score": 0.7}
    assert item.evidence[1].metadata == {"chunk_id": 5, "page_number": 0, "relevance_score": 0.6}


def test_systems_share_the_question_of_the_same_text_and_category(place: Place, tmp_path: Path) -> None:
    result(tmp_path / "in/a/x.json", response(), response(category="Tables"))
    result(tmp_path / "in/b/x.json", response())
    questions = {"Images": [{"question": QUESTION, "files": ["harbour.pdf"], "answers": [["dark", "red"]], "page": 2}]}
    (tmp_path / "in/questions.json").write_bytes(orjson.dumps(questions))
    assert place.take(tmp_path / "in").added == 4
    with place.db.read() as session:
        keys = set(session.exec(select(Question.key)).all())
    assert keys == {question_key(QUESTION, "Images"), question_key(QUESTION, "Tables")}
    assert item_counts(place.db, place.actor, place.project).by_system() == {
        "a/pebble:7b": 2, "b/pebble:7b": 1, "reference": 1,
    }  # fmt: skip
    key = f"{question_key(QUESTION, 'Images')}:reference"
    own = item_details(place.db, place.actor, place.project, external_id=key).item.content
    assert (own.answer, own.references, own.metadata) == ("dark, red", (["dark", "red"],), {"page": 2})


def test_a_folder_of_papers_supplies_the_documents(place: Place, tmp_path: Path) -> None:
    place.take(result(tmp_path / "g/x.json", response(required_files=["harbour.pdf", "pier.pdf"])))
    write_pdf(tmp_path / "papers/harbour.pdf")
    report = place.take(tmp_path / "papers", format_name="fathoms")
    assert (report.added, report.supplied) == (0, 1)
    rows = list_documents(place.db, place.actor, place.project)
    assert [(row.key, row.supplied) for row in rows] == [("harbour.pdf", True), ("pier.pdf", False)]


@pytest.mark.parametrize("missing", ["question", "category", "ground_truth", "pred_answer"])
def test_a_response_that_lacks_a_field_is_named_with_its_line(place: Place, tmp_path: Path, missing: str) -> None:
    bad = response()
    del bad[missing]
    path = result(tmp_path / "g/x.json", response(), bad)
    [rejected] = place.take(path).rejected
    assert rejected.file == "x.json"
    assert f"entry 2 of `responses`: `{missing}` is missing" in rejected.reason
    lines = path.read_text().splitlines()
    assert lines[rejected.line - 1].strip() == "{"
    assert sum(line == "    {" for line in lines[: rejected.line]) == 2
    assert place.items() == []


def test_a_result_file_that_is_cut_off_is_named_with_its_line(place: Place, tmp_path: Path) -> None:
    path = result(tmp_path / "g/x.json", response())
    text = path.read_text()[:-60]
    path.write_text(text)
    [rejected] = place.take(path).rejected
    assert (rejected.file, rejected.line) == ("x.json", text.count("\n") + 1)
    assert "cut off" in rejected.reason


def test_a_result_file_without_a_model_is_refused(place: Place, tmp_path: Path) -> None:
    path = result(tmp_path / "g/x.json", response(), model=None)
    assert "`model` is missing" in place.take(path).rejected[0].reason


def test_other_json_beside_the_results_is_passed_over_unless_it_is_named(place: Place, tmp_path: Path) -> None:
    result(tmp_path / "in/g/x.json", response())
    (tmp_path / "in/training.json").write_text('{"statement": ["a"], "abstention": ["b"]}')
    report = place.take(tmp_path / "in")
    assert (report.added, report.rejected) == (1, [])
    report = place.take(tmp_path / "in/training.json", format_name="fathoms")
    assert "neither a file of questions" in report.rejected[0].reason


def test_one_system_twice_with_other_answers_is_refused_naming_both(place: Place, tmp_path: Path) -> None:
    result(tmp_path / "in/g/x.json", response())
    result(tmp_path / "in/g/y.json", response(pred_answer="Blue."))
    [rejected] = place.take(tmp_path / "in").rejected
    assert rejected.file == "in/g/y.json"
    assert "the first is in/g/x.json, line 8" in rejected.reason


def questions(path: Path, *texts: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [{"question": text, "files": ["harbour.pdf"], "answers": [["red"]]} for text in texts]
    path.write_bytes(orjson.dumps({"Images": rows}))
    return path


def test_questions_that_differ_between_results_and_questions_are_named_with_both_wordings(
    place: Place, tmp_path: Path
) -> None:
    asked = questions(tmp_path / "questions.json", QUESTION, "Who built the pier?")
    odd = QUESTION.replace("colour", "color")
    files = [result(tmp_path / f"{name}/x.json", response(), response(question=odd)) for name in ("a", "b")]
    planned = place.take(asked, *files, dry_run=True)
    assert planned.notes[0].startswith("1 question of the result files is not worded as in the file of questions")
    assert planned.notes[1] == f"x.json asks “{odd}”; the file of questions: “{QUESTION}”."
    assert place.take(asked, *files).notes == planned.notes
    moved = result(tmp_path / "c/y.json", response(category="Tables"))
    assert place.take(asked, moved, dry_run=True).notes[1].endswith("has it in the category 'Images', not 'Tables'.")
    alien = result(tmp_path / "d/z.json", response(question="0123456789"))
    assert "has nothing like it in the category 'Images'" in place.take(asked, alien, dry_run=True).notes[1]


def test_nothing_differs_where_only_one_kind_of_file_is_read(place: Place, tmp_path: Path) -> None:
    assert place.take(questions(tmp_path / "questions.json", QUESTION), dry_run=True).notes == []
    assert place.take(result(tmp_path / "a/x.json", response(question="Else?")), dry_run=True).notes == []


def test_the_real_questions_that_differ_are_named(place: Place, shared_data: Path) -> None:
    notes = place.take(shared_data / "fathoms", dry_run=True).notes
    assert notes[0].startswith("2 questions of the result files are not worded as in the file of questions")
    assert len(notes) == 3
    assert all(note.startswith("fathoms/results/closed/claude") and note.count("“") == 2 for note in notes[1:])


@pytest.mark.slow
def test_the_real_plan_counts_what_the_import_counts(place: Place, shared_data: Path) -> None:
    planned = place.take(shared_data / "fathoms", dry_run=True).to_json()
    done = place.take(shared_data / "fathoms").to_json()
    assert {**planned, "batch": done["batch"]} == done
    assert done["documents"] > done["supplied"] == 4


@pytest.mark.slow
def test_the_real_files_come_in_whole(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "fathoms")
    assert (report.added, report.rejected, report.supplied) == (93 + 10 * 93, [], 4)
    counts = item_counts(place.db, place.actor, place.project)
    assert counts.by_category()["Text-Only"] == 31 * 11
    assert counts.by_system()["LlamaIndex RAG/gemma3:12b_ LlamaIndex RAG"] == 93
    # Two questions of one closed system are worded otherwise; all others are shared.
    with place.db.read() as session:
        assert len(session.exec(select(Question)).all()) == 95
        correct = [
            value
            for value, parts in session.exec(
                select(Score.value, Run.name).join(Run).where(Score.name == "correctness", Run.kind == "import")
            ).all()
            if parts == "imported:fathoms"
        ]
    assert len(correct) == 930
    closed = [item for item in place.items() if item.system.startswith("closed/")]
    assert len(closed) == 186
    assert not any(item.evidence for item in closed)
    local = [item for item in place.items() if item.system.startswith("LlamaIndex RAG/")]
    assert all(e.pages and e.role == "retrieved" for item in local for e in item.evidence)
    assert place.take(shared_data / "fathoms").batch is None
