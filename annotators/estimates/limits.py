"""The ends of an estimate's interval: t, or Wilson's for labels of two, with what the prediction is worth."""

from __future__ import annotations

import math
from dataclasses import dataclass

from annotators.arrays import FloatArray, np, stats
from annotators.estimates.parts import FEWEST_FOR_OWN, Parts
from annotators.intervals.shares import wilson_ends


@dataclass(frozen=True)
class Ends:
    """An estimate with the ends of its interval, the standard error that they are made of, and how they were made."""

    value: float
    low: float
    high: float
    error: float
    how: str
    freedom: int


@dataclass(frozen=True, eq=False)
class Limits:
    """The intervals of the estimates that are made of the same parts.

    `freedom` are the degrees of freedom before any λ is fitted (labelled clusters less strata), `scale` the ends that a
    value can have. `plain` is the standard error that as many labels alone would have, had all been drawn alike, where
    they were not. `cautious` takes fewer degrees of freedom where few large errors make most of the variance,
    as good predictions leave it (`Parts.freedom`). `share` says that labels are 0 and 1, also where a unit has the mean
    of several.
    """

    parts: Parts
    freedom: int
    scale: tuple[float, float] | None
    plain: float | None = None
    cautious: bool = False
    share: bool = False

    @property
    def n(self) -> int:
        """How many units are labelled."""
        return int(self.parts.labelled.sum())

    @property
    def _said(self) -> FloatArray:
        return self.parts.human[self.parts.labelled]

    @property
    def binary(self) -> bool:
        """Whether the labels are 0 and 1 and the estimate is a share of them."""
        of_a_share = self.scale in (None, (0.0, 1.0)) and bool((self.parts.own >= 0).all())
        return of_a_share and (self.share or bool(np.isin(self._said, (0.0, 1.0)).all()))

    @property
    def few_of_a_label(self) -> bool:
        """Whether so few labels are of the rarer kind that a metric is not believed to gain anything."""
        counted = self.parts.human[self.parts.own > 0]
        return self.binary and min(counted.sum(), len(counted) - counted.sum()) < FEWEST_FOR_OWN

    @property
    def open(self) -> bool:
        """Whether something of what the estimate is about is not labelled."""
        left = float(self.parts.open[self.parts.labelled].max(initial=0)) + self.parts.beyond
        return left > 0 or self.parts.of_raters > 0

    @property
    def sampled(self) -> bool:
        """Whether there are units without a label that the estimate is about as well."""
        return bool(self.parts.open[self.parts.labelled].max(initial=0) + self.parts.beyond > 0)

    @property
    def says_nothing_of_spread(self) -> bool:
        """Whether labels that are no share are all the same, and not all of them are known."""
        return self.sampled and not self.binary and bool(self._said.min() == self._said.max())

    def believed(self, factors: FloatArray) -> float:
        """The standard error to go by.

        Of a share whose labels are all the same, or few of the rarer kind, it is not less than that with two labels of
        each kind added (Agresti & Coull 1998, The American Statistician 52, 119-126).
        """
        error = self.parts.error(factors)
        if not self.binary or not self.open:
            return error
        alone = math.sqrt(self._with_two_of_each)
        if self.few_of_a_label:
            return max(error, alone * math.sqrt(self.n / max(self.worth(factors), 1e-9)))
        return error if error > 0 else alone

    @property
    def _middle(self) -> float:
        """The share of ones with two of each kind added."""
        said = self.parts.human[self.parts.own > 0]
        return (float(said.sum()) + 2) / (len(said) + 4)

    @property
    def _with_two_of_each(self) -> float:
        """The variance of the labels alone with two of each kind added."""
        parts = self.parts
        left = parts.open * (1 - parts.beyond) + parts.beyond
        known = float((parts.own**2 * left).sum())  # what a variance of 1 becomes: (1 - n/N) / n
        return self._middle * (1 - self._middle) * known

    def worth(self, factors: FloatArray) -> float:
        """How many labels alone would give as short an interval: n · variance without / variance with the metric.

        Never more than n where few labels are of the rarer kind.
        """
        powered = self.parts.error(factors)
        alone = self.parts.error(np.zeros(self.parts.n_strata)) if self.plain is None else self.plain
        worth = self.n * alone**2 / powered**2 if powered > 0 else float(self.n)
        return min(float(self.n), worth) if self.few_of_a_label else worth

    def ends(self, factors: FloatArray, level: float, *, fitted: int = 0, times: float | None = None) -> Ends:
        """The estimate with these λ and its interval of this level (0..1); `fitted` λ take a degree of freedom each.

        The interval reaches t standard errors to either side, or so many `times` as many as a confidence sequence
        reaches. With labels 0 and 1 its ends are Wilson's (1927) with the effective sample size p (1 - p) / se² (Korn &
        Graubard 1998, Survey Methodology 24, 193-201).
        """
        parts = self.parts
        value, error = parts.value(factors), parts.error(factors)
        freedom = max(1, self.freedom - fitted)
        if (parts.weighed or (self.cautious and factors.any())) and not self.few_of_a_label:
            freedom = parts.freedom(factors, freedom)
        freedom = parts.with_raters(freedom, factors)
        t = float(stats.t.ppf((1 + level) / 2, freedom))
        if times is not None:  # what t adds for the error being estimated, a sequence adds as well
            t *= times / float(stats.norm.ppf((1 + level) / 2))
        low, high = value - t * error, value + t * error
        how = "t"
        if self.binary and self.open:
            value = min(max(value, 0.0), 1.0)
            low, high = self._wilson(value, error, t, factors)
            how = "Wilson"
        elif self.scale is not None:
            value, low, high = (min(max(end, self.scale[0]), self.scale[1]) for end in (value, low, high))
        return Ends(value, low, high, error, how, freedom)

    def _wilson(self, value: float, error: float, t: float, factors: FloatArray) -> tuple[float, float]:
        """Wilson's ends with the effective number of labels, and t in the place of z.

        Where an estimate of 0 or 1, or few of the rarer label, leave no variance to go by, that of the labels alone
        with two of each kind added (Agresti & Coull 1998, The American Statistician 52, 119-126) stands in for it.
        """
        middle = self._middle
        if self.few_of_a_label:
            n = middle * (1 - middle) / self.believed(factors) ** 2
        else:
            spread = value * (1 - value)
            alone = self._with_two_of_each
            n = spread / error**2 if spread > 0 and error > 0 else middle * (1 - middle) / max(alone, error**2)
        return wilson_ends(value, n, t)
