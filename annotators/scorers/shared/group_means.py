"""Means of groups of scores from sums by category, with intervals: what a table of scores shows in its cells."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NamedTuple

from annotators.intervals.shares import wilson_ends

Z = 1.959963984540054
"""The 97.5 % point of the standard normal distribution."""

METHOD = "normal approximation, 95 %"

SHARES_METHOD = "Wilson, 95 %"


class MeanInterval(NamedTuple):
    """The ends of an interval."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Sums:
    """Some scores by their number, their sum and the sum of their squares."""

    n: int = 0
    total: float = 0.0
    squares: float = 0.0

    def __add__(self, other: Sums) -> Sums:
        return Sums(self.n + other.n, self.total + other.total, self.squares + other.squares)

    @property
    def mean(self) -> float | None:
        """The mean; None without scores."""
        return self.total / self.n if self.n else None

    @property
    def variance(self) -> float | None:
        """The sample variance (divisor n - 1); None with fewer than two scores."""
        if self.n < 2:
            return None
        return max(0.0, self.squares - self.total * self.total / self.n) / (self.n - 1)

    @property
    def interval(self) -> MeanInterval | None:
        """mean ± z·s/√n; None with fewer than two scores."""
        if self.variance is None or self.mean is None:
            return None
        half = Z * math.sqrt(self.variance / self.n)
        return MeanInterval(self.mean - half, self.mean + half)

    @property
    def share_interval(self) -> MeanInterval | None:
        """Of a mean of zeros and ones, Wilson's (1927): within 0..1, and not a point where all are the same; None
        without scores."""
        if self.mean is None:
            return None
        return MeanInterval(*wilson_ends(self.mean, self.n, Z))


@dataclass
class GroupMeans:
    """The scores of one group by category: the mean over items, and the unweighted mean of the category means.

    FATHOMS-RAG, section III.B with its evaluator: overall = mean of the categories' means. Items without a category
    (None) are one category of their own, so that no score is left out. The interval of the macro mean takes the
    categories as strata: its variance is Σ s²_c / n_c over the square of their number. `shares` says that the scores
    are zeros and ones: then intervals are Wilson's, and that of the macro mean is put together from the categories'
    (method of variance estimates recovery, Zou and Donner 2008), which keeps it within 0..1.
    """

    shares: bool = False
    by_category: dict[str | None, Sums] = field(default_factory=dict)

    def add(self, category: str | None, sums: Sums) -> None:
        """Count in some scores of a category; without any, nothing changes."""
        if sums.n:
            self.by_category[category] = self.by_category.get(category, Sums()) + sums

    @property
    def all(self) -> Sums:
        """Over all categories."""
        return sum(self.by_category.values(), Sums())

    @property
    def macro_mean(self) -> float | None:
        """Over the means of the categories, each counting the same; None without scores."""
        means = [sums.total / sums.n for sums in self.by_category.values()]
        return sum(means) / len(means) if means else None

    @property
    def interval(self) -> MeanInterval | None:
        """Of the mean over items; None with too few scores."""
        return self._interval_of(self.all)

    @property
    def macro_interval(self) -> MeanInterval | None:
        """Of the macro mean; None without scores, or when a category has too few for an interval."""
        middle, n = self.macro_mean, len(self.by_category)
        below = above = 0.0
        for sums in self.by_category.values():
            interval = self._interval_of(sums)
            if interval is None:
                return None
            below += (sums.total / sums.n - interval.low) ** 2
            above += (interval.high - sums.total / sums.n) ** 2
        return None if middle is None else MeanInterval(middle - math.sqrt(below) / n, middle + math.sqrt(above) / n)

    def _interval_of(self, sums: Sums) -> MeanInterval | None:
        return sums.share_interval if self.shares else sums.interval


@dataclass(frozen=True, slots=True)
class JointSums:
    """Pairs of scores (x, y) of the same items by their number, sums, sums of squares and sum of products."""

    n: int = 0
    x: float = 0.0
    y: float = 0.0
    xx: float = 0.0
    yy: float = 0.0
    xy: float = 0.0

    @property
    def difference(self) -> Sums:
        """x - y over the pairs; its interval is that of a paired comparison."""
        return Sums(self.n, self.x - self.y, self.xx - 2 * self.xy + self.yy)

    @property
    def pearson(self) -> float | None:
        """Pearson's r; None with fewer than two pairs or where x or y does not vary."""
        if self.n < 2:
            return None
        sxx, syy = self.xx - self.x**2 / self.n, self.yy - self.y**2 / self.n
        if sxx <= _NO_SPREAD * self.xx or syy <= _NO_SPREAD * self.yy:
            return None
        r = (self.xy - self.x * self.y / self.n) / math.sqrt(sxx * syy)
        return min(1.0, max(-1.0, r))

    @property
    def pearson_interval(self) -> MeanInterval | None:
        """tanh(artanh r ± z / √(n - 3)) (Fisher 1921); None with fewer than four pairs, or r is ±1 or undefined."""
        r = self.pearson
        if r is None or self.n < 4 or abs(r) >= 1:
            return None
        half = Z / math.sqrt(self.n - 3)
        return MeanInterval(math.tanh(math.atanh(r) - half), math.tanh(math.atanh(r) + half))


_NO_SPREAD = 1e-12
"""A sum of squared deviations so small beside the sum of squares is what rounding leaves."""
