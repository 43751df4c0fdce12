"""Does a metric of 0.8 mean that people say yes in 80 of 100 cases: the calibration curve and its error."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

BINS = 10
ERROR = declare("calibration_error", "Calibration error")


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
    (2017), ICML, eq. 5. Human values are put on 0..1 by the ends of their `scale`. The metric must lie in 0..1. The
    error is never negative and therefore too large on average where few rows are in a bin; its interval is a percentile
    one. Empty bins are left out of the curve.
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
    place = np.minimum((metric * bins).astype(np.int64), bins - 1)
    used = np.unique(place)
    member = (place == used[:, None]).astype(np.float64)

    def together(weights: FloatArray) -> FloatArray:
        sizes, scored, said = member @ weights, (member * metric) @ weights, (member * human) @ weights
        error = np.abs(said - scored).sum(axis=0) / weights.sum(axis=0)
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.vstack([error, said / sizes])

    found = sample.resampled(together, asked)
    note = f"{len(used)} of {bins} bins of equal width {'has' if len(used) == 1 else 'have'} units"
    entry = ERROR.measured(ERROR.about(pairs.n, **about), found, 0, asked, kind="percentile", note=note)
    shares = replace(found, ceiling=1.0)
    sizes, scored = (member @ sample.weights)[:, 0], ((member * metric) @ sample.weights)[:, 0]
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
