"""Exports of Label Studio as people save them: JSON-MIN, CSV, reviewed annotations, and tasks of which one is bad."""

from __future__ import annotations

import csv
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from annotators.items.parsed import ForeignLabel, ParsedItem, Rejected
from exports.formats import recognise
from exports.formats.base import FileReading, protocol_of_labels
from exports.formats.label_studio import LabelStudio
from exports.reading.sources import open_sources

CONFIG = """<View>
  <Text name="question" value="$question"/><Text name="answer" value="$answer"/>
  <Labels name="spans" toName="answer"><Label value="Unsupported"/></Labels>
  <Choices name="verdict" toName="answer" required="true">
    <Choice value="Full" alias="full"/><Choice value="No"/>
  </Choices>
  <Choices name="faults" toName="answer" choice="multiple"><Choice value="A"/><Choice value="B"/></Choices>
  <Rating name="fluency" toName="answer" maxRating="5"/>
  <Number name="minutes" toName="answer" min="0" max="10"/>
  <Taxonomy name="errs" toName="answer">
    <Choice value="Fact"><Choice value="Date"/></Choice><Choice value="Style"/>
  </Taxonomy>
  <DateTime name="seen" toName="answer" only="date"/>
  <TextArea name="why" toName="answer" maxSubmissions="1"/>
</View>"""

TASK = {"question": "When?", "answer": "From 3 April."}
SAID: dict[str, Any] = {
    "verdict": "full", "faults": {"choices": ["A", "B"]}, "fluency": [{"rating": 4}], "minutes": [{"number": 2}],
    "errs": [{"taxonomy": [["Fact", "Date"]]}], "seen": [{"datetime": "2026-02-28"}], "why": "so",
    "spans": [{"start": 0, "end": 4, "text": "From", "labels": ["Unsupported"]}],
}  # fmt: skip
ROWS = [
    {**TASK, "id": 1, **SAID, "annotator": "ada@example.org", "annotation_id": 1, "lead_time": 9.5,
     "created_at": "2026-11-28T12:17:48Z", "updated_at": "2026-11-28T12:18:48Z"},
    {**TASK, "id": 1, "verdict": "No", "annotator": "ben@example.org", "annotation_id": 2, "lead_time": 3,
     "created_at": "2026-11-28T12:17:48Z", "updated_at": "2026-11-28T12:18:48Z"},
]  # fmt: skip
LABELS = {
    ("ada@example.org", "verdict", "full"), ("ada@example.org", "faults", '["A","B"]'),
    ("ada@example.org", "fluency", "4"), ("ada@example.org", "minutes", "2"),
    ("ada@example.org", "errs", '["Fact/Date"]'), ("ada@example.org", "seen", "2026-02-28"),
    ("ada@example.org", "why", "so"), ("ben@example.org", "verdict", "No"),
}  # fmt: skip


def folder(tmp_path: Path, name: str, content: str, config: str = CONFIG) -> Path:
    tmp_path.mkdir(exist_ok=True)
    (tmp_path / name).write_text(content, encoding="utf-8")
    if config:
        (tmp_path / "config.xml").write_text(config, encoding="utf-8")
    return tmp_path


def read(path: Path) -> tuple[list[ParsedItem], list[ForeignLabel], list[Rejected], Sequence[str]]:
    with open_sources([path]) as sources:
        assert recognise(sources).name == "label_studio"
        reading: FileReading = LabelStudio().read(sources)
        if any(file.basename.endswith(".xml") for file in sources.files):
            assert protocol_of_labels(reading) is not None
        rows = list(reading.items())
    items = [row for row in rows if isinstance(row, ParsedItem)]
    bad = [row for row in rows if isinstance(row, Rejected)]
    return items, [label for item in items for label in item.labels], bad, reading.notes()


def as_csv(rows: Sequence[dict[str, Any]], path: Path) -> str:
    names = list(dict.fromkeys(name for row in rows for name in row))
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names)
        writer.writeheader()
        for row in rows:
            writer.writerow({name: json.dumps(v) if isinstance(v, list | dict) else v for name, v in row.items()})
    return path.read_text()


@pytest.mark.parametrize("kind", ["json", "csv"])
def test_flat_exports_come_in_as_the_tasks_that_they_are_of(tmp_path: Path, kind: str) -> None:
    content = json.dumps(ROWS) if kind == "json" else as_csv(ROWS, tmp_path / "made.txt")
    items, labels, bad, _ = read(folder(tmp_path / "p", f"min.{kind}", content))
    assert bad == []
    [item] = items
    assert (item.item.id, item.item.question, item.item.answer) == ("1", "When?", "From 3 April.")
    said = {(one.annotator, one.criterion, one.value.replace(", ", ",")) for one in labels if one.criterion != "spans"}
    assert said >= LABELS
    [spans] = [one for one in labels if one.criterion == "spans" and one.annotator.startswith("ada")]
    assert json.loads(spans.value)[0]["label"] == "Unsupported"
    assert {one.seconds for one in labels} == {9.5, 3.0}


def test_flat_exports_without_a_config_are_refused_by_their_names(tmp_path: Path) -> None:
    _, _, [bad], _ = read(folder(tmp_path / "p", "min.json", json.dumps(ROWS), config=""))
    assert "JSON-MIN or CSV" in bad.reason
    assert "labelling config" in bad.reason


def annotation(number: int, who: str, choice: str, **more: Any) -> dict[str, Any]:
    given = [{"from_name": "verdict", "to_name": "answer", "type": "choices", "value": {"choices": [choice]}}]
    return {"id": number, "completed_by": {"email": who, "id": number}, "result": given, **more}


def test_what_the_last_review_rejected_is_left_out_and_ground_truth_counts(tmp_path: Path) -> None:
    yes, no = {"id": 1, "accepted": True}, {"id": 2, "accepted": False}
    annotations = [
        annotation(1, "a@x.org", "No", reviews=[yes, no], last_action="rejected"),
        annotation(2, "b@x.org", "full", reviews=[no, yes]),
        annotation(3, "c@x.org", "full", last_action="rejected"),
        annotation(4, "d@x.org", "full", ground_truth=True),
        annotation(5, "e@x.org", "full", reviews=[]),
    ]
    _, labels, bad, notes = read(
        folder(tmp_path / "p", "tasks.json", json.dumps([{"id": 1, "data": TASK, "annotations": annotations}]))
    )
    verdicts = [one.annotator for one in labels if one.criterion == "verdict"]
    assert (verdicts, bad) == (["b@x.org", "d@x.org", "e@x.org"], [])
    assert any(note.startswith("2 annotations that the last review there rejected: left out") for note in notes)
    assert any(note.startswith("1 annotation marked there as ground truth: counted") for note in notes)


def test_a_bad_annotation_leaves_the_item_and_what_others_said_of_it(tmp_path: Path) -> None:
    annotations = [annotation(1, "a@x.org", "Totally"), annotation(2, "b@x.org", "full"), "x"]
    items, labels, bad, notes = read(
        folder(tmp_path / "p", "tasks.json", json.dumps([{"id": 1, "data": TASK, "annotations": annotations}]))
    )
    assert [item.item.id for item in items] == ["1"]
    assert {one.annotator for one in labels} == {"b@x.org"}
    assert ["'Totally' is not a label" in row.reason for row in bad] == [False, True]
    assert any(note.startswith("1 annotation of people") for note in notes)
