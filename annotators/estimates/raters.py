"""What each rater said of each unit, and by how much a label is off what raters say of its unit on average.

With y_ij the label of rater j for unit i, μ_i what raters say of it on average and m_i labels, the mean label of a unit
is off μ_i by a variance σ²/m_i. σ² is the variance of labels within units, pooled over the units that several rated
(the within mean square of a one-way analysis of variance: Searle, Casella & McCulloch 1992, Variance Components,
section 3.6). A mean of units that were drawn, with the units as the first stage of a sample and their raters as the
second, has the variance of the sampled units' means, with what is left of a finite set, and besides

    Σ w_i² (1 - o_i) σ² / m_i,

where w_i is what unit i weighs and o_i what of its variance is left open (1 - n/N): the first stage's part holds only
o_i of the raters' (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, section 4.3; Cochran 1977,
Sampling Techniques, chapter 10). So it does not go when everything is labelled, and of a population without end
(o_i = 1) it is in the variance of the units already.
"""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass

from annotators.arrays import BoolArray, FloatArray, IntArray, np

FEWEST_OF_A_GROUP = 10
"""Units with several labels that a group needs for a variance of its own; else it has that of all."""


@dataclass(frozen=True)
class Noise:
    """The variance σ² of one label about what raters say of its unit on average, from how many units.

    `freedom` are the degrees of freedom that σ² has by how unequal its parts are.
    """

    variance: float
    units: int
    freedom: float


@dataclass(frozen=True)
class Leniency:
    """How far raters differ in how high they label: the variance of their means, and the number of them.

    `of_mean` is the variance that it gives a mean of labels which these raters gave in the shares in which they did,
    `at_most` the same of what their means differ by on the units that they share, chance included: it is never too
    small for want of shared units, and as few raters say it as there are.
    """

    variance: float
    raters: int
    of_mean: float
    at_most: float


@dataclass(frozen=True, eq=False)
class LabelsByRater:
    """R labels: the place of the unit of each, the number of its rater (from 0; of nobody known: one each), its value.

    No rater has two labels of a unit.
    """

    unit: IntArray
    rater: IntArray
    value: FloatArray

    @classmethod
    def of(cls, table: FloatArray) -> LabelsByRater:
        """From units × raters with gaps (NaN)."""
        unit, rater = np.nonzero(~np.isnan(table))
        return cls(unit.astype(np.int64), rater.astype(np.int64), table[unit, rater])

    def counts(self, n: int) -> IntArray:
        """How many labels each of n units has."""
        return np.bincount(self.unit, minlength=n)

    def means(self, n: int) -> FloatArray:
        """The mean label of each of n units; NaN without any."""
        counts, sums = self.counts(n), np.bincount(self.unit, weights=self.value, minlength=n)
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def among(self, kept: BoolArray) -> LabelsByRater:
        """Those of some units (N); the places of units stay."""
        there = kept[self.unit]
        return LabelsByRater(self.unit[there], self.rater[there], self.value[there])

    def noise(self, n: int, step: float | None = None) -> Noise | None:
        """σ² of labels within n units; None where no unit has two.

        Where no two labels of a unit differ it is not taken for 0: as if one more unit had two labels that differ by
        `step`, the least by which labels differ (None: no step, and σ² is 0).
        """
        return noise_within(self.unit, self.value, n, step)

    def leniency(self) -> Leniency | None:
        """How far raters differ, from the units that two of them share; None without two such units.

        Of every two raters with n shared units the mean difference has the variance 2 σ²_r + 2 σ²_e / n, and the
        differences vary about it by 2 σ²_e (Henderson's method 3: Searle, Casella & McCulloch 1992, section 5.5).
        """
        shared: dict[tuple[int, int], list[float]] = defaultdict(list)
        order = np.lexsort((self.rater, self.unit))
        unit, rater, value = self.unit[order].tolist(), self.rater[order].tolist(), self.value[order].tolist()
        start = 0
        for end in range(1, len(unit) + 1):
            if end < len(unit) and unit[end] == unit[start]:
                continue
            for i in range(start, end):
                for j in range(i + 1, end):
                    shared[rater[i], rater[j]].append(value[i] - value[j])
            start = end
        pairs = [np.array(found) for found in shared.values() if len(found) > 1]
        n = sum(map(len, pairs))
        if n <= len(pairs):
            return None
        about = sum(float(((found - found.mean()) ** 2).sum()) for found in pairs) / (n - len(pairs))
        between = sum(len(found) * float(found.mean()) ** 2 for found in pairs)
        variance = max(0.0, (between - len(pairs) * about) / (2 * n))
        own = np.bincount(self.rater, weights=1 / self.counts(max(unit) + 1)[self.unit])
        share = own / own.sum()
        squares = float((share**2).sum())
        return Leniency(variance, int((own > 0).sum()), variance * squares, between / (2 * n) * squares)


def noise_within(unit: IntArray, value: FloatArray, n: int, step: float | None = None) -> Noise | None:
    """σ² of values within n units, as `LabelsByRater.noise` has it, of any values of labels."""
    counts = np.bincount(unit, minlength=n)
    several = counts > 1
    if not several.any():
        return None
    means = np.bincount(unit, weights=value, minlength=n) / np.maximum(counts, 1)
    squares = np.bincount(unit, weights=(value - means[unit]) ** 2, minlength=n)[several]
    each = counts[several] - 1.0
    freedom = float(each.sum())
    variance = float(squares.sum()) / freedom
    if squares.max() <= 1e-12 * max(1.0, float(np.abs(value).max()) ** 2):
        return Noise((step or 0.0) ** 2 / 2 / (freedom + 1), int(several.sum()), freedom)
    # The variance of σ² by how the units' squares differ about what they would be with it (Satterthwaite 1946).
    of_variance = float(((squares - each * variance) ** 2).sum()) / freedom**2
    stretch = len(each) / max(1, len(each) - 1)
    found = 2 * variance**2 / (of_variance * stretch) if of_variance > 0 else freedom
    return Noise(variance, int(several.sum()), max(1.0, min(freedom, found)))


def least_step(values: FloatArray) -> float | None:
    """The least by which two of these values differ; None where all are the same."""
    apart = np.diff(np.unique(values))
    return float(apart.min()) if len(apart) else None


def joined_freedom(parts: list[tuple[float, float]]) -> float:
    """The degrees of freedom of a sum of (variance, its degrees of freedom), by Satterthwaite (1946)."""
    total = sum(variance for variance, _ in parts)
    found = sum(variance**2 / freedom for variance, freedom in parts if variance > 0)
    return total**2 / found if found > 0 else math.inf
