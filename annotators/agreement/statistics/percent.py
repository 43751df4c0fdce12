"""Agreement that is not corrected for chance: raw agreement, and the specific agreement on each label."""

from __future__ import annotations

from annotators.agreement.statistics.base import OfCounts, register
from annotators.agreement.tables.distances import Spread
from annotators.arrays import FloatArray, np, ratio
from annotators.intervals.analytic import of_mean, of_ratio
from annotators.intervals.result import Interval


def percent_agreement(spread: Spread, weights: FloatArray) -> FloatArray:
    """Raw agreement (0..1): the mean over units of the share of their pairs of ratings that carry the same label.

    A unit counts once however many raters it has; units with a single rating have no pair and are not in the table
    (`Counts.of(ratings, 2)`). (1/n) Σ_u Σ_k n_uk (n_uk - 1) / (n_u (n_u - 1)): Fleiss (1971), Psychological Bulletin
    76, 378-382; with gaps Gwet (2014), Handbook of Inter-Rater Reliability, chapter 2.
    """
    table = spread.table
    return ratio(weights @ (table.agreeing / table.pairs), weights.sum(axis=1))


def agreeing_units(spread: Spread, _: int) -> tuple[FloatArray, FloatArray]:
    """Of each unit the share of its pairs that agree, and 1: a unit counts once."""
    agreeing = spread.table.agreeing / spread.table.pairs
    return agreeing, np.ones_like(agreeing)


def mean_interval(spread: Spread, _: int, value: float, level: float) -> Interval:
    """The interval of the mean of the units' shares."""
    return of_mean(value, spread.table.agreeing / spread.table.pairs, spread.multiplicity, level)


def specific_agreement(spread: Spread, weights: FloatArray) -> FloatArray:
    """Agreement on each label (B × K, 0..1): given that one rating is the label, how often another one is, too.

    Σ_u n_uk (n_uk - 1) / Σ_u n_uk (n_u - 1): pairs are pooled over units, so that a unit with more ratings weighs more
    (unlike in `percent_agreement`; with as many ratings everywhere there is no difference). With two raters and two
    labels these are positive and negative agreement, 2a / (2a + b + c) and 2d / (2d + b + c). NaN for a label that no
    pairable rating carries. Cicchetti & Feinstein (1990), Journal of Clinical Epidemiology 43, 551-558; many raters:
    Uebersax (1982), Journal of Psychiatric Research 17, 335-342.
    """
    table = spread.table
    same = (table.counts.power(2) - table.counts).tocsr()
    return ratio(weights @ same, (weights * (table.sizes - 1)) @ table.counts)


def _pairs_with(spread: Spread, label: int) -> tuple[FloatArray, FloatArray]:
    """Of each unit the pairs that agree on the label, and those in which one rating is it."""
    carrying = spread.table.counts[:, [label]].toarray().ravel()
    return carrying**2 - carrying, carrying * (spread.table.sizes - 1)


def _specific_interval(spread: Spread, label: int, value: float, level: float) -> Interval:
    return of_ratio(value, *_pairs_with(spread, label), spread.multiplicity, level)


PERCENT = OfCounts(
    name="percent_agreement",
    title="raw agreement",
    estimated=False,
    plannable=True,
    value=percent_agreement,
    interval=mean_interval,
    share=agreeing_units,
)
SPECIFIC = OfCounts(
    name="specific_agreement",
    title="specific agreement",
    estimated=False,
    by_label=True,
    value=specific_agreement,
    interval=_specific_interval,
    share=_pairs_with,
)
register(10, PERCENT)
register(80, SPECIFIC)
