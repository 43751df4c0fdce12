"""Tables that are read as columns: CSV, TSV, JSON, JSON lines, Parquet, XLSX; their cells as values, names, numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from annotators.assent import YES
from annotators.errors import InvalidInput, NotFound, shown
from exports.columns.values import TRUTHS, USUAL, Value, ValueRule, read_names, read_values, said_of_missing
from exports.reading.records import is_path, paths_in, value_at, with_paths
from exports.reading.tables import MOST_BAD, TOO_MANY_BAD, Opening, named_table
from exports.reading.tables import USUAL as AS_IT_LOOKS
from exports.reading.uploaded import reads_uploads

ENDINGS = (".csv", ".tsv", ".txt", ".json", ".jsonl", ".parquet", ".xlsx")
MOST_CELLS = 50_000_000
"""Cells of a table, all of which are in memory at once."""

Cell = str | float | bool | None


@dataclass(frozen=True)
class Columns:
    """A table by column; `lines` says where each row stands in the file (Parquet, JSON: which row it is, from 1).

    `rule` is how its values are read; `said` collects what was read and how, for whoever reads the figures, and
    `cautions` what may make them wrong.
    """

    name: str
    cells: dict[str, list[Any]]
    lines: list[int]
    rule: ValueRule = USUAL
    said: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    missing: dict[str, Counter[str]] = field(default_factory=dict)

    def __getitem__(self, column: str) -> list[Any]:
        """A column as it stands; NotFound lists those that are there."""
        if column not in self.cells:
            if is_path(column) and (first := column.replace("[", ".").partition(".")[0]) in self.cells:
                found = [value_at(cell, column[len(first) :]) for cell in self.cells[first]]
                if any(value not in (None, []) for value in found) or not found:
                    self.cells[column] = found
                    return found
                within = ", ".join(paths_in(self.cells[first][:50], first)) or "nothing"
                raise NotFound(
                    f"{self.name} has nothing at {column!r} in any row. Within {first!r} there is: {within}."
                )
            raise NotFound(f"{self.name} has no column {column!r}. It has: {', '.join(self.names()) or 'none'}.")
        return self.cells[column]

    def names(self) -> list[str]:
        """The names of the columns, and the paths of what is nested in them."""
        return [path for name, cells in self.cells.items() for path in (name, *paths_in(cells[:50], name))]

    def keys(self, column: str | None) -> list[str | None] | None:
        """A column as names, of which the words for a missing value are none; None without a column."""
        if column is None:
            return None
        return [None if name is None or self.rule.is_missing(name) else name for name in self.named(column)]

    def named(self, column: str) -> list[str | None]:
        """A column as names; InvalidInput, with the line, for a cell that is none."""
        cells = self[column]
        try:
            return read_names(cells)
        except TypeError as error:
            place = int(str(error))
            raise InvalidInput(
                f"{self.name}: line {self.lines[place]} has {shown(cells[place])} as its {column}: give a text or a "
                "number"
            ) from None

    def values(self, column: str, *, declared: Sequence[str] = ()) -> list[Value]:
        """A column as values, read together; what is to be said of them is kept."""
        read = read_values(self[column], self.rule, declared=declared, about=column)
        self.heard(column, read.missing, read.notes, read.cautions)
        return read.values

    def heard(self, column: str, missing: Counter[str], notes: Sequence[str], cautions: Sequence[str]) -> None:
        """Keep what was said of a column, once."""
        if missing:
            self.missing[column] = missing
        self.said.extend(note for note in notes if note not in self.said)
        self.cautions.extend(caution for caution in cautions if caution not in self.cautions)

    def what_was_read(self) -> list[str]:
        """What was read and how: what the file is, and how many values are missing."""
        missing = (
            f"{column}: {said}" for column, counted in self.missing.items() if (said := said_of_missing(counted))
        )
        return [*self.said, *missing]

    def numbers(self, column: str) -> list[float | None]:
        """A column as numbers, words of yes and no as 1 and 0; InvalidInput names the line of what is no number."""
        values = self.values(column)
        words = sorted({value for value in values if isinstance(value, str)})
        if words and all(word.lower() in TRUTHS for word in words):
            read = [float(TRUTHS[value.lower()]) if isinstance(value, str) else value for value in values]
            said = ", ".join(f"{word} counts as {TRUTHS[word.lower()]:d}" for word in words)
            self.heard(column, Counter(self.missing.get(column, ())), [f"{column}: {said}."], ())
            return [None if value is None else float(value) for value in read]
        return [self._number(column, place, value) for place, value in enumerate(values)]

    def judgements(self, column: str, positive: str | None = None) -> tuple[list[float | None], str | None]:
        """A column of numbers, or of two words, as numbers; and which word counts as 1 where it holds words.

        `positive` says which; without it "yes", "true", "correct", "positive" and "pass" do.
        """
        values = self.values(column)
        words = {str(value) for value in values if value is not None}
        wanted = None if positive is None else str(read_values([positive], self.rule).values[0])
        if positive is None and not any(isinstance(value, str) and value not in _TRUTH for value in values):
            return self.numbers(column), None
        if len(words) > 2:
            return self.numbers(column), None  # names the first one that is no number
        chosen = wanted if wanted is not None else next((word for word in words if word.lower() in YES), None)
        if chosen is None or (wanted is not None and wanted not in words):
            raise InvalidInput(
                f"Column {column!r} of {self.name} has the values {', '.join(sorted(words))}. "
                "Say which of them counts as yes, with --positive."
            )
        return [None if value is None else float(str(value) == chosen) for value in values], chosen

    def _number(self, column: str, place: int, value: Value) -> float | None:
        if value is None:
            return None
        if isinstance(value, str) and value in _TRUTH:
            return float(value == "true")
        if not isinstance(value, int | float):
            raise InvalidInput(
                f"{self.name}, line {self.lines[place]}: {column!r} is {str(value)[:80]!r}, which is no number. "
                "Give numbers, or leave the cell empty."
            )
        return float(value)


_TRUTH = ("true", "false")


def check_columns(path: Path, wanted: Mapping[str, str], opening: Opening = AS_IT_LOOKS) -> None:
    """NotFound for the first column that a table lacks, by its heading alone; `wanted` is column → what names it.

    What `read_columns` says of a file that is no table is said here as well. Nothing large is imported, so that a
    wrong name is refused at once.
    """
    names = heading_names(path, opening, list(wanted))
    for column, option in wanted.items():
        if column not in names:
            there = ", ".join(names) or "none"
            raise NotFound(f"{path.name} has no column {column!r}. It has: {there}. Name the right one with {option}.")


def heading_names(path: Path, opening: Opening = AS_IT_LOOKS, paths: Sequence[str] = ()) -> list[str]:
    """The names of a table's columns, by its heading alone, and those of `paths` that begin in one."""
    if _ending(path) == ".parquet" and not opening.each:
        names = _parquet_names(path)
    else:
        names = named_table(path, numbered=False, opening=opening).columns
    return with_paths(names, iter(()), paths)[0]


def _ending(path: Path) -> str:
    """The ending of a table that is there; NotFound or InvalidInput if it is not, or is of no known kind."""
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(f"{path.name} ends with {ending or 'nothing'!r}. Give one of: {', '.join(ENDINGS)}.")
    return ending


def read_columns(
    path: Path,
    rule: ValueRule = USUAL,
    opening: Opening = AS_IT_LOOKS,
    *,
    bad: list[tuple[int, str]] | None = None,
) -> Columns:
    """Read a table; NotFound for a path that is not there, InvalidInput for what is no table of a known kind.

    Rows that are wrong go into `bad`; without it they are InvalidInput, those that are wrong in the same way together.
    """
    raw = raw_table(path, replace(opening, paths=()).to_json())  # nested fields are looked up when they are asked for
    wrong: dict[str, list[int]] = {}
    for line, reason in raw.bad:
        wrong.setdefault(reason, []).append(line)
    if bad is not None:
        bad += raw.bad
    elif wrong:
        said = [f"{path.name}, {at_lines(places)}: {reason}" for reason, places in list(wrong.items())[:20]]
        raise InvalidInput("\n".join(said))
    return Columns(path.name, dict(zip(raw.columns, raw.cells, strict=True)), raw.lines, rule, raw.notes)


@dataclass
class RawTable:
    """A table by column as it stands in its file: the lines of its good rows, and (line, reason) of its bad ones."""

    columns: list[str]
    cells: list[list[Any]]
    lines: list[int]
    bad: list[tuple[int, str]]
    notes: list[str]


@reads_uploads
def raw_table(path: Path, opened: Mapping[str, Any] | None = None) -> RawTable:
    """A whole table, opened as it looks or as `Opening.to_json` says; NotFound and InvalidInput as `read_columns`."""
    return _raw(path, Opening.of_json(opened or {}))


def _raw(path: Path, opening: Opening) -> RawTable:
    if _ending(path) == ".parquet":
        _check_size(path)
    table = named_table(path, numbered=False, opening=opening)
    raw = RawTable(table.columns, [[] for _ in table.columns], [], [], list(table.notes))
    texts: dict[str, str] = {}
    try:
        for line, row in table.rows:
            if isinstance(row, str):
                if len(raw.bad) == MOST_BAD:
                    raw.bad.append((line, TOO_MANY_BAD))
                    break
                raw.bad.append((line, row))
                continue
            raw.lines.append(line)
            if len(raw.lines) * len(raw.columns) > MOST_CELLS:
                raise InvalidInput(f"it has more than {MOST_CELLS:,} cells. Leave out the columns not needed.")
            for column, cell in zip(raw.cells, row, strict=True):
                column.append(texts.setdefault(cell, cell) if isinstance(cell, str) and len(cell) < 64 else cell)
    except InvalidInput as error:
        raise InvalidInput(str(error) if path.name in str(error) else f"{path.name}: {error}") from None
    return raw


def _check_size(path: Path) -> None:
    """InvalidInput for a Parquet file that says of itself that it has more cells than are read."""
    import pyarrow as pa  # noqa: PLC0415 - large, and only for this kind of file
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        about = pq.read_metadata(path)
    except (pa.ArrowException, OSError) as error:
        raise InvalidInput(f"{path.name}: it cannot be read as Parquet ({error}). Write it again.") from None
    if about.num_rows * about.num_columns > MOST_CELLS:
        raise InvalidInput(
            f"{path.name} has {about.num_rows:,} rows of {about.num_columns:,} columns, more than {MOST_CELLS:,} "
            "cells. Leave out the columns that are not needed."
        )


def at_lines(lines: Sequence[int]) -> str:
    """Where something is, in words: `line 3`, or `lines 3, 4, 5 and 4,997 more`."""
    if len(lines) == 1:
        return f"line {lines[0]}"
    named = ", ".join(map(str, lines[:3]))
    return f"lines {named} and {len(lines) - 3:,} more" if len(lines) > 3 else f"lines {named}"


def _parquet_names(path: Path) -> list[str]:
    import pyarrow as pa  # noqa: PLC0415 - large, and only for this kind of file
    import pyarrow.parquet as pq  # noqa: PLC0415

    try:
        return [str(name) for name in pq.read_schema(path).names]
    except (pa.ArrowInvalid, OSError) as error:
        raise InvalidInput(f"{path.name}: it cannot be read as Parquet ({error}). Write it again.") from None
