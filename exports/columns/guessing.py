"""Which column of a table of ratings is what, guessed from names and from what the values look like, each with why."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import product
from typing import Any

from annotators.errors import AssayError
from annotators.figures import count
from exports.columns.mapping import AS_IT_IS, MANY, found_columns, is_no_judgement, shared_beginning
from exports.columns.values import number_in, read_value, trimmed

LOOKED_AT = 2_000
"""Rows by which a column is known."""

_FEW = 12
_LONG = 60
_MOST_CANDIDATES = 12
_URL = re.compile(r"https?://\S+").fullmatch
_WHEN = re.compile(r"\d{1,4}[-/.]\d{1,2}[-/.]\d{1,4}([ T,].*)?").fullmatch
_WORKER = re.compile(r"A[0-9A-Z]{9,16}|[0-9a-f]{24}|R_\w{10,20}|[^@\s]+@[^@\s]+\.\w+").fullmatch
"""Ids of people as Mechanical Turk, Prolific and Qualtrics have them, and addresses."""


@dataclass(frozen=True)
class Guess:
    """Field → its columns, and why each; `shape` is `rows`, or the field of which many columns are one each."""

    shape: str = "rows"
    fields: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    why: Mapping[str, str] = field(default_factory=dict)

    def said(self) -> list[str]:
        """A sentence a field: which column it is, and why."""
        return [f"{name}: {', '.join(columns[:6])}{' …' if len(columns) > 6 else ''} ({self.why[name]})"
                for name, columns in self.fields.items() if columns]  # fmt: skip


@dataclass
class _Column:
    """What a column looks like, by its first rows."""

    name: str
    cells: Sequence[Any]

    @cached_property
    def values(self) -> list[Any]:
        return [read_value(cell) if not isinstance(cell, list | dict) else str(cell) for cell in self.cells]

    @cached_property
    def there(self) -> list[Any]:
        return [value for value in self.values if value is not None]

    @cached_property
    def distinct(self) -> set[Any]:
        return set(self.there)

    @cached_property
    def length(self) -> float:
        """Characters of a value, on average."""
        return sum(len(str(value)) for value in self.there) / max(1, len(self.there))

    @property
    def is_empty(self) -> bool:
        return not self.there

    @property
    def is_whole(self) -> bool:
        return len(self.there) == len(self.values)

    @property
    def is_unique(self) -> bool:
        return self.is_whole and len(self.distinct) == len(self.there) > 1

    @cached_property
    def is_numbers(self) -> bool:
        return bool(self.there) and all(isinstance(value, int | float) for value in self.there)

    @cached_property
    def is_about_something_else(self) -> bool:
        """Whether these are addresses of pages, or moments."""
        return bool(self.there) and all(_URL(trimmed(str(value))) or _WHEN(trimmed(str(value))) for value in self.there)

    @cached_property
    def are_people(self) -> bool:
        return bool(self.there) and all(_WORKER(trimmed(str(value))) for value in self.there)

    @property
    def may_be_values(self) -> bool:
        """Whether it holds few values that come again, grades or shares, as judgements do."""
        if self.is_empty or self.is_about_something_else or self.are_people or self.length > _LONG:
            return False
        if self.is_numbers and not self.is_unique:
            low, high = min(self.distinct), max(self.distinct)
            return (low >= 0 and high <= 1) or (len(self.distinct) <= _FEW and abs(low) <= 100 and high <= 100)
        return 1 < len(self.distinct) <= _FEW and 2 * len(self.distinct) <= len(self.there)

    @property
    def may_name(self) -> bool:
        """Whether its values may be names or ids: short, in every row."""
        return self.is_whole and len(self.distinct) > 1 and self.length <= _LONG and not self.is_about_something_else

    def is_constant_within(self, other: _Column) -> bool:
        """Whether each value of the other column has one of these."""
        first: dict[Any, Any] = {}
        return all(first.setdefault(a, b) == b for a, b in zip(other.values, self.values, strict=True))

    def looks_like(self) -> str:
        """Its values in words."""
        if self.is_numbers and self.distinct and min(self.distinct) >= 0 and max(self.distinct) <= 1:
            return "numbers from 0 to 1"
        if self.is_numbers and self.distinct:
            return f"{count(len(self.distinct), 'number')} from {min(self.distinct)} to {max(self.distinct)}"
        return f"{count(len(self.distinct), 'value')} that come again"


def guess(cells: Mapping[str, Sequence[Any]]) -> Guess:
    """Which column is what in a table of ratings: by its name, else by its values; what is not known is left out.

    An item and an annotator are the two columns whose values together stand in no two rows; what is the same for all
    rows of an item is about the item, and no judgement.
    """
    columns = {name: _Column(name, list(of[:LOOKED_AT])) for name, of in cells.items() if name}
    try:
        known = found_columns(list(columns), AS_IT_IS)
        by_name = {name: of[0] for name, of in known.columns.items()}
        why = {name: known.why[name] for name in by_name}
    except AssayError:
        by_name, why = {}, {}
    for name in [name for name, column in by_name.items() if columns[column].is_empty]:
        del by_name[name]
    if "annotator" in by_name and "item" in by_name and "value" in by_name:
        return Guess("rows", {name: (column,) for name, column in by_name.items()}, why)
    for way in (_of_people, _of_rows, _of_units):
        if (found := way(columns, by_name, why)) is not None:
            return found
    return Guess("rows", {name: (column,) for name, column in by_name.items()}, why)


def _of_rows(columns: Mapping[str, _Column], by_name: Mapping[str, str], why: Mapping[str, str]) -> Guess | None:
    """A table with a row a rating, or a rating of several criteria: some item and some annotator come again."""
    taken = set(by_name.values())
    free = [column for name, column in columns.items() if name not in taken and column.may_name][:_MOST_CANDIDATES]
    items = [columns[by_name["item"]]] if "item" in by_name else [c for c in free if not c.are_people]
    people = [columns[by_name["annotator"]]] if "annotator" in by_name else free
    criterion = columns[by_name["criterion"]].values if "criterion" in by_name else None
    found: tuple[tuple[float, ...], _Column, _Column] | None = None
    for item, person in product(items, people):
        if item is person or item.is_unique or person.is_unique:
            continue
        if item.is_numbers and person.is_numbers and "item" not in by_name:
            continue  # two grades, of which some rows have no others alike
        cells = list(zip(item.values, person.values, criterion or [None] * len(item.values), strict=True))
        if len(set(cells)) < len(cells):
            continue
        if item.is_constant_within(person) or person.is_constant_within(item):
            continue
        if "item" not in by_name and "annotator" not in by_name and len(item.distinct) < len(person.distinct):
            continue
        is_grade = item.is_numbers and item.may_be_values
        told = sum(  # what each item has once, as its text
            len(other.distinct) > 1 and other.is_constant_within(item)
            for other in columns.values()
            if other is not item
        )
        score = (
            person.are_people, not (person.is_numbers and person.may_be_values), not is_grade, told,
            len(item.distinct), -item.length,
        )  # fmt: skip
        if found is None or score > found[0]:
            found = score, item, person
    if found is None:
        return None
    _, item, person = found
    used = {*taken, item.name, person.name}
    judged = [
        column.name
        for name, column in columns.items()
        if name not in used and not is_no_judgement(name) and column.may_be_values
        and not column.is_constant_within(item) and not column.is_constant_within(person)
    ]  # fmt: skip
    if begun := shared_beginning(judged):  # what all agree on is a judgement beside others of its kind
        judged = [
            name for name, column in columns.items() if name not in used and name.startswith(begun) and column.there
            and (name in judged or column.may_be_values or len(column.distinct) == 1)
        ]  # fmt: skip
    fields: dict[str, tuple[str, ...]] = {"item": (item.name,), "annotator": (person.name,)}
    reasons = {
        "item": why.get("item", f"{count(len(item.distinct), 'value')}, each once for an annotator"),
        "annotator": why.get("annotator", "ids of people" if person.are_people else
                             f"{count(len(person.distinct), 'name')} that come again, each once for an item"),
    }  # fmt: skip
    fields |= {name: (column,) for name, column in by_name.items() if name not in fields}
    reasons |= {name: why[name] for name in by_name if name not in reasons}
    if "value" in by_name:
        return Guess("rows", fields, reasons)
    if len(judged) == 1:
        fields["value"], reasons["value"] = (judged[0],), columns[judged[0]].looks_like()
        return Guess("rows", fields, reasons)
    if not judged:
        return Guess("rows", fields, reasons)
    fields.pop("criterion", None)
    fields["criteria"] = tuple(judged)
    reasons["criteria"] = f"few values that come again, as {columns[judged[0]].looks_like()} in {judged[0]}"
    return Guess("criteria", fields, reasons)


def _of_people(columns: Mapping[str, _Column], by_name: Mapping[str, str], why: Mapping[str, str]) -> Guess | None:
    """A table with a row a person and a column an item, as forms save it."""
    named = columns.get(by_name.get("annotator", ""))
    person = named if named is not None and named.is_unique else next(
        (c for c in columns.values() if c.is_unique and c.are_people), None
    )  # fmt: skip
    if person is None or "item" in by_name:
        return None
    asked = _alike([c for name, c in columns.items() if c is not person and name not in by_name.values()])
    if len(asked) < 2:
        return None
    return Guess(
        "items", {"annotator": (person.name,), "items": tuple(asked)},
        {"annotator": why.get("annotator", "ids of people, each once"),
         "items": f"{count(len(asked), 'column')} with the same values, as {columns[asked[0]].looks_like()}"},
    )  # fmt: skip


def _of_units(columns: Mapping[str, _Column], by_name: Mapping[str, str], why: Mapping[str, str]) -> Guess | None:
    """A table with a row a unit and a column an annotator."""
    if "annotator" in by_name:
        return None
    unit = columns.get(by_name.get("item", ""))
    ids = (c for c in columns.values() if c.is_unique and c.may_name and not (c.is_numbers and _are_shares(c)))
    unit = unit if unit is not None and unit.is_unique else next(ids, None)
    if unit is None:
        return None
    raters = _alike([c for c in columns.values() if c is not unit])
    if len(raters) < 2:
        return None
    return Guess(
        "annotators", {"item": (unit.name,), "annotators": tuple(raters)},
        {"item": why.get("item", "each value once"),
         "annotators": f"{count(len(raters), 'column')} with the same values, as {columns[raters[0]].looks_like()}"},
    )  # fmt: skip


def _are_shares(column: _Column) -> bool:
    return any(isinstance(value, float) for value in column.distinct)


def _alike(columns: Sequence[_Column]) -> list[str]:
    """The largest group of columns of judgements that have values in common."""
    groups: list[tuple[set[Any], list[str]]] = []
    for column in columns:
        if not column.may_be_values or is_no_judgement(column.name):
            continue
        said = {_word(value) for value in column.distinct}
        for of_group, names in groups:
            if len(said & of_group) * 2 >= min(len(said), len(of_group)):
                of_group.update(said)
                names.append(column.name)
                break
        else:
            groups.append((said, [column.name]))
    return max((names for _, names in groups), key=len, default=[])


def _word(value: Any) -> Any:
    if not isinstance(value, str):
        return value
    number = number_in(value)
    return value.casefold() if number is None else number


def is_whole(found: Guess) -> bool:
    """Whether the guess says all that a table of labels needs."""
    needed = {"item", "annotator", "value"} - {MANY.get(found.shape, "")}
    needed -= {"value"} if found.shape in MANY else set()
    return needed <= {name for name, columns in found.fields.items() if columns}
