"""The one table that alignment reads: what people said of each unit, what a metric gave it, and its cluster."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence, Sized
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from annotators.alignment.tables.labels import first_seen
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput

Numbers = Sequence[float | int | bool | None] | FloatArray


@dataclass(frozen=True, eq=False)
class Pairs:
    """Rows with a human value and a metric's value each, sorted by metric, then human.

    `human` and `metric` (n) are numbers; a binary human label is 0 or 1 (1: the positive label) and `binary` says that
    it is one. `cluster` (n) numbers what is resampled together (the question), `units` (n) names the rows, `group` (n)
    indexes `groups` (-1: none). `left_out` counts rows that lacked one of the two values.
    """

    human: FloatArray
    metric: FloatArray
    cluster: IntArray
    units: tuple[Hashable, ...]
    group: IntArray
    groups: tuple[str, ...]
    binary: bool
    left_out: int

    @classmethod
    def of(
        cls,
        human: Numbers,
        metric: Numbers,
        *,
        clusters: Sequence[Hashable] | IntArray | None = None,
        groups: Sequence[str | None] | None = None,
        units: Sequence[Hashable] | None = None,
        binary: bool | None = None,
    ) -> Pairs:
        """Make the table from sequences of the same length; None and NaN are gaps, and such rows are left out.

        Without `clusters` every row is a cluster of its own. `binary` defaults to whether all human values are 0 or 1.
        Rows are sorted, so that the figures do not depend on their order. Raises InvalidInput for sequences of
        different lengths, for an infinite value, and for a `binary` human value that is neither 0 nor 1.
        """
        people, scores = _numbers(human, "human"), _numbers(metric, "metric")
        n = len(people)
        given: dict[str, Sized] = {
            "metric values": scores,
            **{
                name: column
                for name, column in (("clusters", clusters), ("groups", groups), ("units", units))
                if column is not None
            },
        }
        for name, column in given.items():
            if len(column) != n:
                raise InvalidInput(f"{n} human values and {len(column)} {name} do not line up: give one for every row")
        kept = np.flatnonzero(~(np.isnan(people) | np.isnan(scores)))
        kept = kept[np.lexsort((people[kept], scores[kept]))]
        people, scores = people[kept], scores[kept]
        two = bool(np.isin(people, (0.0, 1.0)).all()) and len(people) > 0
        if binary and not two and len(people):
            wrong = people[~np.isin(people, (0.0, 1.0))][0]
            raise InvalidInput(f"human value {wrong:g} is not 0 or 1: a binary label is one of the two")
        group: IntArray = np.full(len(kept), -1, dtype=np.int64)
        names: tuple[str, ...] = ()
        if groups is not None:
            group, names = _codes([groups[i] for i in kept.tolist()])
        if clusters is None:
            cluster = np.arange(len(kept), dtype=np.int64)
        elif isinstance(clusters, np.ndarray):
            cluster = first_seen(clusters[kept])
        else:
            cluster = _first_seen([clusters[i] for i in kept.tolist()])
        return cls(
            human=people,
            metric=scores,
            cluster=cluster,
            units=tuple(kept.tolist()) if units is None else tuple(units[i] for i in kept.tolist()),
            group=group,
            groups=names,
            binary=two if binary is None else binary,
            left_out=n - len(kept),
        )

    @property
    def n(self) -> int:
        """How many rows there are."""
        return len(self.human)

    @cached_property
    def n_clusters(self) -> int:
        """How many clusters there are."""
        return int(self.cluster.max(initial=-1)) + 1

    @property
    def clustered(self) -> bool:
        """Whether some cluster has more than one row."""
        return self.n_clusters < self.n

    def of_group(self, group: str) -> Pairs:
        """The rows of one group."""
        here = np.flatnonzero(self.group == self.groups.index(group))
        return Pairs(
            human=self.human[here],
            metric=self.metric[here],
            cluster=first_seen(self.cluster[here]),
            units=tuple(self.units[i] for i in here.tolist()),
            group=self.group[here],
            groups=self.groups,
            binary=self.binary,
            left_out=0,
        )

    def grouped(self, codes: IntArray, names: Sequence[str]) -> Pairs:
        """The same rows in these groups (n codes into sorted names, -1: none); those without a row are left out."""
        there = np.unique(codes[codes >= 0])
        group = np.where(codes >= 0, np.searchsorted(there, codes), -1).astype(np.int64)
        return replace(self, group=group, groups=tuple(names[code] for code in there.tolist()))

    def why_not(self) -> str | None:
        """Why no coefficient of association can be measured on these rows, or None."""
        if not self.n:
            return "no unit has both a human label and a score"
        if self.n < 3:
            return f"only {self.n} unit{'s' * (self.n > 1)} with both a human label and a score; at least 3 are needed"
        for who, values in (("people", self.human), ("the metric", self.metric)):
            if np.ptp(values) == 0:
                return f"{who} gave every unit the value {values[0]:g}, so that there is nothing to compare with"
        return None


def _numbers(values: Numbers, name: str) -> FloatArray:
    if isinstance(values, np.ndarray):
        found = values.astype(np.float64)
    else:
        found = np.array([math.nan if value is None else float(value) for value in values], dtype=np.float64)
    if np.isinf(found).any():
        raise InvalidInput(f"a {name} value is infinite: leave it out, or give a number")
    return found


def _first_seen(keys: Sequence[Hashable]) -> IntArray:
    """Numbers from 0 for the keys, in order of appearance."""
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(key, len(place)) for key in keys], dtype=np.int64)


def _codes(keys: Sequence[str | None]) -> tuple[IntArray, tuple[str, ...]]:
    """Codes into the sorted names, -1 for None."""
    names = sorted({key for key in keys if key is not None})
    place: dict[str | None, int] = {name: i for i, name in enumerate(names)}
    return np.array([place.get(key, -1) for key in keys], dtype=np.int64), tuple(names)
