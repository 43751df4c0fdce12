"""MMLongBench-Doc: lists that are written as texts, questions without pages or answer; and the real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from db.items.documents import list_documents
from tests.exports.formats.places import Place, write_json
from tests.exports.sources import write_pdf


def record(**changes: Any) -> dict[str, Any]:
    return {
        "doc_id": "harbour.pdf",
        "doc_type": "Brochure",
        "question": "How many piers are there?",
        "answer": "3",
        "evidence_pages": "[1, 2]",
        "evidence_sources": "['Chart', 'Pure-text (Plain-text)']",
        "answer_format": "Int",
        **changes,
    }


def test_lists_written_as_texts_are_lists(place: Place, tmp_path: Path) -> None:
    write_json(tmp_path / "in/samples.json", [record(), record(question="Else?", evidence_pages=[3])])
    write_pdf(tmp_path / "in/documents/harbour.pdf")
    report = place.take(tmp_path / "in")
    assert (report.format, report.added, report.supplied) == ("mmlongbench", 2, 1)
    [note] = report.notes  # the PDF of this test has one page
    assert note.startswith("2 items point beyond a document")
    first, second = place.items()
    assert [(evidence.kind, evidence.role, evidence.document, evidence.pages) for evidence in first.evidence] == [
        ("page", "gold", "harbour.pdf", (1,)),
        ("page", "gold", "harbour.pdf", (2,)),
    ]
    assert (first.category, first.documents, first.system) == ("Brochure", ("harbour.pdf",), "reference")
    assert first.metadata == {"answer_format": "Int", "evidence_sources": ["Chart", "Pure-text (Plain-text)"]}
    assert [evidence.pages for evidence in second.evidence] == [(3,)]


def test_questions_without_pages_or_answer_are_counted(place: Place, tmp_path: Path) -> None:
    rows = [record(), record(question="Else?", answer="Not answerable", evidence_pages="[]", evidence_sources="[]")]
    assert place.take(write_json(tmp_path / "samples.json", rows)).notes == [
        "1 question has no evidence page.",
        "1 question is not answerable: the answer is “Not answerable”.",
    ]
    assert place.items()[1].evidence == ()


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"doc_id": None}, "`doc_id` is missing"),
        ({"answer": 3}, "`answer` is 3, not a text"),
        ({"evidence_pages": "[0]"}, "`evidence_pages` holds 0. Pages are whole numbers from 1"),
        ({"evidence_pages": "[1"}, "`evidence_pages` is '[1'. Write a list"),
        ({"evidence_pages": "['a']"}, "`evidence_pages` holds 'a'"),
        ({"evidence_pages": "__import__('os').getcwd()"}, "Write a list"),
        ({"evidence_pages": "[" * 5000 + "]" * 5000}, "Write a list"),
        ({"evidence_sources": "{'Chart': 1}"}, "`evidence_sources` is \"{'Chart': 1}\""),
    ],
)
def test_a_bad_record_is_named(place: Place, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    [bad] = place.take(write_json(tmp_path / "x.json", [record(), record(question="Else?") | changes])).rejected
    assert bad.reason.startswith("entry 2: ")
    assert words in bad.reason


def test_the_real_questions_come_in_with_their_documents(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "mmlongbench")
    assert (report.format, report.added, report.supplied, report.rejected) == ("mmlongbench", 52, 7, [])
    assert [note.split()[0] for note in report.notes] == ["11", "12"]
    assert all(row.supplied for row in list_documents(place.db, place.actor, place.project))
    pages = {row.key: row.n_pages or 0 for row in list_documents(place.db, place.actor, place.project)}
    given = {row["question"]: row for row in orjson.loads((shared_data / "mmlongbench/samples.json").read_bytes())}
    for item in place.items():
        row = given[item.question]
        assert str([page for evidence in item.evidence for page in evidence.pages]) == row["evidence_pages"]
        assert str(item.metadata["evidence_sources"]) == row["evidence_sources"]
        assert (item.answer, item.documents, item.category) == (row["answer"], (row["doc_id"],), row["doc_type"])
        assert all(page <= pages[row["doc_id"]] for evidence in item.evidence for page in evidence.pages)
