"""The distinct values of a column, and sums and ranks by value for many samples side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from annotators.arrays import FloatArray, IntArray

Counts = npt.NDArray[np.floating[Any]]
"""Whole numbers (rows × B), in single precision where that holds them exactly."""

FEW_LEVELS = 24  # up to so many values the weight of each is one product of matrices
_EXACT = 2**24  # whole numbers below it are exact in single precision
_STEP = 32
_TRIANGLE = (2 * np.tri(_STEP, k=-1) + np.eye(_STEP)).astype(np.float32)


@dataclass(frozen=True, eq=False)
class Levels:
    """The distinct values of a column: `values` (K, ascending), each row's place among them (`code`, R).

    `order` (None: they are sorted already) and `starts` sort the rows by value, for sums by value.
    """

    values: FloatArray
    code: IntArray
    order: IntArray | None
    starts: IntArray

    @classmethod
    def of(cls, column: FloatArray) -> Levels:
        """The levels of a column (R)."""
        values, code = np.unique(column, return_inverse=True)
        order = np.argsort(code, kind="stable")
        starts = np.searchsorted(code[order], np.arange(len(values)))
        return cls(values, code, None if (np.diff(code) >= 0).all() else order, starts)

    @property
    def all_differ(self) -> bool:
        """Whether no two rows have the same value."""
        return len(self.values) == len(self.code)

    def sums(self, weights: Counts) -> Counts:
        """The weight of every value (K × B)."""
        if len(self.values) <= FEW_LEVELS and not self.all_differ:
            of_value = self.code == np.arange(len(self.values))[:, None]
            few: Counts = of_value.astype(weights.dtype) @ weights
            return few
        ordered = weights if self.order is None else weights[self.order]
        if self.all_differ:
            return ordered
        sums: Counts = np.add.reduceat(ordered, self.starts, axis=0)
        return sums

    def of_rows(self, given: Counts) -> Counts:
        """What is given for every value (K × B), for every row (R × B)."""
        return given if self.all_differ and self.order is None else given[self.code]


def kinds(x: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray, IntArray]:
    """The different pairs of values of two columns (K and K, sorted by x, then y), and which one each row has (R)."""
    of_x, place_x = np.unique(x, return_inverse=True)
    of_y, place_y = np.unique(y, return_inverse=True)
    there, code = np.unique(place_x * len(of_y) + place_y, return_inverse=True)
    return of_x[there // len(of_y)], of_y[there % len(of_y)], code


def whole(weights: FloatArray, n: FloatArray) -> Counts:
    """Weights (R × B) of n (B) rows, in single precision where twice a rank is exact in it."""
    return weights.astype(np.float32) if 2 * n.max(initial=0) < _EXACT else weights


def dot(a: Counts, b: Counts, most: float) -> FloatArray:
    """Σ ab of whole numbers over all but the last axis (B); the sum of their amounts is no more than `most`."""
    flat, kind = (-1, a.shape[-1]), np.float32 if most < _EXACT else np.float64
    found: FloatArray = np.einsum("kb,kb->b", a.reshape(flat), b.reshape(flat), dtype=kind).astype(np.float64)
    return found


def centred_ranks(counts: Counts, n: Counts) -> Counts:
    """Twice the mid-rank of every value less its mean (K × B), from the weight of every value and of all (`n`, B).

    What lies below a value is the sum of the blocks below its own and a product with a triangle of twos within it.
    """
    size, width = counts.shape
    blocks = np.zeros((-(-size // _STEP), _STEP, width), dtype=counts.dtype)
    blocks.reshape(-1, width)[:size] = counts
    held = 2 * blocks.sum(axis=1)
    ranks: Counts = _TRIANGLE @ blocks
    ranks += (np.cumsum(held, axis=0) - held - n.astype(counts.dtype))[:, None, :]
    return ranks.reshape(-1, width)[:size]


ROUNDING = 1e-12
"""A correlation, or a difference of two, that is nearer to 0 than this is 0."""


def bounded(values: FloatArray) -> FloatArray:
    """Correlations without what rounding leaves beyond ±1 and around 0."""
    return without_rounding(np.clip(values, -1.0, 1.0))


def without_rounding(values: FloatArray) -> FloatArray:
    """Correlations, or differences of them, with 0 where only rounding keeps them from it."""
    return np.where(np.abs(values) < ROUNDING, 0.0, values)
