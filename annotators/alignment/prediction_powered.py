"""The mean of a human criterion over many units from few human labels and many scores, with a valid interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from annotators.agreement.table import FloatArray, IntArray
from annotators.alignment.resampling import Resampling
from annotators.alignment.result import Aligned, undefined
from annotators.errors import InvalidInput

STATISTICS = ("classical_mean", "ppi_mean", "ppi_plus_plus_mean")


def prediction_powered_mean(
    labels: FloatArray,
    scores: FloatArray,
    asked: Resampling | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
    strata: Sequence[Hashable] | None = None,
    **about: Any,
) -> list[Aligned]:
    """The mean human value of all units three ways: from labels alone, and with the scores of all units (PPI, PPI++).

    `labels` has NaN where nobody labelled, `scores` a score for every unit that counts (others are left out). With n
    labelled and N other units, f the metric and y the human value, the estimate is mean(λ f) over the others + mean(y −
    λ f) over the labelled; λ = 0 is the classical mean, λ = 1 prediction-powered inference (Angelopoulos et al., 2023,
    Science 382, 669-674), and PPI++ takes the λ with the smallest variance, cov(y, f) / (var(f) (1 + n/N))
    (Angelopoulos, Duchi & Zrnic, 2023, arXiv:2311.01453, section 6). λ may lie outside 0..1: the metric need not be on
    people's scale. It is valid for any metric, however bad, if the labelled units are a random sample of all, within
    each of `strata` when given (the estimate then weighs strata by their size). The variance takes the units of a
    cluster together; intervals are t intervals with the number of labelled clusters less the number of strata as
    degrees of freedom.
    """
    asked = asked or Resampling()
    kept = np.flatnonzero(~np.isnan(scores))
    human, metric = labels[kept], scores[kept]
    cluster = _places(kept, clusters) if clusters is not None else np.arange(len(kept))
    stratum = _places(kept, strata) if strata is not None else np.zeros(len(kept), dtype=np.int64)
    labelled = ~np.isnan(human)
    n, others = int(labelled.sum()), int((~labelled).sum())
    n_strata = int(stratum.max(initial=0)) + 1
    freedom = len(np.unique(cluster[labelled])) - n_strata
    reason = None
    if freedom < 1:
        reason = f"{n} labelled units in {n_strata} strata are too few" if n_strata > 1 else _few(n)
    elif (np.bincount(stratum[labelled], minlength=n_strata) < 2).any():
        reason = "a stratum has fewer than two labelled units, so that too little is known about it"
    if reason:
        return [undefined(name, reason, n, **about) for name in STATISTICS]
    if not others:
        reason = "every unit is labelled: there is nothing that the metric could add"
    elif n_strata > 1 and (np.bincount(stratum[~labelled], minlength=n_strata) == 0).any():
        reason = "a stratum has no unit without a label"
    weights = np.bincount(stratum) / len(stratum)
    parts = _Parts(human=human, metric=metric, labelled=labelled, cluster=cluster, stratum=stratum, weights=weights)

    def estimate(name: str, factor: float, words: str) -> Aligned:
        value, error = parts.value(factor), parts.error(factor)
        reach = float(stats.t.ppf((1 + asked.level) / 2, freedom)) * error
        method = f"{words}; t interval, {100 * asked.level:g} %, {freedom:,} degrees of freedom"
        return Aligned(name, value, value - reach, value + reach, method, n, None, **about)

    found = [estimate("classical_mean", 0.0, "labels alone")]
    powered = parts.best_lambda() if reason is None else None
    for name, factor in (("ppi_mean", 1.0), ("ppi_plus_plus_mean", powered)):
        if reason is not None or factor is None:
            found.append(undefined(name, reason or "the metric is the same for every labelled unit", n, **about))
        else:
            found.append(estimate(name, factor, f"λ = {factor:.3g}, {others:,} units without a label"))
    return found


def _few(n: int) -> str:
    return f"only {n} labelled unit{'s' * (n != 1)} with a score; at least 2 are needed"


def _places(kept: IntArray, keys: Sequence[Hashable]) -> IntArray:
    if len(kept) and len(keys) <= int(kept.max()):
        raise InvalidInput(f"{len(keys)} keys are fewer than the units: give one for every unit")
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(keys[i], len(place)) for i in kept.tolist()], dtype=np.int64)


class _Parts:
    """The units, and what the estimate of one λ and its variance are made of."""

    def __init__(
        self,
        *,
        human: FloatArray,
        metric: FloatArray,
        labelled: np.ndarray[Any, np.dtype[np.bool_]],
        cluster: IntArray,
        stratum: IntArray,
        weights: FloatArray,
    ) -> None:
        self.human = np.where(labelled, human, 0.0)
        self.metric, self.labelled, self.cluster = metric, labelled, cluster
        # What one labelled unit and one other unit weigh in the estimate.
        n = np.bincount(stratum[labelled], minlength=len(weights)).astype(np.float64)
        rest = np.bincount(stratum[~labelled], minlength=len(weights)).astype(np.float64)
        self.own = np.where(labelled, (weights / n)[stratum], 0.0)
        self.other = np.where(labelled, 0.0, (weights / np.maximum(rest, 1))[stratum])
        self.stratum = stratum
        self.clusters = [
            np.bincount(np.unique(np.stack([stratum[here], cluster[here]]), axis=1)[0], minlength=len(weights))
            for here in (labelled, ~labelled)
        ]

    def value(self, factor: float) -> float:
        """The estimate."""
        return float((self.own * (self.human - factor * self.metric) + self.other * factor * self.metric).sum())

    def error(self, factor: float) -> float:
        """Its standard error: the influences of a cluster's units added up, squared, summed over clusters."""
        rectified = self._centred(self.human - factor * self.metric, self.labelled, self.clusters[0])
        scored = self._centred(factor * self.metric, ~self.labelled, self.clusters[1])
        influence = np.bincount(self.cluster, weights=self.own * rectified + self.other * scored)
        return float(np.sqrt((influence**2).sum()))

    def _centred(self, values: FloatArray, here: np.ndarray[Any, np.dtype[np.bool_]], clusters: IntArray) -> FloatArray:
        """Values less their stratum's mean, stretched so that their squares estimate the variance without bias."""
        sizes = np.maximum(np.bincount(self.stratum[here], minlength=len(clusters)), 1)
        means = np.bincount(self.stratum[here], weights=values[here], minlength=len(clusters)) / sizes
        stretch = np.sqrt(clusters / np.maximum(clusters - 1, 1))
        return np.where(here, (values - means[self.stratum]) * stretch[self.stratum], 0.0)

    def best_lambda(self) -> float | None:
        """The λ with the smallest variance, which is a parabola in λ."""
        at = {factor: self.error(factor) ** 2 for factor in (-1.0, 0.0, 1.0)}
        curvature = (at[1.0] + at[-1.0]) / 2 - at[0.0]
        return None if curvature <= 1e-300 else (at[-1.0] - at[1.0]) / (4 * curvature)
