"""One bootstrap over units for every coefficient: draws over patterns, clusters, the jackknife, and the intervals."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.special import ndtr, ndtri, stdtrit

from annotators.agreement.result import Interval, IntervalKind, Raters
from annotators.agreement.table import FloatArray, IntArray

Evaluate = Callable[[FloatArray], FloatArray]
CELLS_AT_ONCE = 4_000_000  # 32 MB of weights; more resamples than that are evaluated in several goes
JACKKNIFE_GROUPS = 1_000
ROUNDING = 1e-12  # values closer than this are ties


@dataclass(frozen=True, eq=False)
class Resampled:
    """S statistics of the data (`values`, S), of B resamples (`replicates`, B × S) and with units left out.

    `jackknife` (J × S) has the statistics without one unit, or one group of units, and `repeats` (J) how many units or
    groups give that same row. NaN is undefined. `over` says what was drawn: units, or clusters of them by their name.
    Intervals are cut at `ceiling`.
    """

    values: FloatArray
    replicates: FloatArray
    jackknife: FloatArray
    repeats: FloatArray
    seed: int
    n_units: int
    over: str = "units"
    ceiling: float = 1.0

    def interval(self, statistic: int = 0, level: float = 0.95, kind: IntervalKind = "BCa") -> Interval:
        """The bootstrap interval of one of the statistics, cut at 1 ("jackknife": that of the jackknife).

        BCa: Efron (1987), Journal of the American Statistical Association 82, 171-185, with the jackknife's
        acceleration; ties with the value count by half in the bias correction. In simulations of α, κ and raw agreement
        (two and three raters, two and five labels, 30 to 200 units) its 95 % intervals covered the truth as often as
        the percentile ones or more often, mostly in 93 to 96 % of the samples; with few units and a rare label both
        cover less. Where BCa is not defined the interval is the percentile one and its note says so. Undefined
        resamples are left out; when they are more than half, there is no interval.
        """
        if kind == "jackknife":
            return self.jackknife_interval(statistic, level)
        drawn = self.replicates[:, statistic]
        value, defined = float(self.values[statistic]), drawn[~np.isnan(drawn)]
        undefined = len(drawn) - len(defined)

        def made(low: float | None, high: float | None, kind: IntervalKind, note: str = "") -> Interval:
            return Interval(low, high, kind, level, len(drawn), undefined, self.seed, note, self.over)

        if not len(drawn):
            why = "no resamples were asked for" if self.n_units > 1 else f"one {self.over[:-1]} cannot be resampled"
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
        return made(min(low, self.ceiling), min(high, self.ceiling), kind, note)

    def jackknife_interval(self, statistic: int = 0, level: float = 0.95) -> Interval:
        """The value ± t times the jackknife's standard error, cut at 1; t has one degree less than units left out.

        se² = (n - 1) / n Σ (θ_(i) - θ_(.))²: Efron & Tibshirani (1993), An Introduction to the Bootstrap, eq. 11.5.
        """
        value, without = float(self.values[statistic]), self.jackknife[:, statistic]
        n = float(self.repeats.sum())
        if n < 2 or np.isnan(without).any():
            why = "one unit alone makes the coefficient defined" if n >= 2 else "no units were left out"
            return Interval(None, None, "jackknife", level, note=why, over=self.over)
        spread = (self.repeats * (without - np.average(without, weights=self.repeats)) ** 2).sum()
        return t_interval(value, float(np.sqrt((n - 1) / n * spread)), n - 1, level, "jackknife", over=self.over)


@dataclass(frozen=True, eq=False)
class Sampling:
    """How intervals are made: how many resamples, from which seed, at which level, of which kind, over what.

    `clusters` (U) is the cluster (from 0) of each unit of the table of ratings, when clusters of units are resampled
    together; `over` is what they are called. `drawn_from`, when it is not 0, is how many clusters there are, those
    without any unit that counts included, so that tables with the same clusters see the same resamples. `raters` says
    about which raters the interval is to be: None is what the statistic itself says, see `parts.with_value`.
    """

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95
    kind: IntervalKind = "BCa"
    clusters: IntArray | None = None
    over: str = "units"
    drawn_from: int = 0
    raters: Raters | None = None

    def run(self, evaluate: Evaluate, multiplicity: IntArray, of_unit: IntArray, width: int = 1) -> Resampled:
        """Resample units or clusters; arguments as of `resample`, with the pattern of each unit (-1: none)."""
        if self.clusters is None:
            return resample(evaluate, multiplicity, resamples=self.resamples, seed=self.seed, width=width)
        counting = of_unit >= 0
        cluster = self.clusters[counting]
        drawn_from = self.drawn_from
        if not drawn_from:
            there, cluster = np.unique(cluster, return_inverse=True)
            drawn_from = len(there)
        content = sparse.csr_array(
            (np.ones(len(cluster)), (cluster, of_unit[counting])), shape=(drawn_from, len(multiplicity))
        )
        return resample(
            lambda draws: evaluate(np.asarray(draws @ content)),
            np.ones(drawn_from, dtype=np.int64),
            resamples=self.resamples,
            seed=self.seed,
            width=max(width, len(multiplicity)),
            over=self.over,
        )


def t_interval(
    value: float, error: float, freedom: float, level: float, kind: str, *, over: str = "units", note: str = ""
) -> Interval:
    """The value ± t times its standard error, cut at 1."""
    if freedom < 1 or not np.isfinite(error):
        return Interval(None, None, kind, level, note="one unit gives no standard error", over=over)
    if error <= ROUNDING:
        note = note or "the standard error is 0, which understates the uncertainty"
    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    low, high = min(value - reach, 1.0), min(value + reach, 1.0)
    return Interval(low, high, kind, level, note=note, over=over, error=error, freedom=freedom)


def resample(
    evaluate: Evaluate,
    multiplicity: IntArray,
    *,
    resamples: int = 1000,
    seed: int = 0,
    width: int = 1,
    over: str = "units",
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
    return Resampled(values[0], np.concatenate(replicates), jackknife, repeats, seed, n, over)


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
