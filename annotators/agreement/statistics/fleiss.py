"""Fleiss' and Conger's κ: many raters, chance agreement from the labels of all or from each rater's own."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Self

from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import (
    LANDIS_KOCH,
    Asked,
    Coefficient,
    Measurement,
    OfCounts,
    Sample,
    Sampling,
    register,
)
from annotators.agreement.tables.distances import Spread
from annotators.agreement.tables.patterns import Grouped, Rows
from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, np, ratio, sparse
from annotators.intervals.analytic import of_parts_around
from annotators.intervals.result import Interval


def fleiss_kappa(spread: Spread, weights: FloatArray) -> FloatArray:
    """Fleiss' κ; with gaps by Gwet's rule: a unit with a single rating counts in the chance term, not in the observed.

    The table holds all units with a rating (`Counts.of(ratings, 1)`). The observed agreement is `percent_agreement` of
    the units with two ratings or more; the expected one is Σ_k π_k², π_k being the mean over all units of the share of
    their ratings that carry label k. NaN where one label was used throughout (0/0). Fleiss (1971), Psychological
    Bulletin 76, 378-382; with gaps Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2.
    """
    table = spread.table
    pairable = (table.pairs > 0).astype(np.float64)
    observed = ratio(weights @ (table.agreeing / np.maximum(table.pairs, 1.0)), weights @ pairable)
    shares = spread.mean_shares(weights)
    constant = (shares > 0).sum(axis=1) == 1
    chance = np.where(constant, 1.0, (shares**2).sum(axis=1))
    return ratio(observed - chance, 1 - chance)


def _of_shares(spread: Spread, _: int, value: float, level: float) -> Interval:
    table, m = spread.table, spread.multiplicity
    shares = (m / table.sizes) @ table.counts / float(m.sum())
    toward = 1 - spread.distance.toward(shares) / spread.distance.greatest
    by_unit = table.counts @ toward / table.sizes
    return of_chance_corrected(spread, float(shares @ toward), by_unit, value, level)


def of_chance_corrected(spread: Spread, expected: float, by_unit: FloatArray, value: float, level: float) -> Interval:
    """Of a coefficient corrected for the `expected` agreement, of which a unit of each pattern adds `by_unit` (P).

    `spread` is over all units with a rating (Gwet's rule for gaps). Variance as in Gwet (2014), chapter 5.
    """
    m = spread.multiplicity
    n, pairable = float(m.sum()), (spread.table.pairs > 0).astype(np.float64)
    of_pairable = n / float(m @ pairable)
    parts = of_pairable * (spread.agreement - expected * pairable) / (1 - expected)
    parts = parts - 2 * (1 - value) * (by_unit - expected) / (1 - expected)
    return of_parts_around(value, parts, m, level)


# Conger ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class GivenByRaters:
    """Who gave which label in each of P patterns of units (all units with a rating).

    `use` (P × R·K) marks rater and label of each rating, `agreement` (P) is the share of agreeing pairs of ratings, and
    `pairable` (P) is 1 where there is a pair.
    """

    rows: Rows
    use: sparse.csr_array
    agreement: FloatArray
    pairable: FloatArray

    @classmethod
    def of(cls, ratings: Ratings) -> GivenByRaters:
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


def conger_kappa(given: GivenByRaters, weights: FloatArray) -> FloatArray:
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


def _shares(given: GivenByRaters, weights: FloatArray) -> FloatArray:
    """p_gk (B × R × K): the share of each label among the ratings of each rater; 0 for a rater without any."""
    counts = np.asarray(weights @ given.use).reshape(len(weights), given.rows.n_raters, given.rows.n_labels)
    return np.asarray(counts / np.maximum(counts.sum(axis=2, keepdims=True), 1.0))


def _of_own_shares(given: GivenByRaters, _: int, value: float, level: float) -> Interval:
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
    return of_parts_around(value, parts, m, level)


class Conger(Coefficient):
    """Conger's κ, over who gave which label to all units with a rating."""

    @classmethod
    def samples(cls, members: Sequence[Self], grouped: Grouped, asked: Asked, sampling: Sampling) -> Iterator[Sample]:
        """See `Coefficient`."""
        ratings = grouped.ratings
        given = GivenByRaters.of(ratings)
        marginals = np.bincount(ratings.code, minlength=len(ratings.labels)).astype(np.float64)
        units = int(given.rows.multiplicity.sum())
        sample = Sample(given.rows.multiplicity, given.rows.of_unit, given.width)
        for member in members:
            reason = reasons.of_counts(ratings, marginals, units, misfit=member.misfit(ratings))
            entry = member.entry(ratings, reason)
            sample.parts.append(Measurement([entry], partial(conger_kappa, given), partial(_of_own_shares, given)))
        yield sample


FLEISS = OfCounts(
    name="fleiss_kappa",
    title="Fleiss' κ",
    short="κ Fleiss",
    smallest=1,
    benchmark=LANDIS_KOCH,
    plannable=True,
    value=fleiss_kappa,
    interval=_of_shares,
)
CONGER = Conger(
    name="conger_kappa",
    title="Conger's κ",
    smallest=1,
    who_matters=True,
    benchmark=LANDIS_KOCH,
)
register(40, FLEISS, CONGER)
