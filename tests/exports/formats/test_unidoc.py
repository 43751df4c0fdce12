"""UniDoc-Bench: records whose sources name document, page and figure; and the real records where they are at hand."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest

from db.items.documents import list_documents
from tests.exports.formats.places import Place, write_json
from tests.exports.sources import write_pdf

QUESTION = "Which pier of the harbour was rebuilt first?"


def record(**changes: Any) -> dict[str, Any]:
    return {
        "rewritten_question_obscured": QUESTION,
        "complete_answer": "The north pier.",
        "chunk_used": {
            "chunk_0": {"used": False, "metadata": {"source": "/in/db_database/port_database/0012_id_4_pg5_pg6.txt"}},
            "img_0": {"used": True, "metadata": "/in/port_figures/0012/figure-7-2.jpg", "facts": ["North first."]},
            "tab_0": {"used": True, "metadata": "/in/port_figures/0012/table-9-1.jpg", "facts": []},
        },
        "question_type": "comparison",
        "answer_type": "image_only",
        **changes,
    }


def test_a_record_is_an_item_with_its_units(place: Place, tmp_path: Path) -> None:
    report = place.take(write_json(tmp_path / "port.json", [record()]))
    assert (report.format, report.added, report.rejected, report.notes) == ("unidoc", 1, [], [])
    [item] = place.items()
    assert (item.question, item.answer, item.system, item.category) == (
        QUESTION, "The north pier.", "reference", "port",
    )  # fmt: skip
    assert [
        (evidence.key, evidence.kind, evidence.role, evidence.used, evidence.document, evidence.pages)
        for evidence in item.evidence
    ] == [
        ("chunk_0", "passage", "distractor", False, "0012.pdf", (5, 6)),
        ("img_0", "figure", "gold", True, "0012.pdf", (7,)),
        ("tab_0", "table", "gold", True, "0012.pdf", (9,)),
    ]
    assert [evidence.metadata for evidence in item.evidence] == [
        {"source": "/in/db_database/port_database/0012_id_4_pg5_pg6.txt"},
        {"source": "/in/port_figures/0012/figure-7-2.jpg", "facts": ["North first."], "figure": 2},
        {"source": "/in/port_figures/0012/table-9-1.jpg", "facts": [], "table": 1},
    ]
    assert item.metadata == {"question_type": "comparison", "answer_type": "image_only"}


def test_pdfs_beside_the_records_are_the_documents(place: Place, tmp_path: Path) -> None:
    write_json(tmp_path / "in/port.json", [record()])
    write_pdf(tmp_path / "in/documents/0012.pdf")
    assert place.take(tmp_path / "in").supplied == 1
    [document] = list_documents(place.db, place.actor, place.project)
    assert (document.key, document.supplied) == ("0012.pdf", True)


def test_a_source_without_a_page_is_kept_and_counted(place: Place, tmp_path: Path) -> None:
    odd = {"chunk_0": {"used": None, "metadata": {"source": "notes.txt", "lines": [3]}}}
    notes = place.take(write_json(tmp_path / "port.json", [record(chunk_used=odd)])).notes
    assert notes[0].startswith("The source of 1 unit names no document or no page")
    [unit] = place.items()[0].evidence
    assert (unit.document, unit.pages, unit.role, unit.used) == (None, (), None, None)
    assert unit.metadata == {"source": "notes.txt", "lines": [3]}


def test_an_answer_that_is_an_object_is_kept_as_it_was(place: Place, tmp_path: Path) -> None:
    answer = {"north": {"rebuilt": 1923}, "south": None}
    notes = place.take(write_json(tmp_path / "port.json", [record(complete_answer=answer)])).notes
    assert notes[0].startswith("1 complete answer is an object or a list")
    [item] = place.items()
    assert orjson.loads(item.answer) == item.metadata["complete_answer"] == answer


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"rewritten_question_obscured": None}, "`rewritten_question_obscured` is missing"),
        ({"complete_answer": None}, "`complete_answer` is missing"),
        ({"chunk_used": []}, "`chunk_used` is [], not an object"),
        ({"chunk_used": {"page_0": {}}}, "Units are called chunk_N, img_N or tab_N"),
        ({"chunk_used": {"img_0": 3}}, "is not an object with `used`"),
        ({"chunk_used": {"img_0": {"used": "yes", "metadata": "x"}}}, "Write true, false or null"),
        ({"chunk_used": {"img_0": {"used": True, "metadata": {}}}}, "Write the name of the source"),
    ],
)
def test_a_bad_record_is_named_with_its_line_and_number(
    place: Place, tmp_path: Path, changes: dict[str, Any], words: str
) -> None:
    path = write_json(tmp_path / "port.json", [record(), record(rewritten_question_obscured="Else?") | changes])
    [bad] = place.take(path).rejected
    assert bad.reason.startswith("entry 2: ")
    assert words in bad.reason
    lines = path.read_text().splitlines()
    assert lines[bad.line - 1] == "  {"
    assert lines[: bad.line].count("  {") == 2
    assert place.items() == []


def test_the_real_records_come_in_whole(place: Place, shared_data: Path) -> None:
    report = place.take(shared_data / "unidoc")
    assert (report.format, report.added, report.rejected) == ("unidoc", 664, [])
    assert len(report.notes) == 1  # one answer is an object
    items = place.items()
    units = [unit for item in items for unit in item.evidence]
    assert Counter(unit.kind for unit in units) == {"passage": 779, "figure": 842, "table": 254}
    assert Counter(unit.used for unit in units) == {True: 1160, False: 715}
    assert all(unit.document and unit.pages for unit in units)
    assert Counter(item.category for item in items) == {"finance": 208, "healthcare": 232, "legal": 224}
    given: dict[str, dict[str, Any]] = {
        record["rewritten_question_obscured"]: record
        for path in sorted((shared_data / "unidoc").glob("*.json"))
        for record in orjson.loads(path.read_bytes())
    }
    for item in items:  # nothing of a record is lost
        of_file = given[item.question]
        assert item.metadata.get("complete_answer", item.answer) == of_file["complete_answer"]
        assert (item.metadata["question_type"], item.metadata["answer_type"]) == (
            of_file["question_type"], of_file["answer_type"],
        )  # fmt: skip
        for unit in item.evidence:
            was = of_file["chunk_used"][unit.key]
            source = was["metadata"] if isinstance(was["metadata"], str) else was["metadata"]["source"]
            assert (unit.used, unit.metadata["source"]) == (was["used"], source)
            assert unit.metadata.get("facts") == was.get("facts")
        assert len(item.evidence) == len(of_file["chunk_used"])
    assert place.take(shared_data / "unidoc").batch is None
