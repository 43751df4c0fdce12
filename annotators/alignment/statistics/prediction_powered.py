"""The mean of a human criterion over many units from few human labels and many scores, with a valid interval."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from annotators.alignment.statistics.base import AlignmentStatistic, declare
from annotators.alignment.tables.labels import first_seen
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval
from annotators.intervals.shares import wilson_ends

CLASSICAL = declare("classical_mean", "Human mean, labels alone")
POWERED = declare("ppi_mean", "Human mean, prediction-powered")
TUNED = declare("ppi_plus_plus_mean", "Human mean, prediction-powered (tuned)")
FEWEST_FOR_OWN = 5
"""Labelled units that a stratum needs for a λ of its own, and labels of the rarer kind for a gain to be believed."""

Bools = np.ndarray[Any, np.dtype[np.bool_]]


def prediction_powered_mean(
    labels: FloatArray,
    scores: FloatArray,
    asked: Resampling | None = None,
    *,
    clusters: Sequence[Hashable] | IntArray | None = None,
    strata: Sequence[Hashable] | None = None,
    probabilities: FloatArray | None = None,
    scale: tuple[float, float] | None = None,
    finite: bool = True,
    **about: Any,
) -> list[Aligned]:
    """The mean human value of all units three ways: from labels alone, and with the scores of all units (PPI, PPI++).

    `labels` has NaN where nobody labelled, `scores` a score for every unit that counts (others are left out). With f
    the metric and y the human value the estimate is mean(λ f) over all N units + mean(y - λ f) over the n labelled:
    the difference estimator (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, eq. 6.3.4). λ = 0 is the
    classical mean, λ = 1 prediction-powered inference (Angelopoulos et al., 2023, Science 382, 669-674), and PPI++
    takes the λ with the smallest variance, cov(y, f) / var(f) (Angelopoulos, Duchi & Zrnic, 2023, arXiv:2311.01453,
    section 6; theirs has 1 + n/N below because its mean of f is over the others), one for each stratum that has five
    labelled units. It is valid for any metric, however bad, if the labelled units are a random sample of all within
    each of `strata`, or were drawn with known `probabilities` (of each unit, 0..1: then 1 / probability weighs a label;
    Hájek 1971; active inference: Zrnic & Candès, 2024, ICML, eq. 3).

    `finite`: the mean is that of these N units, so that the variance has the finite population correction 1 - n/N
    (Cochran 1977, Sampling Techniques, eq. 2.15); else that of the population they are a sample of. The variance takes
    the units of a cluster together. Intervals are t intervals with the number of labelled clusters less that of strata
    and of fitted λ as degrees of freedom (with `probabilities` fewer: `_Parts.freedom`), cut at the ends of `scale`;
    with labels 0 and 1 they are Wilson's (1927) with the effective sample size p (1 - p) / se² (Korn & Graubard 1998,
    Survey Methodology 24, 193-201), and with fewer than five of the rarer label the metric is not believed to gain
    anything.
    """
    asked = asked or Resampling()
    kept = np.flatnonzero(~np.isnan(scores))
    human, metric = labels[kept], scores[kept]
    cluster = _places(kept, clusters) if clusters is not None else np.arange(len(kept))
    stratum = _places(kept, strata) if strata is not None else np.zeros(len(kept), dtype=np.int64)
    labelled = ~np.isnan(human)
    drawn_with = None if probabilities is None else probabilities[kept]
    if drawn_with is not None and not ((drawn_with[labelled] > 0) & (drawn_with[labelled] <= 1)).all():
        raise InvalidInput("a labelled unit has no probability between 0 and 1 with which it was drawn")
    n, others = int(labelled.sum()), int((~labelled).sum())
    n_strata = int(stratum.max(initial=0)) + 1
    freedom = len(np.unique(cluster[labelled])) - n_strata
    reason = None
    if freedom < 1:
        reason = f"{n} labelled units in {n_strata} strata are too few" if n_strata > 1 else _few(n)
    elif (np.bincount(stratum[labelled], minlength=n_strata) < 2).any():
        reason = "a stratum has fewer than two labelled units, so that too little is known about it"
    if reason:
        return [statistic.without_value(reason, n, **about) for statistic in (CLASSICAL, POWERED, TUNED)]
    if not others:
        reason = "every unit is labelled: there is nothing that the metric could add"
    parts = _Parts.of(
        human,
        metric,
        labelled=labelled,
        cluster=cluster,
        stratum=stratum,
        probabilities=drawn_with,
        finite=finite,
    )
    made = _Intervals(parts, asked, freedom, n, scale)
    found = [made.estimate(CLASSICAL, np.zeros(n_strata), 0, "labels alone", about)]
    factors = parts.best() if reason is None else None
    if reason is not None or factors is None:
        why = reason or "the metric is the same for every labelled unit"
        first = made.estimate(POWERED, np.ones(n_strata), 0, made.words(np.ones(n_strata)), about)
        ppi = POWERED.without_value(why, n, **about) if reason is not None else first
        return [*found, ppi, TUNED.without_value(why, n, **about)]
    own = np.ones(n_strata)
    fitted = len(np.unique(factors))
    return [
        *found,
        made.estimate(POWERED, own, 0, made.words(own), about),
        made.estimate(TUNED, factors, fitted, made.words(factors), about),
    ]


def _few(n: int) -> str:
    return f"only {n} labelled unit{'s' * (n != 1)} with a score; at least 2 are needed"


def _places(kept: IntArray, keys: Sequence[Hashable] | IntArray) -> IntArray:
    if len(kept) and len(keys) <= int(kept.max()):
        raise InvalidInput(f"{len(keys)} keys are fewer than the units: give one for every unit")
    if isinstance(keys, np.ndarray):
        return first_seen(keys[kept])
    place: dict[Hashable, int] = {}
    return np.array([place.setdefault(keys[i], len(place)) for i in kept.tolist()], dtype=np.int64)


@dataclass(frozen=True, eq=False)
class _Parts:
    """The units, and what the estimate of the strata's λ and its variance are made of.

    `own` is what a labelled unit weighs in the estimate and `all` what every unit's score does; `open` is 1 less the
    share of the population that is known (0 where everything is labelled, 1 for an endless population). `weighed` says
    that units were drawn with probabilities of their own.
    """

    human: FloatArray
    metric: FloatArray
    labelled: Bools
    cluster: IntArray
    stratum: IntArray
    own: FloatArray
    all: FloatArray
    open: FloatArray
    finite: bool
    weighed: bool

    @classmethod
    def of(
        cls,
        human: FloatArray,
        metric: FloatArray,
        *,
        labelled: Bools,
        cluster: IntArray,
        stratum: IntArray,
        probabilities: FloatArray | None,
        finite: bool,
    ) -> _Parts:
        size = np.bincount(stratum).astype(np.float64)
        n = np.bincount(stratum[labelled], minlength=len(size)).astype(np.float64)
        drawn = (n / size)[stratum] if probabilities is None else np.where(labelled, probabilities, 1.0)
        weight = np.where(labelled, 1 / drawn, 0.0)
        total = np.bincount(stratum, weights=weight)
        own = weight / total[stratum] * (size / len(stratum))[stratum]
        known = drawn if finite else np.zeros(len(drawn))
        everything = np.full(len(stratum), 1 / len(stratum))
        filled = np.where(labelled, human, 0.0)
        return cls(
            filled, metric, labelled, cluster, stratum, own, everything, 1 - known, finite, probabilities is not None
        )

    def value(self, factors: FloatArray) -> float:
        """The estimate with these λ, one a stratum."""
        predicted = factors[self.stratum] * self.metric
        return float((self.all * predicted + self.own * (self.human - predicted)).sum())

    def error(self, factors: FloatArray) -> float:
        """Its standard error: the influences of a cluster's units added up, squared, summed over clusters."""
        return float(np.sqrt((self._influences(factors) ** 2).sum()))

    def _influences(self, factors: FloatArray) -> FloatArray:
        """What each cluster adds to the error of the estimate."""
        predicted = factors[self.stratum] * self.metric
        influence = self.own * np.sqrt(self.open) * self._centred(self.human - predicted, self.own)
        if not self.finite:
            influence = influence + self.all * self._centred(predicted, self.all)
        return np.bincount(self.cluster, weights=influence).astype(np.float64)

    def freedom(self, factors: FloatArray, most: int) -> int:
        """The degrees of freedom that the standard error has by how unequal its parts are, up to so many.

        Of a sum of n squared influences s these are 2 (Σs)² / (Σs² - (Σs)² / n), by the method of Satterthwaite (1946,
        Biometrics Bulletin 2, 110-114): with a rare label they go by how often it was seen, not by how many labels
        there are.
        """
        squares = self._influences(factors) ** 2
        varies = float((squares**2).sum() - squares.sum() ** 2 / len(np.unique(self.cluster[self.labelled])))
        return most if varies <= 0 else max(1, min(most, int(2 * squares.sum() ** 2 / varies)))

    def _centred(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Values less their stratum's mean, stretched so that their squares estimate the variance without bias."""
        here = weights > 0
        total = np.maximum(np.bincount(self.stratum, weights=weights), 1e-300)
        means = np.bincount(self.stratum, weights=weights * values) / total
        n_clusters = int(self.cluster.max(initial=-1)) + 1
        pairs = np.unique(self.stratum[here] * n_clusters + self.cluster[here]) // max(1, n_clusters)
        clusters = np.bincount(pairs, minlength=len(total))
        stretch = np.sqrt(clusters / np.maximum(clusters - 1, 1))
        return np.where(here, (values - means[self.stratum]) * stretch[self.stratum], 0.0)

    def best(self) -> FloatArray | None:
        """The λ of each stratum with the smallest variance; strata with few labels share one. None without any."""
        weights = self.own**2 * self.open
        x, y = self._centred(self.metric, self.own), self._centred(self.human, self.own)
        together = np.bincount(self.stratum, weights=weights * x * y)
        alone = np.bincount(self.stratum, weights=weights * x * x)
        if alone.sum() <= 1e-300:
            return None
        n = np.bincount(self.stratum[self.labelled], minlength=len(alone))
        shared = float(together.sum() / alone.sum())
        own = (n >= FEWEST_FOR_OWN) & (alone > 1e-300)
        return np.where(own, together / np.where(own, alone, 1.0), shared)

    def correlation(self) -> float:
        """Of metric and people on the labelled units, within strata."""
        x, y = (self._centred(values, self.own) for values in (self.metric, self.human))
        spread = float((self.own * x * x).sum() * (self.own * y * y).sum())
        return float((self.own * x * y).sum() / np.sqrt(spread)) if spread > 0 else 0.0


@dataclass(frozen=True, eq=False)
class _Intervals:
    """The intervals of the estimates that are made of the same parts."""

    parts: _Parts
    asked: Resampling
    freedom: int
    n: int
    scale: tuple[float, float] | None

    def words(self, factors: FloatArray) -> str:
        """λ, how many units have no label, and what the metric is worth."""
        used = list(dict.fromkeys(f"{factor:.3g}" for factor in factors.tolist()))
        others = int((~self.parts.labelled).sum())
        what = f"λ = {used[0]}" if len(used) == 1 else f"λ by stratum from {min(factors):.3g} to {max(factors):.3g}"
        worth = self._worth(factors)
        return (
            f"{what}, {others:,} units without a label; worth {worth:.0f} labels instead of {self.n:,} "
            f"(r = {self.parts.correlation():.2f}; twice as many need about 0.7)"
        )

    def _worth(self, factors: FloatArray) -> float:
        """How many labels alone would give as short an interval: n · variance without / variance with the metric."""
        alone, powered = self.parts.error(np.zeros(len(factors))), self.parts.error(factors)
        if self._few_of_a_label():
            return min(float(self.n), self.n * alone**2 / powered**2 if powered > 0 else float(self.n))
        return self.n * alone**2 / powered**2 if powered > 0 else float(self.n)

    def _binary(self) -> bool:
        said = self.parts.human[self.parts.labelled]
        return self.scale in (None, (0.0, 1.0)) and bool(np.isin(said, (0.0, 1.0)).all())

    def _few_of_a_label(self) -> bool:
        said = self.parts.human[self.parts.labelled]
        return self._binary() and min(said.sum(), len(said) - said.sum()) < FEWEST_FOR_OWN

    def estimate(
        self, statistic: AlignmentStatistic, factors: FloatArray, fitted: int, words: str, about: dict[str, Any]
    ) -> Aligned:
        """One estimate with its interval."""
        parts, level = self.parts, self.asked.level
        value, error = parts.value(factors), parts.error(factors)
        freedom = max(1, self.freedom - fitted)
        if parts.weighed and not self._few_of_a_label():
            freedom = parts.freedom(factors, freedom)
        t = float(stats.t.ppf((1 + level) / 2, freedom))
        low, high = value - t * error, value + t * error
        how = "t"
        if self._binary() and parts.open[parts.labelled].max(initial=0) > 0:
            value = min(max(value, 0.0), 1.0)
            low, high = self._wilson(value, error, t, factors)
            how = "Wilson"
        elif self.scale is not None:
            low, high = max(low, self.scale[0]), min(high, self.scale[1])
            value = min(max(value, self.scale[0]), self.scale[1])
        whom = f"the mean of these {len(parts.human):,} units" if parts.finite else "the mean of the population behind"
        method = f"{words}; {whom}; {how} interval, {100 * level:g} %, {freedom:,} degrees of freedom"
        effective = None if statistic is CLASSICAL else self._worth(factors)
        made = Interval(low, high, how, level, error=error, freedom=freedom)
        entry = statistic.about(self.n, n_effective=effective, **about)
        return replace(entry, value=value, interval=made, method=method)

    def _wilson(self, value: float, error: float, t: float, factors: FloatArray) -> tuple[float, float]:
        """Wilson's ends with the effective number of labels, and t in the place of z.

        Where an estimate of 0 or 1, or few of the rarer label, leave no variance to go by, that of the labels alone
        with two of each kind added (Agresti & Coull 1998, The American Statistician 52, 119-126) stands in for it.
        """
        parts = self.parts
        said = parts.human[parts.labelled]
        middle = (float(said.sum()) + 2) / (len(said) + 4)
        known = float((parts.own**2 * parts.open).sum())  # what a variance of 1 becomes: (1 - n/N) / n
        alone = middle * (1 - middle) * known
        if self._few_of_a_label():
            error = max(error, math.sqrt(alone) * math.sqrt(self.n / max(self._worth(factors), 1e-9)))
            n = middle * (1 - middle) / error**2
        else:
            spread = value * (1 - value)
            n = spread / error**2 if spread > 0 and error > 0 else middle * (1 - middle) / max(alone, error**2)
        return wilson_ends(value, n, t)
