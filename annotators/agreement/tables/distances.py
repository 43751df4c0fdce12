"""How far two labels are apart: the distances behind weighted κ, AC2, Brennan-Prediger and Krippendorff's α.

A distance is 0 on the diagonal. Agreement weights are 1 - δ / δ_max over the declared labels, so that a weighted
coefficient of any kind is one formula. Linear, quadratic and ordinal distances never build a labels × labels array:
their cost grows with the number of labels and ratings, not with its square.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from annotators.agreement.tables.patterns import Counts
from annotators.arrays import FloatArray, IntArray, np, ratio, sparse

Matrix: TypeAlias = "FloatArray | sparse.csr_array"
DENSE_LABELS = 400  # up to so many labels the ratio distance is a plain table
SLACK = 1e-13  # what cancellation leaves, relative to the terms that cancel


class Distance:
    """The distance δ (at least 0, 0 on the diagonal) of each pair of K labels."""

    def __init__(self, n_labels: int) -> None:
        self.n_labels = n_labels

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """δ of the labels with codes a and b, elementwise."""
        raise NotImplementedError

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """Σ_kl left_k δ_kl right_l over the last axis (… × K each → …)."""
        raise NotImplementedError

    def toward(self, shares: FloatArray) -> FloatArray:
        """Σ_l δ_kl shares_l for each label k (K → K)."""
        raise NotImplementedError

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """Σ over ordered pairs of ratings of one unit of their δ, for each pattern (P × K counts → P)."""
        raise NotImplementedError

    @cached_property
    def greatest(self) -> float:
        """The greatest distance of two declared labels; 0 with a single label."""
        raise NotImplementedError

    @cached_property
    def total(self) -> float:
        """Σ_kl δ_kl over all ordered pairs of declared labels."""
        every = np.ones(self.n_labels)
        return float(self.cross(every, every))


class Nominal(Distance):
    """0 for the same label, 1 for two labels."""

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """See `Distance`."""
        return np.asarray(a != b, dtype=np.float64)

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """See `Distance`."""
        return np.asarray(left.sum(axis=-1) * right.sum(axis=-1) - (left * right).sum(axis=-1))

    def toward(self, shares: FloatArray) -> FloatArray:
        """See `Distance`."""
        return np.asarray(shares.sum() - shares)

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """See `Distance`."""
        return np.asarray(_row_sums(counts) ** 2 - _row_sums(counts.power(2)))

    @cached_property
    def greatest(self) -> float:
        """See `Distance`."""
        return float(self.n_labels > 1)


class Quadratic(Distance):
    """(x - y)² of the labels' numbers, by moments: Σ (x_i - x_j)² = 2 (n Σ x² - (Σ x)²)."""

    def __init__(self, numbers: FloatArray) -> None:
        super().__init__(len(numbers))
        middle = np.round((numbers.min() + numbers.max()) / 2) if len(numbers) else 0.0
        self.x = numbers - middle  # smaller sums round less, and whole numbers stay whole

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """See `Distance`."""
        return np.asarray((self.x[a] - self.x[b]) ** 2)

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """See `Distance`."""
        squares = left.sum(axis=-1) * (right @ self.x**2) + right.sum(axis=-1) * (left @ self.x**2)
        return _without_rounding(squares - 2 * (left @ self.x) * (right @ self.x), squares)

    def toward(self, shares: FloatArray) -> FloatArray:
        """See `Distance`."""
        return np.asarray(shares.sum() * self.x**2 - 2 * self.x * (shares @ self.x) + shares @ self.x**2)

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """See `Distance`."""
        squares = 2 * _row_sums(counts) * (counts @ self.x**2)
        return _without_rounding(squares - 2 * (counts @ self.x) ** 2, squares)

    @cached_property
    def greatest(self) -> float:
        """See `Distance`."""
        return float(np.ptp(self.x) ** 2) if len(self.x) else 0.0


class Linear(Distance):
    """|x - y| of the labels' numbers, by sums over the sorted labels."""

    def __init__(self, numbers: FloatArray) -> None:
        super().__init__(len(numbers))
        self.x = numbers
        self.order = np.argsort(numbers, kind="stable")
        self.gaps = np.diff(numbers[self.order])

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """See `Distance`."""
        return np.asarray(np.abs(self.x[a] - self.x[b]))

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """See `Distance`."""
        lower = [np.cumsum(side[..., self.order], axis=-1) for side in (left, right)]
        below = [side[..., :-1] for side in lower]
        above = [side[..., -1:] - side[..., :-1] for side in lower]
        return np.asarray((below[0] * above[1] + above[0] * below[1]) @ self.gaps)

    def toward(self, shares: FloatArray) -> FloatArray:
        """See `Distance`."""
        x, given = self.x[self.order], shares[self.order]
        below, first = np.cumsum(given), np.cumsum(given * x)
        found = np.empty_like(x)
        found[self.order] = x * (2 * below - below[-1:]) - 2 * first + first[-1:]
        return np.maximum(found, 0.0)

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """See `Distance`."""
        ordered = sparse.csr_array(counts[:, self.order])
        ordered.sort_indices()
        starts = ordered.indptr[:-1]
        rows = np.repeat(np.arange(ordered.shape[0]), np.diff(ordered.indptr))
        running = np.cumsum(ordered.data)
        below = running - (running[starts] - ordered.data[starts])[rows]  # of this label and below, in this pattern
        sizes = _row_sums(counts)[rows]
        x = self.x[self.order][ordered.indices] - self.x.min()
        terms = 2 * ordered.data * x * (2 * below - ordered.data - sizes)
        return np.maximum(np.bincount(rows, weights=terms, minlength=ordered.shape[0]), 0.0)

    @cached_property
    def greatest(self) -> float:
        """See `Distance`."""
        return float(np.ptp(self.x)) if len(self.x) else 0.0


class Ordinal(Distance):
    """Gwet's ordinal distance of labels d ranks apart: d (d + 1) / 2, the number of pairs from the one to the other.

    Gwet (2014), Handbook of Inter-Rater Reliability, chapter 3. It is not Krippendorff's ordinal distance, which counts
    ratings instead of ranks.
    """

    def __init__(self, numbers: FloatArray) -> None:
        super().__init__(len(numbers))
        ranks = np.empty(len(numbers))
        ranks[np.argsort(numbers, kind="stable")] = np.arange(len(numbers))
        self.parts: tuple[Distance, Distance] = (Quadratic(ranks), Linear(ranks))

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """See `Distance`."""
        return (self.parts[0].between(a, b) + self.parts[1].between(a, b)) / 2

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """See `Distance`."""
        return (self.parts[0].cross(left, right) + self.parts[1].cross(left, right)) / 2

    def toward(self, shares: FloatArray) -> FloatArray:
        """See `Distance`."""
        return (self.parts[0].toward(shares) + self.parts[1].toward(shares)) / 2

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """See `Distance`."""
        return (self.parts[0].within(counts) + self.parts[1].within(counts)) / 2

    @cached_property
    def greatest(self) -> float:
        """See `Distance`."""
        return self.n_labels * (self.n_labels - 1) / 2


class TableDistance(Distance):
    """Any distances, as a labels × labels array, dense or sparse; `offset` is added off the diagonal of a sparse one.

    A sparse table holds δ - offset where it is not 0, so that sets that share nothing, which are 1 apart, take no room.
    """

    def __init__(self, table: Matrix, offset: float = 0.0) -> None:
        super().__init__(int(table.shape[0]))
        self.table, self.offset = table, offset
        self._nominal = Nominal(self.n_labels)

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """See `Distance`."""
        if isinstance(self.table, np.ndarray):
            found = np.asarray(self.table[a, b])
        else:
            found = np.asarray(sparse.coo_array(self.table[a, b]).toarray()).ravel()
        return np.asarray(found + self.offset * (a != b))

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """See `Distance`."""
        shape = np.broadcast_shapes(left.shape, right.shape)[:-1]
        rows = np.atleast_2d(left.reshape(-1, self.n_labels)) @ self.table
        found = (np.asarray(rows) * right.reshape(-1, self.n_labels)).sum(axis=-1).reshape(shape)
        return np.asarray(found + self.offset * self._nominal.cross(left, right) if self.offset else found)

    def toward(self, shares: FloatArray) -> FloatArray:
        """See `Distance`."""
        found = np.asarray(self.table @ shares)
        return np.asarray(found + self.offset * self._nominal.toward(shares) if self.offset else found)

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """See `Distance`."""
        spread = counts @ self.table
        found = counts.multiply(spread).sum(axis=1) if sparse.issparse(spread) else _rowwise(counts, spread)
        return np.asarray(found).ravel() + (self.offset * self._nominal.within(counts) if self.offset else 0.0)

    @cached_property
    def greatest(self) -> float:
        """See `Distance`."""
        if self.n_labels < 2:
            return 0.0
        return max(float(self.table.max()) + self.offset, self.offset)


class RatioSeries(Distance):
    """Krippendorff's ratio distance ((x - y) / (x + y))² of numbers from 0 on, where a table would be too large.

    ((x - y) / (x + y))² = 1 - 4 x y / (x + y)², and x y / (x + y)² = ∫ (x t e^(-x t)) (y t e^(-y t)) dt / t, which the
    trapezoidal rule in log t sums up to rounding with a hundred or so nodes: δ is then 1 - 4 Σ_j v_xj v_yj.
    """

    def __init__(self, numbers: FloatArray) -> None:
        super().__init__(len(numbers))
        positive = numbers[numbers > 0]
        step = 0.25  # the rule's error falls with exp(-π² / step): below 1e-15 here
        lowest, highest = (float(positive.min()), float(positive.max())) if len(positive) else (1.0, 1.0)
        nodes = np.exp(np.arange(np.log(1e-9 / highest), np.log(30 / lowest), step))
        reach = numbers[:, None] * nodes
        self.factors = np.sqrt(step) * reach * np.exp(-reach)
        self.zero = numbers == 0  # two zeros are alike: 0 / 0 is 0 here
        self.x = numbers

    def between(self, a: IntArray, b: IntArray) -> FloatArray:
        """See `Distance`."""
        return _ratio_distance(self.x[a], self.x[b])

    def cross(self, left: FloatArray, right: FloatArray) -> FloatArray:
        """See `Distance`."""
        both = left.sum(axis=-1) * right.sum(axis=-1)
        alike = 4 * ((left @ self.factors) * (right @ self.factors)).sum(axis=-1)
        zeros = (left @ self.zero) * (right @ self.zero)
        return _without_rounding(both - alike - zeros, 10 * both)

    def toward(self, shares: FloatArray) -> FloatArray:
        """See `Distance`."""
        found = shares.sum() - 4 * self.factors @ (shares @ self.factors) - self.zero * (shares @ self.zero)
        return np.asarray(np.maximum(found, 0.0))

    def within(self, counts: sparse.csr_array) -> FloatArray:
        """See `Distance`."""
        both = _row_sums(counts) ** 2
        alike = 4 * ((counts @ self.factors) ** 2).sum(axis=1)
        return _without_rounding(both - alike - (counts @ self.zero.astype(np.float64)) ** 2, 10 * both)

    @cached_property
    def greatest(self) -> float:
        """See `Distance`."""
        return float(_ratio_distance(self.x.min(), self.x.max())) if len(self.x) else 0.0


def ratio_distance(numbers: FloatArray) -> Distance:
    """Krippendorff's ratio distance for labels that are numbers from 0 on (Krippendorff 2011, section E)."""
    if len(numbers) > DENSE_LABELS:
        return RatioSeries(numbers)
    return TableDistance(_ratio_distance(numbers[:, None], numbers[None, :]))


def _ratio_distance(x: FloatArray, y: FloatArray) -> FloatArray:
    both = np.asarray(x + y, dtype=np.float64)
    share = np.zeros(both.shape)
    np.divide(np.asarray(x - y, dtype=np.float64), both, out=share, where=both != 0)
    return np.asarray(share**2)


def _row_sums(counts: sparse.csr_array) -> FloatArray:
    return np.asarray(counts.sum(axis=1), dtype=np.float64).ravel()


def _rowwise(counts: sparse.csr_array, spread: FloatArray) -> FloatArray:
    """Σ_k counts_pk spread_pk for each pattern p."""
    rows = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    products = counts.data * spread[rows, counts.indices]
    return np.bincount(rows, weights=products, minlength=counts.shape[0]).astype(np.float64)


def _without_rounding(found: FloatArray, terms: FloatArray) -> FloatArray:
    """What is as small as the rounding of the terms that it is the difference of is 0."""
    return np.asarray(np.where(found <= SLACK * terms, 0.0, found))


@dataclass(frozen=True, eq=False)
class Spread:
    """A table of patterns with a distance of labels: what every coefficient of counts reads.

    `apart` (P) is the sum of the distances over the ordered pairs of ratings of such a unit.
    """

    table: Counts
    distance: Distance

    @property
    def multiplicity(self) -> FloatArray:
        """How many units show each pattern (P), as weights."""
        return self.table.multiplicity.astype(np.float64)

    @cached_property
    def apart(self) -> FloatArray:
        """Σ over ordered pairs of ratings of their distance, for each pattern (P)."""
        return self.distance.within(self.table.counts)

    @cached_property
    def agreement(self) -> FloatArray:
        """The mean agreement weight 1 - δ / δ_max of the pairs of ratings of a pattern (P); 0 for a single rating."""
        pairs = self.table.pairs
        return np.where(pairs > 0, 1 - self.apart / (self.distance.greatest * np.maximum(pairs, 1.0)), 0.0)

    @property
    def sum_of_weights(self) -> float:
        """The sum of the agreement weights over all ordered pairs of declared labels: K for plain agreement."""
        return self.distance.n_labels**2 - self.distance.total / self.distance.greatest

    def mean_shares(self, weights: FloatArray) -> FloatArray:
        """π_k (B × K): the mean over units of the share of their ratings that carry label k."""
        shares = (weights / self.table.sizes) @ self.table.counts
        return np.asarray(shares / np.maximum(weights.sum(axis=1, keepdims=True), 1.0))

    def observed(self, weights: FloatArray) -> FloatArray:
        """The mean agreement weight (B) of the units that have a pair of ratings."""
        pairable = (self.table.pairs > 0).astype(np.float64)
        return ratio(weights @ self.agreement, weights @ pairable)
