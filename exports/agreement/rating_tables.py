"""Ratings from a file that stands alone: a long table (one row a rating) or a wide one (one column an annotator)."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from annotators.agreement.tables.columns import UNIT_COLUMNS, CriterionTable, tables_of
from annotators.agreement.tables.ratings import Label, Scale
from annotators.errors import InvalidInput, NotFound
from exports.checks import check_scale
from exports.columns.columns import Cell, Columns, check_columns, heading_names, read_columns
from exports.columns.mapping import (
    AS_IT_IS,
    MANY,
    Found,
    TableMapping,
    found_columns,
    melted,
    names_alike,
    raters_among,
    said_of_left_out,
)
from exports.columns.values import read_value, read_values
from exports.formats.labels import not_counting

FLAGS = ("current", "complete", "cannot_judge", "kind")
"""Columns of a table that Assay exported which say whether a row counts."""

ONLY = "value"
"""What the criterion of a table is called that names none."""


@dataclass(frozen=True)
class RatingColumns:
    """What the columns of a long table are called; None: by its usual name, if there is such a column.

    In a wide table `rater` names the columns of the raters, with commas between them; None: all but the unit's.
    `added` is the column that says which ratings were asked for because people disagreed: they do not count.
    """

    unit: str | None = None
    rater: str | None = None
    value: str | None = None
    criterion: str | None = None
    target: str | None = None
    question: str | None = None
    added: str | None = None


@dataclass(frozen=True)
class RatingTables:
    """The tables of a file, one for each criterion and kind of target, and how many of its rows do not count.

    `read` says what was read and how; `cautions` what of the values may make figures wrong.
    """

    name: str
    tables: list[CriterionTable]
    n_rows: int
    left_out: dict[str, int]
    read: list[str] = field(default_factory=list)
    cautions: list[str] = field(default_factory=list)
    missing: dict[str, dict[str, int]] = field(default_factory=dict)

    def said(self) -> dict[str, object]:
        """As JSON documents have it."""
        return {"read": self.read, "missing": self.missing, "cautions": self.cautions}


_USED = ("item", "annotator", "criterion", "value", "target", "question", *MANY)
_OPTIONS = {name: f"--{name}" for name in ("value", "criterion", "target", "question")} | {
    "item": "--unit", "annotator": "--rater", "annotators": "--rater",
}  # fmt: skip


def read_ratings(
    path: Path,
    named: RatingColumns,
    *,
    wide: bool = False,
    scales: Sequence[str] = (),
    labels: Sequence[str] = (),
    mapping: TableMapping = AS_IT_IS,
) -> RatingTables:
    """The ratings of a table (.csv, .tsv, .json, .jsonl, .parquet, .xlsx).

    Long: columns item, annotator and value are needed, criterion, target and question are used where they are; a unit
    is an item and a target. Wide: one row a unit, one column an annotator, empty cells are missing. `mapping` says so
    of any table, and how its values are read (`exports.columns.values`). Rows of a table
    that Assay exported count as they do there. `scales` are scales, `labels` the declared labels in order with commas
    between them, both for all criteria, or for one when its name and `=` stand before. Raises NotFound and
    InvalidInput, which name the file, and the column or the line.
    """
    wanted = mapping | _as_mapping(named, wide=wide)
    columns = read_columns(path, wanted.rule, wanted.wanted)
    if {"current", "complete"} <= set(columns.cells) and wanted.rule.missing is None:
        columns = replace(columns, rule=replace(columns.rule, missing=()))  # what we wrote has no words for missing
    try:
        if not columns.lines:
            raise InvalidInput("there are no ratings. Give a table with the columns item, annotator and value.")
        return _tables(columns, wanted, named, scales, labels, wide=wide)
    except InvalidInput as error:
        said = str(error)
        raise InvalidInput(said if said.startswith(columns.name) else f"{columns.name}: {said}") from error
    except NotFound as error:
        said = str(error)
        raise NotFound(said if said.startswith(columns.name) else f"{columns.name} has {said}") from error


def _as_mapping(named: RatingColumns, *, wide: bool) -> TableMapping:
    """What the names of columns say, as a mapping."""
    given = {
        "item": named.unit, "value": named.value, "criterion": named.criterion, "target": named.target,
        "question": named.question, "annotators" if wide else "annotator": named.rater,
    }  # fmt: skip
    return TableMapping({name: (column,) for name, column in given.items() if column is not None})


def check_ratings(path: Path, named: RatingColumns, *, wide: bool = False, mapping: TableMapping = AS_IT_IS) -> None:
    """NotFound for the first column that a table of ratings lacks, by its heading alone."""
    wanted = mapping | _as_mapping(named, wide=wide)
    check_columns(path, {named.added: "--added"} if named.added else {}, wanted.wanted)
    try:
        _found(heading_names(path, wanted.wanted), wanted, wide=wide)
    except NotFound as error:
        raise NotFound(f"{path.name} has {error}") from None


def _found(names: Sequence[str], wanted: TableMapping, *, wide: bool) -> Found:
    """Which columns are what; of a wide table all are raters that are not known as something else."""
    if not wide:
        found = found_columns(names, wanted, needed=("item", "annotator", "value"), options=_OPTIONS)
        return Found({name: of for name, of in found.columns.items() if name in _USED}, found.why)
    fields = dict(wanted.fields)
    unit = (fields.get("item") or (None,))[0]
    unit = unit or next((name for name in names if name.lower() in UNIT_COLUMNS), None)
    guessed = "annotators" not in fields
    if guessed:
        fields["annotators"] = tuple(raters_among(names, unit))
        if not fields["annotators"]:
            raise InvalidInput("there are no ratings. A wide table has one row a unit and one column a rater.")
    named = replace(wanted, fields={**fields, "item": (unit,)} if unit else fields)
    found = found_columns(names, named, options=_OPTIONS)
    columns = {
        name: of
        for name, of in found.columns.items()
        if name in ("annotators", "question") or (name == "item" and unit)
    }
    why = {name: found.why[name] for name in columns}
    if guessed:
        others = [name for name in names if name not in (*columns["annotators"], unit) and name.strip()]
        rest = f", but {', '.join(others)}" if others else ""
        why["annotators"] = f"all columns that are not the unit's{rest}"
    if unit and "item" not in wanted.fields:
        why["item"] = "its name"
    return Found(columns, why)


def _tables(
    columns: Columns,
    wanted: TableMapping,
    named: RatingColumns,
    scales: Sequence[str],
    labels: Sequence[str],
    *,
    wide: bool,
) -> RatingTables:
    found = _found(list(columns.cells), wanted, wide=wide)
    if "annotators" in found.columns:
        _refuse_repeated_units(columns, found.columns["item"][0] if "item" in found.columns else None)
    # A table that Assay exported says itself which those are.
    of_ours = "added" if "added" in columns.cells and set(FLAGS) <= set(columns.cells) else None
    says_added = named.added or of_ours
    added = None if says_added is None else columns[says_added]
    rows, left_out = _counting(columns, added)
    long = melted(columns, wanted, found, rows)
    left_out |= long.left_out
    lines = [columns.lines[place] for place in long.places]
    names = [ONLY] * len(lines) if long.criteria is None else [criterion or "" for criterion in long.criteria]
    scale = scales_of(scales, names)
    declared = labels_of(labels, names)
    values = _values(columns, found, long.values, names, declared)
    _refuse_words(values, names, scale, lines)

    def perhaps(name: str) -> list[str | None] | None:
        if name not in found.columns:
            return None
        cells = columns.named(found.columns[name][0])
        return [cells[place] for place in long.places]

    tables = tables_of(
        long.items,
        long.annotators,
        values,
        criteria=names if long.criteria is not None else None,
        targets=perhaps("target"),
        questions=perhaps("question"),
        lines=lines,
        scale=scale,
        labels=declared,
    )
    if not tables:
        raise InvalidInput("there are no ratings that count. Give a table with the columns item, annotator and value.")
    cautions = [*columns.cautions, *names_alike(long.annotators, "Raters"), *names_alike(long.items, "Units")]
    missing = {name: dict(counted) for name, counted in columns.missing.items()}
    read = [*found.said(), *columns.what_was_read(), *said_of_left_out(left_out)]
    return RatingTables(columns.name, tables, len(columns.lines), left_out, read, cautions, missing)


def _values(
    columns: Columns,
    found: Found,
    cells: Sequence[object],
    criteria: Sequence[str],
    declared: Mapping[str, Sequence[Label]],
) -> list[object]:
    """The values of each criterion, read together; what is to be said of them is kept."""
    places: dict[str, list[int]] = {}
    for place, criterion in enumerate(criteria):
        places.setdefault(criterion, []).append(place)
    values: list[object] = [None] * len(cells)
    for criterion, of_criterion in places.items():
        about = criterion if len(places) > 1 else (found.columns.get("value") or ("values",))[0]
        read = read_values(
            (cells[place] for place in of_criterion), columns.rule, declared=set(map(str, declared.get(criterion, ()))),
            about=about,
        )  # fmt: skip
        columns.heard(about, read.missing, read.notes, read.cautions)
        for place, value in zip(of_criterion, read.values, strict=True):
            values[place] = value
    return values


def _refuse_repeated_units(columns: Columns, unit: str | None) -> None:
    """InvalidInput for a row whose unit is empty or was there before; rows without a column of units are units."""
    first: dict[str, int] = {}
    for name, line in zip(columns.named(unit) if unit else (), columns.lines, strict=False):
        if name is None:
            raise InvalidInput(f"line {line} names no {unit}. Fill it in, or leave the row out.")
        if name in first:
            raise InvalidInput(
                f"line {line} has unit {name!r} a second time (first on line {first[name]}). Keep one row a unit."
            )
        first[name] = line


# Scales and labels ----------------------------------------------------------------------------------------------------


def scales_of(given: Sequence[str], criteria: Iterable[str]) -> dict[str, Scale]:
    """Criterion → scale, from `SCALE` (for all) and `CRITERION=SCALE`. Raises InvalidInput for what is neither."""
    known = dict.fromkeys(criteria)
    found: dict[str, Scale] = dict.fromkeys(known, "nominal")
    for about, word in sorted((_about(scale, known) for scale in given), key=lambda pair: pair[0] is not None):
        check_scale(word, f" Criteria: {', '.join(known)}." if "=" in word else "")
        found |= dict.fromkeys(known if about is None else [about], cast(Scale, word))
    return found


def labels_of(given: Sequence[str], criteria: Iterable[str]) -> dict[str, Sequence[Label]]:
    """Criterion → its declared labels, numbers when all of them are, from `A,B,C` (for all) and `CRITERION=A,B,C`."""
    known = dict.fromkeys(criteria)
    found: dict[str, Sequence[Label]] = {}
    for about, text in sorted((_about(labels, known) for labels in given), key=lambda pair: pair[0] is not None):
        cells = next(csv.reader([text], skipinitialspace=True), [])  # a label that has a comma stands in quotes
        words = [word.strip() for word in cells if word.strip()]
        if not words or len(set(words)) < len(words):
            what = "names a label twice. Name each once." if words else "names no label. Write them as A,B,C."
            raise InvalidInput(f"labels {text!r} {what}")
        read = [read_value(word, declared=words) for word in words]
        found |= dict.fromkeys(known if about is None else [about], read)
    return found


def _about(given: str, known: dict[str, None]) -> tuple[str | None, str]:
    """The criterion that stands before the `=`, if it is one of the table's, and the rest."""
    name, equals, rest = given.partition("=")
    return (name.strip(), rest.strip()) if equals and name.strip() in known else (None, given.strip())


def _refuse_words(values: Sequence[object], criteria: Sequence[str], scale: dict[str, Scale], lines: list[int]) -> None:
    """InvalidInput for the first value on an interval or ratio scale that is no number (sets are left alone)."""
    for value, criterion, line in zip(values, criteria, lines, strict=True):
        if scale[criterion] in ("interval", "ratio") and isinstance(value, str) and value and value[0] != "[":
            raise InvalidInput(
                f"line {line} has the value {value[:80]!r} for {criterion!r}, which is no number on the scale "
                f"{scale[criterion]}. Give a number, leave the cell empty, or choose another --scale."
            )


# Rows that count ----------------------------------------------------------------------------------------------------

ADDED = "added where people disagreed"
"""Why a rating does not count for agreement."""


def _counting(columns: Columns, added: list[Cell] | None = None) -> tuple[list[int], dict[str, int]]:
    """The rows that count, and how many do not for which reason; `added` says which were asked for by disagreement."""
    flags = {name: columns.cells[name] for name in FLAGS if name in columns.cells}
    kept, left_out = [], dict[str, int]()
    for row in range(len(columns.lines)):
        reason = not_counting({name: str(cells[row]) for name, cells in flags.items()}) if flags else None
        if reason is None and added is not None and _is_yes(added[row], columns.lines[row]):
            reason = ADDED
        if reason is None:
            kept.append(row)
        else:
            left_out[reason] = left_out.get(reason, 0) + 1
    return kept, left_out


_YES, _NO = ("true", "yes", "y", "1", "1.0"), ("false", "no", "n", "0", "0.0", "", "none", "nan")


def _is_yes(cell: Cell, line: int) -> bool:
    word = str(cell).strip().lower()
    if word not in (*_YES, *_NO):
        raise InvalidInput(f"line {line} has {cell!r} for whether the rating was added. Write true or false.")
    return word in _YES
