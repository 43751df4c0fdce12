"""Analytic intervals: the variance of each coefficient from what every unit contributes to it, with t.

A coefficient is written as a function of means over units; ψ_u is what unit u contributes to its first-order change,
and the variance is Σ (ψ_u - mean)² / (n (n - 1)). Gwet (2014), Handbook of Inter-Rater Reliability, chapter 5, for the
coefficients of counts; Fleiss, Cohen & Everitt (1969), Psychological Bulletin 72, 323-327, for κ of a pair.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from annotators.agreement.bootstrap import t_interval
from annotators.agreement.coefficients import Spread
from annotators.agreement.cross import CrossTable
from annotators.agreement.distances import Distance, Nominal, Quadratic
from annotators.agreement.patterns import Counts
from annotators.agreement.result import Interval
from annotators.agreement.table import FloatArray, IntArray

LINEARISED = "linearised"


def of_parts(value: float, parts: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    """The interval of a coefficient whose units contribute `parts` (P), `multiplicity` (P) units alike."""
    n = float(multiplicity.sum())
    if n < 2:
        return t_interval(value, np.nan, n - 1, level, LINEARISED)
    mean = float(multiplicity @ parts) / n
    variance = float(multiplicity @ (parts - mean) ** 2) / (n * (n - 1))
    return t_interval(value, float(np.sqrt(variance)), n - 1, level, LINEARISED)


def of_ratio(value: float, above: FloatArray, below: FloatArray, multiplicity: FloatArray, level: float) -> Interval:
    """Of Σ above / Σ below: raw and specific agreement, mean similarity, F1."""
    n, total = float(multiplicity.sum()), float(multiplicity @ below)
    return of_parts(value, n * (above - value * below) / total, multiplicity, level)


def of_chance_corrected(value: float, spread: Spread, chance: str, level: float) -> Interval:
    """Of Fleiss' κ ("shares"), AC1 and AC2 ("spread") and Brennan-Prediger ("labels"), with Gwet's rule for gaps.

    `spread` is over all units with a rating. Variance as in Gwet (2014), chapter 5.
    """
    table, distance = spread.table, spread.distance
    m = table.multiplicity.astype(np.float64)
    n, pairable = float(m.sum()), (table.pairs > 0).astype(np.float64)
    of_pairable = n / float(m @ pairable)
    shares = (m / table.sizes) @ table.counts / n
    k = distance.n_labels
    if chance == "shares":
        toward = 1 - distance.toward(shares) / distance.greatest
        expected, by_unit = float(shares @ toward), table.counts @ toward / table.sizes
    elif chance == "spread":
        factor = spread.sum_of_weights / (k * (k - 1))
        expected = factor * float(shares @ (1 - shares))
        by_unit = factor * (table.counts @ (1 - shares)) / table.sizes
    else:
        expected = spread.sum_of_weights / k**2
        by_unit = np.full(len(m), expected)
    parts = of_pairable * (spread.agreement - expected * pairable) / (1 - expected)
    parts = parts - 2 * (1 - value) * (by_unit - expected) / (1 - expected)
    variance = float(m @ (parts - value) ** 2) / (n * (n - 1)) if n > 1 else np.nan
    return t_interval(value, float(np.sqrt(variance)), n - 1, level, LINEARISED)


def of_alpha(value: float, spread: Spread, level: float, *, ordinal: bool = False) -> Interval:
    """Of Krippendorff's α; `spread` is over the units with two ratings or more.

    From log(1 - α) = log Σ_u o_u + log Σ_u n_u - log Σ_kl n_k n_l δ_kl; for fixed distances Gwet's variance (2014,
    chapter 5). `ordinal`: the distance is that of mid-ranks (`spread.distance` is over them as shares of all ratings),
    and that they move with the sample is part of the derivative.
    """
    table, distance = spread.table, spread.distance
    m = table.multiplicity.astype(np.float64)
    n, marginals = float(m.sum()), table.marginals
    observed = spread.apart / (table.sizes - 1)
    total, of_observed = float(marginals.sum()), float(m @ observed)
    toward = distance.toward(marginals)
    expected = float(marginals @ toward)
    if of_observed <= 0:
        return t_interval(value, 0.0, n - 1, level, LINEARISED)
    change_observed, change_expected = observed, 2 * (table.counts @ toward)
    if ordinal:
        assert isinstance(distance, Quadratic)
        change_observed = change_observed + _moving_ranks(table, m, distance.x)[0]
        change_expected = change_expected + _moving_ranks(table, m, distance.x)[1]
    parts = change_observed / of_observed + table.sizes / total - change_expected / expected
    return of_parts(value, -(1 - value) * total / (total - 1) * n * parts, m, level)


def _moving_ranks(table: Counts, m: FloatArray, ranks: FloatArray) -> tuple[FloatArray, FloatArray]:
    """What the mid-ranks' own change adds to the change of observed and expected disagreement, for each pattern."""
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


def of_cohen(value: float, table: CrossTable, distance: Distance, level: float) -> Interval:
    """Of Cohen's κ of a pair, weighted or (nominal distance) not: Fleiss, Cohen & Everitt (1969), eq. 8, with t.

    `distance` is over the labels of `table.used`.
    """
    m = table.multiplicity.astype(np.float64)
    n = float(m.sum())
    shares = [m @ side / n for side in (table.left, table.right)]
    scale = distance.greatest
    weight = 1 - distance.between(table.a, table.b) / scale
    toward = [1 - distance.toward(one) / scale for one in (shares[1], shares[0])]
    observed, expected = float(m @ weight) / n, float(shares[0] @ toward[0])
    both = toward[0][table.a] + toward[1][table.b]
    squares = float(m @ (weight * (1 - expected) - both * (1 - observed)) ** 2) / n
    variance = (squares - (observed * expected - 2 * expected + observed) ** 2) / (n * (1 - expected) ** 4)
    kind = "Fleiss-Cohen-Everitt"
    return t_interval(value, float(np.sqrt(max(variance, 0.0))), n - 1, level, kind)


def of_scott(value: float, table: CrossTable, level: float) -> Interval:
    """Of Scott's π of a pair: the variance of Fleiss' κ of two raters (Gwet 2014, chapter 5)."""
    m = table.multiplicity.astype(np.float64)
    shares = (m @ table.left + m @ table.right) / (2 * m.sum())
    toward = 1 - Nominal(len(shares)).toward(shares)
    expected = float(shares @ toward)
    by_unit = (toward[table.a] + toward[table.b]) / 2
    parts = (table.alike - expected) / (1 - expected) - 2 * (1 - value) * (by_unit - expected) / (1 - expected)
    return of_parts(value, parts, m, level)


def of_correlation(name: str, value: float, multiplicity: IntArray, level: float) -> Interval | None:
    """Fisher's z of Pearson's r, and of Spearman's ρ and Kendall's τ with the variance that is theirs.

    1 / (n - 3) for r (Fisher 1921), (1 + ρ² / 2) / (n - 3) for ρ (Bonett & Wright 2000, Psychometrika 65, 23-28),
    .437 / (n - 4) for τ (Fieller, Hartley & Pearson 1957, Biometrika 44, 470-481). None with too few units or a value
    of 1 or -1.
    """
    n = float(multiplicity.sum())
    factor, less = {"pearson": (1.0, 3), "spearman": (1 + value**2 / 2, 3), "kendall": (0.437, 4)}[name]
    if n <= less or abs(value) >= 1:
        return None
    reach = float(ndtri((1 + level) / 2)) * np.sqrt(factor / (n - less))
    low, high = (float(np.tanh(np.arctanh(value) + side * reach)) for side in (-1, 1))
    return Interval(low, high, "Fisher z", level)
