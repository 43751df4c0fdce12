"""Tables as Parquet and as workbooks: they say what the CSV says, with types; hostile cells stay texts."""

from __future__ import annotations

import csv
import io
import sqlite3
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import openpyxl
import orjson
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotators.asking.submissions import GivenLabel
from annotators.errors import InvalidInput
from db.engine import Database
from exports.bundles import typed
from exports.bundles.arrow import batches_of_file, cells_of, schema_of
from exports.bundles.columns import BESIDES, TABLES, ColumnKind, columns_of, names_of
from exports.bundles.labels import block
from exports.bundles.typed import first_difference, write_typed
from exports.bundles.verify import verify_against, verify_folder
from exports.cells import lines_of, safe
from exports.csv_file import CsvFile
from exports.sinks import CannotBeRead, Out
from tests.conftest import ROOT
from tests.exports.bundles.test_bundle import Export, first_step, give, protocol
from tests.makers import StudyInUse

_TEXTS = st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=12)
_BEGINNINGS = st.sampled_from(["", "=", "'", "'=", "+1", "-", "@", "\t", "\n", "\r\n", '"', ",", ";=", "1", "true"])

HOSTILE = '=HYPERLINK("http://x","y")'


@pytest.fixture
def study(database: Any) -> StudyInUse:
    return StudyInUse(database, items=2, annotators=2, overlap=2, protocol=protocol())


def a_table(path: Path, name: str, columns: tuple[str, ...], rows: list[tuple[object, ...]]) -> Path:
    file = path / f"{name}.csv"
    with file.open("wb") as target:
        out = Out(target)
        CsvFile(out, columns).add(rows, len(rows))
        out.flush()
    return file


def test_each_table_comes_in_both_types_with_a_dictionary(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes", -1), seconds=3.5)
    why = [GivenLabel("faults", "item", ["short"]), GivenLabel("why", "item", HOSTILE)]
    give(study, 0, why, comment="'quoted", seconds=1.0)
    export = Export(study, tmp_path / "out", formats=("labels", "adjudicated"), typed=("parquet", "xlsx"))
    assert export.names() == [
        "adjudicated.csv", "adjudicated.parquet", "adjudicated.xlsx", "data_dictionary.csv",
        "labels.csv", "labels.parquet", "labels.xlsx", "manifest.json",
    ]  # fmt: skip
    labels = pd.read_parquet(export.folder / "labels.parquet")
    assert labels["value"].tolist() == ["yes", "-1", '["short"]', HOSTILE]
    assert labels["seconds"].tolist() == [3.5, 3.5, 1.0, 1.0]
    assert labels["complete"].tolist() == [True] * 4
    assert next(list(words) for words in labels["shown"]) == ["answer", "question"]
    assert str(labels["time"].dtype) == "datetime64[us, UTC]"
    assert labels["submission_comment"].tolist()[2:] == ["'quoted"] * 2
    assert labels["submission_comment"].isna().tolist()[:2] == [True, True]
    assert labels["criterion"].dtype == "category"
    book = openpyxl.load_workbook(export.folder / "labels.xlsx")
    sheet = book["labels 1"]
    heading = [cell.value for cell in sheet[1]]
    hostile = sheet.cell(5, heading.index("value") + 1)
    assert (hostile.value, hostile.data_type) == (HOSTILE, "s")
    assert isinstance(sheet.cell(5, heading.index("time") + 1).value, datetime)
    listed = {(row["table"], row["column"]): row for row in export.rows("data_dictionary.csv")}
    assert {column for table, column in listed if table == "labels"} == set(heading)
    assert listed["labels", "time"]["kind"] == "time (UTC)"
    assert verify_folder(export.folder).ok
    assert verify_against(study.db, study.researcher, export.folder).ok


def test_labels_as_columns_say_what_their_lines_say(study: StudyInUse, tmp_path: Path) -> None:
    """Columns are made beside the lines, not of them: odd texts, fractions, remarks, a label that cannot be judged."""
    give(study, 0, first_step("yes", -1), seconds=0.1 + 0.2)
    why = [GivenLabel("faults", "item", ["short", "long"]), GivenLabel("why", "item", "'=1\r\n;=2\t'@3, \"so\"")]
    give(study, 0, why, comment="'quoted;=1", seconds=1e-7)
    unclear = [GivenLabel("right", cannot_judge=True, reason="=unclear"), GivenLabel("grade", value=1)]
    give(study, 1, unclear, seconds=None)
    export = Export(study, tmp_path / "out", formats=("labels",), typed=("parquet",))
    columns = columns_of("labels", names_of("labels"))
    of_lines = pa.Table.from_batches(batches_of_file(export.folder / "labels.csv", columns), schema_of(columns))
    assert pq.read_table(export.folder / "labels.parquet").to_pylist() == of_lines.to_pylist()
    assert of_lines["seconds"].to_pylist()[:3] == [0.1 + 0.2, 0.1 + 0.2, 1e-7]
    assert of_lines["value"].to_pylist()[:4] == ["yes", "-1", '["short","long"]', "'=1\r\n;=2\t'@3, \"so\""]


@pytest.mark.parametrize("at_once", [1, 3])
def test_labels_are_the_same_however_many_are_read_at_a_time(
    study: StudyInUse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    for who, value in ((1, "no"), (0, "yes")):
        for _ in range(2):
            give(study, who, first_step(value, -1), seconds=who + 0.25)
            give(study, who, [GivenLabel("faults", "item", ["short"]), GivenLabel("why", "item", f"by {who}")])
    whole = Export(study, tmp_path / "whole", formats=("labels",), typed=("parquet",)).folder
    monkeypatch.setattr(block, "LABELS_AT_ONCE", at_once)
    monkeypatch.setattr(block, "_MOST_ITEMS", 4)
    parts = Export(study, tmp_path / "parts", formats=("labels",), typed=("parquet",)).folder
    assert (parts / "labels.csv").read_bytes() == (whole / "labels.csv").read_bytes()
    assert pq.read_table(parts / "labels.parquet").to_pylist() == pq.read_table(whole / "labels.parquet").to_pylist()


# Near the ends of what a double holds SQLite itself writes one with fifteen digits.
_USUAL = st.floats(-1e100, 1e100, allow_nan=False).filter(lambda value: value == 0 or abs(value) > 1e-100)


@given(st.lists(st.none() | _USUAL | st.decimals(0, 10**6, places=3)))
def test_fractions_are_read_as_the_fractions_that_they_are(values: list[Any]) -> None:
    said = [None if value is None else float(value) for value in values]
    with closing(sqlite3.connect(":memory:")) as database:
        database.execute("CREATE TABLE s (id INTEGER PRIMARY KEY, seconds FLOAT)")
        database.executemany("INSERT INTO s (seconds) VALUES (?)", [(value,) for value in said])
        [cells] = database.execute(f"SELECT json_group_array({block._ON_SQLITE.seconds}) FROM s").fetchone()
    assert block._seconds(orjson.loads(cells)).to_pylist() == said


@given(st.lists(st.none() | st.builds("{}{}".format, _BEGINNINGS, _TEXTS)), st.booleans())
def test_cells_of_columns_are_those_of_rows(texts: list[str | None], guarded: bool) -> None:
    made = cells_of(pa.array(texts, pa.string()), guarded=guarded).to_pylist()
    cells = [text and (safe(text) if guarded else text) for text in texts]
    assert [f"{cell}," for cell in made] == lines_of([cell, ""] for cell in cells)
    assert cells_of(pa.array(texts, pa.string()).dictionary_encode(), guarded=guarded).to_pylist() == made


def test_a_changed_cell_is_found_by_deriving_it_again(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes", -1))
    export = Export(study, tmp_path / "out", formats=("labels",), typed=("parquet", "xlsx"))
    parquet, book = export.folder / "labels.parquet", export.folder / "labels.xlsx"
    table = pq.read_table(parquet)
    values = ["no", *table["value"].to_pylist()[1:]]
    pq.write_table(table.set_column(table.column_names.index("value"), "value", [values]), parquet)
    changed = openpyxl.load_workbook(book)
    changed["labels 1"]["H3"] = "2"
    changed.save(book)
    found = verify_against(study.db, study.researcher, export.folder)
    assert found.changed == {"labels.parquet": 2, "labels.xlsx": 3}
    assert found.notes == [], "the manifest is as it was"
    book.write_bytes(b"no workbook")
    found = verify_against(study.db, study.researcher, export.folder)
    assert (found.changed, found.unreadable) == ({"labels.parquet": 2, "labels.xlsx": None}, {"labels.xlsx"})


def flipped(whole: bytes, n: int) -> Iterator[bytes]:
    """The bytes with one bit flipped, at so many places from the first byte to the last."""
    for number in range(n):
        damaged = bytearray(whole)
        damaged[number * (len(whole) - 1) // (n - 1)] ^= 1 << number % 8
        yield bytes(damaged)


@pytest.mark.parametrize("kind", ["csv", *typed.TYPED])
def test_a_table_that_is_damaged_anywhere_differs_or_cannot_be_read(tmp_path: Path, kind: str) -> None:
    names = ("value", "cannot_judge", "time", "step", "seconds", "shown")
    rows = [(f"é {n}", "true", "2026-11-24T05:38:21.123456Z", n, n / 3, '["answer"]') for n in range(40)]
    table = a_table(tmp_path, "labels", names, rows)
    made, damaged = tmp_path / f"labels.{kind}", tmp_path / f"damaged.{kind}"
    if kind != "csv":
        write_typed(made, table, columns_of("labels", names))
    whole, found = made.read_bytes(), Counter[str]()
    for data in (*flipped(whole, 80), *(whole[: part * len(whole) // 20] for part in range(20))):
        damaged.write_bytes(data)
        try:
            found["alike" if first_difference(damaged, made) is None else "differs"] += 1
        except CannotBeRead:
            found["cannot be read"] += 1
    assert found["cannot be read"] > 10 or kind in ("csv", "tsv")
    assert found.total() - found["alike"] > (20 if kind in ("csv", "tsv") else 50)


@pytest.mark.parametrize("name", ["labels.xlsx", "labels.parquet", "labels.tsv", "labels.csv", "table/items.xlsx"])
def test_a_bit_that_was_flipped_is_told_of_its_file_alone(sqlite_database: Database, tmp_path: Path, name: str) -> None:
    study = StudyInUse(sqlite_database, items=2, annotators=1, overlap=1)
    study.label_all(0)
    export = Export(study, tmp_path / "out", formats=("labels", "table"), typed=typed.TYPED)
    path = export.folder / name
    for data in flipped(path.read_bytes(), 4):
        path.write_bytes(data)
        found = verify_against(study.db, study.researcher, export.folder)
        assert (list(found.changed), found.missing, found.extra, found.notes) == ([name], [], [], [])


def test_a_file_that_says_the_same_in_other_bytes_is_accused_alone(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes", -1))
    export = Export(study, tmp_path / "out", formats=("labels",), typed=("parquet",))
    path = export.folder / "labels.parquet"
    before = path.read_bytes()
    pq.write_table(pq.read_table(path), path, compression="none")
    assert path.read_bytes() != before
    found = verify_against(study.db, study.researcher, export.folder)
    assert (found.changed, found.unreadable) == ({"labels.parquet": None}, set()), "no line says anything else"
    assert found.notes == [], "the manifest is as it was"
    manifest = export.folder / "manifest.json"
    manifest.write_bytes(manifest.read_bytes() + b"\n")
    notes = verify_against(study.db, study.researcher, export.folder).notes
    assert [note for note in notes if "hash of labels.parquet" in note], "nobody knows which of the two was changed"


def test_without_types_an_export_is_as_it_always_was(study: StudyInUse, tmp_path: Path) -> None:
    export = Export(study, tmp_path / "out", formats=("labels",))
    assert export.names() == ["labels.csv", "manifest.json"]
    assert "typed" not in export.manifest.filters


def test_another_type_is_refused(study: StudyInUse, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"'sas' is no type of table besides CSV\. Known: parquet, xlsx, tsv\."):
        Export(study, tmp_path / "out", typed=("sas",))
    assert not (tmp_path / "out").exists()


def test_a_table_longer_than_a_sheet_goes_on_in_the_next(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(typed, "MOST_ROWS", 3)
    names = ("position", "item", "item_version", "weight", "key")
    table = a_table(tmp_path, "sampling", names, [(n, f"q{n}", 1, 1.0, 2.5) for n in range(1, 6)])
    path = tmp_path / "sampling.xlsx"
    assert write_typed(path, table, columns_of("sampling", names)) == 0
    book = openpyxl.load_workbook(path, read_only=True)
    assert book.sheetnames == ["sampling 1", "sampling 2", "sampling 3"]
    assert [[row[0] for row in sheet.iter_rows(values_only=True)] for sheet in book] == [
        ["position", 1, 2], ["position", 3, 4], ["position", 5],
    ]  # fmt: skip


def test_what_a_workbook_cannot_hold_is_cut_and_counted(tmp_path: Path) -> None:
    names = ("annotator", "phase", "question", "title", "answer", "time")
    at = "2026-11-24T05:00:00.000001Z"
    rows = [("A1", "before", "q", "T", "x" * 40_000, at), ("A1", "before", "q", "T", "bell\x07", at)]
    table = a_table(tmp_path, "questionnaires", names, rows)
    columns = columns_of("questionnaires", names)
    assert write_typed(tmp_path / "q.xlsx", table, columns) == 2
    cells = [row[4] for row in openpyxl.load_workbook(tmp_path / "q.xlsx").worksheets[0].iter_rows(values_only=True)]
    assert cells == ["answer", "x" * 32_767, "bell\ufffd"]
    assert write_typed(tmp_path / "q.parquet", table, columns) == 0
    assert pd.read_parquet(tmp_path / "q.parquet")["answer"].tolist() == ["x" * 40_000, "bell\x07"]


@given(st.lists(st.tuples(st.builds("{}{}".format, _BEGINNINGS, _TEXTS), st.booleans()), max_size=6))
def test_what_is_read_is_what_was_said(tmp_path_factory: pytest.TempPathFactory, said: list[tuple[str, bool]]) -> None:
    folder = tmp_path_factory.mktemp("said")
    names = ("value", "cannot_judge", "time", "step")
    at = datetime(2026, 11, 24, 5, 38, 21, 123456, tzinfo=UTC)
    written = at.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    rows = [(safe(text), "true" if flag else "false", written, 1) for text, flag in said]
    table = a_table(folder, "labels", names, rows)
    columns = columns_of("labels", names)
    for made in (folder / "labels.parquet", folder / "again.parquet"):
        write_typed(made, table, columns)
    found = pq.read_table(folder / "labels.parquet").to_pylist()
    assert [(row["value"] or "", row["cannot_judge"], row["time"], row["step"]) for row in found] == [
        (text, flag, at, 1) for text, flag in said
    ]
    assert first_difference(folder / "labels.parquet", folder / "again.parquet") is None


def test_the_docs_name_every_column() -> None:
    docs = (ROOT / "docs" / "exporting.md").read_text()
    missing = {
        (table, column.name)
        for table, columns in {name: (*TABLES[name], *BESIDES.get(name, ())) for name in TABLES}.items()
        for column in columns
        if f"`{column.name}`" not in docs
    }
    assert missing == set()


def test_the_dictionary_is_a_table_itself() -> None:
    made = typed.data_dictionary((name, columns) for name, columns in TABLES.items())
    rows = list(csv.DictReader(io.StringIO(made.decode())))
    assert len(rows) == sum(map(len, TABLES.values()))
    assert {row["kind"] for row in rows} == {kind.value for kind in ColumnKind}
