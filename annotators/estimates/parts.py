"""What an estimate from few labels and a prediction of every unit is made of: its value, its error, its best λ.

With f the prediction and y the human value it is mean(λ f) over all units + mean(y - λ f) over the labelled ones: the
difference estimator (Särndal, Swensson & Wretman 1992, Model Assisted Survey Sampling, eq. 6.3.4). λ = 0 is the
classical mean, λ = 1 prediction-powered inference (Angelopoulos et al. 2023, Science 382, 669-674), and PPI++ takes the
λ with the smallest variance (Angelopoulos, Duchi & Zrnic 2023, arXiv:2311.01453, section 6).
Where y is the mean of what some raters said, the variance has what they differ by (`annotators.estimates.raters`).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

from annotators.arrays import BoolArray, FloatArray, IntArray, np
from annotators.errors import InvalidInput
from annotators.estimates.raters import joined_freedom

FEWEST_FOR_OWN = 5
"""Labelled units that a stratum needs for a λ of its own, and labels of the rarer kind for a gain to be believed."""

_SHRUNK = 20.0


@dataclass(frozen=True, eq=False)
class Parts:
    """The units, and what the estimate of the strata's λ and its variance are made of.

    All are of length N: `human` (0 where nobody labelled), `metric` (the prediction), `labelled`, `cluster` and
    `stratum` (numbers from 0), `own` (what a labelled unit's label weighs in the estimate; 0 of the others), `all`
    (what every unit's prediction weighs) and `open` (1 less the share of the population that is known: 0 where
    everything is labelled, 1 where labels are a drop in it). `beyond` (0..1) is the share of the population that is
    not among these units: 0 is the finite set of these units, 1 a population without end. `weighed` says that units
    were drawn with probabilities of their own. `noise` (N) is the variance of each label about what raters say of its
    unit on average, known with `noise_freedom` degrees of freedom.
    """

    human: FloatArray
    metric: FloatArray
    labelled: BoolArray
    cluster: IntArray
    stratum: IntArray
    own: FloatArray
    all: FloatArray
    open: FloatArray
    beyond: float
    weighed: bool
    noise: FloatArray
    noise_freedom: float = math.inf

    @classmethod
    def of(
        cls,
        human: FloatArray,
        metric: FloatArray,
        *,
        cluster: IntArray,
        stratum: IntArray,
        probabilities: FloatArray | None = None,
        open_: FloatArray | None = None,
        beyond: float = 0.0,
        noise: FloatArray | None = None,
        noise_freedom: float = math.inf,
    ) -> Parts:
        """Of units of which `human` (N) is NaN where nobody labelled.

        `probabilities` (N) are those with which the labelled units were drawn, so that 1 / probability weighs a label
        (Hájek 1971); None: drawn alike within strata. `open_` (N) replaces 1 - probability in the variance, where a
        unit's weight is made of several draws. Each stratum's mean counts for its share of the units. Without
        `noise` nothing is known of what raters differ by.
        """
        labelled = ~np.isnan(human)
        size = np.bincount(stratum).astype(np.float64)
        n = np.bincount(stratum[labelled], minlength=len(size)).astype(np.float64)
        drawn = (n / size)[stratum] if probabilities is None else np.where(labelled, probabilities, 1.0)
        weight = np.where(labelled, 1 / np.where(drawn > 0, drawn, 1.0), 0.0)
        total = np.bincount(stratum, weights=weight)
        share = size / len(stratum)
        own = np.divide(weight * share[stratum], total[stratum], out=np.zeros(len(weight)), where=weight > 0)
        left = 1 - drawn if open_ is None else open_
        return cls(
            np.where(labelled, human, 0.0),
            metric,
            labelled,
            cluster,
            stratum,
            own,
            (share / size)[stratum],
            left,
            beyond,
            probabilities is not None,
            np.zeros(len(stratum)) if noise is None else np.where(labelled, noise, 0.0),
            noise_freedom,
        )

    @property
    def n_strata(self) -> int:
        """How many strata there are."""
        return int(self.stratum.max(initial=0)) + 1

    def predicting(
        self, human: FloatArray, metric: FloatArray, noise: FloatArray | None = None, freedom: float = math.inf
    ) -> Parts:
        """The same units and weights with other values (N), predictions (N), and variances by raters (N)."""
        of_raters = np.zeros(len(human)) if noise is None else np.where(self.labelled, noise, 0.0)
        return replace(
            self,
            human=np.where(self.labelled, human, 0.0),
            metric=metric,
            noise=of_raters,
            noise_freedom=freedom,
        )

    def with_raters(self, sampled_freedom: int, factors: FloatArray) -> int:
        """The degrees of freedom of the whole error, where that of the sampled units has so many."""
        if not self.of_raters:
            return sampled_freedom
        sampled = self.error(factors) ** 2 - self.of_raters
        joined = joined_freedom([(max(0.0, sampled), sampled_freedom), (self.of_raters, self.noise_freedom)])
        return max(1, int(min(joined, 1e9)))

    def value(self, factors: FloatArray) -> float:
        """The estimate with these λ, one a stratum."""
        predicted = factors[self.stratum] * self.metric
        return float((self.all * predicted + self.own * (self.human - predicted)).sum())

    def error(self, factors: FloatArray) -> float:
        """Its standard error: the influences of a cluster's units added up, squared, summed over clusters.

        Of a finite population that holds these units and others it lies between that of these units alone and that of a
        population without end, by `beyond` (two-phase sampling: Särndal, Swensson & Wretman 1992, eq. 9.3.7).
        """
        sampled = sum(share * (influence**2).sum() for share, influence in self.influences(factors))
        return float(np.sqrt(sampled + self.of_raters))

    @property
    def unit_noise(self) -> FloatArray:
        """What raters add to the variance with each unit (N), besides what is in that of the sampled units."""
        found: FloatArray = self.own**2 * (1 - self.open) * (1 - self.beyond) * self.noise
        return found

    @property
    def of_raters(self) -> float:
        """What raters add to the variance, besides what is in that of the sampled units."""
        return float(self.unit_noise.sum())

    def influences(self, factors: FloatArray) -> list[tuple[float, FloatArray]]:
        """What each cluster adds to the error of the estimate, of these units and of those beyond, with shares."""
        predicted = factors[self.stratum] * self.metric
        residual = self.own * self._centred(self.human - predicted, self.own)
        found = []
        if self.beyond < 1:
            here = np.bincount(self.cluster, weights=residual * np.sqrt(self.open))
            found.append((1 - self.beyond, here.astype(np.float64)))
        if self.beyond > 0:
            whole = residual + self.all * self._centred(predicted, self.all)
            found.append((self.beyond, np.bincount(self.cluster, weights=whole).astype(np.float64)))
        return found

    def freedom(self, factors: FloatArray, most: int) -> int:
        """The degrees of freedom that the standard error has by how unequal its parts are, up to so many.

        Of a sum of n squared influences s these are 2 (Σs)² / (Σs² - (Σs)² / n), by the method of Satterthwaite (1946,
        Biometrics Bulletin 2, 110-114): with a rare label they go by how often it was seen, not by how many labels
        there are.
        """
        squares = sum((share * influence**2 for share, influence in self.influences(factors)), np.zeros(1))
        if not squares.any():
            return most
        varies = float((squares**2).sum() - squares.sum() ** 2 / len(np.unique(self.cluster[self.labelled])))
        return most if varies <= 0 else max(1, min(most, int(2 * squares.sum() ** 2 / varies)))

    def variance(self, values: FloatArray) -> float:
        """The variance of values (N) among the labelled units, within strata, by what each weighs."""
        share = np.abs(self.own)
        return float(share @ self._centred(values, self.own) ** 2) / max(float(share.sum()), 1e-300)

    def _centred(self, values: FloatArray, weights: FloatArray) -> FloatArray:
        """Values less their stratum's mean, stretched so that their squares estimate the variance without bias."""
        here = weights != 0
        size = np.abs(weights)
        total = np.maximum(np.bincount(self.stratum, weights=size), 1e-300)
        means = np.bincount(self.stratum, weights=size * values) / total
        clusters = self._clusters(here, len(total)).astype(np.float64)
        if self.weighed:  # unequal weights are worth fewer equal ones (Kish 1965, Survey Sampling, section 11.7)
            clusters = np.maximum(total**2 / np.maximum(np.bincount(self.stratum, weights=size**2), 1e-300), 2.0)
        stretch = np.sqrt(clusters / np.maximum(clusters - 1, 1))
        return np.where(here, (values - means[self.stratum]) * stretch[self.stratum], 0.0)

    def _clusters(self, here: BoolArray, n_strata: int) -> IntArray:
        """How many clusters have a unit `here` (N) in each stratum."""
        n_clusters = int(self.cluster.max(initial=-1)) + 1
        pairs = self.stratum[here] * n_clusters + self.cluster[here]
        if n_strata * n_clusters <= 8 * len(here):  # counted rather than sorted, where that is no table of holes
            there = np.bincount(pairs, minlength=n_strata * n_clusters) > 0
            found: IntArray = there.reshape(n_strata, n_clusters).sum(axis=1)
            return found
        return np.bincount(np.unique(pairs) // max(1, n_clusters), minlength=n_strata)

    def _moments(self) -> tuple[FloatArray, FloatArray]:
        """Covariance of prediction and people, and variance of the prediction, of each stratum, as the error has them.

        Units without a label count where the population goes on beyond these units: a λ adds what they add as well.
        """
        x, y = self._centred(self.metric, self.own), self._centred(self.human, self.own)
        weights = self.own**2 * (self.open if self.beyond < 1 else 1.0)
        both, alone = (np.bincount(self.stratum, weights=weights * x * other) for other in (y, x))
        return both.astype(np.float64), alone.astype(np.float64)

    def best(self) -> FloatArray | None:
        """The λ of each stratum with the smallest variance; strata with few labels share one. None without any."""
        together, alone = self._moments()
        if alone.sum() <= 1e-300:
            return None
        n = np.bincount(self.stratum[self.labelled], minlength=len(alone))
        shared = float(together.sum() / alone.sum())
        own = (n >= FEWEST_FOR_OWN) & (alone > 1e-300)
        return np.where(own, together / np.where(own, alone, 1.0), shared)

    def tuned(self, most: float = 1.0) -> FloatArray:
        """The λ of each stratum for a prediction of the label itself: between 0, where it is of no use, and `most`.

        That of a stratum is drawn to that of all as if 20 more labels of it said so: a λ of few labels is noise
        (an empirical Bayes estimate: Efron & Morris 1975, Journal of the American Statistical Association 70, 311-319).
        """
        together, alone = self._moments()
        if alone.sum() <= 1e-300:
            return np.zeros(len(alone))
        n = np.bincount(self.stratum[self.labelled], minlength=len(alone)).astype(np.float64)
        shared = float(np.clip(together.sum() / alone.sum(), 0.0, most))
        prior = np.where(n > 0, alone / np.maximum(n, 1), 0.0) * _SHRUNK
        made = np.divide(together + prior * shared, alone + prior, out=np.full(len(n), shared), where=alone > 1e-300)
        found: FloatArray = np.clip(made, 0.0, most)
        return found

    def correlation(self, of: int | None = None) -> float:
        """Of prediction and people on the labelled units, within strata; of one stratum alone where it is named."""
        x, y = (self._centred(values, self.own) for values in (self.metric, self.human))
        weights = np.abs(self.own) if of is None else np.where(self.stratum == of, np.abs(self.own), 0.0)
        spread = float((weights * x * x).sum() * (weights * y * y).sum())
        return float((weights * x * y).sum() / np.sqrt(spread)) if spread > 0 else 0.0


def places(kept: IntArray, keys: Sequence[Hashable] | IntArray) -> IntArray:
    """Numbers from 0 for the keys of the kept units, in order of appearance; InvalidInput for too few keys."""
    if len(kept) and len(keys) <= int(kept.max()):
        raise InvalidInput(f"{len(keys)} keys are fewer than the units: give one for every unit")
    place: dict[Hashable, int] = {}
    chosen = keys[kept].tolist() if isinstance(keys, np.ndarray) else [keys[i] for i in kept.tolist()]
    return np.array([place.setdefault(key, len(place)) for key in chosen], dtype=np.int64)
