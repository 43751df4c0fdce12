"""The coefficients of agreement, each a formula over patterns of units and how often a sample holds each pattern.

Every function takes a table of P patterns and `weights` (B × P): how often each pattern occurs in each of B samples.
The data as they are is one such row, the table's `multiplicity`. It returns B values (B × K for K labels, B × J for J
pairs of raters), NaN where the coefficient is not defined for a sample. All are pure and evaluate all samples at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from annotators.agreement.distances import Distance
from annotators.agreement.pairs import PairSums
from annotators.agreement.patterns import Counts
from annotators.agreement.table import FloatArray


def percent_agreement(table: Counts, weights: FloatArray) -> FloatArray:
    """Raw agreement (0..1): the mean over units of the share of their pairs of ratings that carry the same label.

    A unit counts once however many raters it has; units with a single rating have no pair and are not in `table`
    (`Counts.of(ratings, 2)`). (1/n) Σ_u Σ_k n_uk (n_uk - 1) / (n_u (n_u - 1)): Fleiss (1971), Psychological Bulletin
    76, 378-382; with gaps Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2.
    """
    return ratio(weights @ (table.agreeing / table.pairs), weights.sum(axis=1))


def specific_agreement(table: Counts, weights: FloatArray) -> FloatArray:
    """Agreement on each label (B × K, 0..1): given that one rating is the label, how often another one is, too.

    Σ_u n_uk (n_uk - 1) / Σ_u n_uk (n_u - 1): pairs are pooled over units, so that a unit with more ratings weighs more
    (unlike in `percent_agreement`; with as many ratings everywhere there is no difference). With two raters and two
    labels these are positive and negative agreement, 2a / (2a + b + c) and 2d / (2d + b + c). NaN for a label that no
    pairable rating carries. Cicchetti & Feinstein (1990), Journal of Clinical Epidemiology 43, 551-558; many raters:
    Uebersax (1982), Journal of Psychiatric Research 17, 335-342.
    """
    others = table.sizes - 1
    same = (table.counts.power(2) - table.counts).tocsr()
    return ratio(weights @ same, (weights * others) @ table.counts)


def cohen_kappa(sums: PairSums, weights: FloatArray) -> FloatArray:
    """Cohen's κ of each pair of raters (B × J) over the units that both rated; chance from their own label shares.

    κ = (p_o - p_e) / (1 - p_e), p_e = Σ_k p_ak p_bk. NaN where both used one and the same label throughout (0/0) or
    share no unit. Cohen (1960), Educational and Psychological Measurement 20, 37-46, eq. 1.
    """
    n = weights @ sums.shared
    chance = np.zeros_like(n)
    if len(sums.starts):
        products = (weights @ sums.left) * (weights @ sums.right)
        chance[:, sums.owner] = np.add.reduceat(products, sums.starts, axis=1)
    return ratio(n * (weights @ sums.agreed) - chance, n * n - chance)


def weighted_kappa(sums: PairSums, weights: FloatArray) -> FloatArray:
    """Cohen's weighted κ of each pair of raters (B × J), with the distance of `sums`; see `cross.weighted_cohen`."""
    assert sums.distance is not None
    shape = (len(weights), -1, sums.distance.n_labels)
    sides = [np.asarray(weights @ side).reshape(shape) for side in (sums.left, sums.right)]
    expected = sums.distance.cross(sides[0], sides[1])
    return ratio(expected - (weights @ sums.shared) * (weights @ sums.agreed), expected)


def light_kappa(sums: PairSums, weights: FloatArray) -> FloatArray:
    """Light's κ: the plain mean of Cohen's κ over all pairs of raters; NaN where it is undefined for one of them.

    Of weighted κ when `sums` has a distance. Light (1971), Psychological Bulletin 76, 365-377; with gaps each pair is
    measured on the units that it shares. Pairs are not left out: κ is 0/0 where two raters agree on one label
    throughout, so that a mean of the others is one of the pairs that disagree.
    """
    kappa = cohen_kappa(sums, weights) if sums.distance is None else weighted_kappa(sums, weights)
    return np.asarray(kappa.mean(axis=1))


def fleiss_kappa(table: Counts, weights: FloatArray) -> FloatArray:
    """Fleiss' κ; with gaps by Gwet's rule: a unit with a single rating counts in the chance term, not in the observed.

    `table` holds all units with a rating (`Counts.of(ratings, 1)`). The observed agreement is `percent_agreement` of
    the units with two ratings or more; the expected one is Σ_k π_k², π_k being the mean over all units of the share of
    their ratings that carry label k. NaN where one label was used throughout (0/0). Fleiss (1971), Psychological
    Bulletin 76, 378-382; with gaps Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2.
    """
    pairable = (table.pairs > 0).astype(np.float64)
    observed = ratio(weights @ (table.agreeing / np.maximum(table.pairs, 1.0)), weights @ pairable)
    shares = mean_shares(table, weights)
    constant = (shares > 0).sum(axis=1) == 1
    chance = np.where(constant, 1.0, (shares**2).sum(axis=1))
    return ratio(observed - chance, 1 - chance)


def krippendorff_alpha_nominal(table: Counts, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for labels that are alike or not: 1 - D_o / D_e, NaN where one label was used throughout (0/0).

    Units with a single rating do not count: `table` is `Counts.of(ratings, 2)`. A pair of ratings of unit u weighs
    1 / (n_u - 1). Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D; Hayes & Krippendorff
    (2007), Communication Methods and Measures 1, 77-89.
    """
    n, marginals = weights @ table.sizes, weights @ table.counts
    observed = weights @ ((table.pairs - table.agreeing) / (table.sizes - 1))
    return _alpha(observed, n * n - (marginals**2).sum(axis=1), n)


def krippendorff_alpha_ordinal(table: Counts, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for ranked labels; `table` and NaN as in `krippendorff_alpha_nominal`.

    The distance of two labels is the number of ratings from the one to the other, each counted by half, squared:
    δ²_ck = (Σ_{g=c..k} n_g - (n_c + n_k) / 2)², which is the squared difference of their mid-ranks. The mid-ranks are
    those of each sample's own marginals; given them, α is the interval one. Krippendorff (2011), section E.
    """
    n, marginals = weights @ table.sizes, weights @ table.counts
    order = np.argsort(table.numbers)
    ranked = marginals[:, order]
    ranks = np.empty_like(marginals)  # mid-ranks as shares of all ratings, 0 in the middle
    ranks[:, order] = (np.cumsum(ranked, axis=1) - ranked / 2) / np.maximum(n, 1)[:, None] - 0.5
    others = table.sizes - 1
    squares = ((weights * (table.sizes / others)) @ table.counts * ranks**2).sum(axis=1)
    sums = np.asarray((table.counts @ ranks.T).T)
    observed = 2 * (squares - (weights / others * sums**2).sum(axis=1))
    expected = 2 * (n * (marginals * ranks**2).sum(axis=1) - (marginals * ranks).sum(axis=1) ** 2)
    return _alpha(observed, np.where(marginals.max(axis=1, initial=0) == n, 0.0, expected), n)


def krippendorff_alpha_interval(table: Counts, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for numbers, δ² = (c - k)²; `table` and NaN as in `krippendorff_alpha_nominal`.

    By moments: Σ_ij (x_i - x_j)² = 2 (n Σ x² - (Σ x)²), within each unit for D_o and over all for D_e, so that the cost
    grows with the ratings and never with the square of the number of values. Krippendorff (2011), section E.
    """
    n = weights @ table.sizes
    lowest, highest = table.extremes
    middle = np.round(table.marginals @ table.numbers / table.marginals.sum())
    x = table.numbers - middle  # smaller sums round less, and whole numbers stay whole
    first, second = table.counts @ x, table.counts @ x**2
    observed = 2 * (weights @ ((table.sizes * second - first**2) / (table.sizes - 1)))
    expected = 2 * (n * (weights @ second) - (weights @ first) ** 2)
    held = weights > 0
    constant = np.where(held, lowest, np.inf).min(axis=1) == np.where(held, highest, -np.inf).max(axis=1)
    return _alpha(observed, np.where(constant, 0.0, expected), n)


@dataclass(frozen=True, eq=False)
class Spread:
    """A table of patterns with a distance of labels: what every weighted coefficient of counts reads.

    `apart` (P) is the sum of the distances over the ordered pairs of ratings of such a unit.
    """

    table: Counts
    distance: Distance

    @cached_property
    def apart(self) -> FloatArray:
        """Σ over ordered pairs of ratings of their distance, for each pattern (P)."""
        return self.distance.within(self.table.counts)

    @cached_property
    def agreement(self) -> FloatArray:
        """The mean agreement weight 1 - δ / δ_max of the pairs of ratings of a pattern (P); 0 for a single rating."""
        pairs = self.table.pairs
        return np.where(pairs > 0, 1 - self.apart / (self.distance.greatest * np.maximum(pairs, 1.0)), 0.0)

    @property
    def sum_of_weights(self) -> float:
        """The sum of the agreement weights over all ordered pairs of declared labels: K for plain agreement."""
        return self.distance.n_labels**2 - self.distance.total / self.distance.greatest


def gwet_ac(spread: Spread, weights: FloatArray) -> FloatArray:
    """Gwet's AC1 (nominal distance) and AC2; declared labels count used or not, and single ratings count in chance.

    p_e = T_w / (K (K - 1)) Σ_k π_k (1 - π_k), T_w the sum of the weights, π_k as in `fleiss_kappa`. Needs two declared
    labels; where one of them was used throughout it is 1, unlike κ. NaN where no unit of a sample has two ratings.
    Gwet (2008), British Journal of Mathematical and Statistical Psychology 61, 29-48; with gaps and weights Gwet
    (2014), Handbook of Inter-Rater Reliability, chapters 4 and 5.
    """
    table, k = spread.table, spread.distance.n_labels
    shares = mean_shares(table, weights)
    chance = spread.sum_of_weights / (k * (k - 1)) * (shares * (1 - shares)).sum(axis=1)
    observed = _observed(spread, weights)
    return ratio(observed - chance, 1 - chance)


def brennan_prediger(spread: Spread, weights: FloatArray) -> FloatArray:
    """Brennan & Prediger's coefficient: chance agreement is that of K declared labels given blindly, T_w / K².

    Brennan & Prediger (1981), Educational and Psychological Measurement 41, 687-699; weighted: Gwet (2014).
    """
    chance = spread.sum_of_weights / spread.distance.n_labels**2
    return np.asarray((_observed(spread, weights) - chance) / (1 - chance))


def krippendorff_alpha(spread: Spread, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for any distance (ratio, MASI); table and NaN as in `krippendorff_alpha_nominal`.

    For ratio: Krippendorff (2011), section E. For sets with the MASI distance: Passonneau (2006), LREC, 831-836.
    """
    table = spread.table
    n, marginals = weights @ table.sizes, weights @ table.counts
    return _alpha(weights @ (spread.apart / (table.sizes - 1)), spread.distance.cross(marginals, marginals), n)


def mean_agreement(spread: Spread, weights: FloatArray) -> FloatArray:
    """The mean over units of the mean of 1 - δ over their pairs of ratings: mean Jaccard similarity, for one."""
    similarity = 1 - spread.apart / np.maximum(spread.table.pairs, 1.0)
    return ratio(weights @ similarity, weights.sum(axis=1))


def mean_shares(table: Counts, weights: FloatArray) -> FloatArray:
    """π_k (B × K): the mean over units of the share of their ratings that carry label k."""
    shares = (weights / table.sizes) @ table.counts
    return np.asarray(shares / np.maximum(weights.sum(axis=1, keepdims=True), 1.0))


def _observed(spread: Spread, weights: FloatArray) -> FloatArray:
    pairable = (spread.table.pairs > 0).astype(np.float64)
    return ratio(weights @ spread.agreement, weights @ pairable)


def _alpha(observed: FloatArray, expected: FloatArray, n: FloatArray) -> FloatArray:
    """1 - D_o / D_e from n D_o, n (n - 1) D_e and n."""
    return ratio(expected - (n - 1) * observed, expected)


def ratio(above: FloatArray, below: FloatArray, *, cut: bool = True) -> FloatArray:
    """above / below, elementwise, NaN where below is 0 (or either is NaN).

    No coefficient is above 1: what rounding leaves there is cut to 1, unless `cut` is false.
    """
    found = np.full(np.shape(below), np.nan)
    np.divide(above, below, out=found, where=below != 0)
    if cut:
        np.minimum(found, 1.0, out=found)
    return found
