"""Tables from strangers as rows with their lines: CSV and TSV, Parquet, XLSX, JSON.

Memory does not grow with the table, but with one that is JSON and no JSON lines.
"""

from __future__ import annotations

import csv
import math
import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from datetime import date, datetime, time
from decimal import Decimal
from io import TextIOWrapper
from itertools import chain, islice
from pathlib import Path
from typing import Any

from annotators.errors import InvalidInput
from annotators.figures import count
from exports.cells import original
from exports.reading.archives import check_swelling
from exports.reading.budget import Budget
from exports.reading.encodings import as_utf8, encoded_as, encoding_of, encoding_of_bytes, opened_text
from exports.reading.parquet import parquet_batches, said_of_unread, values_of
from exports.reading.records import ROWS, exploded, rows_of_json, with_paths

ENDINGS = (".csv", ".tsv", ".parquet", ".xlsx")
LONGEST_CELL = 16 << 20
"""Characters that a cell may have."""

MOST_COLUMNS = 2_000
_DELIMITERS = ",;\t|"
_ROWS_AT_ONCE = 500
_LAST_ROW = 1 << 20
"""The last row that a sheet can have."""

_LARGEST_SHEET = 512 << 20
"""Bytes that the parts of a workbook may have together, unpacked."""

_LONG_LINE = 1 << 20
_FREE_TEXTS, _TEXTS_A_BYTE = 200_000, 2
"""Texts that a workbook may have, and how many more for each of its bytes: each takes long to read, be it empty."""

_LARGEST_PART = 64 << 20
"""Bytes that the parts may have together that are read whole: all but the sheets."""

LONGEST_ROW = 32 << 20
"""Characters that a row of a text table may have."""


MOST_BAD = 10_000
TOO_MANY_BAD = f"{MOST_BAD:,} rows are bad, and nothing behind them is read. Correct them first."
"""What is said of the row after which a table is not read on: each bad row is kept with its reason."""


@dataclass
class Table:
    """A table whose first row names its columns. `lines` says where each row stands (Parquet: which row it is, from 1).

    A row is its cells in the order of the columns, or a text that says why it cannot be read. A cell is a text, or of a
    typed table any JSON value; an empty one is None. `notes` says what is worth reading about the file.
    """

    columns: list[str]
    rows: Iterator[tuple[int, list[Any] | str]]
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Opening:
    """How a table is opened where it is to be otherwise than it looks: its encoding, its sheet, where in JSON its rows
    are, of which nested lists each element is a row, and the nested fields (by path) that are columns of their own.
    """

    encoding: str | None = None
    sheet: str | None = None
    records: str | None = None
    each: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """What is not as it looks, as plain data."""
        return {name: list(said) if isinstance(said, tuple) else said for name, said in vars(self).items() if said}

    @classmethod
    def of_json(cls, said: Mapping[str, Any]) -> Opening:
        """From what `to_json` gave."""
        return cls(
            said.get("encoding"), said.get("sheet"), said.get("records"), tuple(said.get("each", ())),
            tuple(said.get("paths", ())),
        )  # fmt: skip


USUAL = Opening()


def is_table(name: str) -> bool:
    """Whether a file's name, in lower case, says that it is a table."""
    return name.endswith(ENDINGS)


_OPENED_AS: ContextVar[Opening] = ContextVar("opened_as", default=USUAL)


@contextmanager
def opened_as(opening: Opening) -> Iterator[None]:
    """In the block tables are opened so, and texts read in its encoding, where nothing else is said of them."""
    token = _OPENED_AS.set(opening)
    try:
        with encoded_as(opening.encoding):
            yield
    finally:
        _OPENED_AS.reset(token)


def open_table(
    path: Path,
    *,
    numbered: bool = True,
    empty_texts: bool = False,
    left_out: str | None = None,
    opening: Opening = USUAL,
) -> Table:
    """A table; InvalidInput where there is none, a heading is missing or stands twice, or the file is no safe one.

    A first column without a name numbers the rows, as pandas writes it, and is left out; else (`numbered` False) it is
    a column with an empty name. With `empty_texts` a text of Parquet that is empty is one: there alone it is known from
    no value. `left_out` is a column of Parquet that is not read, whatever is in it.
    """
    ending = path.suffix.lower()
    if replace(opening, paths=()) == USUAL:
        opening = replace(_OPENED_AS.get(), paths=opening.paths)
    if ending == ".parquet":
        table = _parquet(path, empty_texts=empty_texts, left_out=left_out)
    elif ending == ".xlsx":
        table = _without_questions(path, _sheet(path, opening.sheet))
    elif ending in ROWS:
        columns, rows, notes = rows_of_json(path, encoding=opening.encoding, records=opening.records)
        table = Table(_headings(columns, typed=True), _plain_rows(columns, rows, empty_texts=empty_texts), notes)
    else:
        table = _without_questions(path, _delimited(path, opening.encoding))
    table = table if table.columns[0] or not numbered else _without_numbers(path, table)
    if opening.each:
        table.columns, table.rows = exploded(table.columns, table.rows, opening.each)
    table.columns, table.rows = with_paths(table.columns, table.rows, opening.paths)
    return table


def named_table(path: Path, *, numbered: bool = True, opening: Opening = USUAL) -> Table:
    """As `open_table`, with errors that name the file."""
    try:
        return open_table(path, numbered=numbered, opening=opening)
    except InvalidInput as error:
        raise InvalidInput(f"{path.name}: {error}") from None


def heading_of(beginning: bytes) -> list[str]:
    """The columns that the first line of a CSV or TSV file names, from its first bytes; none where it is none."""
    plain = as_utf8(beginning, encoding_of_bytes(beginning))
    lines = plain.decode(errors="replace").splitlines(keepends=True)[: _SNIFFED + 1]
    lines = lines[:-1] if len(lines) > 2 else lines  # the last one may be cut off
    if not lines:
        return []
    told = _told(lines[0])
    lines = lines[1:] if told and len(lines) > 1 else lines
    try:
        rows = [(n, [cell or None for cell in row]) for n, row in enumerate(
            csv.reader(lines, delimiter=told or _delimiter(lines)), 1) if any(row)]  # fmt: skip
    except csv.Error:
        return []
    return [(name or "").strip() for name in rows[_heading_place(rows)][1]] if rows else []


def _told(line: str) -> str | None:
    """What separates cells where the first line says so, as Excel writes it: `sep=;`."""
    said = line.strip().lower()
    return said[4] if len(said) == 5 and said.startswith("sep=") else None


_SNIFFED = 40
"""Lines of a text table by which one knows what separates its cells, and rows among which its heading is."""

_SNIFFED_CHARACTERS = 1 << 16


def _delimiter(lines: Sequence[str]) -> str:
    """What separates the cells of a text table that begins so: what gives most rows as many cells as the heading.

    Where the first line is none (a title, say), it is what gives all others the same number.
    """
    there = [line for line in lines if line.strip()][:_SNIFFED]
    if not there:
        return _DELIMITERS[0]
    best, found = (0.0, 0), max(_DELIMITERS, key=there[0].count)
    for delimiter in _DELIMITERS:
        with suppress(csv.Error):
            wide = [len(row) for row in csv.reader(there, delimiter=delimiter) if row]
            rest = Counter(wide[1:] or wide).most_common(1)
            modal, share = rest[0][0], rest[0][1] / max(1, len(wide) - 1)
            is_titled = wide[0] == 1 and share == 1 and modal > 2
            if modal > 1 and (wide[0] > 1 or is_titled) and (score := (share + (wide[0] == modal), modal)) > best:
                best, found = score, delimiter
    return found


def _heading_place(begun: Sequence[tuple[int, list[Any] | str]]) -> int:
    """Which of the first rows names the columns: the first, but where that is a title above wider rows.

    A title has one cell, or stands above some of the columns alone; below it comes a row of as many different names
    as there are columns.
    """
    rows = [cells if not isinstance(cells, str) else [] for _, cells in begun]
    wide = [max((n for n, cell in enumerate(cells, 1) if cell is not None), default=0) for cells in rows]
    widest = max(wide, default=0)
    if not rows or widest < 2 or wide[0] >= widest:
        is_group = bool(rows) and len(rows) > 2 and widest > 2 and rows[0][0] is None and None in rows[0][1:widest]
        if not is_group:
            return 0
    for place, cells in enumerate(rows[:10]):
        names = [cell.strip() if isinstance(cell, str) else cell for cell in cells[:widest]]
        is_heading = len(names) == widest and all(isinstance(name, str) and name for name in names)
        if place and is_heading and len(set(names)) == widest and not any(_is_number(name) for name in names):
            return place
        is_title = sum(cell is not None for cell in cells) < 2 or cells[0] is None
        if not is_title and not (place + 1 < len(rows) and cells[0] == rows[place + 1][0]):
            return 0
    return 0


def _is_number(text: str) -> bool:
    return re.fullmatch(r"[+-]?\d+(?:[.,]\d+)?", text) is not None


def _named_columns(
    path: Path, rows: Iterator[tuple[int, list[Any] | str]]
) -> tuple[list[str], Iterator[tuple[int, list[Any] | str]], list[str]] | None:
    """The columns, the rows below their names, and what is to be said of it; None of a table without rows.

    Titles above the names are passed over, and so are columns that have neither a name nor anything else.
    """
    begun = list(islice(rows, _SNIFFED))
    if not begun:
        return None
    place = _heading_place(begun)
    heading = begun[place][1]
    if isinstance(heading, str):
        raise InvalidInput(heading.replace("the row", "the first row", 1))
    notes = []
    if place:
        notes.append(f"{path.name}: the columns are named in line {begun[place][0]}; what stands above is left out.")
    columns = _headings(heading, spaced=True)
    below = _as_wide_as(columns, chain(begun[place + 1 :], rows))
    if "" not in columns[1:]:
        return columns, below, notes
    kept = [n for n, name in enumerate(columns) if name or not n]
    unnamed = [n + 1 for n in range(len(columns)) if n not in kept]
    for _, cells in begun[place + 1 :]:
        if filled := next(
            (n for n in unnamed if not isinstance(cells, str) and cells[n - 1 : n] not in ([], [None])), 0
        ):
            raise InvalidInput(f"column {filled} has no name. Write one into the first row.")
    notes.append(f"{path.name}: {_columns_in_words(unnamed)} no name and nothing else: left out.")
    return [columns[n] for n in kept], _without_unnamed(kept, unnamed, below), notes


def _columns_in_words(numbers: Sequence[int]) -> str:
    if len(numbers) == 1:
        return f"column {numbers[0]} has"
    return f"columns {', '.join(map(str, numbers[:10]))}{' …' if len(numbers) > 10 else ''} have"


def _without_unnamed(
    kept: Sequence[int], unnamed: Sequence[int], rows: Iterator[tuple[int, list[Any] | str]]
) -> Iterator[tuple[int, list[Any] | str]]:
    for line, cells in rows:
        if isinstance(cells, str):
            yield line, cells
            continue
        filled = next((n for n in unnamed if cells[n - 1] is not None), None)
        if filled is not None:
            yield line, f"column {filled} has no name. Write one into the first row."
        else:
            yield line, [cells[n] for n in kept]


def _headings(cells: Iterable[Any], *, typed: bool = False, spaced: bool = False) -> list[str]:
    """The names of columns, of which the first may have none, and with `spaced` any.

    Those at the end that have none are left out, as rows may end with empty cells; not of a table with types (`typed`),
    where they are columns as any other.
    """
    columns = ["" if cell is None else str(cell).strip() for cell in cells]
    while columns and not columns[-1] and not typed:
        columns.pop()
    if not any(columns):
        raise InvalidInput("the first row names no columns. Write their names into the first row.")
    if len(columns) > MOST_COLUMNS:
        raise InvalidInput(f"the table has {len(columns):,} columns, more than {MOST_COLUMNS:,}. Write one item a row.")
    if "" in columns[1:] and not spaced:
        place = columns.index("", 1) + 1
        raise InvalidInput(f"column {place} has no name. {'Name it' if typed else 'Write one into the first row'}.")
    twice = next((name for place, name in enumerate(columns) if name and name in columns[:place]), None)
    if twice is not None:
        raise InvalidInput(f"the first row names the column {twice[:80]!r} twice. Rename one of the two.")
    unfit = next((name for name in columns if "�" in name or "\x00" in name), None)
    if unfit is not None:
        raise InvalidInput(f"the column {unfit[:80]!r} is not in the file's encoding. Save the table as UTF-8.")
    return columns


# CSV and TSV ----------------------------------------------------------------------------------------------------------


def _delimited(path: Path, named: str | None) -> Table:
    found = _named_columns(path, _csv_rows(path, named))
    if found is None:
        raise InvalidInput("the file is empty. Supply it again, or leave it out.")
    columns, rows, notes = found
    note = encoding_of(path, named).note(path.name)
    return Table(columns, rows, [*([note] if note else []), *notes])


_IMPORT_ID = '{"ImportId"'
"""What Qualtrics writes into each cell of the third row of a table: what the column is called there."""


def _without_questions(path: Path, table: Table) -> Table:
    """The table without the two rows that Qualtrics writes below the names: the questions in full, and their ids."""
    begun = list(islice(table.rows, 2))
    rows = chain(begun, table.rows)
    if len(begun) == 2 and _are_import_ids(begun[1][1]):
        note = (
            f"{path.name}: lines {begun[0][0]} and {begun[1][0]}, which have Qualtrics' questions and ids, are no rows."
        )
        return Table(table.columns, table.rows, [*table.notes, note])
    return Table(table.columns, rows, table.notes)


def _are_import_ids(cells: list[Any] | str) -> bool:
    there = [] if isinstance(cells, str) else [cell for cell in cells if cell is not None]
    return bool(there) and all(isinstance(cell, str) and cell.startswith(_IMPORT_ID) for cell in there)


def _without_numbers(path: Path, table: Table) -> Table:
    """The table without its first column; a row in which that is no number is a bad one."""

    def without(cells: list[Any] | str) -> list[Any] | str:
        if isinstance(cells, str) or cells[0] is None or str(cells[0]).isdecimal():
            return cells if isinstance(cells, str) else cells[1:]
        return f"its first column has no name and holds {str(cells[0])[:80]!r}. Write a name into the first row."

    note = f"{path.name}: the first column, which has no name and numbers the rows, is left out."
    return Table(table.columns[1:], ((line, without(cells)) for line, cells in table.rows), [*table.notes, note])


def _csv_rows(path: Path, named: str | None) -> Iterator[tuple[int, list[Any] | str]]:
    """(line, cells as they stand, or what is wrong) of every row that is not blank."""
    with opened_text(path, named) as text:
        first = text.readline(LONGEST_CELL)
        told = _told(first)
        place = text.tell()
        more = text.read(_SNIFFED_CHARACTERS).splitlines(keepends=True)[:_SNIFFED]
        text.seek(place)
        delimiter = told or _delimiter([first, *(more[:-1] if len(more) > 1 else more)])
        lines = BoundedLines(text, delimiter, "" if told is not None else first)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line = reader.line_num + 1 + (told is not None)
            lines.begin_row()
            limit = csv.field_size_limit(LONGEST_CELL)  # of the whole process, so that it is put back at once
            try:
                cells = next(reader, None)
            except csv.Error as error:
                long = "field larger" in str(error)
                most = f"a cell has more than {LONGEST_CELL >> 20} million characters. Shorten it"
                other = f"the row cannot be read ({error}). Put cells with quotes or separators in double quotes"
                yield line, f"{most if long else other}."
                continue
            finally:
                csv.field_size_limit(limit)
            if cells is None:
                if lines.too_long:
                    yield line, ROW_TOO_LONG
                return
            if not any(cells):
                continue
            if len(cells) > _MOST_CELLS:
                yield line, f"the row has {len(cells):,} cells, more than {_MOST_CELLS:,}. Write one item a row."
                continue
            whole = "".join(cells)
            if "�" in whole:
                yield line, "the row is not in the file's encoding. Save the table as UTF-8 and import it again."
            elif "\x00" in whole:
                yield line, "the row has the character NUL, which cannot be stored. Remove it."
            else:
                yield line, [original(cell) if cell else None for cell in cells]


ROW_TOO_LONG = (
    f"the row has more than {LONGEST_ROW >> 20} million characters, or a great many lines or cells, and nothing behind "
    "it is read. Shorten it, and look for a double quote that is not closed."
)
_MOST_CELLS = 10 * MOST_COLUMNS
_MOST_LINES = 200_000
"""Lines that a row of a text table may have."""


class BoundedLines:
    """The lines of a text, until those of one row have more than `LONGEST_ROW` characters: then there are no more.

    A cell may have lines in it, so that a row has many, and a limit of each cell is none of the row. Nor is a row read
    whose `delimiter` is most of it. `begun` is a line that was read of the text before.
    """

    def __init__(self, text: TextIOWrapper, delimiter: str, begun: str = "") -> None:
        self._text, self._delimiter, self._begun = text, delimiter, begun
        self._left, self._lines = LONGEST_ROW, _MOST_LINES
        self.too_long = False

    def begin_row(self) -> None:
        """From here on the lines are those of the next row."""
        self._left, self._lines = LONGEST_ROW, _MOST_LINES

    def __iter__(self) -> BoundedLines:
        return self

    def __next__(self) -> str:
        if self._begun:
            line, self._begun = self._begun, ""
            if not line.endswith(("\n", "\r")):  # it was cut off where a cell is too long
                line += self._text.readline(self._left + 1)
        else:
            line = self._text.readline(self._left + 1)
        self._left -= len(line)
        self._lines -= 1
        many = len(line) > _LONG_LINE and line.count(self._delimiter) > len(line) // 2
        if self._left < 0 or self._lines < 0 or many:
            self.too_long = True
        if not line or self.too_long:
            raise StopIteration
        return line


def _as_wide_as(
    columns: Sequence[str], rows: Iterator[tuple[int, list[Any] | str]]
) -> Iterator[tuple[int, list[Any] | str]]:
    wide = len(columns)
    for line, cells in rows:
        if isinstance(cells, str) or len(cells) == wide:
            yield line, cells
        elif any(cell is not None for cell in cells[wide:]):
            said = f"the row has {count(len(cells), 'cell')} for {count(wide, 'column')}"
            yield line, f"{said}. Put cells with quotes or separators in double quotes."
        else:
            yield line, [*cells[:wide], *[None] * (wide - len(cells))]


# Parquet --------------------------------------------------------------------------------------------------------------


def _parquet(path: Path, *, empty_texts: bool, left_out: str | None) -> Table:
    import pyarrow as pa  # noqa: PLC0415 - large, and only for this kind of file
    import pyarrow.parquet as pq  # noqa: PLC0415

    damaged = (pa.ArrowException, OSError, ValueError, OverflowError)
    try:
        file = pq.ParquetFile(path)
        there = _headings(file.schema_arrow.names, typed=True)
        columns = [column for column in there if column != left_out]
    except MemoryError:
        raise
    except damaged as error:
        raise InvalidInput(f"it cannot be read as Parquet ({str(error).splitlines()[0]}). Write it again.") from None

    def rows() -> Iterator[tuple[int, list[Any] | str]]:
        number = 0
        try:
            for batch in parquet_batches(path, _ROWS_AT_ONCE):
                kept = (column for name, column in zip(there, batch.columns, strict=True) if name != left_out)
                for cells in zip(*map(values_of, kept), strict=True):
                    number += 1
                    unread = said_of_unread(columns, cells)
                    yield number, unread or _plain_row(cells, columns, empty_texts=empty_texts)
        except InvalidInput as error:
            yield number + 1, str(error)
        except MemoryError:  # Arrow has one of its own that is one of its exceptions as well
            raise
        except damaged as error:
            said = str(error).splitlines()[0]
            yield number + 1, f"the file cannot be read from here on ({said}). Write it again."

    return Table(columns, rows())


# XLSX -----------------------------------------------------------------------------------------------------------------


def _sheet(path: Path, wanted: str | None = None) -> Table:
    """The first sheet of a workbook, or the one of this name.

    Formulas count as what they came to when it was saved, and are never run.
    """
    try:
        check_swelling(path, most=_LARGEST_SHEET)
        _check_parts(path)
    except (zipfile.BadZipFile, OSError) as error:
        raise InvalidInput(f"it cannot be read as XLSX ({error}). Save it again, or as CSV in UTF-8.") from None
    signs = _signs_in(path)
    rows = _sheet_rows(path, wanted)
    name, others = next(rows)
    found = _named_columns(path, rows)
    named = ", ".join(repr(other[:80]) for other in others[:5])
    which = "first sheet" if wanted is None else "sheet"
    if found is None:
        raise InvalidInput(f"its {which} {name[:80]!r} is empty. Name another with --sheet, or move the table there.")
    columns, below, said = found
    if others:
        first = next(below, None)
        if first is None:
            raise InvalidInput(
                f"its {which} {name[:80]!r} has no rows below the names of columns. Name another with --sheet: {named}."
            )
        below = chain([first], below)
    notes = [f"{path.name}: the sheet {name[:80]!r} is read{f', not {named}' if others else ''}."
             ] if others or wanted else []  # fmt: skip
    notes += said
    notes += _about_formulas(path, wanted) if signs & _FORMULA else ()
    if _MERGED in signs:
        notes.append(f"{path.name}: it has merged cells. Each of the cells that are merged has their value.")
    return Table(columns, below, notes)


def _about_formulas(path: Path, wanted: str | None) -> Iterator[str]:
    """How many cells of the sheet are formulas, and how many of these nobody has worked out."""
    n = empty = 0
    with suppress(Exception):  # what cannot be read, or is too much, is told by the rows
        said, made = (_cells_of_sheet(path, wanted, data_only=kind) for kind in (False, True))
        for formula, value in zip(said, made, strict=False):
            is_one = isinstance(formula, str) and formula.startswith("=") and formula != value
            n, empty = n + is_one, empty + (is_one and value is None)
    if n:
        never = f", and {count(empty, 'is', 'are')} empty, as nothing has worked them out" if empty else ""
        yield (
            f"{path.name}: {count(n, 'cell is a formula', 'cells are formulas')}. A formula counts as what it came to "
            f"when the workbook was saved{never}. Texts that begin with = are written so by programs such as pandas."
        )


_FORMULA, _MERGED = frozenset((b"<f>", b"<f ")), b"<mergeCell "


def _budget_of(path: Path) -> Budget:
    return Budget(path.stat().st_size, "the workbook")


def _is_sheet(name: str) -> bool:
    return name.startswith("xl/worksheets/") and name.endswith(".xml")


def _check_parts(path: Path) -> None:
    """InvalidInput for a workbook whose parts that are read whole, as its texts are, are too large."""
    with zipfile.ZipFile(path) as book:
        whole = sum(info.file_size for info in book.infolist() if not _is_sheet(info.filename) and _is_read(info))
    if whole > _LARGEST_PART:
        raise InvalidInput(
            f"the workbook has {whole >> 20:,} MB of texts and styles, more than {_LARGEST_PART >> 20} MB. Save it as "
            "CSV in UTF-8."
        )
    most = _FREE_TEXTS + _TEXTS_A_BYTE * path.stat().st_size
    if (n := _n_texts(path)) > most:
        raise InvalidInput(f"the workbook has {n:,} texts, more than {most:,} for its size. Save it as CSV in UTF-8.")


def _n_texts(path: Path) -> int:
    """How many texts a workbook has beside its sheets."""
    n, before = 0, b""
    with zipfile.ZipFile(path) as book:
        if "xl/sharedStrings.xml" in book.namelist():
            with book.open("xl/sharedStrings.xml") as texts:
                while chunk := texts.read(1 << 20):
                    n += (before + chunk).count(b"<si")
                    before = chunk[-2:]
    return n


def _is_read(info: zipfile.ZipInfo) -> bool:
    return info.filename.endswith((".xml", ".rels"))


def _signs_in(path: Path) -> set[bytes]:
    """Which tags of formulas and of merged cells the sheets have; InvalidInput where a row is too long.

    A row is read whole, and each of its cells takes twenty times the memory that its tag does.
    """
    found: set[bytes] = set()
    with zipfile.ZipFile(path) as book:
        for name in filter(_is_sheet, book.namelist()):
            with book.open(name) as sheet:
                before, of_row, n_cells = b"", 0, 0
                while chunk := sheet.read(1 << 20):
                    text = before + chunk
                    found.update(sign for sign in (*_FORMULA, _MERGED) if sign in text)
                    before = text[1 - len(_MERGED) :]
                    end = chunk.rfind(b"</row")
                    of_row = of_row + len(chunk) if end < 0 else len(chunk) - end
                    n_cells = (n_cells if end < 0 else 0) + chunk.count(b"<c", max(0, end))
                    if of_row > _LONGEST_SHEET_ROW or n_cells > _MOST_CELLS_OF_SHEET_ROW:
                        raise InvalidInput(
                            f"a row of the sheet {name.rpartition('/')[2]} has more than {_LONGEST_SHEET_ROW >> 20} MB,"
                            " or more cells than a sheet has columns. Write one item a row, and large values as "
                            "documents of their own."
                        )
    return found


_LONGEST_SHEET_ROW = 8 << 20
_MOST_CELLS_OF_SHEET_ROW = 200_000


def _cells_of_sheet(path: Path, wanted: str | None, *, data_only: bool) -> Iterator[Any]:
    from openpyxl import load_workbook  # noqa: PLC0415 - as below

    workbook = load_workbook(path, read_only=True, data_only=data_only, keep_links=False)
    try:
        sheet: Any = _sheet_of(workbook, wanted)
        sheet.reset_dimensions()
        budget = _budget_of(path)
        for cells in sheet.iter_rows(values_only=True):
            budget.spend(cells=len(cells))
            yield from cells
    finally:
        workbook.close()


def _sheet_of(workbook: Any, wanted: str | None) -> Any:
    """The first sheet with cells of a workbook, or the one of this name; InvalidInput lists those that there are."""
    names = [sheet.title for sheet in workbook.worksheets]
    if wanted is None:
        return workbook.worksheets[0]
    if wanted not in names:
        raise InvalidInput(f"it has no sheet {wanted!r}. It has: {', '.join(names)[:500]}.")
    return workbook.worksheets[names.index(wanted)]


def _sheet_rows(path: Path, wanted: str | None) -> Iterator[Any]:
    """First the name of the sheet and of the others, then (line, cells) of every row of it that is not blank."""
    from openpyxl import load_workbook  # noqa: PLC0415 - a tenth of a second, and only for this kind of file

    try:
        workbook = load_workbook(path, read_only=True, data_only=True, keep_links=False)
        try:
            if not workbook.worksheets:
                yield "none", []
                return
            sheet: Any = _sheet_of(workbook, wanted)
            yield sheet.title, [other.title for other in workbook.worksheets if other.title != sheet.title]
            sheet.reset_dimensions()  # what the file says of its size may be untrue
            budget = _budget_of(path)
            merged = _Merged(path, sheet)
            for line, cells in enumerate(sheet.iter_rows(values_only=True), 1):
                if line > _LAST_ROW:
                    raise ValueError(f"more than {_LAST_ROW:,} rows")
                budget.spend(sum(len(cell) for cell in cells if isinstance(cell, str)), len(cells))
                if any(cell is not None for cell in cells):
                    yield line, _plain_row(merged.filled(line, [_of_sheet(cell) for cell in cells]))
        finally:
            workbook.close()
    except (GeneratorExit, InvalidInput, MemoryError):
        raise
    except Exception as error:  # whatever the library meets in a file that is none
        said = str(error).strip().splitlines() or [type(error).__name__]
        raise InvalidInput(f"it cannot be read as XLSX ({said[0][:200]}). Save it again, or as CSV in UTF-8.") from None


class _Merged:
    """The merged cells of a sheet: each of them says what the first does.

    In the first row a cell over several columns is a title, and the name of none.
    """

    def __init__(self, path: Path, sheet: Any) -> None:
        self._from: dict[int, list[tuple[int, int, int]]] = {}
        self._open: dict[int, tuple[int, Any]] = {}
        with zipfile.ZipFile(path) as book, book.open(str(sheet._worksheet_path).lstrip("/")) as part:
            before, n = b"", 0
            while chunk := part.read(1 << 20):
                text = before + chunk
                if _MERGED in text:
                    for found in _MERGED_CELLS.finditer(text):
                        n += 1
                        if n > _MOST_MERGED:
                            raise InvalidInput(f"it has more than {_MOST_MERGED:,} merged cells. Split them.")
                        left, top, right, bottom = (found[i].decode() for i in range(1, 5))
                        columns = _column_number(left), _column_number(right)
                        if (int(top) > 1 or left == right) and columns[1] - columns[0] < MOST_COLUMNS:
                            self._from.setdefault(int(top), []).append((*columns, int(bottom)))
                before = text[-200:]

    def filled(self, line: int, cells: list[Any]) -> list[Any]:
        """The cells of a row, with what is merged into it from above and beside."""
        for left, right, bottom in self._from.get(line, ()):
            value = cells[left - 1] if left <= len(cells) else None
            self._open |= dict.fromkeys(range(left, right + 1), (bottom, value))
        if not self._open:
            return cells
        found = [*cells, *[None] * (max(self._open) - len(cells))]
        for column, (bottom, value) in list(self._open.items()):
            if found[column - 1] is None:
                found[column - 1] = value
            if bottom <= line:
                del self._open[column]
        return found


_MERGED_CELLS = re.compile(rb'<mergeCell ref="([A-Z]{1,3})(\d{1,7}):([A-Z]{1,3})(\d{1,7})"')
_MOST_MERGED = 200_000


def _column_number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - 64
    return number


_ESCAPED = re.compile(r"_x([0-9A-Fa-f]{4})_")
"""A sign as workbooks write those that XML has no place for, and what would look like one."""


def _of_sheet(cell: Any) -> Any:
    """A cell of a sheet: signs that were escaped as they were."""
    if isinstance(cell, str) and "_x" in cell:
        return _ESCAPED.sub(lambda sign: chr(int(sign[1], 16)), cell)
    return cell


# Cells ----------------------------------------------------------------------------------------------------------------


def _plain_rows(
    columns: Sequence[str], rows: Iterator[tuple[int, list[Any] | str]], *, empty_texts: bool
) -> Iterator[tuple[int, list[Any] | str]]:
    for line, cells in rows:
        yield line, cells if isinstance(cells, str) else _plain_row(cells, columns, empty_texts=empty_texts)


def _plain_row(cells: Sequence[Any], columns: Sequence[str] = (), *, empty_texts: bool = False) -> list[Any] | str:
    """Cells as JSON values, None where they are empty; or what is wrong with one of a table with these columns."""
    try:
        return [_plain(cell) if empty_texts or cell != "" else None for cell in cells]
    except ValueError:
        return said_of_bytes(zip(columns, cells, strict=False))


def said_of_bytes(row: Iterable[tuple[str, Any]]) -> str:
    """What is said of a row, column by column, of which one holds bytes, itself or within."""
    column = next((column for column, cell in row if _holds_bytes(cell)), "")
    return f"the column {column[:80]!r} holds bytes, not a text. Write it as a text, or leave the column out."


def _holds_bytes(cell: Any) -> bool:
    parts = cell.values() if isinstance(cell, dict) else cell if isinstance(cell, list | tuple) else ()
    return isinstance(cell, bytes) or any(map(_holds_bytes, parts))


def _plain(cell: Any) -> Any:
    """A value of a typed table as a JSON value; ValueError for what is none."""
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, float):
        if not math.isfinite(cell):
            return None if math.isnan(cell) else str(cell)  # an infinity is no number of JSON, and a word of its own
        return int(cell) if cell.is_integer() and abs(cell) < 1 << 53 else cell
    if isinstance(cell, datetime) and cell.time() == time.min and cell.tzinfo is None:
        return cell.date().isoformat()  # a table of days, whatever it is saved as
    if isinstance(cell, datetime | date | time):
        return cell.isoformat()
    if isinstance(cell, Decimal):
        number = float(cell)
        # One with more digits than a number of JSON has is kept as a text, whole.
        return _plain(number) if not math.isfinite(number) or Decimal(repr(number)) == cell else str(cell)
    if isinstance(cell, list | tuple):
        return [_plain(part) for part in cell]
    if isinstance(cell, dict):
        return {str(name): _plain(part) for name, part in cell.items()}
    if isinstance(cell, bytes):
        raise ValueError("bytes")
    return str(cell)
