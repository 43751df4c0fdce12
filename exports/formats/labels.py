"""Judgements made elsewhere: a label a row, or many columns of them. Its writer is `exports.bundles.labels.table`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from annotators.errors import AssayError, InvalidInput, NotFound, shown
from annotators.figures import count
from annotators.items.parsed import ForeignLabel, Rejected, faults_in
from annotators.items.targets import target_kind
from annotators.times import time_of
from exports.columns.columns import Columns, at_lines, heading_names, read_columns
from exports.columns.mapping import AS_IT_IS, Found, TableMapping, found_columns, melted, names_alike, plain
from exports.columns.values import read_values, trimmed
from exports.reading.tables import MOST_BAD, TOO_MANY_BAD

NEEDED = ("item", "annotator", "criterion", "value")
OPTIONAL = ("target", "time", "comment", "other_item", "seconds", "rationale")
_FLAGS = ("current", "complete", "cannot_judge", "kind")
_STEP, _FELL = "step", "fell"
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
    read: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)

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
        faults = faults_in(self.rejected)
        shown = [f"{at_lines(lines)}: {reason}" for (_, reason), lines in list(faults.items())[:_SHOWN]]
        more = len(faults) - len(shown)
        rest = f"\n… and {more:,} more" if more else ""
        raise InvalidInput(
            f"{self.source} has {len(self.rejected):,} bad rows, so nothing was imported:\n" + "\n".join(shown) + rest
        )


def read_labels(
    path: Path, mapping: TableMapping = AS_IT_IS, *, declared: Mapping[str, Collection[str]] | None = None
) -> LabelTable:
    """Read a table with the columns item, annotator, criterion, value, and perhaps target, time, comment, other_item,
    seconds, rationale, step.

    It is CSV or TSV, JSON or JSON lines, Parquet, or a sheet of a workbook. Columns may stand in any order and have
    other names, as `mapping` says or as such columns are called; others are ignored. A table may also have a column for
    each criterion, annotator or item. Values are read as those of all tables (`exports.columns.values`); those that say
    nothing are no labels, and counted. `declared` are by criterion the labels that are words, whatever they look like.
    A table that Assay exported is read as it counts: rows
    that are superseded, incomplete, surplus or `cannot judge` are left out, and those that fell when their item was
    revised.
    A step has the largest of the seconds of its labels, and an annotation those of its steps together; without the
    column `step` all labels of an annotation are of one.
    The same item, annotator, criterion and target twice is a bad row that names both lines. Raises NotFound for a path
    that is not there, InvalidInput for one that is no such table.
    """
    bad: list[tuple[int, str]] = []
    columns = read_columns(path, mapping.rule, mapping.wanted, bad=bad)
    names = {plain(name): name for name in reversed(columns.cells)}
    if {"current", "complete"} <= set(names) and mapping.rule.missing is None:
        columns = replace(columns, rule=replace(columns.rule, missing=()))  # what we wrote has no words for missing
    found = _found(list(columns.cells), mapping, path.name)
    flags = {flag: columns[names[flag]] for flag in (*_FLAGS, _FELL) if flag in names}
    read = {*(column for of in found.columns.values() for column in of), *(names[flag] for flag in flags)}
    table = LabelTable(
        path.name,
        [name for name in columns.cells if name in read],
        [name for name in columns.cells if name not in read],
    )
    table.rejected = [Rejected(path.name, line, reason) for line, reason in bad]
    counting = []
    for row in range(len(columns.lines)):
        reason = _not_counting(*(_text(flags[flag][row]) if flag in flags else "" for flag in (*_FLAGS, _FELL)))
        if reason is None:
            counting.append(row)
        else:
            table.left_out[reason] += 1
    long = melted(columns, mapping, found, counting)
    table.left_out.update(long.left_out)
    criteria = long.criteria or [found.columns["value"][0]] * len(long.places)
    values = _values(columns, long.values, criteria, declared or {})
    of = {
        name: columns[of_field[0]]
        for name, of_field in found.columns.items()
        if name in ("target", "time", "comment", "other_item", "seconds", "rationale", "step")
    }
    first: dict[tuple[str, str, str, str], int] = {}
    steps = _Steps()
    for at, place in enumerate(long.places):
        line = columns.lines[place]
        if len(table.rejected) >= MOST_BAD:
            table.rejected.append(Rejected(path.name, line, TOO_MANY_BAD))
            break
        cells = {name: _text(column[place]) for name, column in of.items()}
        try:
            label = _label(line, (long.items[at], long.annotators[at], criteria[at], values[at]), cells, table, steps)
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
    table.rejected.sort(key=lambda row: row.line)
    table.read = [*found.said(), *columns.what_was_read()]
    table.cautions = [
        *columns.cautions, *names_alike(long.annotators, "Annotators"), *names_alike(long.items, "Items"),
    ]  # fmt: skip
    table.differing = {column: len(annotations) for column, annotations in steps.differing.items()}
    if steps.seconds:  # a row has the time of its step, and an annotation took that of all its steps
        seconds = {annotation: sum(of_steps.values()) for annotation, of_steps in steps.seconds.items()}
        table.rows = [row._replace(seconds=seconds.get((row.name, row.annotator))) for row in table.rows]
    return table


def _found(names: Sequence[str], mapping: TableMapping, file: str) -> Found:
    """Which columns are what; NotFound and InvalidInput name the file and what a table of labels has."""
    try:
        found = found_columns(names, mapping, needed=("item", "annotator", "value"))
    except NotFound as error:
        raise InvalidInput(
            f"{file}, line 1: {error} A table of labels has the columns {', '.join(NEEDED)}, and perhaps "
            f"{', '.join(OPTIONAL)}; or many columns that are one criterion each (--map 'criteria=Answer.*')."
        ) from None
    unused = {name for name in found.columns if name == "question"}
    return Found({name: of for name, of in found.columns.items() if name not in unused}, found.why)


def _values(
    columns: Columns, cells: Sequence[Any], criteria: Sequence[str | None], declared: Mapping[str, Collection[str]]
) -> list[str]:
    """The values of each criterion as texts, read together; "" for those that say nothing."""
    places: dict[str | None, list[int]] = {}
    for place, criterion in enumerate(criteria):
        places.setdefault(criterion, []).append(place)
    values = [""] * len(cells)
    for criterion, of_criterion in places.items():
        about = criterion or "value"
        read = read_values(
            (cells[place] for place in of_criterion), columns.rule, declared=declared.get(about, ()), about=about
        )
        columns.heard(about, read.missing, read.notes, read.cautions)
        known: dict[Any, str] = {}
        for place, value in zip(of_criterion, read.values, strict=True):
            if isinstance(value, list | dict):
                values[place] = _text(value)
            else:
                values[place] = known.get(value) or known.setdefault(value, "" if value is None else str(value))
    return values


def check_heading(path: Path, mapping: TableMapping = AS_IT_IS) -> None:
    """NotFound or InvalidInput, as `read_labels` says them, for what the heading alone shows to be no such table."""
    _found(heading_names(path, mapping.wanted), mapping, path.name)


def _text(cell: Any) -> str:
    if cell is None:
        return ""
    if isinstance(cell, str):
        return trimmed(cell)
    try:
        return orjson.dumps(cell).decode()
    except TypeError:
        return str(cell)


def _label(
    line: int,
    given: tuple[str | int | None, str | None, str | None, str],
    cells: Mapping[str, str],
    table: LabelTable,
    steps: _Steps,
) -> ForeignLabel | None:
    """The label of a row, or None when it says nothing (which is noted). What its step took is noted in `steps`."""
    item, annotator, criterion, value = given
    for name, said in zip(NEEDED, (item, annotator, criterion), strict=False):
        if not said:
            raise InvalidInput(f"`{name}` is empty. Fill it in, or leave the row out.")
    if not value:
        table.left_out["value is missing"] += 1
        return None
    target = cells.get("target", "")
    target_kind(target or "item")
    other, rationale, seconds = cells.get("other_item", ""), cells.get("rationale", ""), cells.get("seconds", "")
    target = target or ("pair" if other else "item")
    places = _places(rationale) if rationale else None
    about = (_time(cells.get("time", "")), cells.get("comment") or None, other or None, None, None, places)
    label = ForeignLabel(line, str(item), str(annotator), str(criterion), target, value, *about)
    steps.add(label, cells.get("step", ""), _seconds(seconds) if seconds else None)
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
