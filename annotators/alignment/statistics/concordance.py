"""Kendall's τ-b of many samples at once: how many pairs of rows are in the same order, without going through them all.

Neighbouring values of each column are taken together in buckets of about √R rows. Two rows that share neither bucket
are in the order of their buckets, so that all such pairs follow from how much weight each pair of buckets holds. Of the
rows that share a bucket every pair is compared: √R for each row instead of R. Weights are whole numbers, which single
precision holds exactly below 2²⁴. Of very many rows with few values on one side those values are gone through in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from annotators.alignment.tables.levels import FEW_LEVELS, Counts, Levels, bounded, centred_ranks, dot, whole
from annotators.arrays import FloatArray, IntArray, ratio

MOST_ROWS = 20_000  # so many rows in buckets take 60 MB; columns with few values need none


@dataclass(frozen=True, eq=False)
class _Together:
    """The rows of G buckets: `rows` (G × s) and `signs` (G × s × s), the order of each pair; 0: not asked for."""

    rows: IntArray
    signs: Counts

    @classmethod
    def of(cls, bucket: IntArray, mixed: npt.NDArray[np.bool_], signs_of: Any) -> _Together:
        """The buckets (of each row, R) that are `mixed`, with more than one value; `signs_of(a, b)` compares rows."""
        order = np.argsort(bucket, kind="stable")
        sizes = np.bincount(bucket)
        starts, kept = np.cumsum(sizes) - sizes, np.flatnonzero(mixed)
        place = np.arange(sizes[kept].max(initial=0))
        rows = order[np.minimum(starts[kept, None] + place, len(order) - 1)]
        there = place < sizes[kept, None]
        signs = signs_of(rows[:, :, None], rows[:, None, :]) * (there[:, :, None] & there[:, None, :])
        return cls(rows, signs.astype(np.float32))

    def concordance(self, weights: Counts, most: float) -> FloatArray:
        """wᵀ S w of every bucket, summed (B)."""
        here = weights[self.rows]
        return dot(here, self.signs @ here, most)


@dataclass(frozen=True, eq=False)
class _Buckets:
    """Pairs of rows in three parts: within a bucket of x, within one of y but not of x, and the others.

    `cells` (X·Y × R) says which of the X × Y pairs of buckets a row belongs to.
    """

    within_x: _Together
    within_y: _Together
    cells: Any
    shape: tuple[int, int]

    @classmethod
    def of(cls, x: Levels, y: Levels) -> _Buckets:
        of_x, of_y = (_bucket_of_level(levels) for levels in (x, y))
        in_x, in_y = of_x[x.code], of_y[y.code]

        def signs(a: IntArray, b: IntArray) -> npt.NDArray[np.int8]:
            of_x, of_y = np.sign(x.code[a] - x.code[b]), np.sign(y.code[a] - y.code[b])
            same: npt.NDArray[np.int8] = (of_x * of_y).astype(np.int8)
            return same

        n_x, n_y = int(of_x[-1]) + 1, int(of_y[-1]) + 1
        n_rows = len(x.code)
        ones = np.ones(n_rows, dtype=np.float32)
        return cls(
            within_x=_Together.of(in_x, np.bincount(of_x) > 1, signs),
            within_y=_Together.of(in_y, np.bincount(of_y) > 1, lambda a, b: signs(a, b) * (in_x[a] != in_x[b])),
            cells=sparse.csr_array((ones, (in_x * n_y + in_y, np.arange(n_rows))), shape=(n_x * n_y, n_rows)),
            shape=(n_x, n_y),
        )

    def concordance(self, weights: Counts, most: float) -> FloatArray:
        """2 (C - D) (B), which is no more than `most`."""
        held = (self.cells @ weights).reshape(*self.shape, -1)
        x, y = (_signs(size) for size in self.shape)
        ahead = y @ (x @ held.reshape(self.shape[0], -1)).reshape(held.shape)
        return sum((part.concordance(weights, most) for part in (self.within_x, self.within_y)), dot(held, ahead, most))


@dataclass(frozen=True, eq=False)
class _Steps:
    """The rows of every value of x, from the lowest, with the values of y that they have (as places, of K in all)."""

    steps: tuple[tuple[IntArray, Levels], ...]
    n_places: int

    @classmethod
    def of(cls, x: Levels, y: Levels) -> _Steps:
        rows = [np.flatnonzero(x.code == level) for level in range(len(x.values))]
        return cls(tuple((here, Levels.of(y.code[here].astype(np.float64))) for here in rows), len(y.values))

    def concordance(self, weights: Counts, most: float) -> FloatArray:
        """2 (C - D) (B): the rows of each value of x against those of all lower values, summed along y."""
        total = np.zeros(weights.shape[1])
        lower = np.zeros((self.n_places, weights.shape[1]), dtype=weights.dtype)
        for rows, levels in self.steps:
            places, here = levels.values.astype(np.int64), levels.sums(weights[rows])
            total += dot(here, centred_ranks(lower, lower.sum(axis=0))[places], most)
            lower[places] += here
        return 2 * total


@dataclass(frozen=True, eq=False)
class Tau:
    """Two columns made ready for Kendall's τ of many samples: `x` has no more values than `y`."""

    x: Levels
    y: Levels
    pairs: _Buckets | _Steps

    @classmethod
    def of(cls, x: Levels, y: Levels) -> Tau:
        """Make it ready; see `can_resample_tau` for how large the columns may be."""
        if len(x.values) > len(y.values):
            x, y = y, x
        return cls(x, y, _Buckets.of(x, y) if len(x.code) <= MOST_ROWS else _Steps.of(x, y))


def can_resample_tau(x: Levels, y: Levels) -> bool:
    """Whether τ of many samples is worked out in reasonable time and memory."""
    return len(x.code) <= MOST_ROWS or min(len(x.values), len(y.values)) <= FEW_LEVELS


def kendall_tau_b(tau: Tau, weights: FloatArray) -> FloatArray:
    """Kendall's τ-b (B), -1..1: (C - D) / √((n₀ - n₁)(n₀ - n₂)) over all pairs of rows, ties taken out.

    Kendall (1945), Biometrika 33, 239-251.
    """
    n = weights.sum(axis=0)
    counts, most = whole(weights, n), float(n.max(initial=0) ** 2)
    untied = [n * n - dot(held, held, most) for held in (tau.x.sums(counts), tau.y.sums(counts))]
    return bounded(
        ratio(tau.pairs.concordance(counts, most), np.sqrt(np.maximum(np.prod(untied, axis=0), 0)), cut=False)
    )


def _bucket_of_level(levels: Levels) -> IntArray:
    """The bucket of every value (K): a new one after every √R rows; a value with more rows has one of its own."""
    sizes = np.bincount(levels.code)
    width = max(1, round(len(levels.code) ** 0.5))
    window, large = (np.cumsum(sizes) - sizes) // width, sizes > width
    bucket: IntArray = np.r_[0, np.cumsum((np.diff(window) > 0) | large[1:] | large[:-1])]
    return bucket


def _signs(n: int) -> Counts:
    """1 below the diagonal, -1 above it (n × n)."""
    places = np.arange(n, dtype=np.float32)
    signs: Counts = np.sign(places[:, None] - places)
    return signs
