"""The mean of a human criterion over many units from few human labels and many scores, with a valid interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotators.alignment.statistics.base import AlignmentStatistic, declare
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.estimates.limits import Limits
from annotators.estimates.parts import Parts, places
from annotators.figures import number
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval

CLASSICAL = declare("classical_mean", "Human mean, labels alone")
POWERED = declare("ppi_mean", "Human mean, prediction-powered")
TUNED = declare("ppi_plus_plus_mean", "Human mean, prediction-powered (tuned)")


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
    and of fitted λ as degrees of freedom (with `probabilities` fewer: `Parts.freedom`), cut at the ends of `scale`;
    with labels 0 and 1 they are Wilson's (1927) with the effective sample size p (1 - p) / se² (Korn & Graubard 1998,
    Survey Methodology 24, 193-201), and with fewer than five of the rarer label the metric is not believed to gain
    anything.
    """
    asked = asked or Resampling()
    kept = np.flatnonzero(~np.isnan(scores))
    human, metric = labels[kept], scores[kept]
    cluster = places(kept, clusters) if clusters is not None else np.arange(len(kept))
    stratum = places(kept, strata) if strata is not None else np.zeros(len(kept), dtype=np.int64)
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
    parts = Parts.of(
        human,
        metric,
        cluster=cluster,
        stratum=stratum,
        probabilities=drawn_with,
        beyond=0.0 if finite else 1.0,
    )
    made = _Intervals(Limits(parts, freedom, scale), asked)
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


@dataclass(frozen=True, eq=False)
class _Intervals:
    """The intervals of the estimates that are made of the same parts."""

    limits: Limits
    asked: Resampling

    def words(self, factors: FloatArray) -> str:
        """λ, how many units have no label, and what the metric is worth."""
        parts, worth = self.limits.parts, self.limits.worth(factors)
        others = int((~parts.labelled).sum())
        used = list(
            dict.fromkeys(f"{round(factor, 9) + 0.0:.3g}".replace("-", "−") for factor in sorted(factors.tolist()))
        )
        what = f"λ = {used[0]}" if len(used) == 1 else f"λ by stratum from {used[0]} to {used[-1]}"
        return (
            f"{what}, {others:,} units without a label; worth {worth:.0f} labels instead of {self.limits.n:,} "
            f"(r = {number(parts.correlation())}; twice as many need about 0.7)"
        )

    def estimate(
        self, statistic: AlignmentStatistic, factors: FloatArray, fitted: int, words: str, about: dict[str, Any]
    ) -> Aligned:
        """One estimate with its interval."""
        parts, level = self.limits.parts, self.asked.level
        found = self.limits.ends(factors, level, fitted=fitted)
        whom = "the mean of the population behind" if parts.beyond else f"the mean of these {len(parts.human):,} units"
        method = f"{words}; {whom}; {found.how} interval, {100 * level:g} %, {found.freedom:,} degrees of freedom"
        effective = None if statistic is CLASSICAL else self.limits.worth(factors)
        made = Interval(found.low, found.high, found.how, level, error=found.error, freedom=found.freedom)
        entry = statistic.about(self.limits.n, n_effective=effective, **about)
        return replace(entry, value=found.value, interval=made, method=method)
