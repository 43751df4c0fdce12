"""Units that look the same to a coefficient, grouped: a resample of units is then one draw over a few patterns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from annotators.agreement.tables.ratings import Ratings
from annotators.arrays import FloatArray, IntArray, np, sparse

FIGURES = 52  # a whole number of so many bits is exact as a float


@dataclass(frozen=True, eq=False)
class Counts:
    """Units grouped by how many raters gave each label: for coefficients that do not ask who gave it.

    Of P patterns and K labels: `multiplicity` (P) is how many units show the pattern, `sizes` (P) how many ratings such
    a unit has, `counts` (P × K) how many of them carry each label, `numbers` (K) what the labels are worth. `of_unit`
    (U) is the pattern of each unit of the table of ratings, -1 for a unit that does not count.
    """

    multiplicity: IntArray
    sizes: FloatArray
    counts: sparse.csr_array
    numbers: FloatArray
    of_unit: IntArray

    @classmethod
    def of(cls, ratings: Ratings, smallest: int = 2) -> Counts:
        """Group the units that have at least `smallest` ratings (2 leaves out what cannot be paired).

        The order of the patterns depends on their counts alone.
        """
        base, n_labels = int(ratings.sizes.max(initial=0)) + 1, len(ratings.labels)
        if n_labels * np.log2(base) < FIGURES:
            return cls._of_numerals(ratings, smallest, base)
        chosen = ratings.counting(smallest)
        unit, code = ratings.unit[chosen], ratings.code[chosen]
        unit, code = np.divmod(np.sort(unit * n_labels + code), n_labels)
        multiplicity, lengths, codes, of_unit = _identical(unit, code, len(ratings.units))
        counts = sparse.csr_array(
            (np.ones(len(codes)), (np.repeat(np.arange(len(lengths)), lengths), codes)),
            shape=(len(lengths), n_labels),
        )
        counts.sum_duplicates()
        return cls(multiplicity, lengths.astype(np.float64), counts, ratings.numbers, of_unit)

    @classmethod
    def _of_numerals(cls, ratings: Ratings, smallest: int, base: int) -> Counts:
        """The same, quicker: the counts of a unit are the figures of one number, and equal numbers are one pattern."""
        places = float(base) ** np.arange(len(ratings.labels))
        numerals = np.bincount(ratings.unit, weights=places[ratings.code], minlength=len(ratings.units))
        chosen = np.flatnonzero(ratings.sizes >= smallest)
        of_unit = np.full(len(ratings.units), -1, dtype=np.int64)
        found, of_unit[chosen], multiplicity = _grouped(numerals[chosen].astype(np.int64))
        counts = (found[:, None] // places.astype(np.int64) % base).astype(np.float64)
        return cls(multiplicity, counts.sum(axis=1), sparse.csr_array(counts), ratings.numbers, of_unit)

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
    unit has; `rater` and `code` list the ratings of pattern after pattern, sorted by rater. `of_unit` (U) is the
    pattern of each unit of the table of ratings, -1 for a unit that does not count.
    """

    multiplicity: IntArray
    lengths: IntArray
    rater: IntArray
    code: IntArray
    n_raters: int
    n_labels: int
    of_unit: IntArray

    @classmethod
    def of(cls, ratings: Ratings, *, smallest: int = 2, grouped: bool = True) -> Rows:
        """Group the units that have at least `smallest` ratings; not `grouped`, each is a pattern of its own."""
        n_labels = max(1, len(ratings.labels))
        if grouped and len(ratings.raters) * np.log2(n_labels + 1) < FIGURES:
            return cls._of_numerals(ratings, smallest)
        chosen = ratings.counting(smallest)
        unit, keys = ratings.unit[chosen], ratings.rater[chosen] * n_labels + ratings.code[chosen]
        if grouped:
            multiplicity, lengths, keys, of_unit = _identical(unit, keys, len(ratings.units))
        else:
            counting = ratings.sizes >= smallest
            lengths = ratings.sizes[counting]
            multiplicity = np.ones(len(lengths), dtype=np.int64)
            of_unit = np.where(counting, np.cumsum(counting) - 1, -1)
        return cls(multiplicity, lengths, keys // n_labels, keys % n_labels, len(ratings.raters), n_labels, of_unit)

    @classmethod
    def _of_numerals(cls, ratings: Ratings, smallest: int) -> Rows:
        """The same, quicker: the label that each rater gave, 0 for none, is a figure of one number."""
        n_labels = max(1, len(ratings.labels))
        places = float(n_labels + 1) ** np.arange(len(ratings.raters))
        numerals = np.bincount(
            ratings.unit, weights=places[ratings.rater] * (ratings.code + 1), minlength=len(ratings.units)
        )
        chosen = np.flatnonzero(ratings.sizes >= smallest)
        of_unit = np.full(len(ratings.units), -1, dtype=np.int64)
        found, of_unit[chosen], multiplicity = _grouped(numerals[chosen].astype(np.int64))
        figures = found[:, None] // places.astype(np.int64) % (n_labels + 1)
        pattern, rater = np.nonzero(figures)
        return cls(
            multiplicity,
            np.bincount(pattern, minlength=len(found)).astype(np.int64),
            rater,
            figures[pattern, rater] - 1,
            len(ratings.raters),
            n_labels,
            of_unit,
        )

    @property
    def pattern(self) -> IntArray:
        """The pattern that each rating of `rater` and `code` belongs to."""
        return np.repeat(np.arange(len(self.lengths)), self.lengths)

    @property
    def n_pairs(self) -> int:
        """How many unordered pairs of ratings of one unit the patterns hold."""
        return int((self.lengths * (self.lengths - 1)).sum()) // 2

    def incidences(self) -> Iterator[tuple[IntArray, IntArray, IntArray, IntArray]]:
        """Every pair of ratings of one unit: its pattern, its raters (a * n_raters + b, a < b), a's code, b's code."""
        pattern = self.pattern
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


def cells_of_pair(ratings: Ratings, a: int, b: int) -> tuple[Cells, IntArray]:
    """The cross table of raters a and b (codes), and the cell of each unit, -1 for a unit that one did not rate."""
    of_a, of_b = ratings.by_rater(a), ratings.by_rater(b)
    shared, left, right = np.intersect1d(
        ratings.unit[of_a], ratings.unit[of_b], assume_unique=True, return_indices=True
    )
    codes = ratings.code[of_a[left]], ratings.code[of_b[right]]
    n_labels = max(1, len(ratings.labels))
    of_unit = np.full(len(ratings.units), -1, dtype=np.int64)
    found, of_unit[shared], multiplicity = _grouped(codes[0] * n_labels + codes[1])
    pair = np.full(len(found), a * len(ratings.raters) + b)
    return Cells(pair, found // n_labels, found % n_labels, multiplicity), of_unit


def _grouped(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """The distinct keys (from 0) sorted, the place of each key among them, and how often each occurs."""
    highest = int(keys.max(initial=0))
    if highest < 4 * len(keys):
        counts = np.bincount(keys, minlength=highest + 1)
        found = np.flatnonzero(counts)
        place = np.cumsum(counts > 0) - 1
        return found, place[keys], counts[found].astype(np.int64)
    found, place, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return found, place.astype(np.int64), counts.astype(np.int64)


def _identical(unit: IntArray, keys: IntArray, n_units: int) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Group units whose sequences of keys are equal; `unit` is sorted and `keys` are in a fixed order within a unit.

    Returns how many units show each pattern, how many keys each pattern has, the keys of pattern after pattern, and the
    pattern of each of the `n_units` units (-1: no keys). The order of the patterns depends on their keys alone, so that
    a seed gives the same resamples whatever the order of the units.
    """
    starts = np.flatnonzero(np.r_[True, unit[1:] != unit[:-1]]) if len(unit) else np.empty(0, dtype=np.int64)
    lengths = np.diff(np.r_[starts, len(unit)])
    of_unit = np.full(n_units, -1, dtype=np.int64)
    multiplicities, sizes, contents = [], [], [np.empty(0, dtype=np.int64)]
    found, base = 0, int(keys.max(initial=1)) + 1
    for length in np.unique(lengths).tolist():
        here = starts[lengths == length]
        block = keys[here[:, None] + np.arange(length)]
        if length * np.log2(base) < 62:
            numerals = block @ base ** np.arange(length - 1, -1, -1, dtype=np.int64)  # one number for a sequence
            order = np.argsort(numerals, kind="stable")
            fresh = np.r_[True, np.diff(numerals[order]) != 0]
        else:
            order = np.lexsort(block.T[::-1])
            fresh = np.r_[True, (block[order[1:]] != block[order[:-1]]).any(axis=1)]
        block = block[order]
        first = np.flatnonzero(fresh)
        of_unit[unit[here[order]]] = found + np.cumsum(fresh) - 1
        found += len(first)
        multiplicities.append(np.diff(np.r_[first, len(block)]))
        sizes.append(np.full(len(first), length))
        contents.append(block[first].ravel())
    if not multiplicities:
        empty = np.empty(0, dtype=np.int64)
        return empty, empty, empty, of_unit
    return np.concatenate(multiplicities), np.concatenate(sizes), np.concatenate(contents), of_unit


@dataclass(frozen=True, eq=False)
class Grouped:
    """The units of a table of ratings grouped as coefficients need them, each way once."""

    ratings: Ratings

    @cached_property
    def pairable(self) -> Rows:
        """Who gave which label to the units with two ratings or more."""
        return Rows.of(self.ratings)

    @cached_property
    def cells(self) -> Cells:
        """The cross tables of all pairs of raters."""
        return self.pairable.cells()
