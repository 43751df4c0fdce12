"""Tables of labels made elsewhere."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd
import pytest

from annotators.errors import InvalidInput, NotFound
from db.elsewhere.labels import import_labels
from db.engine import Database
from exports.bundles.bundle import export_project
from exports.formats.labels import LabelTable, check_heading, read_labels
from tests.makers import StudyInUse

HEADING = "item,annotator,criterion,target,value,time,comment\n"


def table(tmp_path: Path, text: str | bytes, name: str = "labels.csv") -> LabelTable:
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_labels(path)


def test_a_table_is_read_row_by_row(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        HEADING + "i1,ann,right,,yes,2026-03-31T14:05:00+02:00,fine\ni1,bob,grounded,evidence:e1,-2,,\n",
    )
    first, second = found.checked()
    assert (first.line, first.item, first.annotator, first.criterion, first.target, first.value, first.comment) == (
        2, "i1", "ann", "right", "item", "yes", "fine",
    )  # fmt: skip
    assert first.time == datetime(2026, 3, 31, 12, 5, tzinfo=UTC)
    assert (second.line, second.target, second.value, second.time, second.comment) == (
        3,
        "evidence:e1",
        "-2",
        None,
        None,
    )


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_columns_in_any_order_and_with_any_separator(tmp_path: Path, separator: str) -> None:
    lines = [["Value", "note", " Criterion ", "ANNOTATOR", "item"], ["yes", "x", "right", "ann", "i1"]]
    text = "\ufeff" + "\r\n".join(separator.join(line) for line in lines) + "\r\n\r\n"
    [row] = table(tmp_path, text).checked()
    assert (row.item, row.annotator, row.criterion, row.value, row.line) == ("i1", "ann", "right", "yes", 2)


def test_cells_with_line_breaks_do_not_shift_the_lines(tmp_path: Path) -> None:
    found = table(tmp_path, HEADING + 'i1,ann,why,,"two\nlines",,\ni2,ann,why,,x,,\ni3,ann,why,,,,\n')
    assert [(row.line, row.value) for row in found.rows] == [(2, "two\nlines"), (4, "x")]
    assert found.left_out == {"value is missing": 1}


def test_every_bad_row_is_named(tmp_path: Path) -> None:
    found = table(
        tmp_path,
        HEADING
        + ",ann,right,,yes,,\n"
        + "i1,,right,,yes,,\n"
        + "i1,ann,right,chapter:2,yes,,\n"
        + "i1,ann,right,,yes,yesterday,\n"
        + "i1,ann,right,,yes,,,more\n"
        + 'i1,ann,right,,"y"es,,\n'
        + "i1,ann,right,,yes,,\n"
        + "i1,ann,right,item,no,,\n",
    )
    assert [row.line for row in found.rows] == [8]
    words = ["`item`", "`annotator`", "not a target", "`time`", "8 cells for 7 columns", "cannot be read"]
    assert [row.line for row in found.rejected] == [2, 3, 4, 5, 6, 7, 9]
    for rejected, word in zip(found.rejected, words, strict=False):
        assert word in rejected.reason
    assert "the first time is line 8" in found.rejected[-1].reason
    with pytest.raises(InvalidInput, match="7 bad rows") as raised:
        found.checked()
    assert "line 4: 'chapter:2' is not a target" in str(raised.value)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is empty"),
        ("item,criterion,value\ni1,right,yes\n", r"line 1: no column 'annotator'. It has: item, criterion, value"),
        ("just a text\n", "no column 'item'. .* Name the right one with --map item=COLUMN"),
    ],
)
def test_a_file_that_is_no_table_is_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        table(tmp_path, text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="nowhere"):
        read_labels(tmp_path / "nowhere.csv")


def test_a_row_that_is_in_another_encoding_than_the_others_is_named_by_its_line(tmp_path: Path) -> None:
    other = "i2,ann,why,,café,,\n".encode("latin-1")
    found = table(tmp_path, HEADING.encode() + "i1,ann,why,,déjà vu,,\n".encode() + other)
    assert [(row.line, "UTF-8" in row.reason) for row in found.rejected] == [(3, True)]
    whole = table(tmp_path, HEADING.encode() + other)
    assert [row.value for row in whole.checked()] == ["café"]
    assert "labels.csv is read as Windows-1252" in whole.read[1]


def test_a_table_without_a_column_of_criteria_has_one(tmp_path: Path) -> None:
    [row] = table(tmp_path, "item,annotator,label\ni1,ann,yes\n").checked()
    assert (row.criterion, row.value) == ("label", "yes")


def test_what_an_annotation_took_is_the_sum_of_its_steps(database: Database, tmp_path: Path) -> None:
    place = [{"document": "d.pdf", "page": 2, "box": [0.1, 0.2, 0.3, 0.4]}]
    rows = [
        ("i1", "ann", "right", "yes", "3.5", "1", json.dumps(place)), ("i1", "ann", "grade", "1", "3.5", "1", ""),
        ("i1", "ann", "why", "so", "2", "2", ""), ("i1", "ben", "right", "no", "", "1", ""),
        ("i2", "ann", "right", "no", "7", "1", ""),
    ]  # fmt: skip
    path = tmp_path / "labels.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("item", "annotator", "criterion", "value", "seconds", "step", "rationale"), *rows])
    found = read_labels(path).checked()
    assert [row.seconds for row in found] == [5.5, 5.5, 5.5, None, 7.0]
    assert [row.rationale for row in found] == [place, None, None, None, None]
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    first = [row._replace(item="i00001") for row in found if row.criterion == "right" and row.item == "i1"]
    import_labels(database, study.researcher, study.study_id, rows=first, source="t.csv")
    export_project(database, study.researcher, study.project_id, to=tmp_path / "out", study_id=study.study_id)
    again = read_labels(tmp_path / "out/labels.csv").checked()
    assert {(row.value, row.seconds) for row in again} == {("yes", 5.5), ("no", None)}
    assert [row.rationale for row in again if row.value == "yes"] == [place]
    bad = first[0]._replace(rationale=[{"document": "d.pdf", "page": 0, "box": [0, 0, 1, 1]}], annotator="cleo")
    with pytest.raises(InvalidInput, match=r"line 2: 'right' of 'i00001' .* names page 0"):
        import_labels(database, study.researcher, study.study_id, rows=[bad], source="t.csv")


def test_seconds_and_times_that_differ_within_a_step_are_said(tmp_path: Path) -> None:
    heading = "item,annotator,criterion,value,seconds,time"
    rows = [
        "i1,ann,tone,1,3,2026-11-25T10:00:00Z", "i1,ann,clarity,2,9,2026-11-25T10:05:00Z",
        "i2,ann,tone,1,3,2026-11-25T10:00:00Z", "i2,ann,clarity,2,4,2026-11-25T10:00:00Z",
        "i3,ann,tone,1,3,2026-11-25T10:00:00Z", "i3,ann,clarity,2,,",
    ]  # fmt: skip
    found = table(tmp_path, "\n".join([heading, *rows]))
    assert [row.seconds for row in found.rows] == [9, 9, 4, 4, 3, 3]
    assert found.notes() == [
        "`seconds` differs within a step in 2 annotations: the largest counts. A column `step` tells steps apart.",
        "`time` differs within a step in 1 annotation: the last one counts. A column `step` tells steps apart.",
    ]
    with_steps = "\n".join([f"{heading},step", *(f"{row},{number % 2}" for number, row in enumerate(rows))])
    assert table(tmp_path, with_steps).notes() == []
    one_step = "\n".join([f"{heading},step", *(f"{row},1" for row in rows[:2])])
    assert table(tmp_path, one_step).notes() == [
        "`seconds` differs within a step in 1 annotation: the largest counts.",
        "`time` differs within a step in 1 annotation: the last one counts.",
    ]


@pytest.mark.parametrize(
    ("column", "cell", "words"),
    [("seconds", "soon", "`seconds` is 'soon'"), ("seconds", "-1", "`seconds` is '-1'"),
     ("seconds", "inf", "`seconds` is 'inf'"), ("rationale", "there", "Write the places as a JSON array"),
     ("rationale", "{}", "Write the places as a JSON array")],
)  # fmt: skip
def test_what_is_no_time_and_no_place_is_a_bad_row(tmp_path: Path, column: str, cell: str, words: str) -> None:
    found = table(tmp_path, f"item,annotator,criterion,value,{column}\ni1,ann,right,yes,{cell}\n")
    assert [words in row.reason for row in found.rejected] == [True]


@pytest.mark.parametrize("ending", ["parquet", "xlsx", "tsv"])
def test_an_export_says_the_same_in_each_type(database: Database, tmp_path: Path, ending: str) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    study.label_all(0)
    study.submit(1, study.work(1)["items"][0], {"right": "no"}, comment="=odd")
    export_project(
        database, study.researcher, study.project_id, to=tmp_path / "out", study_id=study.study_id,
        typed=["parquet", "xlsx", "tsv"],
    )  # fmt: skip
    plain, typed = (read_labels(tmp_path / f"out/labels.{one}") for one in ("csv", ending))
    assert [row._replace(line=0, time=None) for row in typed.checked()] == [
        row._replace(line=0, time=None) for row in plain.checked()
    ]
    for row, other in zip(typed.rows, plain.rows, strict=True):  # a workbook keeps milliseconds
        assert row.time is not None
        assert other.time is not None
        assert abs(row.time - other.time) < timedelta(milliseconds=2)
    assert (typed.columns, typed.left_out) == (plain.columns, plain.left_out)


def test_typed_cells_are_read_as_their_texts(tmp_path: Path) -> None:
    rows = [
        {"Item": "i1", "annotator": "ann", "criterion": "n", "value": 3, "time": datetime(2026, 3, 31, 14, 5)},
        {"Item": 7, "annotator": "ann", "criterion": "n", "value": 0.5, "time": None},
        {"Item": "i3", "annotator": "ann", "criterion": "ok", "value": True, "time": None},
        {"Item": "i4", "annotator": None, "criterion": "ok", "value": "yes", "time": None},
    ]  # fmt: skip
    pd.DataFrame(rows).to_excel(tmp_path / "labels.xlsx")  # with its index
    found = read_labels(tmp_path / "labels.xlsx")
    assert [(row.item, row.value) for row in found.rows] == [("i1", "3"), ("7", "0.5"), ("i3", "true")]
    assert found.rows[0].time == datetime(2026, 3, 31, 14, 5, tzinfo=UTC)
    assert [(row.line, row.reason[:22]) for row in found.rejected] == [(5, "`annotator` is empty. ")]
    lists = [{"item": "i1", "annotator": "ann", "criterion": "set", "value": ["a", "b"]}]
    pd.DataFrame(lists).to_parquet(tmp_path / "labels.parquet")
    assert [row.value for row in read_labels(tmp_path / "labels.parquet").rows] == ['["a","b"]']


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("labels.xlsx", b"PK\x03\x04 no", r"labels\.xlsx: it cannot be read as XLSX"),
        ("labels.parquet", b"PAR1", r"labels\.parquet: it cannot be read as Parquet"),
    ],
)
def test_a_damaged_table_is_named(tmp_path: Path, name: str, content: bytes, words: str) -> None:
    (tmp_path / name).write_bytes(content)
    for read in (read_labels, check_heading):
        with pytest.raises(InvalidInput, match=words):
            read(tmp_path / name)


def test_an_export_can_be_imported_into_another_study(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    study.label_all(0)
    study.submit(1, study.work(1)["items"][0], {"right": "no"}, comment="=odd")
    export_project(database, study.researcher, study.project_id, to=tmp_path / "out", study_id=study.study_id)
    found = read_labels(tmp_path / "out/labels.csv")
    other = StudyInUse(database, items=3, annotators=2, overlap=2)
    done = import_labels(database, other.researcher, other.study_id, rows=found.checked(), source=found.source)
    assert (done.labels, done.annotators) == (4, ["A1", "A2"])


def test_rows_of_an_export_that_do_not_count_are_left_out(tmp_path: Path) -> None:
    heading = "item,annotator,criterion,target,value,cannot_judge,kind,current,complete,fell\n"
    found = table(
        tmp_path,
        heading
        + "i1,A1,right,item,yes,false,regular,true,true,false\n"
        + "i1,A1,right,item,no,false,regular,false,true,true\n"
        + "i2,A1,right,item,no,false,,true,false,\n"
        + "i3,A1,right,item,no,false,surplus,true,true,\n"
        + "i4,A1,right,item,,true,regular,true,true,\n"
        + "i5,A1,right,item,no,false,regular,true,true,true\n",
    )
    assert [row.value for row in found.checked()] == ["yes"]
    assert dict(found.left_out) == {
        "superseded or withdrawn": 1, "incomplete": 1, "surplus": 1, "cannot judge": 1, "fell with a revision": 1,
    }  # fmt: skip
