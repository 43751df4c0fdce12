"""Which items are meant: conditions on fields, `category=table` or `score:rouge_l>=0.5`, and lists of ids."""

from __future__ import annotations

import csv
import math
import operator
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from io import StringIO
from typing import Any

from annotators.errors import InvalidInput, shown
from annotators.items.item import DESCRIBED

DESCRIPTIVE = tuple(name for name, _ in DESCRIBED)
OF_EVIDENCE = ("role", "kind")
SCORE, METADATA = "score:", "metadata:"

_FORM = re.compile(r"([^<>=!]+)(>=|<=|!=|=|>|<)(.*)", re.DOTALL)
_ORDERED = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}


@dataclass(frozen=True)
class Condition:
    """A field, how it is compared (`=`, `!=`, `>=`, `<=`, `>`, `<`), and with what, as it was written.

    A field is a short text of the item (`system`, `category`, `language`), `role` or `kind` of any of its evidence, a
    score (`score:NAME`), or anything in its metadata (`NAME`, or `metadata:NAME` where the name is one of these).
    """

    field: str
    sign: str
    value: str

    def __str__(self) -> str:
        return f"{self.field}{self.sign}{self.value}"

    @property
    def score(self) -> str | None:
        """The name of the score that it is about; None for another field."""
        return self.field.removeprefix(SCORE) if self.field.startswith(SCORE) else None

    @property
    def metadata(self) -> str | None:
        """The name in the metadata; None for another field."""
        if self.field.startswith(METADATA):
            return self.field.removeprefix(METADATA)
        return None if self.score is not None or self.field in (*DESCRIPTIVE, *OF_EVIDENCE) else self.field

    def holds(self, values: Iterable[Any]) -> bool:
        """Whether it holds for an item whose field has these values (none, one, or several: one of them suffices).

        Numbers are compared as numbers (`3` is `3.0`), everything else as it is written. An empty value means an item
        that has none. `!=` holds where `=` does not, and an order only for numbers.
        """
        there = [value for value in values if value is not None and value != ""]
        if self.sign in _ORDERED:
            limit, compare = float(self.value), _ORDERED[self.sign]
            numbers = (as_number(value) for value in there)
            return any(number is not None and compare(number, limit) for number in numbers)
        same = any(_same(value, self.value) for value in there) if self.value else not there
        return same == (self.sign == "=")


def as_number(value: Any) -> float | None:
    """A value as a finite number; None for what is none, true and false included."""
    if isinstance(value, bool):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def words_of(value: Any) -> str:
    """A value as it is written in a condition: `true`, `3`, `table`."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _same(value: Any, wanted: str) -> bool:
    if words_of(value) == wanted:
        return True
    number = as_number(value)
    return number is not None and number == as_number(wanted)


def condition(text: str) -> Condition:
    """The condition that `text` writes; InvalidInput says how one is written."""
    found = _FORM.fullmatch(text.strip())
    if found is None or not found[1].strip() or not found[1].strip().removeprefix(SCORE).removeprefix(METADATA):
        raise InvalidInput(
            f"{shown(text)} is no condition on items. Write FIELD=VALUE, as in system=harbour, or compare a number, as "
            "in score:rouge_l>=0.5; the signs are =, !=, >=, <=, > and <."
        )
    field, sign, value = found[1].strip(), found[2], found[3].strip()
    if sign in _ORDERED and as_number(value) is None:
        raise InvalidInput(f"{shown(text)} compares with {shown(value)}, which is no number. Give one, or use = or !=.")
    return Condition(field, sign, value)


def alternatives(texts: Sequence[str]) -> list[list[Condition]]:
    """The conditions in groups: of each group one has to hold, and all groups do.

    Several with `=` on one field are one group, since no item has two systems; any other is a group of its own.
    """
    groups: dict[object, list[Condition]] = {}
    for number, text in enumerate(dict.fromkeys(texts)):
        found = condition(text)
        groups.setdefault(found.field if found.sign == "=" else number, []).append(found)
    return list(groups.values())


def item_ids(text: str, source: str) -> tuple[str, ...]:
    """The ids that a list names: one a line, or a CSV or TSV table with a column `item` or `id`; empty lines count not.

    Raises InvalidInput naming `source` for a list without ids, for an id that is named twice, with both lines, and for
    a table with a cell that cannot be read.
    """
    try:
        return _item_ids(text, source)
    except csv.Error as error:
        raise InvalidInput(f"{source} cannot be read as a table ({error}). Write the ids, one a line.") from None


def _item_ids(text: str, source: str) -> tuple[str, ...]:
    lines = text.removeprefix("\ufeff").splitlines()
    heading = next((line for line in lines if line.strip()), "")
    sign = next((sign for sign in "\t;," if sign in heading), None)
    cells = next(csv.reader([heading], delimiter=sign)) if sign else [heading]
    column = next((cells.index(name) for name in ("item", "id") if name in [cell.strip() for cell in cells]), None)
    if column is None:
        rows = [(number, line.strip()) for number, line in enumerate(lines, 1)]
    else:
        reader = csv.reader(StringIO("\n".join(lines)), delimiter=sign or ",")
        next(row for row in reader if any(cell.strip() for cell in row))
        rows = [(reader.line_num, row[column].strip() if len(row) > column else "") for row in reader]
    first: dict[str, int] = {}
    for number, name in rows:
        if not name:
            continue
        if name in first:
            raise InvalidInput(
                f"{source}, line {number}: {shown(name)} is named again, first on line {first[name]}. Remove one."
            )
        first[name] = number
    if not first:
        raise InvalidInput(f"{source} names no items. Write their ids, one a line, or a table with a column `item`.")
    return tuple(first)
