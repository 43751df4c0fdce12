"""Krippendorff's α of labels that are alike or not, ranks, numbers and ratios, for any number of raters with gaps."""

from __future__ import annotations

from annotators.agreement.statistics.base import KRIPPENDORFF, OfCounts, by_number, register
from annotators.agreement.tables.distances import Quadratic, Spread, ratio_distance
from annotators.arrays import FloatArray, np, ratio
from annotators.intervals.analytic import LINEARISED, of_parts, t_interval
from annotators.intervals.result import Interval


def alpha_nominal(spread: Spread, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for labels that are alike or not: 1 - D_o / D_e, NaN where one label was used throughout (0/0).

    Units with a single rating do not count: the table is `Counts.of(ratings, 2)`. A pair of ratings of unit u weighs
    1 / (n_u - 1). Krippendorff (2011), Computing Krippendorff's Alpha-Reliability, section D; Hayes & Krippendorff
    (2007), Communication Methods and Measures 1, 77-89.
    """
    table = spread.table
    n, marginals = weights @ table.sizes, weights @ table.counts
    observed = weights @ ((table.pairs - table.agreeing) / (table.sizes - 1))
    return _alpha(observed, n * n - (marginals**2).sum(axis=1), n)


def alpha_ordinal(spread: Spread, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for ranked labels; table and NaN as in `alpha_nominal`.

    The distance of two labels is the number of ratings from the one to the other, each counted by half, squared:
    δ²_ck = (Σ_{g=c..k} n_g - (n_c + n_k) / 2)², which is the squared difference of their mid-ranks. The mid-ranks are
    those of each sample's own marginals; given them, α is the interval one. Krippendorff (2011), section E.
    """
    table = spread.table
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


def alpha_interval(spread: Spread, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for numbers, δ² = (c - k)²; table and NaN as in `alpha_nominal`.

    By moments: Σ_ij (x_i - x_j)² = 2 (n Σ x² - (Σ x)²), within each unit for D_o and over all for D_e, so that the cost
    grows with the ratings and never with the square of the number of values. Krippendorff (2011), section E.
    """
    table = spread.table
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


def alpha_of_distance(spread: Spread, weights: FloatArray) -> FloatArray:
    """Krippendorff's α for any distance (ratio, MASI); table and NaN as in `alpha_nominal`.

    For ratio: Krippendorff (2011), section E. For sets with the MASI distance: Passonneau (2006), LREC, 831-836.
    """
    table = spread.table
    n, marginals = weights @ table.sizes, weights @ table.counts
    return _alpha(weights @ (spread.apart / (table.sizes - 1)), spread.distance.cross(marginals, marginals), n)


def _alpha(observed: FloatArray, expected: FloatArray, n: FloatArray) -> FloatArray:
    """1 - D_o / D_e from n D_o, n (n - 1) D_e and n."""
    return ratio(expected - (n - 1) * observed, expected)


# Intervals ------------------------------------------------------------------------------------------------------------


def of_distance(spread: Spread, _: int, value: float, level: float) -> Interval:
    """The interval of α with the distance of the patterns."""
    return _linearised(spread, value, level)


def _of_numbers(spread: Spread, _: int, value: float, level: float) -> Interval:
    return _linearised(Spread(spread.table, Quadratic(spread.table.numbers)), value, level)


def _of_ranks(spread: Spread, _: int, value: float, level: float) -> Interval:
    """With the distance of mid-ranks, as shares of all ratings, which move with the sample."""
    table = spread.table
    order = np.argsort(table.numbers, kind="stable")
    ranked = table.marginals[order]
    ranks = np.empty(len(order))
    ranks[order] = (np.cumsum(ranked) - ranked / 2) / ranked.sum()
    distance = Quadratic(ranks)
    return _linearised(Spread(table, distance), value, level, *_moving_ranks(spread, distance.x))


def _linearised(
    spread: Spread, value: float, level: float, further_observed: FloatArray | float = 0.0,
    further_expected: FloatArray | float = 0.0,
) -> Interval:  # fmt: skip
    """The interval of α; the patterns are those of the units with two ratings or more.

    From log(1 - α) = log Σ_u o_u + log Σ_u n_u - log Σ_kl n_k n_l δ_kl; for fixed distances Gwet's variance (2014,
    Handbook of Inter-Rater Reliability, chapter 5). What changes observed and expected disagreement because the
    distances themselves change with the sample is `further`.
    """
    table, distance, m = spread.table, spread.distance, spread.multiplicity
    n, marginals = float(m.sum()), table.marginals
    observed = spread.apart / (table.sizes - 1)
    total, of_observed = float(marginals.sum()), float(m @ observed)
    toward = distance.toward(marginals)
    expected = float(marginals @ toward)
    if of_observed <= 0:
        return t_interval(value, 0.0, n - 1, level, LINEARISED)
    change_observed = observed + further_observed
    change_expected = 2 * (table.counts @ toward) + further_expected
    parts = change_observed / of_observed + table.sizes / total - change_expected / expected
    return of_parts(value, -(1 - value) * total / (total - 1) * n * parts, m, level)


def _moving_ranks(spread: Spread, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the mid-ranks' own change adds to the change of observed and expected disagreement, for each pattern."""
    table, m = spread.table, spread.multiplicity
    marginals, total = table.marginals, float(table.marginals.sum())
    others = table.sizes - 1
    inside = table.counts @ ranks
    scaled = table.counts.multiply((m / others)[:, None]).tocsr()
    slope_observed = 4 * (ranks * (scaled.T @ table.sizes) - scaled.T @ inside)
    slope_expected = 4 * marginals * (total * ranks - marginals @ ranks)
    order = np.argsort(table.numbers, kind="stable")
    found = []
    for slope in (slope_observed, slope_expected):
        # A rating of label k moves the mid-ranks of the labels above it by 1 / n, its own by half of that; that the
        # shares are of n + 1 ratings then shrinks both sums alike and cancels.
        ordered = slope[order]
        above = np.empty_like(slope)
        above[order] = ordered.sum() - np.cumsum(ordered) + ordered / 2
        found.append(np.asarray(table.counts @ above) / total)
    return found[0], found[1]


register(
    20,
    OfCounts(
        name="krippendorff_alpha_nominal",
        title="Krippendorff's α",
        short="α",
        headline_of="nominal",
        benchmark=KRIPPENDORFF,
        plannable=True,
        value=alpha_nominal,
        interval=of_distance,
    ),
    OfCounts(
        name="krippendorff_alpha_ordinal",
        title="Krippendorff's α (ordinal)",
        short="α ordinal",
        needs="order",
        headline_of="ordinal",
        benchmark=KRIPPENDORFF,
        plannable=True,
        value=alpha_ordinal,
        interval=_of_ranks,
    ),
    OfCounts(
        name="krippendorff_alpha_interval",
        title="Krippendorff's α (interval)",
        short="α interval",
        needs="numbers",
        headline_of="interval",
        benchmark=KRIPPENDORFF,
        plannable=True,
        value=alpha_interval,
        interval=_of_numbers,
    ),
    OfCounts(
        name="krippendorff_alpha_ratio",
        title="Krippendorff's α (ratio)",
        short="α ratio",
        needs="ratio",
        headline_of="ratio",
        benchmark=KRIPPENDORFF,
        plannable=True,
        value=alpha_of_distance,
        interval=of_distance,
        distance=by_number(ratio_distance),
    ),
)
