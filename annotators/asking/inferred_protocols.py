"""Protocols for labels that were made elsewhere: criteria, labels and ranges are read off the labels themselves."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Literal

from annotators.criteria import Criterion, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.material import NEEDED_BY_TARGET, Material
from annotators.criteria.number import Number
from annotators.criteria.several import Several
from annotators.errors import InvalidInput
from annotators.items.checks import check_seen
from annotators.items.targets import TargetKind
from annotators.lists import list_in
from annotators.protocols.base import ALL_FALLS, Protocol, Step

MAX_LABELS = 200

_GUIDELINES = """\
These labels were made elsewhere and imported. Their guidelines did not come with the table; the criteria below are
those of the table, with the labels that were given.
"""


@dataclass(frozen=True)
class LabelColumn:
    """One criterion of a table of labels: its name there, the values that were given (as texts; repeats do no harm),
    what they are about, and on which scale they are to be read; and whether every item has one (`everywhere`).
    """

    criterion: str
    values: Sequence[str]
    scale: Literal["nominal", "ordinal", "interval"] = "nominal"
    target: TargetKind = TargetKind.ITEM
    per_hop: bool = False
    everywhere: bool = True


@lru_cache(1_000)
def criterion_name(text: str) -> str:
    """The name that a criterion called `text` in a table has in a protocol: "Correctness (1-5)" → correctness_1_5."""
    name = re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
    if not name:
        raise InvalidInput(f"{text!r} cannot name a criterion: it has no letter from a to z. Rename it in the table.")
    return name if name[0].isalpha() else f"c_{name}"


def planned_overlap(annotators: Iterable[int]) -> int:
    """How many annotations a study of labels plans for each item, by how many annotators each of its items has.

    As many as most of its items have, the larger number of two that are as frequent. Where some item has several, one
    label alone settles none. A study can say otherwise.
    """
    counts = Counter(annotators)
    if not counts:
        return 1
    usual = max(counts, key=lambda n: (counts[n], n))
    return max(usual, min(2, max(counts)))


def infer_protocol(name: str, columns: Sequence[LabelColumn], *, overlap: int = 1) -> Protocol:
    """A protocol that the given labels fit: one step, one criterion a column, in the order given.

    Nominal columns become choices (JSON arrays: several labels at once), ordinal ones grades with their values in
    numerical order, interval ones numbers from the lowest to the highest value in steps as fine as the data. Raises
    InvalidInput for an ordinal column whose values are not numbers (their order is not in the data), an interval column
    with a value that is no number, a column without values, and two columns whose names become the same.
    """
    if not columns:
        raise InvalidInput("The table has no labels to infer a protocol from. Check that it is the right file.")
    criteria: list[Criterion] = []
    for column in columns:
        criterion = _criterion(column)
        for earlier, other in zip(criteria, columns, strict=False):
            if earlier.name == criterion.name:
                raise InvalidInput(
                    f"The criteria {other.criterion!r} and {column.criterion!r} would both be named "
                    f"{criterion.name!r}. Rename one in the table."
                )
        criteria.append(criterion)
    needed = {material for column in columns for material in NEEDED_BY_TARGET[column.target]}
    shows = {Material.QUESTION, Material.ANSWER} | needed
    return Protocol(
        name=criterion_name(name),
        title=_title(name),
        summary="Inferred from a table of labels.",
        guidelines=_GUIDELINES,
        criteria=list(criteria),
        steps=[
            Step(
                name="labels",
                title="Labels",
                shows=[material for material in Material if material in shows],
                criteria=[criterion.name for criterion in criteria],
            )
        ],
        overlap=overlap,
        invalidates=ALL_FALLS,
    )


def _title(name: str) -> str:
    words = name.replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def _criterion(column: LabelColumn) -> Criterion:
    given = sorted({value.strip() for value in column.values} - {""}, key=lambda value: (value.casefold(), value))
    if not given:
        raise InvalidInput(f"Criterion {column.criterion!r} has no value in the table. Leave it out.")
    for value in given:
        check_seen(" ".join(value.split()), f"Criterion {column.criterion!r}: the value")
    about = {
        "name": criterion_name(column.criterion),
        "title": _title(column.criterion),
        "target": column.target,
        "per_hop": column.per_hop,
        "required": column.everywhere,
    }
    match column.scale:
        case "interval":
            low, high, step = _range(column.criterion, given)
            return Number.model_validate({**about, "minimum": low, "maximum": high, "step": step})
        case "ordinal":
            return Grade.model_validate({**about, "labels": _ordered_labels(column.criterion, given)})
        case "nominal":
            sets = [_set_members(value) for value in given]
            if all(members is not None for members in sets):
                members = sorted({member for given_set in sets for member in given_set or ()})
                # A set is of two labels at least: where fewer were given, one that nobody gave stands beside them.
                members += [name for name in ("other", "another") if name not in members][: max(0, 2 - len(members))]
                labels = _labels(column.criterion, members)
                return Several.model_validate({**about, "labels": labels})
            numbers = [_number(value) for value in given]
            if all(number is not None for number in numbers):
                given.sort(key=float)
            return Choice.model_validate({**about, "labels": _labels(column.criterion, given)})
    raise InvalidInput(f"{column.scale!r} is not a scale that can be inferred. Known: nominal, ordinal, interval.")


def _labels(criterion: str, values: Sequence[str]) -> list[Label]:
    if len(values) > MAX_LABELS:
        raise InvalidInput(
            f"Criterion {criterion!r} has {len(values)} different values, from {values[0]!r} to {values[-1]!r}; at "
            f"most {MAX_LABELS} labels are taken from a table. Read it on the interval scale if these are numbers, or "
            "leave it out if they are free text."
        )
    return [Label(value=int(value) if _is_plain_integer(value) else value) for value in values]


def _ordered_labels(criterion: str, given: Sequence[str]) -> list[Label]:
    numbers = {}
    for value in given:
        number = _number(value)
        if number is None:
            raise InvalidInput(
                f"Criterion {criterion!r} is to be read on the ordinal scale, but {value!r} is not a number and the "
                "order of words is not in the table. Read it as nominal, or give a protocol file that lists the labels "
                "in order."
            )
        numbers[number] = str(int(number)) if number.is_integer() and abs(number) < 1e15 else str(number)
    return _labels(criterion, [numbers[number] for number in sorted(numbers)])


def _range(criterion: str, given: Sequence[str]) -> tuple[float, float, float]:
    """Lowest and highest value, and the largest step that every value lies on."""
    numbers = []
    for value in given:
        number = _number(value)
        if number is None:
            raise InvalidInput(
                f"Criterion {criterion!r} is to be read on the interval scale, but {value!r} is not a number. Correct "
                "the table, or read it as nominal."
            )
        numbers.append(Fraction(repr(number)))
    low, high = min(numbers), max(numbers)
    whole = math.lcm(*(number.denominator for number in numbers))
    step = Fraction(math.gcd(*(int((number - low) * whole) for number in numbers)), whole)
    return float(low), float(high), float(step) or (math.ulp(0.0) if step else 1.0)


def _set_members(value: str) -> list[str] | None:
    members = list_in(value)
    return members if members is not None and all(isinstance(member, str) for member in members) else None


def _is_plain_integer(value: str) -> bool:
    return re.fullmatch(r"-?(0|[1-9][0-9]{0,15})", value) is not None


def _number(value: str) -> float | None:
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in value else None
