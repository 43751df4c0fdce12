"""Does a metric of 0.8 mean that people say yes in 80 of 100 cases: the calibration curve and its error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, IntArray, sparse, special
from annotators.intervals.analytic import ROUNDING
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval

BINS = 10
NORMAL = 1.959964  # standard deviations within which 95 % of a normal distribution lie
ERROR = declare("calibration_error", "Calibration error")
CONCORDANCE = declare("concordance", "Lin's concordance")
BIAS = declare("mean_difference", "Mean difference, metric less people")
LOWER = declare("lower_limit_of_agreement", "Lower limit of agreement")
UPPER = declare("upper_limit_of_agreement", "Upper limit of agreement")
ON_ONE_SCALE = (CONCORDANCE, BIAS, LOWER, UPPER)


@dataclass(frozen=True)
class Bin:
    """One bin of the curve: n rows, their mean metric and mean human value (both 0..1) with its interval."""

    start: float
    end: float
    n: int
    metric: float
    human: float
    low: float | None
    high: float | None


def on_one_scale(
    pairs: Pairs, asked: Resampling | None = None, *, scale: tuple[float, float] | None = None, **about: Any
) -> list[Aligned]:
    """How far a metric that speaks on people's own `scale` gives the same numbers as people.

    `concordance`: 2 s_xy / (s_x² + s_y² + (x̄ − ȳ)²), which is Pearson's r only where the numbers are the same and not
    just in line (-1..1; Lin, 1989, Biometrics 45, 255-268). `mean_difference` and the limits of agreement: the mean d
    of metric less people, and d ± 1.96 s, between which 95 % of the differences lie if they are normal (Bland & Altman,
    1986, Lancet 327, 307-310), each with the jackknife's interval: in simulations of 12 to 100 normal numbers or grades
    it covered in 90 to 96 %, BCa and the percentiles in 80 to 95 %. Nothing at all where the metric leaves the scale,
    or has but two values.
    """
    asked = asked or Resampling()
    if scale is None or not pairs.n or pairs.metric[0] < scale[0] or pairs.metric[-1] > scale[1]:
        return []
    if pairs.binary or len(np.unique(pairs.metric)) < 3:
        return []
    reason = pairs.why_not()
    if reason:
        return [statistic.without_value(reason, pairs.n, **about) for statistic in ON_ONE_SCALE]
    sample = DrawnRows.of([pairs.metric, pairs.human], pairs.cluster)
    middle = float(pairs.human.mean())
    metric, human = (sample.columns - middle).T
    products = np.stack([np.ones_like(metric), metric, human, metric**2, human**2, metric * human])

    def together(weights: FloatArray) -> FloatArray:
        n, x, y, xx, yy, xy = products @ weights
        gap = (x - y) / n
        spread = np.maximum(xx / n - (x / n) ** 2, 0) + np.maximum(yy / n - (y / n) ** 2, 0)
        covariance = xy / n - x * y / n**2
        whole = spread + gap**2
        with np.errstate(invalid="ignore", divide="ignore"):
            alike = np.where(whole > 0, 2 * covariance / whole, np.nan)
            reach = NORMAL * np.sqrt(np.maximum(spread - 2 * covariance, 0) * n / np.maximum(n - 1, 1))
        return np.stack([alike, gap, gap - reach, gap + reach])

    found = sample.resampled(together, asked)
    kind = asked.kind_or("jackknife")
    return [
        statistic.measured(statistic.about(pairs.n, **about), found, place, asked, kind=kind)
        for place, statistic in enumerate(ON_ONE_SCALE)
    ]


def calibration(
    pairs: Pairs,
    asked: Resampling | None = None,
    *,
    scale: tuple[float, float] = (0.0, 1.0),
    bins: int = BINS,
    **about: Any,
) -> tuple[Aligned, list[Bin]]:
    """The expected calibration error (0..1) and the curve behind it, over bins of equal width.

    Error = Σ_b n_b / n · |mean human value − mean metric in b|: Naeini, Cooper & Hauskrecht (2015), AAAI; Guo et al.
    (2017), ICML, eq. 5. Human values are put on 0..1 by the ends of their `scale`. The metric must lie in 0..1. Empty
    bins are left out of the curve.

    The error is never negative and so too large on average: a metric that is calibrated has one, too. What such a one
    would show is drawn by turning the signs of people's values less the metric's, cluster by cluster (a wild bootstrap:
    Wu, 1986, Annals of Statistics 14, 1261-1295): the note has its mean, `p_value` is the share of draws D with as
    large an error. For gaps γ found as g, weights left out, |Σ|g| − Σ|γ|| ≤ Σ|g − γ| and Σ|γ| ≤ Σ|g| −
    Σ sign(γ)(g − γ): the interval begins at the error less the quantile of D at `level`, or at 0, and ends at the error
    plus z standard errors of the last sum.
    """
    asked = asked or Resampling()
    reason = None if pairs.n else "no unit has both a human label and a score"
    if pairs.n and not (pairs.metric[0] >= 0 and pairs.metric[-1] <= 1):
        reason = f"the metric goes from {pairs.metric[0]:g} to {pairs.metric[-1]:g}, and calibration needs 0 to 1"
    if not scale[0] < scale[1]:
        reason = "the human scale has no length"
    if reason:
        return ERROR.without_value(reason, pairs.n, **about), []
    people = (pairs.human - scale[0]) / (scale[1] - scale[0])
    sample = DrawnRows.of([pairs.metric, people], pairs.cluster)
    metric, human = sample.columns.T
    place = _bins_of(metric, bins)
    used = np.unique(place)
    member = (place == used[:, None]).astype(np.float64)

    sizes, scored = (member @ sample.weights)[:, 0], ((member * metric) @ sample.weights)[:, 0]

    def together(weights: FloatArray) -> FloatArray:
        sizes, scored, said = member @ weights, (member * metric) @ weights, (member * human) @ weights
        error = np.abs(said - scored).sum(axis=0) / weights.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.vstack([error, said / sizes])

    found = sample.resampled(together, asked)
    note = f"{len(used)} of {bins} bins of equal width {'has' if len(used) == 1 else 'have'} units"
    entry = ERROR.measured(ERROR.about(pairs.n, **about), found, 0, asked, kind="percentile", note=note)
    if entry.low is not None and entry.interval is not None:
        where = (np.searchsorted(used, _bins_of(pairs.metric, bins)), pairs.cluster)
        shape = (len(used), pairs.n_clusters)
        apart = sparse.csr_array((people - pairs.metric, where), shape=shape)
        held = sparse.csr_array((np.ones(pairs.n), where), shape=shape)
        entry = _tested(entry, entry.interval, apart, held, sizes, asked, note)
    shares = replace(found, ceiling=1.0)
    curve = []
    for i, place_of_bin in enumerate(used.tolist()):
        made = shares.interval(1 + i, asked.level, "percentile")
        curve.append(
            Bin(
                start=place_of_bin / bins,
                end=(place_of_bin + 1) / bins,
                n=int(sizes[i]),
                metric=float(scored[i] / sizes[i]),
                human=float(found.values[1 + i]),
                low=made.low,
                high=made.high,
            )
        )
    return entry, curve


def _bins_of(metric: FloatArray, bins: int) -> IntArray:
    """The bin (from 0) of each value from 0 to 1; 1 belongs to the last one."""
    return np.minimum((metric * bins).astype(np.int64), bins - 1)


def _tested(  # noqa: PLR0917 - what was measured
    entry: Aligned, drawn: Interval, apart: Any, held: Any, sizes: FloatArray, asked: Resampling, note: str
) -> Aligned:
    """The error with its interval, the test of a metric that is calibrated, and what such a one would show.

    `apart` (bins × clusters) sums people's values less the metric's over the units that a bin and a cluster share, of
    which there are as many as `held` says.
    """
    error, n, clusters = float(entry.value or 0), float(sizes.sum()), apart.shape[1]
    rng, at_once = np.random.default_rng(asked.seed), max(1, 4_000_000 // max(1, clusters))
    calibrated = np.concatenate(
        [
            np.abs(apart @ rng.choice([-1.0, 1.0], size=(clusters, min(at_once, asked.resamples - start)))).sum(axis=0)
            for start in range(0, asked.resamples, at_once)
        ]
    )
    calibrated /= n
    low = max(0.0, error - float(np.quantile(calibrated, asked.level)))
    gap = np.asarray(apart.sum(axis=1)).ravel()
    sides = np.sign(gap) / n
    # of each cluster what it adds to the sum of the gaps, less what its units would at their bins' gaps
    influence = sides @ apart - (sides * gap / sizes) @ held
    few = clusters / (clusters - 1) * n / max(1, n - len(sizes))
    reach = float(special.ndtri((1 + asked.level) / 2)) * float(np.sqrt(few * (influence**2).sum()))
    made = replace(drawn, low=low, high=min(1.0, error + reach), kind="wild bootstrap of the bins' gaps")
    words = f"a calibrated metric would show {calibrated.mean():.3f} here on average"
    p_value = (1 + int((calibrated >= error - ROUNDING).sum())) / (1 + len(calibrated))
    return replace(entry.measured(error, [made], f"{note}; {words}"), p_value=p_value)
