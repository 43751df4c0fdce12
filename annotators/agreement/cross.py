"""The statistics of one pair of raters over the cells of their cross table: κ, π and correlations, all samples at once.

Every function takes a cross table of P cells and `weights` (B × P): how many units of each of B samples are in each
cell. It returns B values, NaN where the statistic is not defined for a sample.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy import sparse

from annotators.agreement.coefficients import ratio
from annotators.agreement.distances import Distance
from annotators.agreement.patterns import Cells
from annotators.agreement.table import FloatArray, IntArray
from annotators.later import Later

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = Later("scipy.stats")


SQUARE = 60  # up to so many labels Kendall's τ is summed over the whole cross table
LITTLE = 1e-12  # a variance this small beside the sums it is the difference of is none


@dataclass(frozen=True, eq=False)
class CrossTable:
    """The cross table of two raters: cell i has `multiplicity[i]` units that a gave label `a[i]` and b label `b[i]`.

    Labels are places in `used`, the codes that one of the two gave, in the order of their numbers; `x` are the numbers.
    """

    a: IntArray
    b: IntArray
    multiplicity: IntArray
    used: IntArray
    x: FloatArray

    @classmethod
    def of(cls, cells: Cells, numbers: FloatArray) -> CrossTable:
        """From the cells of one pair, with the number (or rank) of each declared label."""
        used = np.unique(np.concatenate([cells.a, cells.b]))
        order = np.argsort(numbers[used], kind="stable")
        place = np.empty(len(used), dtype=np.int64)
        place[order] = np.arange(len(used))
        a, b = (place[np.searchsorted(used, codes)] for codes in (cells.a, cells.b))
        return cls(a, b, cells.multiplicity, used[order], numbers[used[order]])

    @cached_property
    def left(self) -> sparse.csr_array:
        """Which label a gave in each cell (P × K)."""
        return self._gave(self.a)

    @cached_property
    def right(self) -> sparse.csr_array:
        """Which label b gave in each cell (P × K)."""
        return self._gave(self.b)

    def _gave(self, codes: IntArray) -> sparse.csr_array:
        cells = len(codes)
        return sparse.csr_array((np.ones(cells), codes, np.arange(cells + 1)), shape=(cells, len(self.used)))

    @cached_property
    def alike(self) -> FloatArray:
        """1 for the cells of the diagonal (P)."""
        return np.asarray(self.a == self.b, dtype=np.float64)


def cohen(table: CrossTable, weights: FloatArray) -> FloatArray:
    """Cohen's κ; see `coefficients.cohen_kappa`, which is the same for many pairs at once."""
    n = weights.sum(axis=1)
    chance = ((weights @ table.left) * (weights @ table.right)).sum(axis=1)
    return ratio(n * (weights @ table.alike) - chance, n * n - chance)


def weighted_cohen(table: CrossTable, weights: FloatArray, distance: Distance) -> FloatArray:
    """Weighted κ = 1 - Σ δ_ij p_ij / Σ δ_ij p_ai p_bj, δ over the labels of `table.used`; NaN as for Cohen's κ (0/0).

    Cohen (1968), Psychological Bulletin 70, 213-220. With linear weights 1 - δ / δ_max, δ = |x - y|; quadratic
    (x - y)²: Fleiss & Cohen (1973), Educational and Psychological Measurement 33, 613-619.
    """
    n = weights.sum(axis=1)
    expected = distance.cross(weights @ table.left, weights @ table.right)
    return ratio(expected - n * (weights @ distance.between(table.a, table.b)), expected)


def scott(table: CrossTable, weights: FloatArray) -> FloatArray:
    """Scott's π: as κ, but chance agreement from the labels of both raters pooled. NaN with one label (0/0).

    Scott (1955), Public Opinion Quarterly 19, 321-325.
    """
    n = weights.sum(axis=1)
    chance = ((weights @ table.left + weights @ table.right) ** 2).sum(axis=1) / 4
    return ratio(n * (weights @ table.alike) - chance, n * n - chance)


def pearson(table: CrossTable, weights: FloatArray) -> FloatArray:
    """Pearson's r of the labels' numbers; NaN where one rater gave one number throughout."""
    middle = float(np.round(table.x.mean())) if len(table.x) else 0.0
    x, y = table.x[table.a] - middle, table.x[table.b] - middle
    n = weights.sum(axis=1)
    return _correlation(n, (weights @ x, weights @ x**2), (weights @ y, weights @ y**2), weights @ (x * y))


def spearman(table: CrossTable, weights: FloatArray) -> FloatArray:
    """Spearman's ρ: Pearson's r of the mid-ranks within each sample; NaN where one rater gave one label throughout."""
    n = weights.sum(axis=1)
    ranks = []
    for gave, code in ((table.left, table.a), (table.right, table.b)):
        counts = weights @ gave
        middles = np.cumsum(counts, axis=1) - counts / 2 - n[:, None] / 2
        ranks.append(middles[:, code])
    x, y = ranks
    of_x, of_y = (((weights * one).sum(axis=1), (weights * one**2).sum(axis=1)) for one in (x, y))
    return _correlation(n, of_x, of_y, (weights * x * y).sum(axis=1))


def kendall(table: CrossTable, weights: FloatArray) -> FloatArray:
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
