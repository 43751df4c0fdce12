"""Tables of ratings from the columns of a file: long (one row a rating) or wide (one column an annotator)."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from annotators.agreement.tables.ratings import Label, Ratings, Scale
from annotators.errors import InvalidInput, shown
from annotators.items.targets import target_kind
from annotators.lists import list_in

ITEM = "item"
_NO_NAMES = (list, dict, set)
UNIT_COLUMNS = ("item", "unit", "item_id", "unit_id", "id")


@dataclass(frozen=True, eq=False)
class CriterionTable:
    """The ratings of one criterion on one kind of target.

    `items` has the item of each unit of `ratings` (several units are of one item when it has targets), `questions` the
    question of each unit, when the file says it.
    """

    criterion: str
    target: str
    ratings: Ratings
    items: tuple[Hashable, ...]
    questions: Mapping[Hashable, Hashable] | None = None


def tables_of(
    items: Sequence[object],
    raters: Sequence[object],
    values: Sequence[object],
    *,
    criteria: Sequence[object] | None = None,
    targets: Sequence[object] | None = None,
    questions: Sequence[object] | None = None,
    lines: Sequence[int] | None = None,
    scale: Scale | Mapping[str, Scale] = "nominal",
    labels: Sequence[Label] | Mapping[str, Sequence[Label]] | None = None,
) -> list[CriterionTable]:
    """The tables of the criteria of a long table, in order of appearance; every column has one entry a row.

    `criteria` None: there is one, called "value". `targets` are written as in a labels table ("" or None is the item,
    "evidence:e1", …); a unit is an item and a target, and each kind of target of a criterion is a table. What is
    written in no such way (the sentence that was rated, say) is a part of the item and makes no table of its own.
    `questions` has the question of each row's item. `lines` are the numbers of the rows in their file, for messages.
    None, NaN and "" are missing ratings. `scale` and `labels` (declared, in order) hold for all criteria or go by their
    names. A criterion whose values are all JSON arrays (or lists) is on the scale "set", unless they are said to be
    rankings or spans.

    Raises InvalidInput, naming the line, for columns of different length, a row without item or rater, a repeated cell,
    and a value that is not among the labels or does not fit the scale.
    """
    n = len(values)
    columns: dict[str, Sequence[object] | None] = {
        "item": items,
        "rater": raters,
        "criterion": criteria,
        "target": targets,
        "question": questions,
        "value": values,
    }
    for name, column in columns.items():
        if column is not None and len(column) != n:
            raise InvalidInput(f"column {name} has {len(column):,} entries for {n:,} values: give one for every row")
    line = list(lines) if lines is not None else list(range(1, n + 1))
    for name in ("item", "rater", "question"):
        for row, cell in enumerate(columns[name] or ()):
            if isinstance(cell, _NO_NAMES):
                raise InvalidInput(f"line {line[row]} has {shown(cell)} as its {name}: give a text or a number")
    groups: dict[tuple[str, str], list[int]] = {}
    kinds: dict[str, str] = {}
    for row in range(n):
        if _blank(items[row]) or _blank(raters[row]):
            name = "item" if _blank(items[row]) else "rater"
            raise InvalidInput(f"line {line[row]} names no {name}: fill it in or leave the line out")
        criterion = "value" if criteria is None else str(criteria[row])
        target = ITEM if targets is None or _blank(targets[row]) else str(targets[row])
        kind = kinds.get(target) or kinds.setdefault(target, _kind(target))
        groups.setdefault((criterion, kind), []).append(row)
    return [
        _table(
            about,
            rows,
            columns,
            line,
            scale=scale.get(about[0], "nominal") if isinstance(scale, Mapping) else scale,
            labels=labels.get(about[0]) if isinstance(labels, Mapping) else labels,
        )
        for about, rows in groups.items()
    ]


def _table(
    about: tuple[str, str],
    rows: list[int],
    columns: Mapping[str, Sequence[object] | None],
    line: list[int],
    *,
    scale: Scale,
    labels: Sequence[Label] | None,
) -> CriterionTable:
    """The table of one criterion and kind of target, from its rows."""
    criterion, kind = about
    items, raters, values = (columns[name] or () for name in ("item", "rater", "value"))
    targets, questions = columns["target"], columns["question"]
    item_of = [items[row] for row in rows]
    parts = [None if targets is None or _blank(targets[row]) else str(targets[row]) for row in rows]
    units: list[Hashable] = [
        item if part in (None, ITEM) else (item, part) for item, part in zip(item_of, parts, strict=True)
    ]
    first: dict[tuple[Hashable, object], int] = {}
    for row_place, (unit, row) in enumerate(zip(units, rows, strict=True)):
        cell = (unit, raters[row])
        if cell in first:
            part = parts[row_place]
            what = f"item {unit!r}" if part in (None, ITEM) else f"item {item_of[row_place]!r}, target {part!r},"
            raise InvalidInput(
                f"line {line[row]} rates {what} by {raters[row]!r} a second time for {criterion!r} "
                f"(first on line {line[first[cell]]}): keep one of the two"
            )
        first[cell] = row
    given = [None if _blank(values[row]) else values[row] for row in rows]
    arrays = _as_arrays(given)
    if arrays is not None:
        scale, given, labels = scale if scale in ("ranking", "spans") else "set", arrays, None
    elif (strange := next((at for at, value in enumerate(given) if isinstance(value, _NO_NAMES)), None)) is not None:
        raise InvalidInput(
            f"criterion {criterion!r}: line {line[rows[strange]]} has the value {shown(given[strange])}: "
            "give a text or a number, or lists throughout"
        )
    if labels is not None:
        declared = {str(label): label for label in labels}
        given = [value if value is None else _declared(value, declared) for value in given]
    try:
        ratings = Ratings.from_triples(units, [raters[row] for row in rows], given, labels, scale)
    except InvalidInput as error:
        raise InvalidInput(f"criterion {criterion!r}: {error}{_where(given, rows, line, labels)}") from error
    places = {unit: (item, row) for unit, item, row in zip(units, item_of, rows, strict=True)}
    return CriterionTable(
        criterion,
        kind,
        ratings,
        tuple(places[unit][0] for unit in ratings.units),
        None if questions is None else {unit: questions[row] for unit, (_, row) in places.items()},
    )


def _where(given: list[object], rows: list[int], line: list[int], labels: Sequence[Label] | None) -> str:
    """Where the first value stands that is not among the declared labels, as words to add to a message."""
    if labels is None:
        return ""
    wrong = next((row for value, row in zip(given, rows, strict=True) if value is not None and value not in labels), -1)
    return f" (line {line[wrong]})" if wrong >= 0 else ""


def _as_arrays(given: list[object]) -> list[object] | None:
    """The values as lists when all that are there are lists, or texts of lists; else None."""
    found: list[object] = []
    for value in given:
        if isinstance(value, str) and value.lstrip().startswith("["):
            value = list_in(value)  # noqa: PLW2901 - the same value, read
            if value is None:
                return None
        if value is not None and not isinstance(value, list | tuple | set | frozenset):
            return None
        found.append(value)
    return found if any(value is not None for value in found) else None


def _kind(target: str) -> str:
    """The kind of a target; one that is written in no way of ours is a part of the item, whatever it says."""
    try:
        return target_kind(target).value
    except InvalidInput:
        return ITEM


def _declared(value: object, labels: Mapping[str, Label]) -> object:
    """The declared label that a value is, although a file writes 3 as "3" or 3.0; else the value as it is."""
    if isinstance(value, float) and value.is_integer():
        value = int(value) if str(int(value)) in labels else value
    return labels.get(str(value), value)


def _blank(value: object) -> bool:
    """Whether a cell is empty."""
    return value is None or value == "" or value != value  # noqa: PLR0124 - NaN is not itself
