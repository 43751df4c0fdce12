"""The one table of ratings that every coefficient of agreement reads: who gave which unit which label."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

from annotators.arrays import BoolArray, FloatArray, IntArray, np
from annotators.errors import InvalidInput

Label = str | int | float | bool | frozenset[Hashable] | tuple[Hashable, ...]
Scale = Literal["nominal", "ordinal", "interval", "ratio", "set", "ranking", "spans", "text"]
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval", "ratio", "set", "ranking", "spans", "text")
COMPOSED: frozenset[Scale] = frozenset({"set", "ranking", "spans", "text"})
"""Scales whose values are made of parts: they are compared by what they hold, and have no list of declared labels."""


class Box(NamedTuple):
    """A rectangle on a page, corners as fractions (0..1) of the page: an element of a set that was drawn."""

    document: str
    page: int
    x0: float
    y0: float
    x1: float
    y1: float


class Span(NamedTuple):
    """A stretch of a text from one place to another, in characters from 0, with its label: an element of "spans"."""

    start: int
    end: int
    label: str


@dataclass(frozen=True, eq=False)
class Ratings:
    """Ratings of units by raters, with gaps, in coordinate form: one entry a rating, sorted by unit, then rater.

    `unit`, `rater` and `code` have one entry a rating and index `units`, `raters` and `labels`. Units and raters that
    have no rating at all are kept. `numbers` has one value a label: the number that the label is, or its rank (from 0)
    in the declared order when the labels are not numbers; `numeric` says which. On the scale "spans" `lengths` (U) has
    the length of each unit's text in characters, where it is known.
    """

    units: tuple[Hashable, ...]
    raters: tuple[Hashable, ...]
    labels: tuple[Label, ...]
    scale: Scale
    unit: IntArray
    rater: IntArray
    code: IntArray
    numbers: FloatArray
    numeric: bool
    lengths: IntArray | None = None

    @classmethod
    def from_triples(
        cls,
        units: Iterable[Hashable],
        raters: Iterable[Hashable],
        values: Iterable[object],
        labels: Sequence[Label] | None = None,
        scale: Scale = "nominal",
        *,
        lengths: Mapping[Hashable, int] | None = None,
    ) -> Ratings:
        """Make the table from three sequences of the same length: triple i says that rater i gave unit i value i.

        A value of `None` or NaN is a missing rating. Units keep their order of appearance; raters are sorted, so that
        the figures do not depend on the order of the triples. `labels` are the declared labels in their order, used or
        not; without them the labels are the distinct values, sorted. Labels are numbers when all of them are finite
        numbers, or texts that read as such ("0.5"); an ordinal scale whose labels are not numbers needs `labels`, for
        the order; an interval scale needs numbers, and a ratio scale numbers from 0 on. On the scale "set" a value is a
        list, tuple or set of elements (an empty one is a rating, None is not); an element that is a mapping with a
        "box" of four fractions becomes a `Box`. On the scale "ranking" a value is a list of what was ordered, the first
        first, with a list in the list for what is tied; on the scale "spans" a list of mappings with start, end and
        label, and `lengths` has the length of each unit's text. The labels of these scales are not declared.

        Raises InvalidInput when the sequences differ in length, a rater rated a unit twice (also when one of the two is
        missing), a value is not among `labels`, or the labels do not fit the scale.
        """
        if scale not in SCALES:
            raise InvalidInput(f"scale {scale!r} is unknown: use one of {', '.join(SCALES)}")
        if scale in COMPOSED:
            values, labels = [None if _missing(value) else composed(value, scale) for value in values], None
        unit_keys, unit = _factorise(units)
        rater_keys, rater = _factorise(raters)
        value_keys, value = _factorise(values)
        if not len(unit) == len(rater) == len(value):
            raise InvalidInput(
                f"{len(unit)} units, {len(rater)} raters and {len(value)} values do not line up: "
                "give one of each for every rating"
            )
        rater_keys, rater = _sorted_keys(rater_keys, rater)
        order = np.argsort(unit * max(1, len(rater_keys)) + rater, kind="stable")
        unit, rater, value = unit[order], rater[order], value[order]
        twice = np.flatnonzero((unit[1:] == unit[:-1]) & (rater[1:] == rater[:-1]))
        if twice.size:
            first = int(twice[0])
            raise InvalidInput(
                f"rater {rater_keys[rater[first]]!r} rated unit {unit_keys[unit[first]]!r} more than once "
                f"({value_keys[value[first]]!r} and {value_keys[value[first + 1]]!r}): keep one of the ratings"
            )
        declared, code_of_value = _label_codes(value_keys, labels, scale)
        code = code_of_value[value] if len(value_keys) else value
        present = code >= 0
        numbers, numeric = _numbers(declared, scale, ordered=labels is not None)
        return cls(
            units=tuple(unit_keys),
            raters=tuple(rater_keys),
            labels=declared,
            scale=scale,
            unit=unit[present],
            rater=rater[present],
            code=code[present],
            numbers=numbers,
            numeric=numeric,
            lengths=None if lengths is None else np.array([lengths[unit] for unit in unit_keys], dtype=np.int64),
        )

    @property
    def n_ratings(self) -> int:
        """How many ratings there are, gaps not counted."""
        return len(self.code)

    @cached_property
    def sizes(self) -> IntArray:
        """How many ratings each unit has, in the order of `units`."""
        return np.bincount(self.unit, minlength=len(self.units)).astype(np.int64)

    @cached_property
    def is_complete(self) -> bool:
        """Whether every rater who rated anything rated every unit that has a rating, of two units or more."""
        units = int((self.sizes > 0).sum())
        return units > 1 and self.n_ratings == units * int(np.count_nonzero(np.bincount(self.rater)))

    def counting(self, smallest: int) -> BoolArray:
        """Which ratings belong to a unit that has at least `smallest` of them: one truth value a rating."""
        return (self.sizes >= smallest)[self.unit]

    def numbers_at(self, smallest: int) -> tuple[int, int, int]:
        """How many units have at least `smallest` ratings, and how many raters and ratings those units have."""
        known = self._known_numbers
        if smallest not in known:
            counting = self.counting(smallest)
            raters = np.count_nonzero(np.bincount(self.rater[counting]))
            known[smallest] = (int((self.sizes >= smallest).sum()), int(raters), int(counting.sum()))
        return known[smallest]

    @cached_property
    def _known_numbers(self) -> dict[int, tuple[int, int, int]]:
        return {}

    @cached_property
    def _rater_order(self) -> tuple[IntArray, IntArray]:
        """The places of the ratings sorted by rater, then unit, and where each rater's begin."""
        order = np.argsort(self.rater, kind="stable")
        return order, np.searchsorted(self.rater[order], np.arange(len(self.raters) + 1))

    def by_rater(self, rater: int) -> IntArray:
        """The places of one rater's ratings (by its code), sorted by unit."""
        order, starts = self._rater_order
        return order[starts[rater] : starts[rater + 1]]

    def of_units(self, chosen: IntArray) -> Ratings:
        """The table of some of its units (their places, in increasing order), with all raters and labels."""
        place = np.full(len(self.units), -1, dtype=np.int64)
        place[chosen] = np.arange(len(chosen))
        kept = place[self.unit] >= 0
        return replace(
            self,
            units=tuple(self.units[i] for i in chosen.tolist()),
            lengths=None if self.lengths is None else self.lengths[chosen],
            unit=place[self.unit[kept]],
            rater=self.rater[kept],
            code=self.code[kept],
        )

    def of_raters(self, chosen: Sequence[int]) -> Ratings:
        """The table of some of its raters (their places, in increasing order), with all units and labels."""
        place = np.full(len(self.raters), -1, dtype=np.int64)
        place[list(chosen)] = np.arange(len(chosen))
        kept = place[self.rater] >= 0
        return replace(
            self,
            raters=tuple(self.raters[i] for i in chosen),
            unit=self.unit[kept],
            rater=place[self.rater[kept]],
            code=self.code[kept],
        )

    def matrix(self) -> IntArray:
        """The codes as raters × units, -1 where there is no rating. Large for many raters who share few units."""
        table = np.full((len(self.raters), len(self.units)), -1, dtype=np.int64)
        table[self.rater, self.unit] = self.code
        return table

    def label_shares(self) -> dict[Label, float]:
        """The share (0..1) of each declared label among all ratings; empty when there are none."""
        if not self.n_ratings:
            return {}
        shares = np.bincount(self.code, minlength=len(self.labels)) / self.n_ratings
        return dict(zip(self.labels, shares.tolist(), strict=True))


def composed(value: object, scale: Scale) -> Label:
    """A value of a scale of `COMPOSED` as it is compared. Raises InvalidInput for what is none."""
    if scale == "set":
        return as_set(value)
    if scale == "ranking":
        return as_ranking(value)
    return as_spans(value) if scale == "spans" else str(value)


def as_ranking(value: object) -> tuple[Hashable, ...]:
    """What was ordered, the first first; what is tied is a tuple in the tuple. Raises InvalidInput for other values."""
    if isinstance(value, list | tuple):
        order = tuple(tuple(part) if isinstance(part, list | tuple) else part for part in value)
        parts = [key for part in order for key in (part if isinstance(part, tuple) else (part,))]
        if all(isinstance(key, Hashable) for key in parts) and len(set(parts)) == len(parts):
            return order
    raise InvalidInput(f'value {value!r} is not an order: write each part once in a list, such as ["b", "a"]')


def as_spans(value: object) -> frozenset[Hashable]:
    """The stretches of a list of mappings. Raises InvalidInput for anything else."""
    if not isinstance(value, list | tuple | frozenset):
        raise InvalidInput(f"value {value!r} is not a list of stretches: write [] where nothing is marked")
    return frozenset(mark if isinstance(mark, Span) else _span(mark) for mark in value)


def _span(mark: object) -> Span:
    if isinstance(mark, Mapping) and {"start", "end", "label"} <= set(mark):
        start, end = mark["start"], mark["end"]
        if isinstance(start, int) and isinstance(end, int) and 0 <= start < end:
            return Span(start, end, str(mark["label"]))
    raise InvalidInput(f'{mark!r} is not a stretch: give it as {{"start": 0, "end": 5, "label": "…"}}')


def as_set(value: object) -> frozenset[Hashable]:
    """The elements of a list, tuple or set. Raises InvalidInput for anything else, and for a box that is not one."""
    if isinstance(value, frozenset):
        return value
    if not isinstance(value, list | tuple | set):
        raise InvalidInput(f"value {value!r} is not a set: write its elements as a list, such as [1, 4]")
    return frozenset(_element(element) for element in value)


def _element(element: object) -> Hashable:
    """An element of a set: itself, or the box that a mapping describes."""
    if isinstance(element, Mapping):
        corners = element.get("box")
        if not isinstance(corners, list | tuple) or len(corners) != 4:
            raise InvalidInput(f"element {dict(element)!r} has no box: give one as [x0, y0, x1, y1]")
        x0, y0, x1, y1 = (float(corner) for corner in corners)
        return Box(str(element.get("document") or ""), int(element.get("page") or 1), x0, y0, x1, y1)
    if isinstance(element, list):
        return tuple(_element(part) for part in element)
    if not isinstance(element, Hashable):
        raise InvalidInput(f"element {element!r} cannot be compared: use words, numbers or boxes")
    return element.item() if isinstance(element, np.generic) else element


def _missing(value: object) -> bool:
    """Whether a value says that there is no rating."""
    return value is None or value != value  # noqa: PLR0124 - NaN is not itself


def _factorise(keys: Iterable[object]) -> tuple[list[Hashable], IntArray]:
    """The distinct keys in order of appearance, and for every key its place among them."""
    listed = keys.tolist() if isinstance(keys, np.ndarray) else list(keys)
    place = {key: i for i, key in enumerate(dict.fromkeys(listed))}
    return list(place), np.fromiter(map(place.__getitem__, listed), dtype=np.int64, count=len(listed))


def _sorted_keys(keys: list[Hashable], codes: IntArray) -> tuple[list[Hashable], IntArray]:
    """The same keys sorted, and the codes that fit."""
    order = _natural_order(keys)
    place = np.empty(len(keys), dtype=np.int64)
    place[order] = np.arange(len(keys))
    return [keys[i] for i in order], place[codes] if len(keys) else codes


def _natural_order(keys: Sequence[Hashable]) -> list[int]:
    """Places of the keys in sorted order; keys of several types are sorted by type, then text."""
    try:
        return sorted(range(len(keys)), key=lambda i: keys[i])  # type: ignore[arg-type, return-value]
    except TypeError:
        return sorted(range(len(keys)), key=lambda i: (type(keys[i]).__name__, str(keys[i])))


def _label_codes(
    values: list[Hashable], labels: Sequence[Label] | None, scale: Scale
) -> tuple[tuple[Label, ...], IntArray]:
    """The labels in their order, and the code of each distinct value (-1 for a missing one)."""
    missing = [_missing(value) for value in values]
    if labels is None:
        found = [_plain(value) for value, gone in zip(values, missing, strict=True) if not gone]
        as_numbers = [_number(label) for label in found]
        if None in as_numbers:
            declared = tuple(found[i] for i in _natural_order(found))
        else:
            declared = tuple(found[i] for i in _natural_order(as_numbers))
    else:
        declared = tuple(_plain(label) for label in labels)
        if len(set(declared)) < len(declared):
            raise InvalidInput(f"labels {_listed(declared)} name one label twice: declare each once")
    place: dict[Hashable, int] = {label: i for i, label in enumerate(declared)}
    codes = np.full(len(values), -1, dtype=np.int64)
    for i, (value, gone) in enumerate(zip(values, missing, strict=True)):
        if gone:
            continue
        if value not in place:
            raise InvalidInput(
                f"value {value!r} is not among the labels of this {scale} scale ({_listed(declared)}): "
                "correct the value or declare the label"
            )
        codes[i] = place[value]
    return declared, codes


def _plain(value: object) -> Label:
    """The label as a plain Python value, so that it can be written as JSON."""
    return value.item() if isinstance(value, np.generic) else value  # type: ignore[return-value]


def _number(label: Label) -> float | None:
    """The finite number that a label is or reads as, or None."""
    if isinstance(label, bool | frozenset | tuple):
        return None
    try:
        number = float(label)
    except (TypeError, ValueError):
        return None
    return number if math.isfinite(number) else None


def _numbers(labels: tuple[Label, ...], scale: Scale, *, ordered: bool) -> tuple[FloatArray, bool]:
    """The number or the rank of each label, and whether they are numbers."""
    if scale in COMPOSED:
        return np.arange(len(labels), dtype=np.float64), False
    _check_written_alike(labels)
    found = [_number(label) for label in labels]
    numbers = [number for number in found if number is not None]
    if len(numbers) < len(labels):
        worst = labels[found.index(None)]
        if scale in ("interval", "ratio"):
            raise InvalidInput(
                f"label {worst!r} is not a number: {'an' if scale == 'interval' else 'a'} {scale} scale needs numbers"
            )
        if scale == "ordinal" and not ordered:
            raise InvalidInput(
                f"label {worst!r} is not a number: declare the labels of the ordinal scale in order (--labels A,B,C)"
            )
        return np.arange(len(labels), dtype=np.float64), False
    if scale == "ratio" and min(numbers, default=0.0) < 0:
        raise InvalidInput(f"label {labels[int(np.argmin(numbers))]!r} is negative: a ratio scale starts at 0")
    if scale != "nominal" and len(set(numbers)) < len(numbers):
        raise InvalidInput(f"labels {_listed(labels)} write one number in two ways: write it in one way")
    return np.array(numbers, dtype=np.float64), bool(labels)


def _check_written_alike(labels: Sequence[Label]) -> None:
    """InvalidInput for a label that is a text in one place and a number, or yes and no, in another."""
    texts = {label for label in labels if isinstance(label, str)}
    for label in labels:
        if isinstance(label, bool | int | float):
            word = str(label).lower() if isinstance(label, bool) else f"{label:g}"
            alike = next((text for text in (word, word.capitalize()) if text in texts), None)
            if alike is not None:
                raise InvalidInput(
                    f"label {label!r} is {'yes or no' if isinstance(label, bool) else 'a number'} in one place and the "
                    f"text {alike!r} in another: write it in one way"
                )


def _listed(labels: Sequence[Label], most: int = 12) -> str:
    """The labels as words for a message, cut after `most`."""
    words = ", ".join(repr(label) for label in labels[:most])
    return words if len(labels) <= most else f"{words}, … {len(labels)} in all"
