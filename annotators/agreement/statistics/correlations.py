"""Correlations of the numbers or ranks that two raters gave: Pearson's r, Spearman's ρ and Kendall's τ-b."""

from __future__ import annotations

from collections.abc import Callable

from annotators.agreement.statistics.base import register
from annotators.agreement.statistics.of_pairs import OfPair
from annotators.agreement.tables.cross import CrossTable
from annotators.agreement.tables.distances import Distance
from annotators.arrays import FloatArray, np, ratio, special, stats
from annotators.intervals.result import Interval

SQUARE = 60  # up to so many labels Kendall's τ is summed over the whole cross table
LITTLE = 1e-12  # a variance this small beside the sums it is the difference of is none


def pearson(table: CrossTable, _: Distance, weights: FloatArray) -> FloatArray:
    """Pearson's r of the labels' numbers; NaN where one rater gave one number throughout."""
    middle = float(np.round(table.x.mean())) if len(table.x) else 0.0
    x, y = table.x[table.a] - middle, table.x[table.b] - middle
    n = weights.sum(axis=1)
    return _correlation(n, (weights @ x, weights @ x**2), (weights @ y, weights @ y**2), weights @ (x * y))


def spearman(table: CrossTable, _: Distance, weights: FloatArray) -> FloatArray:
    """Spearman's ρ: Pearson's r of the mid-ranks within each sample; NaN where one rater gave one label throughout."""
    n = weights.sum(axis=1)
    ranks = []
    for gave, code in ((table.left, table.a), (table.right, table.b)):
        counts = weights @ gave
        middles = np.cumsum(counts, axis=1) - counts / 2 - n[:, None] / 2
        ranks.append(middles[:, code])
    x, y = ranks
    of_x, of_y = (((weights * side).sum(axis=1), (weights * side**2).sum(axis=1)) for side in (x, y))
    return _correlation(n, of_x, of_y, (weights * x * y).sum(axis=1))


def kendall(table: CrossTable, _: Distance, weights: FloatArray) -> FloatArray:
    """Kendall's τ-b, which corrects for ties; NaN where one rater gave one label throughout.

    Kendall (1945), Biometrika 33, 239-251.
    """
    if len(table.used) > SQUARE:
        return np.array([_kendall_of_one(table, row) for row in weights])
    size = len(table.used)
    square = np.zeros((len(weights), size, size))
    square[:, table.a, table.b] = weights
    below = np.cumsum(np.cumsum(square, axis=1), axis=2)
    left, right, n = square.sum(axis=2), square.sum(axis=1), weights.sum(axis=1)
    lower = np.zeros_like(square)  # units with both labels smaller
    lower[:, 1:, 1:] = below[:, :-1, :-1]
    smaller_left = np.cumsum(left, axis=1) - left  # units with the first label smaller
    mixed = np.zeros_like(square)  # the first smaller, the second larger
    mixed[:, 1:, :] = smaller_left[:, 1:, None] - below[:, :-1, :]
    balance = (square * (lower - mixed)).sum(axis=(1, 2))  # concordant less discordant pairs
    untied = [(n * n - (side**2).sum(axis=1)) / 2 for side in (left, right)]
    return ratio(balance, np.sqrt(untied[0] * untied[1]))


def _kendall_of_one(table: CrossTable, weights: FloatArray) -> float:
    times = np.round(weights).astype(np.int64)
    return float(stats.kendalltau(np.repeat(table.a, times), np.repeat(table.b, times)).statistic)


def _correlation(
    n: FloatArray, first: tuple[FloatArray, FloatArray], second: tuple[FloatArray, FloatArray], product: FloatArray
) -> FloatArray:
    """Pearson's r from n, the sums of the numbers and of their squares on either side, and of the products."""
    spread = [
        np.where(n * squares - total**2 <= LITTLE * n * squares, 0.0, n * squares - total**2)
        for total, squares in (first, second)
    ]
    found = ratio(n * product - first[0] * second[0], np.sqrt(spread[0] * spread[1]))
    return np.asarray(np.maximum(found, -1.0))


def fisher_z(
    factor: Callable[[float], float], less: int
) -> Callable[[CrossTable, Distance, float, float], Interval | None]:
    """Fisher's z with the variance `factor`(value) / (n - `less`); None with too few units or a value of 1 or -1."""

    def interval(table: CrossTable, _: Distance, value: float, level: float) -> Interval | None:
        n = float(table.multiplicity.sum())
        if n <= less or abs(value) >= 1:
            return None
        reach = float(special.ndtri((1 + level) / 2)) * np.sqrt(factor(value) / (n - less))
        low, high = (float(np.tanh(np.arctanh(value) + side * reach)) for side in (-1, 1))
        return Interval(low, high, "Fisher z", level)

    return interval


register(
    70,
    OfPair(
        name="pearson",
        title="Pearson's r",
        needs="numbers",
        spread=True,
        value=pearson,
        interval=fisher_z(lambda _: 1.0, 3),  # Fisher (1921)
    ),
    OfPair(
        name="spearman",
        title="Spearman's ρ",
        needs="order",
        spread=True,
        value=spearman,
        interval=fisher_z(lambda rho: 1 + rho**2 / 2, 3),  # Bonett & Wright (2000), Psychometrika 65, 23-28
    ),
    OfPair(
        name="kendall",
        title="Kendall's τ-b",
        needs="order",
        spread=True,
        square=SQUARE,
        value=kendall,
        interval=fisher_z(lambda _: 0.437, 4),  # Fieller, Hartley & Pearson (1957), Biometrika 44, 470-481
    ),
)
