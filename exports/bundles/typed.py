"""A table of an export as Parquet, as an XLSX workbook, or as TSV: the same cells as the CSV, taken as they are made.

What comes as lines of CSV is read off them, so that it cannot say anything else; labels, of which there are most,
come as columns beside their lines (`exports.bundles.labels`). Files are compared by what they say, not byte for byte:
another version of the library that writes them writes other bytes.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from itertools import zip_longest
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotators.errors import InvalidInput
from annotators.files import under_way
from annotators.later import Later
from exports.bundles.arrow import batches_of_file, batches_of_lines, schema_of
from exports.bundles.columns import Column, ColumnKind, columns_of, columns_of_items, data_dictionary
from exports.cells import in_xml, lines_of, original
from exports.sinks import CannotBeRead, Out, Sink

if TYPE_CHECKING:
    import openpyxl
    import pyarrow as pa
    import pyarrow.parquet as pq
    from openpyxl import cell as cells
else:
    pa, pq = Later("pyarrow"), Later("pyarrow.parquet")
    openpyxl, cells = Later("openpyxl"), Later("openpyxl.cell")

PARQUET, XLSX, TSV = "parquet", "xlsx", "tsv"
TYPED = (PARQUET, XLSX, TSV)

DICTIONARY = "data_dictionary.csv"

MOST_ROWS = 1_048_576
"""Rows of a sheet, the heading among them; what a table has more goes on in a second sheet."""
MOST_CHARACTERS = 32_767
"""Characters of a cell of a workbook."""

_ROWS_OF_GROUP = 30_000
_RANGED = (ColumnKind.WHOLE, ColumnKind.NUMBER, ColumnKind.TRUTH, ColumnKind.TIME, ColumnKind.CATEGORY)
"""Columns of which a Parquet file says the least and the greatest value of a group, by which readers pass groups over.

Of texts and ids it says nothing: it passes over no group, and is a fifth of the time that writing takes.
"""
_LONGEST_CELL = 1 << 30


def check_typed(names: Sequence[str]) -> tuple[str, ...]:
    """The file types, each once; InvalidInput for another."""
    for name in names:
        if name not in TYPED:
            raise InvalidInput(f"{name!r} is no type of table besides CSV. Known: {', '.join(TYPED)}.")
    return tuple(dict.fromkeys(names))


def headings_of(table: Path) -> list[str]:
    """The names of the columns of a table (a CSV file of `csv_file`), as they were before they were guarded."""
    return [original(cell) for cell in next(_cells_of(table, ","))]


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
    file_of_type = _ParquetFile(path, columns) if path.suffix == f".{PARQUET}" else _Workbook(path, columns, whole)
    for batch in batches_of_file(table, columns):
        file_of_type.add(b"", batch)
    return file_of_type.close()


def first_difference(there: Path, made: Path, *, only: Callable[[str], bool] | None = None) -> int | None:
    """The first line (the heading is 1) in which two files of one type say something else; None if they are alike.

    With `only`, they are alike where the rows of `there` whose first cell it takes stand in `made`, wherever that is.
    Raises CannotBeRead where `there` is damaged before they differ.
    """
    if only is not None:
        known = set(_rows_of(made))
        lines = enumerate(_rows_there(there), 1)
        return next((line for line, row in lines if not row or (only(str(row[0])) and row not in known)), None)
    rows = zip_longest(_rows_there(there), _rows_of(made))
    return next((line for line, (one, other) in enumerate(rows, 1) if one != other), None)


class TypedFiles:
    """Files of one table in several types, which take its rows as they are made (`exports.sinks.Rows`)."""

    def __init__(self, folder: Path, name: str, types: Sequence[str]) -> None:
        self._folder, self._name, self._types = folder, name, types
        self._files: dict[str, _ParquetFile | _Workbook | _TsvFile] = {}
        self.columns: tuple[Column, ...] = ()

    def begin(self, names: Sequence[str]) -> None:
        """The columns that the table has."""
        self.columns = columns_of(self._name, names)
        self._files = {
            kind: _MADE_BY[kind](self._folder / f"{self._name}.{kind}", self.columns) for kind in self._types
        }

    def add_lines(self, lines: bytes) -> None:
        """Rows as lines of CSV."""
        if self._types == (TSV,):
            self._files[TSV].add(lines, None)
            return
        for batch in batches_of_lines(lines, self.columns):
            self.add_batch(lines, batch)
            lines = b""

    def add_batch(self, lines: bytes, batch: pa.RecordBatch) -> None:
        """Rows as lines of CSV and the same as a record batch."""
        for file in self._files.values():
            file.add(lines, batch)

    def close(self) -> Iterator[tuple[str, Path, int]]:
        """End the files: the type, path and number of cut cells of each."""
        for kind, file in self._files.items():
            yield kind, file.path, file.close()


class Batches:
    """Keeps the rows of a table as record batches, in memory (`exports.sinks.Rows`)."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._columns: tuple[Column, ...] = ()
        self._batches: list[pa.RecordBatch] = []

    def begin(self, names: Sequence[str]) -> None:
        """The columns that the table has."""
        self._columns = columns_of(self._name, names)

    def add_lines(self, lines: bytes) -> None:
        """Rows as lines of CSV."""
        self._batches += batches_of_lines(lines, self._columns)

    def add_batch(self, _lines: bytes, batch: pa.RecordBatch) -> None:
        """Rows as a record batch."""
        self._batches.append(batch)

    def table(self) -> pa.Table:
        """All rows."""
        return pa.Table.from_batches(self._batches, schema=schema_of(self._columns)).unify_dictionaries()


class Tables:
    """Writes the tables of an export, each as CSV and in the types that are asked for; counts their rows.

    With types, `end` adds the data dictionary of the tables that were written.
    """

    def __init__(self, sink: Sink, typed: Sequence[str], counts: dict[str, int]) -> None:
        self.sink, self._typed, self._counts = sink, tuple(typed), counts
        self._written: dict[str, dict[str, Column]] = {}

    def write(self, name: str, write: Callable[[Out], int], folder: str = "", *, counted: bool = True) -> None:
        """Write a table (its name in `columns.TABLES`) into a folder of the export.

        Its rows are counted under its name, unless `counted` is off: what a row is says more then than what its file
        is called.
        """
        if not self._typed:
            with self.sink.open(f"{folder}{name}.csv") as out:
                rows = write(out)
            self._count_rows(name, rows, counted=counted)
            return
        with under_way() as place:
            files = TypedFiles(place, name, self._typed)
            with self.sink.open(f"{folder}{name}.csv", typed=files) as out:
                rows = write(out)
            self._count_rows(name, rows, counted=counted)
            self._written.setdefault(name, {}).update((column.name, column) for column in files.columns)
            for kind, made, cut in files.close():
                if cut:
                    self.count(f"{kind}_cells_cut", cut)
                self.sink.put(f"{folder}{made.name}", made, rows, first_difference)

    def put(self, path: str, table: Path, rows: int, only: Callable[[str], bool] | None, *, typed: bool = True) -> None:
        """A table that is made already, a CSV file called as it is in `columns.TABLES`, at this path of the export.

        It goes there in each type as well, unless `typed` is false. Where it is compared, with `only` it is by the rows
        whose first cells that takes (`first_difference`).
        """
        difference = partial(first_difference, only=only)
        self.sink.put(path, table, rows, difference)
        columns = columns_of(table.stem, headings_of(table))
        for kind in self._typed if typed else ():
            made = table.with_suffix(f".{kind}")
            write_typed(made, table, columns)
            self.sink.put(str(Path(path).with_suffix(f".{kind}")), made, rows, difference)
            self._written[table.stem] = {column.name: column for column in columns}

    def _count_rows(self, name: str, rows: int, *, counted: bool) -> None:
        if counted:
            self.count(name, rows)

    def count(self, name: str, n: int) -> None:
        """So many more of these are in the export."""
        self._counts[name] = self._counts.get(name, 0) + n

    @contextmanager
    def items(self, path: str) -> Iterator[Out]:
        """The CSV file of items at this path of the export, written by the block; in other types it holds whole items.

        An item that a type cannot hold as it is is left out there, and counted.
        """
        if not self._typed:
            with self.sink.open(path) as out:
                yield out
            return
        with under_way() as place:
            table = place / Path(path).name
            with table.open("wb") as beside, self.sink.open(path, beside=beside) as out:
                yield out
            columns = columns_of_items(headings_of(table))
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


# Files of each type --------------------------------------------------------------------------------------------------


class _ParquetFile:
    """A Parquet file, written a group of rows at a time, so that no more than one is held."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self.path = path
        self._schema = schema_of(columns)
        ranged = [column.name for column in columns if column.kind in _RANGED]
        self._writer = pq.ParquetWriter(path, self._schema, compression="zstd", write_statistics=ranged)
        self._held: list[pa.RecordBatch] = []

    def add(self, _lines: bytes, batch: pa.RecordBatch) -> None:
        self._held.append(batch)
        if sum(map(len, self._held)) >= _ROWS_OF_GROUP:
            self._write()

    def _write(self) -> None:
        if self._held:
            self._writer.write_table(pa.Table.from_batches(self._held, schema=self._schema))
            self._held = []

    def close(self) -> int:
        self._write()
        self._writer.close()
        return 0


class _TsvFile:
    """The lines of CSV with tabs."""

    def __init__(self, path: Path, columns: Sequence[Column]) -> None:
        self.path = path
        self._file = path.open("w", encoding="utf-8", newline="")
        self._write([[column.name for column in columns]])

    def add(self, lines: bytes, _batch: object) -> None:
        self._write(_rows_of_lines(io.StringIO(lines.decode(), newline=""), ","))

    def _write(self, rows: Iterable[list[str]]) -> None:
        self._file.writelines(f"{line}\n" for line in lines_of(rows, "\t"))

    def close(self) -> int:
        self._file.close()
        return 0


_LIKE_ESCAPED = re.compile(r"_(?=x[0-9A-Fa-f]{4}_)")
"""The underscore before what readers of workbooks would take for a sign that was escaped: `_x0041_`."""


class _Workbook:
    """A workbook. A text is a text whatever it begins with: a workbook would run one that begins with =."""

    def __init__(self, path: Path, columns: Sequence[Column], whole: bool = False) -> None:
        self.path, self._whole = path, whole
        self._names = [column.name for column in columns]
        self._book = openpyxl.Workbook(write_only=True)
        self._cut = self._left_out = self._left = 0
        self._new_sheet()

    def _new_sheet(self) -> None:
        self._sheet = self._book.create_sheet(f"{self.path.stem} {len(self._book.worksheets) + 1}")
        self._sheet.append([self._cell(name) for name in self._names])
        self._left = MOST_ROWS - 1

    def add(self, _lines: bytes, batch: pa.RecordBatch) -> None:
        for row in zip(*(array.to_pylist() for array in batch.columns), strict=True):
            if not self._left:
                self._new_sheet()
            before, made = self._cut, [self._cell(value) for value in row]
            if self._whole and self._cut > before:
                self._left_out += 1
                continue
            self._sheet.append(made)
            self._left -= 1

    def _cell(self, value: Any) -> Any:
        if isinstance(value, datetime):
            return value.replace(tzinfo=None)
        if isinstance(value, list):
            value = " ".join(value)
        if not isinstance(value, str):
            return value
        plain = in_xml(value)[:MOST_CHARACTERS]
        said = _LIKE_ESCAPED.sub("_x005F_", plain)
        self._cut += plain != value or (self._whole and "\r" in value)  # XML has no line ends but one
        made = cells.WriteOnlyCell(self._sheet, said)
        made.data_type = "s"
        return made

    def close(self) -> int:
        self._book.save(self.path)
        return self._left_out if self._whole else self._cut


_MADE_BY: dict[str, type[_ParquetFile | _Workbook | _TsvFile]] = {
    PARQUET: _ParquetFile,
    XLSX: _Workbook,
    TSV: _TsvFile,
}


def _cells_of(table: Path, delimiter: str) -> Iterator[list[str]]:
    """The rows of a CSV or TSV file of ours, its heading first, as they stand there."""
    with table.open(encoding="utf-8", newline="") as lines:
        yield from _rows_of_lines(lines, delimiter)


def _rows_of_lines(lines: Iterable[str], delimiter: str) -> Iterator[list[str]]:
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


def _rows_there(path: Path) -> Iterator[tuple[Any, ...]]:
    """What a table says that may have been damaged; CannotBeRead where it was."""
    try:
        yield from _rows_of(path)
    except Exception as error:  # whatever a library meets in a file that is none
        raise CannotBeRead(str(path)) from error


def _rows_of(path: Path) -> Iterator[tuple[Any, ...]]:
    """What a table says, by its ending, row by row, its heading first; of a workbook without empty cells at the end."""
    if path.suffix in (".csv", f".{TSV}"):
        yield from map(tuple, _cells_of(path, "," if path.suffix == ".csv" else "\t"))
        return
    if path.suffix == f".{PARQUET}":
        with pq.ParquetFile(path) as file:
            yield tuple((field.name, str(field.type)) for field in file.schema_arrow)
            for batch in file.iter_batches():
                yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)
        return
    with path.open("rb") as file:  # a book that cannot be opened leaves its file open
        book = openpyxl.load_workbook(file, read_only=True)
        for sheet in book.worksheets:
            for row in sheet.iter_rows(values_only=True):
                cells_there = len(row)
                while cells_there and row[cells_there - 1] is None:
                    cells_there -= 1
                yield row[:cells_there]  # whether a row is filled up to the end is left to who writes it
