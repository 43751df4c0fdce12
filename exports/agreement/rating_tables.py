"""Ratings from a file that stands alone: a long table (one row a rating) or a wide one (one column an annotator)."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from annotators.agreement.tables.columns import UNIT_COLUMNS, CriterionTable, tables_of, wide_columns
from annotators.agreement.tables.ratings import Label, Scale
from annotators.errors import InvalidInput, NotFound
from exports.cells import original
from exports.checks import check_scale
from exports.formats.labels import not_counting
from exports.reading.columns import Cell, Columns, read_columns

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
    """The tables of a file, one for each criterion and kind of target, and how many of its rows do not count."""

    name: str
    tables: list[CriterionTable]
    n_rows: int
    left_out: dict[str, int]


def read_ratings(
    path: Path, named: RatingColumns, *, wide: bool = False, scales: Sequence[str] = (), labels: Sequence[str] = ()
) -> RatingTables:
    """The ratings of a table (.csv, .tsv, .jsonl, .parquet, .xlsx).

    Long: columns item, annotator and value are needed, criterion, target and question are used where they are; a unit
    is an item and a target. Wide: one row a unit, one column an annotator, empty cells are missing. Rows of a table
    that Assay exported count as they do there. `scales` are scales, `labels` the declared labels in order with commas
    between them, both for all criteria, or for one when its name and `=` stand before. Raises NotFound and
    InvalidInput, which name the file, and the column or the line.
    """
    columns = read_columns(path)
    if path.suffix.lower() not in (".jsonl", ".parquet", ".xlsx"):
        cells = {name: [_read(cell) for cell in column] for name, column in columns.cells.items()}
        columns = Columns(columns.name, cells, columns.lines)
    try:
        if not columns.lines:
            raise InvalidInput("there are no ratings. Give a table with the columns item, annotator and value.")
        return _wide(columns, named, scales, labels) if wide else _long(columns, named, scales, labels)
    except InvalidInput as error:
        raise InvalidInput(f"{columns.name}: {error}") from error


def _long(columns: Columns, named: RatingColumns, scales: Sequence[str], labels: Sequence[str]) -> RatingTables:
    unit = _cells(columns, named.unit, "item", "--unit")
    rater = _cells(columns, named.rater, "annotator", "--rater")
    value = _cells(columns, named.value, "value", "--value")
    # A table that Assay exported says itself which those are.
    of_ours = "added" if "added" in columns.cells and set(FLAGS) <= set(columns.cells) else None
    says_added = named.added or of_ours
    added = None if says_added is None else _cells(columns, says_added, says_added, "--added")
    rows, left_out = _counting(columns, added)

    def perhaps(given: str | None, usual: str) -> list[Cell] | None:
        if given is None and usual not in columns.cells:
            return None
        found = _cells(columns, given, usual, f"--{usual}")
        return [found[row] for row in rows]

    criteria = perhaps(named.criterion, "criterion")
    values, lines = [value[row] for row in rows], [columns.lines[row] for row in rows]
    names = [ONLY] * len(rows) if criteria is None else [str(criterion) for criterion in criteria]
    scale = scales_of(scales, names)
    _refuse_words(values, names, scale, lines)
    tables = tables_of(
        [unit[row] for row in rows],
        [rater[row] for row in rows],
        values,
        criteria=criteria,
        targets=perhaps(named.target, "target"),
        questions=perhaps(named.question, "question"),
        lines=lines,
        scale=scale,
        labels=labels_of(labels, names),
    )
    if not tables:
        raise InvalidInput("there are no ratings that count. Give a table with the columns item, annotator and value.")
    return RatingTables(columns.name, tables, len(columns.lines), left_out)


_OF_INDEX = re.compile(r"(Unnamed: \d+)?")
"""What pandas calls the column of its index: nothing, or so when it was read again. It numbers rows and is no rater."""


def _wide(columns: Columns, named: RatingColumns, scales: Sequence[str], labels: Sequence[str]) -> RatingTables:
    chosen = None if named.rater is None else [name.strip() for name in named.rater.split(",")]
    for name in [*(chosen or ()), *([named.unit] if named.unit is not None else [])]:
        columns[name]  # NotFound says which columns there are
    names = [
        name
        for name in columns.cells
        if name in (chosen or ()) or name == named.unit or (chosen is None and not _OF_INDEX.fullmatch(name))
    ]
    if chosen is not None and named.unit is None:
        names += [name for name in columns.cells if name.lower() in UNIT_COLUMNS and name not in names][:1]
    _refuse_repeated_units(columns, named.unit or next((name for name in names if name.lower() in UNIT_COLUMNS), None))
    rows = [{name: columns.cells[name][place] for name in names} for place in range(len(columns.lines))]
    items, raters, values, places = wide_columns(rows, named.unit, first_line=0)
    if not raters:
        raise InvalidInput("there are no ratings. A wide table has one row a unit and one column a rater.")
    lines = [columns.lines[place] for place in places]
    scale = scales_of(scales, [ONLY])
    _refuse_words(values, [ONLY] * len(values), scale, lines)
    tables = tables_of(items, raters, values, lines=lines, scale=scale, labels=labels_of(labels, [ONLY]))
    return RatingTables(columns.name, tables, len(rows), {})


def _refuse_repeated_units(columns: Columns, unit: str | None) -> None:
    """InvalidInput for a row whose unit is empty or was there before; rows without a column of units are units."""
    first: dict[Cell, int] = {}
    for cell, line in zip(columns.cells[unit] if unit else (), columns.lines, strict=False):
        if cell is None or cell == "":
            raise InvalidInput(f"line {line} names no {unit}. Fill it in, or leave the row out.")
        if cell in first:
            raise InvalidInput(
                f"line {line} has unit {cell!r} a second time (first on line {first[cell]}). Keep one row a unit."
            )
        first[cell] = line


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
        found |= dict.fromkeys(known if about is None else [about], _numbers(words))
    return found


def _about(given: str, known: dict[str, None]) -> tuple[str | None, str]:
    """The criterion that stands before the `=`, if it is one of the table's, and the rest."""
    name, equals, rest = given.partition("=")
    return (name.strip(), rest.strip()) if equals and name.strip() in known else (None, given.strip())


def _numbers(words: list[str]) -> Sequence[Label]:
    try:
        numbers = [json.loads(word) for word in words]
    except ValueError:
        return words
    are_numbers = all(isinstance(number, int | float) and not isinstance(number, bool) for number in numbers)
    return numbers if are_numbers else words


def _refuse_words(values: Sequence[object], criteria: Sequence[str], scale: dict[str, Scale], lines: list[int]) -> None:
    """InvalidInput for the first value on an interval or ratio scale that is no number (sets are left alone)."""
    for value, criterion, line in zip(values, criteria, lines, strict=True):
        if scale[criterion] in ("interval", "ratio") and isinstance(value, str) and value and value[0] != "[":
            try:
                number = float(value)
            except ValueError:
                number = math.nan
            if not math.isfinite(number):
                raise InvalidInput(
                    f"line {line} has the value {value[:80]!r} for {criterion!r}, which is no number on the scale "
                    f"{scale[criterion]}. Give a number, leave the cell empty, or choose another --scale."
                )


# Cells ----------------------------------------------------------------------------------------------------------------


def _cells(columns: Columns, given: str | None, usual: str, option: str) -> list[Cell]:
    name = given or usual
    if name not in columns.cells:
        there = ", ".join(columns.cells) or "none"
        raise NotFound(f"{columns.name} has no column {name!r}. It has: {there}. Name the right one with {option}.")
    return columns.cells[name]


def _read(cell: Cell) -> Cell:
    """A cell of a CSV file without space around it, as it was before an export made it harmless."""
    return original(cell.strip()) if isinstance(cell, str) else cell


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
