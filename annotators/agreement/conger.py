"""Conger's κ: Fleiss' idea with each rater's own label shares in the chance term, with gaps by Gwet's rule."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from annotators.agreement.bootstrap import t_interval
from annotators.agreement.coefficients import ratio
from annotators.agreement.linearised import LINEARISED
from annotators.agreement.patterns import Rows
from annotators.agreement.result import Interval
from annotators.agreement.table import FloatArray, Ratings


@dataclass(frozen=True, eq=False)
class Given:
    """Who gave which label in each of P patterns of units (all units with a rating).

    `use` (P × R·K) marks rater and label of each rating, `agreement` (P) is the share of agreeing pairs of ratings, and
    `pairable` (P) is 1 where there is a pair.
    """

    rows: Rows
    use: sparse.csr_array
    agreement: FloatArray
    pairable: FloatArray

    @classmethod
    def of(cls, ratings: Ratings) -> Given:
        """From a table of ratings."""
        rows = Rows.of(ratings, smallest=1)
        pattern, patterns = rows.pattern, len(rows.lengths)
        ones = np.ones(len(pattern))
        use = sparse.csr_array(
            (ones, (pattern, rows.rater * rows.n_labels + rows.code)), shape=(patterns, rows.n_raters * rows.n_labels)
        )
        counts = sparse.csr_array((ones, (pattern, rows.code)), shape=(patterns, rows.n_labels))
        counts.sum_duplicates()
        sizes = rows.lengths.astype(np.float64)
        agreeing = np.asarray(counts.power(2).sum(axis=1), dtype=np.float64).ravel() - sizes
        pairs = sizes * (sizes - 1)
        return cls(rows, use, agreeing / np.maximum(pairs, 1.0), (pairs > 0).astype(np.float64))

    @cached_property
    def width(self) -> int:
        """The length of the longest array that one sample needs."""
        return int(self.use.shape[1])


def conger_kappa(given: Given, weights: FloatArray) -> FloatArray:
    """Conger's κ (B): observed agreement as in `fleiss_kappa`, chance agreement of two different raters.

    p_e = Σ_k ((Σ_g p_gk)² - Σ_g p_gk²) / (R (R - 1)), p_gk being the share of label k among all ratings of rater g,
    single ratings of a unit included (Gwet's rule). For two raters without gaps it is Cohen's κ. Raters without a
    rating in a sample are left out of it. NaN where one label was used throughout (0/0). Conger (1980), Psychological
    Bulletin 88, 322-328; with gaps Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2.
    """
    shares = _shares(given, weights)
    raters = (shares.sum(axis=2) > 0).sum(axis=1)
    chance = ratio(
        (shares.sum(axis=1) ** 2).sum(axis=1) - (shares**2).sum(axis=(1, 2)),
        (raters * (raters - 1)).astype(np.float64),
    )
    chance = np.where(chance > 1 - 1e-12, 1.0, chance)
    observed = ratio(weights @ given.agreement, weights @ given.pairable)
    return ratio(observed - chance, 1 - chance)


def _shares(given: Given, weights: FloatArray) -> FloatArray:
    """p_gk (B × R × K): the share of each label among the ratings of each rater; 0 for a rater without any."""
    counts = np.asarray(weights @ given.use).reshape(len(weights), given.rows.n_raters, given.rows.n_labels)
    return np.asarray(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0))


def linearised(value: float, given: Given, level: float) -> Interval:
    """The analytic interval, with the variance of Gwet (2014), chapter 5."""
    rows = given.rows
    m = rows.multiplicity.astype(np.float64)
    n = float(m.sum())
    counts = (m @ given.use).reshape(rows.n_raters, rows.n_labels)
    here = counts.sum(axis=1) > 0
    rated = np.maximum(counts.sum(axis=1), 1.0)
    shares = counts / rated[:, None]
    raters = int(here.sum())
    slope = (shares.sum(axis=0) - shares) / (raters * (raters - 1))  # half of the derivative of chance by p_gk
    chance = float((shares * slope).sum())
    mean_slope = (shares * slope).sum(axis=1)
    of_rating = n / rated[rows.rater] * (slope[rows.rater, rows.code] - mean_slope[rows.rater])
    by_unit = np.bincount(rows.pattern, weights=of_rating, minlength=len(m)) + chance
    of_pairable = n / float(m @ given.pairable)
    parts = of_pairable * (given.agreement - chance * given.pairable) / (1 - chance)
    parts = parts - 2 * (1 - value) * (by_unit - chance) / (1 - chance)
    variance = float(m @ (parts - value) ** 2) / (n * (n - 1)) if n > 1 else np.nan
    return t_interval(value, float(np.sqrt(variance)), n - 1, level, LINEARISED)
