"""A table of an export as Parquet, as an XLSX workbook, or as TSV: the same cells, read off the CSV as it is made.

The CSV is what a table is: the others are it once more, the first two with types, so that they cannot say anything
else. They are compared by what they say, not byte for byte: another version of the library that writes them writes
other bytes.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from itertools import zip_longest
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any
from zipfile import BadZipFile

from annotators.errors import InvalidInput
from annotators.later import Later
from exports.bundles.columns import Column, ColumnKind, columns_of, columns_of_items, data_dictionary
from exports.cells import lines_of, original
from exports.sinks import Out, Sink

if TYPE_CHECKING:
    import openpyxl
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
    import pyarrow.parquet as pq
    from openpyxl import cell as cells
else:
    pa, pa_csv, pc, pq = (Later(f"pyarrow{part}") for part in ("", ".csv", ".compute", ".parquet"))
    openpyxl, cells = Later("openpyxl"), Later("openpyxl.cell")

PARQUET, XLSX, TSV = "parquet", "xlsx", "tsv"
TYPED = (PARQUET, XLSX, TSV)

DICTIONARY = "data_dictionary.csv"

MOST_ROWS = 1_048_576
"""Rows of a sheet, the heading among them; what a table has more goes on in a second sheet."""
MOST_CHARACTERS = 32_767
"""Characters of a cell of a workbook."""

_BLOCK = 4 << 20
_LONGEST_CELL = 1 << 30
_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")
_HELD = (ColumnKind.TEXT, ColumnKind.CATEGORY, ColumnKind.JSON)


def check_typed(names: Sequence[str]) -> tuple[str, ...]:
    """The file types, each once; InvalidInput for another."""
    for name in names:
        if name not in TYPED:
            raise InvalidInput(f"{name!r} is no type of table besides CSV. Known: {', '.join(TYPED)}.")
    return tuple(dict.fromkeys(names))


def arrow_table(table: Path, columns: Sequence[Column]) -> pa.Table:
    """A table (a CSV file of `csv_file`) with types, in memory."""
    return pa.Table.from_batches(_batches(table, columns), schema=_schema(columns)).unify_dictionaries()


def headings_of(table: Path) -> list[str]:
    """The names of the columns of a table (a CSV file of `csv_file`)."""
    return next(_cells_of(table, ","))


def write_typed(path: Path, table: Path, columns: Sequence[Column], *, whole: bool = False) -> int:
    """Write a table (a CSV file of `csv_file`) to a new file, by its ending; how many of its cells had to be cut.

    Only a workbook cuts: its cells hold `MOST_CHARACTERS`, and no control characters, which become U+FFFD. With `whole`
    it leaves such rows out, and those that cannot be read back from it as they are; the count is of rows then.
    """
    if path.suffix == f".{TSV}":
        with path.open("w", encoding="utf-8", newline="") as file:
            for row in _cells_of(table, ","):
                file.writelines([*lines_of([row], "\t"), "\n"])
        return 0
    if path.suffix == f".{PARQUET}":
        with pq.ParquetWriter(path, _schema(columns), compression="zstd") as writer:
            for batch in _batches(table, columns):
                writer.write_batch(batch)
        return 0
    return _write_workbook(path, table, columns, whole=whole)


def first_difference(there: Path, made: Path) -> int | None:
    """The first line (the heading is 1) in which two files of one type say something else; None if they are alike."""
    try:
        rows = zip_longest(_rows_of(there), _rows_of(made))
        return next((line for line, (one, other) in enumerate(rows, 1) if one != other), None)
    except (OSError, ValueError, KeyError, BadZipFile, pa.ArrowException):
        return 1


class Tables:
    """Writes the tables of an export, each as CSV and in the types that are asked for; counts their rows.

    With types, `end` adds the data dictionary of the tables that were written.
    """

    def __init__(self, sink: Sink, typed: Sequence[str], counts: dict[str, int]) -> None:
        self.sink, self._typed, self._counts = sink, typed, counts
        self._written: dict[str, dict[str, Column]] = {}

    def write(self, name: str, write: Callable[[Out], int], folder: str = "") -> None:
        """Write a table (its name in `columns.TABLES`) into a folder of the export."""
        if not self._typed:
            with self.sink.open(f"{folder}{name}.csv") as out:
                self.count(name, write(out))
            return
        with TemporaryDirectory() as place:
            csv = Path(place) / f"{name}.csv"
            with csv.open("wb") as beside, self.sink.open(f"{folder}{name}.csv", beside=beside) as out:
                rows = write(out)
            self.count(name, rows)
            self._write_typed(name, csv, folder, rows)

    def count(self, name: str, n: int) -> None:
        """So many more of these are in the export."""
        self._counts[name] = self._counts.get(name, 0) + n

    def _write_typed(self, name: str, csv: Path, folder: str, rows: int) -> None:
        with csv.open(encoding="utf-8") as lines:
            columns = columns_of(name, lines.readline().rstrip("\n").split(","))
        self._written.setdefault(name, {}).update((column.name, column) for column in columns)
        for kind in self._typed:
            made = csv.with_suffix(f".{kind}")
            if cut := write_typed(made, csv, columns):
                self.count(f"{kind}_cells_cut", cut)
            self.sink.put(f"{folder}{made.name}", made, rows, first_difference)

    @contextmanager
    def items(self, path: str) -> Iterator[Out]:
        """The CSV file of items at this path of the export, written by the block; in other types it holds whole items.

        An item that a type cannot hold as it is is left out there, and counted.
        """
        if not self._typed:
            with self.sink.open(path) as out:
                yield out
            return
        with TemporaryDirectory() as place:
            table = Path(place) / Path(path).name
            with table.open("wb") as beside, self.sink.open(path, beside=beside) as out:
                yield out
            columns = columns_of_items(next(_cells_of(table, ",")))
            self._written[table.stem] = {column.name: column for column in columns}
            for kind in self._typed:
                made = table.with_suffix(f".{kind}")
                left_out = write_typed(made, table, columns, whole=True)
                if left_out:
                    self.count(f"{table.stem}_{kind}_left_out", left_out)
                rows = None if out.rows is None else out.rows - left_out
                self.sink.put(str(Path(path).with_suffix(f".{kind}")), made, rows, first_difference)

    def end(self) -> None:
        """Write the data dictionary, where there are types."""
        if self._written:
            with self.sink.open(DICTIONARY) as out:
                out.write(data_dictionary((name, list(columns.values())) for name, columns in self._written.items()))
                out.rows = sum(map(len, self._written.values()))


# Types ----------------------------------------------------------------------------------------------------------------


def _schema(columns: Sequence[Column]) -> pa.Schema:
    return pa.schema([pa.field(column.name, _type(column), metadata={"meaning": column.meaning}) for column in columns])


def _type(column: Column) -> pa.DataType:
    match column.kind:
        case ColumnKind.WHOLE:
            return pa.int64()
        case ColumnKind.NUMBER:
            return pa.float64()
        case ColumnKind.TRUTH:
            return pa.bool_()
        case ColumnKind.TIME:
            return pa.timestamp("us", tz="UTC")
        case ColumnKind.CATEGORY:
            return pa.dictionary(pa.int32(), pa.string())
        case ColumnKind.WORDS:
            return pa.list_(pa.string())
        case _:
            return pa.string()


def _batches(table: Path, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    """The rows of the CSV file, some megabytes at a time."""
    held = {column.name: pa.string() for column in columns if column.kind in (*_HELD, ColumnKind.WORDS)}
    schema = _schema(columns)
    reader = pa_csv.open_csv(
        table,
        read_options=pa_csv.ReadOptions(block_size=_BLOCK),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=pa_csv.ConvertOptions(
            column_types={**{column.name: _type(column) for column in columns}, **held},
            null_values=[""],
            true_values=["true"],
            false_values=["false"],
            strings_can_be_null=True,
            quoted_strings_can_be_null=True,
        ),
    )
    for batch in reader:
        cells = []
        for column, found in zip(columns, batch.columns, strict=True):
            array = found
            if column.kind in _HELD and pc.any(pc.match_substring(array, "'")).as_py():
                array = pa.array([cell and original(cell) for cell in array.to_pylist()], pa.string())
            if column.kind == ColumnKind.CATEGORY:
                array = array.dictionary_encode()
            elif column.kind == ColumnKind.WORDS:
                array = pc.split_pattern(array, " ")
            cells.append(array)
        yield pa.RecordBatch.from_arrays(cells, schema=schema)


# Workbooks ------------------------------------------------------------------------------------------------------------


def _cells_of(table: Path, delimiter: str) -> Iterator[list[str]]:
    """The rows of a CSV or TSV file of ours, its heading first, as they stand there."""
    with table.open(encoding="utf-8", newline="") as lines:
        rows = csv.reader(lines, delimiter=delimiter)
        while True:
            limit = csv.field_size_limit(_LONGEST_CELL)  # of the whole process, so that it is put back at once
            try:
                cells_there = next(rows, None)
            finally:
                csv.field_size_limit(limit)
            if cells_there is None:
                return
            yield cells_there


def _write_workbook(path: Path, table: Path, columns: Sequence[Column], *, whole: bool) -> int:
    book = openpyxl.Workbook(write_only=True)
    names = [column.name for column in columns]
    cut = left_out = 0

    def new_sheet() -> Any:
        made = book.create_sheet(f"{table.stem} {len(book.worksheets) + 1}")
        made.append(names)
        return made

    def cell(value: Any) -> Any:
        """A text is a text whatever it begins with: a workbook would run one that begins with =."""
        nonlocal cut
        if isinstance(value, datetime):
            return value.replace(tzinfo=None)
        if isinstance(value, list):
            value = " ".join(value)
        if not isinstance(value, str):
            return value
        plain = _NOT_IN_XML.sub("\ufffd", value)[:MOST_CHARACTERS]
        cut += plain != value or (whole and "\r" in value)  # XML has no line ends but one
        made = cells.WriteOnlyCell(sheet, plain)
        made.data_type = "s"
        return made

    sheet, left = new_sheet(), MOST_ROWS - 1
    for batch in _batches(table, columns):
        for row in zip(*(array.to_pylist() for array in batch.columns), strict=True):
            if not left:
                sheet, left = new_sheet(), MOST_ROWS - 1
            before, made = cut, [cell(value) for value in row]
            if whole and cut > before:
                left_out += 1
                continue
            sheet.append(made)
            left -= 1
    book.save(path)
    return left_out if whole else cut


def _rows_of(path: Path) -> Iterator[tuple[Any, ...]]:
    """What a typed file says, row by row, its heading first."""
    if path.suffix == f".{TSV}":
        yield from map(tuple, _cells_of(path, "\t"))
        return
    if path.suffix == f".{PARQUET}":
        with pq.ParquetFile(path) as file:
            yield tuple((field.name, str(field.type)) for field in file.schema_arrow)
            for batch in file.iter_batches():
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        return
    book = openpyxl.load_workbook(path, read_only=True)
    try:
        for sheet in book.worksheets:
            for row in sheet.iter_rows(values_only=True):
                cells_there = len(row)
                while cells_there and row[cells_there - 1] is None:
                    cells_there -= 1
                yield row[:cells_there]  # whether a row is filled up to the end is left to who writes it
    finally:
        book.close()
