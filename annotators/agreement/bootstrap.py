"""One bootstrap over units for every coefficient: draws over patterns, the jackknife, percentile and BCa intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from annotators.agreement.result import Interval, IntervalKind
from annotators.agreement.table import FloatArray, IntArray

Evaluate = Callable[[FloatArray], FloatArray]
CELLS_AT_ONCE = 4_000_000  # 32 MB of weights; more resamples than that are evaluated in several goes
JACKKNIFE_GROUPS = 1_000
ROUNDING = 1e-12  # values closer than this are ties


@dataclass(frozen=True, eq=False)
class Resampled:
    """S statistics of the data (`values`, S), of B resamples (`replicates`, B × S) and with units left out.

    `jackknife` (J × S) has the statistics without one unit, or one group of units, and `repeats` (J) how many units or
    groups give that same row. NaN is undefined.
    """

    values: FloatArray
    replicates: FloatArray
    jackknife: FloatArray
    repeats: FloatArray
    seed: int
    n_units: int

    def interval(self, statistic: int = 0, level: float = 0.95, kind: IntervalKind = "BCa") -> Interval:
        """The bootstrap interval of one of the statistics, cut at 1.

        BCa: Efron (1987), Journal of the American Statistical Association 82, 171-185, with the jackknife's
        acceleration; ties with the value count by half in the bias correction. In simulations of α, κ and raw agreement
        (two and three raters, two and five labels, 30 to 200 units) its 95 % intervals covered the truth as often as
        the percentile ones or more often, mostly in 93 to 96 % of the samples; with few units and a rare label both
        cover less. Where BCa is not defined the interval is the percentile one and its note says so. Undefined
        resamples are left out; when they are more than half, there is no interval.
        """
        drawn = self.replicates[:, statistic]
        value, defined = float(self.values[statistic]), drawn[~np.isnan(drawn)]
        undefined = len(drawn) - len(defined)

        def made(low: float | None, high: float | None, kind: IntervalKind, note: str = "") -> Interval:
            return Interval(low, high, kind, level, len(drawn), undefined, self.seed, note)

        if not len(drawn):
            why = "no resamples were asked for" if self.n_units > 1 else "one unit cannot be resampled"
            return made(None, None, kind, why)
        if 2 * undefined > len(drawn):
            return made(None, None, kind, f"{undefined:,} of {len(drawn):,} resamples undefined")
        ends, note = np.array([(1 - level) / 2, (1 + level) / 2]), ""
        if kind == "BCa":
            corrected, note = _corrected(ends, value, defined, self.jackknife[:, statistic], self.repeats)
            if note:
                kind = "percentile"
            else:
                ends = corrected
        low, high = np.quantile(defined, ends).tolist()
        return made(min(low, 1.0), min(high, 1.0), kind, note)


def resample(
    evaluate: Evaluate, multiplicity: IntArray, *, resamples: int = 1000, seed: int = 0, width: int = 1
) -> Resampled:
    """Evaluate statistics on the data, on resamples of units with replacement, and with units left out.

    `multiplicity` (P) is how many units show each of P patterns. `evaluate` takes weights (B × P), the number of units
    of each pattern in each of B samples, and returns B or B × S values. Resampling n units is drawing the weights from
    a multinomial distribution, which is exact for any statistic that depends on the units through their patterns.
    `width` is the length of the longest array that `evaluate` makes for one sample, so that memory stays bounded.

    Up to 1,000 patterns the jackknife leaves out every unit in turn; above, 1,000 random groups of units: the groups'
    influences are sums of the units', so the acceleration estimates the same number.
    """
    patterns, n = len(multiplicity), int(multiplicity.sum())
    at_once = max(1, CELLS_AT_ONCE // max(1, patterns, width))

    def evaluated(weights: FloatArray) -> FloatArray:
        found = evaluate(weights)
        return found.reshape(len(weights), -1)

    values = evaluated(multiplicity[None, :].astype(np.float64))
    replicates, jackknife, repeats = [values[:0]], values[:0], np.empty(0)
    if resamples and n > 1:
        rng = np.random.default_rng(seed)
        draw = _draws(rng, multiplicity)
        replicates = [evaluated(draw(min(at_once, resamples - start))) for start in range(0, resamples, at_once)]
        left_out, repeats = _groups(multiplicity, seed)
        jackknife = np.concatenate(
            [evaluated(multiplicity - left_out(start, start + at_once)) for start in range(0, len(repeats), at_once)]
        )
    return Resampled(values[0], np.concatenate(replicates), jackknife, repeats, seed, n)


def _draws(rng: np.random.Generator, multiplicity: IntArray) -> Callable[[int], FloatArray]:
    """A function that draws the weights (B × P) of B resamples, in the quicker of two equivalent ways."""
    patterns, n = len(multiplicity), int(multiplicity.sum())
    if 8 * patterns <= n:
        shares = multiplicity / n

        def by_pattern(size: int) -> FloatArray:
            return rng.multinomial(n, shares, size=size).astype(np.float64)

        return by_pattern
    pattern_of_unit = np.repeat(np.arange(patterns), multiplicity)

    def by_unit(size: int) -> FloatArray:
        drawn = pattern_of_unit[rng.integers(n, size=(size, n))] + patterns * np.arange(size)[:, None]
        return np.bincount(drawn.ravel(), minlength=patterns * size).reshape(size, patterns).astype(np.float64)

    return by_unit


def _groups(multiplicity: IntArray, seed: int) -> tuple[Callable[[int, int], FloatArray], FloatArray]:
    """The weights to take away for each row of the jackknife (from row, to row), and how often each row counts."""
    patterns, n = len(multiplicity), int(multiplicity.sum())
    if patterns <= JACKKNIFE_GROUPS:

        def one_unit(start: int, stop: int) -> FloatArray:
            return np.eye(min(stop, patterns) - start, patterns, start)

        return one_unit, multiplicity.astype(np.float64)
    pattern_of_unit = np.repeat(np.arange(patterns), multiplicity)
    group = np.random.default_rng([seed, 1]).permutation(n) % JACKKNIFE_GROUPS

    def one_group(start: int, stop: int) -> FloatArray:
        rows = min(stop, JACKKNIFE_GROUPS) - start
        here = (group >= start) & (group < start + rows)
        at = (group[here] - start) * patterns + pattern_of_unit[here]
        return np.bincount(at, minlength=rows * patterns).reshape(rows, patterns).astype(np.float64)

    return one_group, np.ones(JACKKNIFE_GROUPS)


def _corrected(
    ends: FloatArray, value: float, defined: FloatArray, jackknife: FloatArray, repeats: FloatArray
) -> tuple[FloatArray, str]:
    """The quantiles to take instead of `ends` by BCa, or why there are none."""
    if np.ptp(defined) <= ROUNDING:
        return ends, "every resample gives the same value, which understates the uncertainty"
    if np.isnan(jackknife).any():
        return ends, "BCa is not defined because one unit alone makes the coefficient defined"
    below = ((defined < value - ROUNDING).sum() + (defined <= value + ROUNDING).sum()) / (2 * len(defined))
    if not 0 < below < 1:
        return ends, "BCa is not defined because all resamples lie on one side of the value"
    bias = ndtri(below)
    deviations = np.average(jackknife, weights=repeats) - jackknife
    spread = (repeats * deviations**2).sum()
    acceleration = (repeats * deviations**3).sum() / (6 * spread**1.5) if spread > 0 else 0.0
    shifted = bias + ndtri(ends)
    stretch = 1 - acceleration * shifted
    if (stretch <= 0).any():
        return ends, "BCa is not defined because the acceleration is too large"
    return ndtr(bias + shifted / stretch), ""
