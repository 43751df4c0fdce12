"""The cross table of one pair of raters: what κ, π and correlations of two are formulas over."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from annotators.agreement.tables.patterns import Cells
from annotators.arrays import FloatArray, IntArray, np, sparse


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
