"""Units that look the same to a coefficient, grouped: a resample of units is then one draw over a few patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy import sparse

from annotators.agreement.table import FloatArray, IntArray, Ratings


@dataclass(frozen=True, eq=False)
class Counts:
    """Units grouped by how many raters gave each label: for coefficients that do not ask who gave it.

    Of P patterns and K labels: `multiplicity` (P) is how many units show the pattern, `sizes` (P) how many ratings such
    a unit has, `counts` (P × K) how many of them carry each label, `numbers` (K) what the labels are worth.
    """

    multiplicity: IntArray
    sizes: FloatArray
    counts: sparse.csr_array
    numbers: FloatArray

    @classmethod
    def of(cls, ratings: Ratings, smallest: int = 2) -> Counts:
        """Group the units that have at least `smallest` ratings (2 leaves out what cannot be paired)."""
        chosen = ratings.counting(smallest)
        unit, code = ratings.unit[chosen], ratings.code[chosen]
        order = np.lexsort((code, unit))
        multiplicity, lengths, codes = _identical(unit[order], code[order])
        counts = sparse.csr_array(
            (np.ones(len(codes)), (np.repeat(np.arange(len(lengths)), lengths), codes)),
            shape=(len(lengths), len(ratings.labels)),
        )
        counts.sum_duplicates()
        return cls(multiplicity, lengths.astype(np.float64), counts, ratings.numbers)

    @property
    def n_units(self) -> int:
        """How many units there are."""
        return int(self.multiplicity.sum())

    @cached_property
    def marginals(self) -> FloatArray:
        """How many ratings carry each label (K)."""
        return np.asarray(self.multiplicity.astype(np.float64) @ self.counts)

    @cached_property
    def pairs(self) -> FloatArray:
        """Ordered pairs of ratings of a unit, n (n - 1), for each pattern (P); 0 for a single rating."""
        return self.sizes * (self.sizes - 1)

    @cached_property
    def agreeing(self) -> FloatArray:
        """Ordered pairs of ratings of a unit with the same label, Σ_k n_k (n_k - 1), for each pattern (P)."""
        return np.asarray(self.counts.power(2).sum(axis=1), dtype=np.float64) - self.sizes

    @cached_property
    def extremes(self) -> tuple[FloatArray, FloatArray]:
        """The smallest and the largest number in each pattern (P, P)."""
        values, starts = self.numbers[self.counts.indices], self.counts.indptr[:-1]
        return np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)


@dataclass(frozen=True, eq=False)
class Rows:
    """Units grouped by who gave which label: for coefficients that tell raters apart.

    Of P patterns: `multiplicity` (P) and `lengths` (P) are how many units show the pattern and how many ratings such a
    unit has; `rater` and `code` list the ratings of pattern after pattern, sorted by rater.
    """

    multiplicity: IntArray
    lengths: IntArray
    rater: IntArray
    code: IntArray
    n_raters: int
    n_labels: int

    @classmethod
    def of(cls, ratings: Ratings, *, grouped: bool = True) -> Rows:
        """Group the units that have at least two ratings; not `grouped`, every such unit is a pattern of its own."""
        chosen = ratings.counting(2)
        n_labels = max(1, len(ratings.labels))
        unit, keys = ratings.unit[chosen], ratings.rater[chosen] * n_labels + ratings.code[chosen]
        if grouped:
            multiplicity, lengths, keys = _identical(unit, keys)
        else:
            lengths = ratings.sizes[ratings.sizes >= 2]
            multiplicity = np.ones(len(lengths), dtype=np.int64)
        return cls(multiplicity, lengths, keys // n_labels, keys % n_labels, len(ratings.raters), n_labels)

    @property
    def n_pairs(self) -> int:
        """How many unordered pairs of ratings of one unit the patterns hold."""
        return int((self.lengths * (self.lengths - 1)).sum()) // 2

    def incidences(self) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
        """Every pair of ratings of one unit: its pattern, its raters (a * n_raters + b, a < b), a's code, b's code."""
        pattern = np.repeat(np.arange(len(self.lengths)), self.lengths)
        for lag in range(1, int(self.lengths.max(initial=1))):
            left = np.flatnonzero(pattern[lag:] == pattern[:-lag])
            right = left + lag
            pair = self.rater[left] * self.n_raters + self.rater[right]
            yield pattern[left], pair, self.code[left], self.code[right]

    def cells(self) -> Cells:
        """The cross tables of all pairs of raters that share a unit."""
        k = self.n_labels
        keys: list[IntArray] = [np.empty(0, dtype=np.int64)]
        totals: list[FloatArray] = [np.empty(0)]
        for pattern, pair, a, b in self.incidences():
            found, inverse = np.unique((pair * k + a) * k + b, return_inverse=True)
            keys.append(found)
            units = self.multiplicity[pattern].astype(np.float64)
            totals.append(np.bincount(inverse, weights=units).astype(np.float64))
        found, inverse = np.unique(np.concatenate(keys), return_inverse=True)
        multiplicity = np.bincount(inverse, weights=np.concatenate(totals), minlength=len(found))
        return Cells(found // (k * k), found // k % k, found % k, multiplicity.astype(np.int64))


@dataclass(frozen=True, eq=False)
class Cells:
    """The cross tables of the pairs of raters, one entry a cell that is not empty, sorted by pair.

    `pair` is a * n_raters + b with a < b, `a` and `b` are the codes, `multiplicity` is how many units are in the cell.
    """

    pair: IntArray
    a: IntArray
    b: IntArray
    multiplicity: IntArray

    def of_pair(self, pair: int) -> Cells:
        """The cross table of one pair; empty when the two share no unit."""
        here = slice(*np.searchsorted(self.pair, [pair, pair + 1]).tolist())
        return Cells(self.pair[here], self.a[here], self.b[here], self.multiplicity[here])

    def shared(self) -> tuple[IntArray, IntArray]:
        """The pairs that share units, and how many units each of them shares."""
        pairs, inverse = np.unique(self.pair, return_inverse=True)
        return pairs, np.bincount(inverse, weights=self.multiplicity, minlength=len(pairs)).astype(np.int64)


def _identical(unit: IntArray, keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """Group units whose sequences of keys are equal; `unit` is sorted and `keys` are in a fixed order within a unit.

    Returns how many units show each pattern, how many keys each pattern has, and the keys of pattern after pattern.
    The order of the patterns depends on their keys alone, so that a seed gives the same resamples whatever the order of
    the units.
    """
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else np.empty(0, dtype=np.int64)
    lengths = np.diff(np.r_[starts, len(unit)])
    multiplicities, sizes, contents = [], [], [np.empty(0, dtype=np.int64)]
    for length in np.unique(lengths).tolist():
        block = keys[starts[lengths == length][:, None] + np.arange(length)]
        block = block[np.lexsort(block.T[::-1])]
        first = np.flatnonzero(np.r_[True, (block[1:] != block[:-1]).any(axis=1)])
        multiplicities.append(np.diff(np.r_[first, len(block)]))
        sizes.append(np.full(len(first), length))
        contents.append(block[first].ravel())
    if not multiplicities:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, empty
    return np.concatenate(multiplicities), np.concatenate(sizes), np.concatenate(contents)
