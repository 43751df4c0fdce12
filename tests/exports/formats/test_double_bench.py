"""Double-Bench: evidence pages counted from 0, records that stand twice, steps of questions; the real records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.scorers.shared.retrieved_pages import retrieval_of
from tests.exports.formats.places import Place, write_json


def record(**changes: Any) -> dict[str, Any]:
    return {
        "uid": "0007",
        "question": "أين يقع المرفأ؟",
        "answer": "في الشمال.",
        "reference_page": [0, 4],
        "source_type": "figure",
        "language": "ar",
        "doc_path": "docs/Arabic/0003",
        "query_type": "Comparison",
        "doc_type": "PDF",
        **changes,
    }


def steps(*pages: list[int]) -> list[dict[str, Any]]:
    return [
        {f"question{n}": f"Step {n}?", f"answer{n}": f"Answer {n}.", "reference_page": of, "relation": "next to"}
        for n, of in enumerate(pages)
    ]


def test_pages_count_from_one(place: Place, tmp_path: Path) -> None:
    report = place.take(write_json(tmp_path / "single.json", [record()]))
    assert (report.format, report.added, report.documents) == ("double_bench", 1, 1)
    [item] = place.items()
    assert (item.id, item.question_key, item.language) == ("single-0007:reference", "single-0007", "ar")
    assert (item.category, item.documents) == ("Comparison", ("docs/Arabic/0003",))
    assert [(evidence.kind, evidence.role, evidence.document, evidence.pages) for evidence in item.evidence] == [
        ("page", "gold", "docs/Arabic/0003", (1,)),
        ("page", "gold", "docs/Arabic/0003", (5,)),
    ]
    assert item.metadata == {"source_type": "figure", "doc_type": "PDF"}


def test_a_record_that_stands_twice_is_taken_once_and_two_that_differ_are_named(place: Place, tmp_path: Path) -> None:
    again = place.take(write_json(tmp_path / "in/a.json", [record(), record()]), dry_run=True)
    assert (again.added, again.unchanged, again.rejected) == (1, 1, [])
    assert again.notes[0].startswith("1 record stands a second time, word for word.")
    [bad] = place.take(write_json(tmp_path / "in/b.json", [record(), record(answer="Elsewhere.")])).rejected
    assert "given twice with different content" in bad.reason


def test_steps_are_hops_with_their_own_pages(place: Place, tmp_path: Path) -> None:
    many = record(steps=steps([1], [1, 8]), reference_page=[1, 8, 9], modality=["text"])
    report = place.take(write_json(tmp_path / "multi.json", [many]))
    [item] = place.items()
    assert item.question_key == "multi-0007"
    assert [(hop.key, hop.question, hop.answer, dict(hop.metadata)) for hop in item.hops] == [
        ("h1", "Step 0?", "Answer 0.", {"relation": "next to"}),
        ("h2", "Step 1?", "Answer 1.", {"relation": "next to"}),
    ]
    assert [(evidence.key, evidence.hop, evidence.pages) for evidence in item.evidence] == [
        ("h1-page-2", 1, (2,)), ("h2-page-2", 2, (2,)), ("h2-page-9", 2, (9,)),
    ]  # fmt: skip
    assert item.metadata["pages_of_no_step"] == [10]
    assert report.notes[0].startswith("1 evidence page belongs to a question but to none of its steps")
    retrieved = item.evidence[0]._replace(key="r1", role="retrieved", rank=1, hop=None)
    found = retrieval_of(item._replace(evidence=(*item.evidence, retrieved)))
    assert not isinstance(found, str)
    assert {hop: sorted(page for _, page in pages) for hop, pages in found.hops.items()} == {1: [2], 2: [2, 9]}


def test_a_step_without_pages_is_counted_by_name(place: Place, tmp_path: Path) -> None:
    many = record(steps=[*steps([3]), {"question": "And then?", "answer": "Nothing."}], reference_page=None)
    report = place.take(write_json(tmp_path / "multi.json", [record(uid="1", reference_page=[]), many]))
    assert report.notes == [
        "1 question has no evidence page.",
        "1 question has a step that names no page: multi-0007. Retrieval cannot be scored for them.",
    ]


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"uid": None}, "`uid` is missing"),
        ({"uid": [1]}, "`uid` is [1]"),
        ({"question": 3}, "`question` is 3, not a text"),
        ({"doc_path": None}, "`doc_path` is missing"),
        ({"reference_page": None}, "`reference_page` is missing"),
        ({"reference_page": [-1]}, "holds -1. Pages of Double-Bench are whole numbers from 0"),
        ({"reference_page": "13"}, "`reference_page` is '13', not a list"),
        ({"steps": ["one"]}, "`steps` holds 'one'"),
        ({"steps": [{"answer0": "A"}]}, "step 1 has no `question0`"),
    ],
)
def test_a_bad_record_is_named(place: Place, tmp_path: Path, changes: dict[str, Any], words: str) -> None:
    [bad] = place.take(write_json(tmp_path / "x.json", [record(uid="1"), record(**changes)])).rejected
    assert bad.reason.startswith("entry 2: ")
    assert words in bad.reason
    assert place.items() == []


def test_the_real_records_come_in_whole(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "double_bench")
    assert (report.format, report.added, report.rejected) == ("double_bench", 600, [])
    assert [note.split(" ", 1)[0] for note in report.notes] == ["100"]
    given = {row["uid"]: row for row in orjson.loads(next((shared_data / "double_bench").iterdir()).read_bytes())}
    items = place.items()
    assert sum(len(item.evidence) for item in items) == 1725
    for item in items:
        row = given[item.question_key.removeprefix("single-")]
        assert (item.question, item.answer, item.language, item.category, item.documents) == (
            row["question"], row["answer"], row["language"], row["query_type"], (row["doc_path"],),
        )  # fmt: skip
        assert [page - 1 for evidence in item.evidence for page in evidence.pages] == row["reference_page"]
        kept = {name: row[name] for name in ("source_type", "modality", "doc_type") if name in row}
        assert item.metadata == kept
