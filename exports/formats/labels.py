"""Judgements made elsewhere: a long table, one label a row. Its writer is `exports.bundles.labels.table`."""

from __future__ import annotations

import csv
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from io import TextIOWrapper
from operator import itemgetter
from pathlib import Path
from typing import Any

import orjson

from annotators.errors import AssayError, InvalidInput, NotFound, shown
from annotators.figures import count
from annotators.items.parsed import ForeignLabel, Rejected
from annotators.items.targets import target_kind
from annotators.times import time_of
from exports.cells import original
from exports.reading.sources import wide_encoding
from exports.reading.tables import MOST_BAD, ROW_TOO_LONG, TOO_MANY_BAD, BoundedLines, Table, named_table
from exports.reading.uploaded import reads_uploads

NEEDED = ("item", "annotator", "criterion", "value")
OPTIONAL = ("target", "time", "comment", "other_item", "seconds", "rationale")
_FLAGS = ("current", "complete", "cannot_judge", "kind")
_STEP, _FELL = "step", "fell"
_READ = (*NEEDED, *OPTIONAL, _STEP, *_FLAGS, _FELL)
_TYPED = (".parquet", ".xlsx")
_DELIMITERS = ",;\t|"
_LONGEST_CELL = 1 << 20
_SHOWN = 20
_REMEMBERED = 10_000


@dataclass
class _Steps:
    """What rows say of whole steps: by annotation (item, annotator) and step the seconds, and the time of the first.

    `differing` are by column the annotations in which rows of one step say something else.
    """

    seconds: dict[tuple[str, str], dict[str, float]] = field(default_factory=dict)
    times: dict[tuple[str, str, str], datetime] = field(default_factory=dict)
    differing: dict[str, set[tuple[str, str]]] = field(default_factory=lambda: {"seconds": set(), "time": set()})

    def add(self, label: ForeignLabel, step: str, seconds: float | None) -> None:
        """A label, and the seconds that stand beside it."""
        annotation = (label.name, label.annotator)
        if seconds is not None:
            of = self.seconds.setdefault(annotation, {})
            if of.setdefault(step, seconds) != seconds:
                self.differing["seconds"].add(annotation)
            of[step] = max(of[step], seconds)
        if label.time is not None and self.times.setdefault((*annotation, step), label.time) != label.time:
            self.differing["time"].add(annotation)


@dataclass
class LabelTable:
    """The labels of a table, its bad rows, and how many rows were left out for which reason.

    `columns` are those that are read, `ignored` the others. `differing` is by column, `seconds` or `time`, in how many
    annotations the labels of one step differ in it.
    """

    source: str
    columns: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    rows: list[ForeignLabel] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    differing: dict[str, int] = field(default_factory=dict)

    def notes(self) -> list[str]:
        """A sentence on seconds and on times that are several where a step has one."""
        which = {"seconds": "the largest counts", "time": "the last one counts"}
        remedy = "" if _STEP in self.columns else " A column `step` tells steps apart."
        return [
            f"`{column}` differs within a step in {count(n, 'annotation')}: {which[column]}.{remedy}"
            for column, n in self.differing.items()
            if n
        ]

    def checked(self) -> list[ForeignLabel]:
        """The labels; InvalidInput naming every bad row (the first 20 in full) when there are any."""
        if not self.rejected:
            return self.rows
        shown = [f"line {row.line}: {row.reason}" for row in self.rejected[:_SHOWN]]
        more = len(self.rejected) - len(shown)
        rest = f"\n… and {more:,} more" if more else ""
        raise InvalidInput(
            f"{self.source} has {len(self.rejected):,} bad rows, so nothing was imported:\n" + "\n".join(shown) + rest
        )


@reads_uploads
def read_labels(path: Path) -> LabelTable:
    """Read a table with the columns item, annotator, criterion, value, and perhaps target, time, comment, other_item,
    seconds, rationale, step.

    It is CSV or TSV, Parquet, or the first sheet of a workbook. Columns may stand in any order, others are ignored;
    cells of a text are separated by comma, semicolon, tab or |. A table that Assay exported is read as it counts: rows
    that are superseded, incomplete, surplus or `cannot judge` are left out, and those that fell when their item was
    revised.
    A step has the largest of the seconds of its labels, and an annotation those of its steps together; without the
    column `step` all labels of an annotation are of one.
    The same item, annotator, criterion and target twice is a bad row that names both lines. Raises NotFound for a path
    that is not there, InvalidInput for one that is no such table.
    """
    table = LabelTable(path.name)
    first: dict[tuple[str, str, str, str], int] = {}
    steps = _Steps()
    for line, row in _rows(path, table):
        if len(table.rejected) == MOST_BAD:
            table.rejected.append(Rejected(path.name, line, TOO_MANY_BAD))
            break
        try:
            label = _label(line, row, table, steps)
        except AssayError as error:
            table.rejected.append(Rejected(path.name, line, str(error)))
            continue
        if label is None:
            continue
        cell = (label.name, label.annotator, label.criterion, label.target)
        if cell in first:
            reason = (
                f"{label.annotator!r} labels {label.criterion!r} of {label.item!r} ({label.target}) again; the "
                f"first time is line {first[cell]}. Keep one of the two."
            )
            table.rejected.append(Rejected(path.name, line, reason))
            continue
        first[cell] = line
        table.rows.append(label)
    table.differing = {column: len(annotations) for column, annotations in steps.differing.items()}
    if steps.seconds:  # a row has the time of its step, and an annotation took that of all its steps
        of = {annotation: sum(of_steps.values()) for annotation, of_steps in steps.seconds.items()}
        table.rows = [row._replace(seconds=of.get((row.name, row.annotator))) for row in table.rows]
    return table


@lru_cache(_REMEMBERED)
def _cell(written: str) -> str:
    """A cell's text. Few cells of a table differ."""
    return original(written.strip())


def check_heading(path: Path) -> None:
    """NotFound or InvalidInput, as `read_labels` says them, for what the heading alone shows to be no such table."""
    if _has_types(path):
        _checked(named_table(path).columns, path.name)
        return
    with _opened(path) as text:
        _heading(text, path.name)


def _has_types(path: Path) -> bool:
    if not path.is_file():
        raise NotFound(f"There is no file {str(path)!r}. Check the path.")
    return path.suffix.lower() in _TYPED


def _opened(path: Path) -> TextIOWrapper:
    with path.open("rb") as raw:
        if wide := wide_encoding(raw.read(4)):
            raise InvalidInput(f"{path.name} is in {wide}. Save it as UTF-8.")
    return TextIOWrapper(path.open("rb"), "utf-8-sig", errors="replace", newline="")


def _heading(text: TextIOWrapper, name: str) -> tuple[list[str], str]:
    """The columns' names in lower case and what separates them."""
    heading = text.readline(_LONGEST_CELL)
    if not heading.strip():
        raise InvalidInput(f"{name} is empty. Give a table with the columns {', '.join(NEEDED)}.")
    delimiter = max(_DELIMITERS, key=heading.count)
    return _checked(next(csv.reader([heading], delimiter=delimiter)), name), delimiter


def _checked(headings: Iterable[str], name: str) -> list[str]:
    """The columns' names in lower case; InvalidInput where one that is needed is missing."""
    columns = [column.strip().lower() for column in headings]
    missing = [column for column in NEEDED if column not in columns]
    if missing:
        raise InvalidInput(
            f"{name}, line 1: the column {missing[0]!r} is missing. A table of labels has the columns "
            f"{', '.join(NEEDED)}, and perhaps {', '.join(OPTIONAL)}; found: {', '.join(columns)[:200]}."
        )
    return columns


def _rows(path: Path, table: LabelTable) -> Iterator[tuple[int, Iterator[str] | str]]:
    """(line, cells of `_READ`) of every row, or (line, why it cannot be read); `table` learns its columns."""
    if _has_types(path):
        yield from _typed_rows(named_table(path), table)
    else:
        with _opened(path) as text:
            yield from _text_rows(text, table)


def _picked(columns: Sequence[str], table: LabelTable) -> Callable[[Sequence[Any]], tuple[Any, ...]]:
    """What takes the cells of `_READ` out of a row that has one more, for columns that are not there."""
    table.columns = [column for column in columns if column in _READ]
    table.ignored = [column for column in columns if column not in _READ]
    places = {column: place for place, column in enumerate(columns)}
    return itemgetter(*(places.get(column, -1) for column in _READ))


def _typed_rows(rows: Table, table: LabelTable) -> Iterator[tuple[int, Iterator[str] | str]]:
    """Of a table whose cells have types, as texts."""
    picked = _picked(_checked(rows.columns, table.source), table)
    for line, cells in rows.rows:
        yield line, cells if isinstance(cells, str) else map(_text, picked([*cells, None]))


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    return cell.strip() if isinstance(cell, str) else orjson.dumps(cell).decode()


def _text_rows(text: TextIOWrapper, table: LabelTable) -> Iterator[tuple[int, Iterator[str] | str]]:
    columns, delimiter = _heading(text, table.source)
    picked = _picked(columns, table)
    limit = csv.field_size_limit(_LONGEST_CELL)
    try:
        lines = BoundedLines(text, delimiter)
        reader = csv.reader(lines, delimiter=delimiter, strict=True)
        while True:
            line = reader.line_num + 2
            lines.begin_row()
            try:
                cells = next(reader)
            except StopIteration:
                if lines.too_long:
                    yield line, ROW_TOO_LONG
                return
            except csv.Error as error:
                yield line, f"the row cannot be read ({error}). Put cells with quotes or separators in double quotes."
                continue
            if not any(cells):
                continue
            if len(cells) != len(columns):
                yield line, f"the row has {len(cells)} cells, not {len(columns)}. Write one for every column."
                continue
            whole = "".join(cells)
            if "�" in whole or "\x00" in whole:
                yield line, "the row is not in UTF-8. Save the table as UTF-8 and import it again."
                continue
            cells.append("")  # for columns that are not there
            yield line, map(_cell, picked(cells))
    finally:
        csv.field_size_limit(limit)


def _label(line: int, row: Iterator[str] | str, table: LabelTable, steps: _Steps) -> ForeignLabel | None:
    """The label of a row, or None when it does not count (which is noted). What its step took is noted in `steps`."""
    if isinstance(row, str):
        raise InvalidInput(row)
    item, annotator, criterion, value, target, time, comment, other, seconds, rationale, step, *flags = row
    reason = _not_counting(*flags)
    if reason:
        table.left_out[reason] += 1
        return None
    if not (item and annotator and criterion and value):
        empty = NEEDED[(item, annotator, criterion, value).index("")]
        raise InvalidInput(f"`{empty}` is empty. Fill it in, or leave the row out.")
    target_kind(target or "item")
    target = target or ("pair" if other else "item")
    about = (_time(time), comment or None, other or None, None, None, _places(rationale) if rationale else None)
    label = ForeignLabel(line, item, annotator, criterion, target, value, *about)
    steps.add(label, step, _seconds(seconds) if seconds else None)
    return label


def not_counting(row: dict[str, str]) -> str | None:
    """Why a row of a table that Assay exported does not count; None when it does.

    A label that fell counts: it was given, of the item as it was, and the study's own statistics have it.
    """
    return _not_counting(*(row.get(flag, "") for flag in _FLAGS))


_NOT_COUNTING = frozenset(("surplus", "left_out", "repeat", "gold", "qualification", "model"))
"""Kinds of annotations whose labels count nowhere: all but `regular` and `imported`. Other words are somebody's own."""


@lru_cache(_REMEMBERED)
def _not_counting(current: str, complete: str, cannot_judge: str, kind: str, fell: str = "") -> str | None:
    if cannot_judge.lower() == "true":
        return "cannot judge"
    if complete.lower() == "false":
        return "incomplete"
    if current.lower() == "false":
        return "superseded or withdrawn"
    if kind.lower() in _NOT_COUNTING:
        return kind.lower()
    return "fell with a revision" if fell.lower() == "true" else None


@lru_cache(_REMEMBERED)
def _time(text: str) -> datetime | None:
    if not text:
        return None
    try:
        return time_of(text)
    except ValueError:
        raise InvalidInput(f"`time` is {text!r}. Write it as 2026-03-31T14:05:00Z, or leave it empty.") from None


@lru_cache(_REMEMBERED)
def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found < math.inf:
        raise InvalidInput(f"`seconds` is {text!r}. Write a number of seconds, or leave it empty.")
    return found


def _places(text: str) -> list[dict[str, Any]]:
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = None
    if not isinstance(found, list):
        raise InvalidInput(f"`rationale` is {shown(text)}. Write the places as a JSON array, or leave it empty.")
    return found
