"""Each label beside the other labels of its unit, for thousands of units at once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from annotators.arrays import FloatArray, IntArray

People = Mapping[Any, Mapping[Any, float]]
CELLS_AT_ONCE = 2_000_000

Beside = Callable[[FloatArray, FloatArray], FloatArray]
"""From labels (k) and the others of their units (k × m) one number each (k)."""


@dataclass(frozen=True, eq=False)
class Labels:
    """All labels of some people as columns: places in `units` and `people`, and the number.

    `units` are sorted by their names, `people` are in the order in which they were given; the labels are sorted by
    unit, then person. `others` (L) is how many other labels the unit of each has.
    """

    units: tuple[Hashable, ...]
    people: tuple[Hashable, ...]
    unit: IntArray
    person: IntArray
    value: FloatArray

    @classmethod
    def of(cls, people: People | Labels) -> Labels:
        """The columns of person → unit → number; what are columns already stays as it is."""
        if isinstance(people, Labels):
            return people
        units = sorted({unit for given in people.values() for unit in given}, key=str)
        place = {unit: number for number, unit in enumerate(units)}
        unit = np.array([place[unit] for given in people.values() for unit in given], dtype=np.int64)
        value = np.array([label for given in people.values() for label in given.values()], dtype=np.float64)
        person = np.repeat(np.arange(len(people)), [len(given) for given in people.values()]).astype(np.int64)
        order = np.lexsort((person, unit))
        return cls(tuple(units), tuple(people), unit[order], person[order], value[order])

    @cached_property
    def others(self) -> IntArray:
        """How many other labels there are of each label's unit (L)."""
        sizes = np.bincount(self.unit, minlength=len(self.units))
        found: IntArray = sizes[self.unit] - 1
        return found

    def beside(self, given: FloatArray, function: Beside) -> FloatArray:
        """`function(given, others)` for every label (L): a number of its own (L) and the others' labels of its unit.

        NaN where nobody else labelled the unit. The others come in the order of `people`.
        """
        found = np.full(len(self.unit), np.nan)
        for n in np.unique(self.others[self.others > 0]).tolist():
            rows = np.flatnonzero(self.others == n).reshape(-1, n + 1)  # a unit a row
            without = np.array([[i for i in range(n + 1) if i != own] for own in range(n + 1)], dtype=np.int64)
            step = max(1, CELLS_AT_ONCE // (n * (n + 1)))
            for start in range(0, len(rows), step):
                here = rows[start : start + step]
                others = np.ascontiguousarray(self.value[here][:, without]).reshape(-1, n)
                found[here.ravel()] = function(given[here.ravel()], others)
        return found

    def of_units(self, values: Mapping[Any, float]) -> FloatArray:
        """The numbers of the units (U) from a mapping; NaN where it has none."""
        return np.array([values.get(unit, np.nan) for unit in self.units], dtype=np.float64)


def first_seen(codes: IntArray) -> IntArray:
    """Codes numbered anew from 0, in the order in which they appear."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    renumbered: IntArray = rank[inverse]
    return renumbered


def clusters_of(units: tuple[Hashable, ...], clusters: Mapping[Any, Hashable] | IntArray | None) -> IntArray:
    """A number for the cluster of each unit; a unit without one is a cluster of its own. Numbers stay as they are."""
    if isinstance(clusters, np.ndarray):
        return clusters
    place: dict[Hashable, int] = {}
    keys = clusters or {}
    found = [place.setdefault(keys.get(unit, ("unit", unit)), len(place)) for unit in units]
    return np.array(found, dtype=np.int64)
