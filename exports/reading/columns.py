"""Tables that are read as columns: CSV, TSV, JSON lines, Parquet, XLSX; and their cells as numbers or as yes and no."""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from annotators.assent import YES
from annotators.errors import InvalidInput, NotFound
from exports.reading.parquet import parquet_batches, said_of_unread, values_of
from exports.reading.tables import named_table

ENDINGS = (".csv", ".tsv", ".txt", ".jsonl", ".parquet", ".xlsx")
MISSING = frozenset({"", "na", "n/a", "nan", "none", "null"})
MOST_CELLS = 50_000_000
"""Cells of a table with types, all of which are in memory at once."""

_DELIMITERS = ",;\t|"
_ROWS_AT_ONCE = 50_000

Cell = str | float | bool | None


@dataclass(frozen=True)
class Columns:
    """A table by column; `lines` says where each row stands in the file (Parquet: which row it is, from 1)."""

    name: str
    cells: dict[str, list[Cell]]
    lines: list[int]

    def __getitem__(self, column: str) -> list[Cell]:
        """A column; NotFound lists those that are there."""
        if column not in self.cells:
            raise NotFound(f"{self.name} has no column {column!r}. It has: {', '.join(self.cells) or 'none'}.")
        return self.cells[column]

    def keys(self, column: str | None) -> list[str | None] | None:
        """A column as names; None without a column."""
        if column is None:
            return None
        return [None if _missing(cell) else _word(cell) for cell in self[column]]

    def numbers(self, column: str) -> list[float | None]:
        """A column as numbers, true and false as 1 and 0; InvalidInput names the line of what is no number."""
        return [self._number(column, place, cell) for place, cell in enumerate(self[column])]

    def judgements(self, column: str, positive: str | None = None) -> tuple[list[float | None], str | None]:
        """A column of numbers, or of two words, as numbers; and which word counts as 1 where it holds words.

        `positive` says which; without it "yes", "true", "correct", "positive" and "pass" do.
        """
        words = {_word(cell) for cell in self[column] if not _missing(cell)}
        if positive is None and all(_is_number(word) for word in words):
            return self.numbers(column), None
        if len(words) > 2:
            return self.numbers(column), None  # names the first one that is no number
        chosen = positive if positive is not None else next((word for word in words if word.lower() in YES), None)
        if chosen is None or (positive is not None and positive not in words):
            raise InvalidInput(
                f"Column {column!r} of {self.name} has the values {', '.join(sorted(words))}. "
                "Say which of them counts as yes, with --positive."
            )
        return [None if _missing(cell) else float(_word(cell) == chosen) for cell in self[column]], chosen

    def _number(self, column: str, place: int, cell: Cell) -> float | None:
        if _missing(cell):
            return None
        word = _word(cell)
        if word.lower() in ("true", "false"):
            return float(word.lower() == "true")
        if not _is_number(word):
            raise InvalidInput(
                f"{self.name}, line {self.lines[place]}: {column!r} is {word[:80]!r}, which is no number. "
                "Give numbers, or leave the cell empty."
            )
        return float(word)


def check_columns(path: Path, wanted: Mapping[str, str]) -> None:
    """NotFound for the first column that a table lacks, by its heading alone; `wanted` is column → what names it.

    What `read_columns` says of a file that is no table is said here as well. Nothing large is imported, so that a
    wrong name is refused at once.
    """
    ending = _ending(path)
    names: dict[str, None] = {}
    if ending == ".parquet":
        names = dict.fromkeys(_parquet_names(path))
    elif ending == ".xlsx":
        names = dict.fromkeys(named_table(path, numbered=False).columns)
    else:
        with path.open("rb") as raw, TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as text:
            if ending == ".jsonl":
                for _, row in _json_lines(text, path.name):
                    names |= dict.fromkeys(row)
                    if all(column in names for column in wanted):
                        return
            else:
                names = dict.fromkeys(_heading(text, path.name)[0])
    for column, option in wanted.items():
        if column not in names:
            there = ", ".join(names) or "none"
            raise NotFound(f"{path.name} has no column {column!r}. It has: {there}. Name the right one with {option}.")


def _ending(path: Path) -> str:
    """The ending of a table that is there; NotFound or InvalidInput if it is not, or is of no known kind."""
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(f"{path.name} ends with {ending or 'nothing'!r}. Give one of: {', '.join(ENDINGS)}.")
    return ending


def read_columns(path: Path) -> Columns:
    """Read a table; NotFound for a path that is not there, InvalidInput for what is no table of a known kind."""
    ending = _ending(path)
    if ending == ".parquet":
        return _parquet(path)
    if ending == ".xlsx":
        return _of_sheet(path)
    rows: list[dict[str, Any]] = []
    lines: list[int] = []
    with path.open("rb") as raw, TextIOWrapper(raw, "utf-8-sig", errors="replace", newline="") as text:
        for line, row in _json_lines(text, path.name) if ending == ".jsonl" else _csv(text, path.name):
            rows.append(row)
            lines.append(line)
    names = list(dict.fromkeys(name for row in rows for name in row))
    return Columns(path.name, {name: [row.get(name) for row in rows] for name in names}, lines)


def _heading(text: TextIOWrapper, name: str) -> tuple[list[str], Any]:
    """The names of the columns of a CSV file, and the reader that stands behind them."""
    first = text.readline()
    text.seek(0)
    reader = csv.reader(text, delimiter=max(_DELIMITERS, key=first.count))
    try:
        heading = next(reader, None)
    except csv.Error as error:
        raise InvalidInput(f"{name}, line {reader.line_num}: {error}. Save the table as CSV in UTF-8.") from None
    if not heading:
        raise InvalidInput(f"{name} is empty. The first line names the columns.")
    if len(set(heading)) < len(heading):
        raise InvalidInput(f"{name} names a column twice: {', '.join(heading)}. Rename one.")
    return heading, reader


def _csv(text: TextIOWrapper, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    heading, reader = _heading(text, name)
    try:
        for row in reader:
            if row:
                if len(row) > len(heading):
                    raise InvalidInput(
                        f"{name}, line {reader.line_num}: {len(row)} cells for {len(heading)} columns. "
                        "Quote cells that hold the separator."
                    )
                yield reader.line_num, dict(zip(heading, row, strict=False))
    except csv.Error as error:
        raise InvalidInput(f"{name}, line {reader.line_num}: {error}. Save the table as CSV in UTF-8.") from None


def _json_lines(text: TextIOWrapper, name: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(text, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise InvalidInput(f"{name}, line {number}: {error}. Each line is one JSON object.") from None
        if not isinstance(row, dict):
            raise InvalidInput(f"{name}, line {number} is not an object. Each line is one JSON object.")
        yield number, row


def _parquet_names(path: Path) -> list[str]:
    import pyarrow as pa  # noqa: PLC0415 - large, and only for this kind of file
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return [str(name) for name in pq.read_schema(path).names]
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{path.name} cannot be read as Parquet: {error}. Write it again.") from None


def _parquet(path: Path) -> Columns:
    import pyarrow as pa  # noqa: PLC0415 - large, and only for this kind of file
    import pyarrow.parquet as pq  # noqa: PLC0415

    cells: dict[str, list[Cell]] = {name: [] for name in _parquet_names(path)}
    try:
        n = pq.read_metadata(path).num_rows
        if n * len(cells) > MOST_CELLS:
            raise InvalidInput(
                f"{path.name} has {n:,} rows of {len(cells):,} columns, more than {MOST_CELLS:,} cells. Leave out the "
                "columns that are not needed."
            )
        row = 0
        for batch in parquet_batches(path, _ROWS_AT_ONCE):
            for name, column in zip(batch.schema.names, batch.columns, strict=True):
                cells[name] += _cells_read(name, column, row)
            row += batch.num_rows
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(f"{path.name} cannot be read as Parquet: {error}. Write it again.") from None
    except InvalidInput as error:
        raise InvalidInput(str(error) if path.name in str(error) else f"{path.name}: {error}") from None
    return Columns(path.name, cells, list(range(1, n + 1)))


def _of_sheet(path: Path) -> Columns:
    table = named_table(path, numbered=False)
    cells: list[list[Cell]] = [[] for _ in table.columns]
    lines: list[int] = []
    for line, row in table.rows:
        if isinstance(row, str):
            raise InvalidInput(f"{path.name}, line {line}: {row}")
        lines.append(line)
        if len(lines) * len(cells) > MOST_CELLS:
            raise InvalidInput(f"{path.name} has more than {MOST_CELLS:,} cells. Leave out the columns not needed.")
        for column, cell in zip(cells, row, strict=True):
            column.append(cell)
    return Columns(path.name, dict(zip(table.columns, cells, strict=True)), lines)


def _cells_read(name: str, column: Any, before: int) -> list[Cell]:
    """The cells of a column, `before` which so many rows stand; InvalidInput names the first that cannot be read."""
    try:
        return _cells(column)
    except (ValueError, OverflowError):
        found = values_of(column)
    for row, cell in enumerate(found, before + 1):
        if said := said_of_unread([name], [cell]):
            raise InvalidInput(f"row {row}: {said}")
    return found


def _cells(column: Any) -> list[Cell]:
    """The cells of a column; a text that stands in it many times is kept once."""
    import pyarrow as pa  # noqa: PLC0415 - as above

    if not pa.types.is_dictionary(column.type):
        found: list[Cell] = column.to_pylist()
        return found
    texts = column.dictionary.to_pylist()
    return [None if place is None else texts[place] for place in column.indices.to_pylist()]


def _missing(cell: Cell) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell)) or _word(cell).lower() in MISSING


def _word(cell: Cell) -> str:
    if isinstance(cell, bool):
        return str(cell).lower()
    return f"{cell:g}" if isinstance(cell, float) and cell.is_integer() else str(cell).strip()


def _is_number(word: str) -> bool:
    if word.lower() in ("true", "false"):
        return True
    try:
        return math.isfinite(float(word)) and "_" not in word
    except ValueError:
        return False
