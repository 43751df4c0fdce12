"""Rows as the bootstrap of alignment draws them: clusters of rows, every statistic on the same resamples at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from annotators.arrays import FloatArray, IntArray
from annotators.intervals.bootstrap import SIDE_BY_SIDE, Evaluate, Resampled, Resampling, resample

FREED = 3_000_000  # 24 MB: what glibc is shown once, so that it keeps freed blocks for the next go
MUCH_FEWER = 2  # so many times fewer different rows than rows are worth a sum for each resample


@dataclass(frozen=True, eq=False)
class DrawnRows:
    """Rows as the bootstrap draws them: `columns` (R × C), and for P patterns how many are drawn from.

    Without clusters equal rows are one pattern, and a resample of rows is a draw of how often each pattern occurs; with
    clusters a pattern is a cluster, and `pattern_of_row` (R) says whose a row is; where many rows are equal they are
    one row as well, and `held` (R × P, sparse) says how many of them each cluster has. `n_rows` is how many there were.
    """

    columns: FloatArray
    multiplicity: IntArray
    pattern_of_row: IntArray | None
    n_rows: int
    held: Any = None

    @classmethod
    def of(cls, columns: Sequence[FloatArray], cluster: IntArray) -> DrawnRows:
        """Rows with these columns (each n) in these clusters (n, numbered from 0), sorted by the first column."""
        table = np.column_stack(columns)
        n_clusters = int(cluster.max(initial=-1)) + 1
        order = np.lexsort((cluster, *table.T[::-1]))
        table = table[order]
        begins = np.r_[True, (table[1:] != table[:-1]).any(axis=1)][: len(table)]
        first = np.flatnonzero(begins)
        if n_clusters == len(table):
            return cls(table[first], np.diff(np.r_[first, len(table)]).astype(np.int64), None, len(first))
        ones, whose = np.ones(n_clusters, dtype=np.int64), cluster[order]
        if MUCH_FEWER * len(first) > len(table):
            return cls(table, ones, whose, len(table))
        entries = (np.ones(len(table)), (np.cumsum(begins) - 1, whose))
        held = sparse.csr_array(entries, shape=(len(first), n_clusters))
        return cls(table[first], ones, None, len(table), held)

    @property
    def clustered(self) -> bool:
        """Whether rows are drawn in clusters."""
        return self.pattern_of_row is not None or self.held is not None

    @property
    def weights(self) -> FloatArray:
        """How often each row occurs in the data (R × 1)."""
        return self.rows(self.multiplicity[:, None].astype(np.float64))

    def rows(self, weights: FloatArray) -> FloatArray:
        """Weights of rows (R × B) from weights of patterns (P × B)."""
        if self.held is not None:
            summed: FloatArray = self.held @ weights
            return summed
        return weights if self.pattern_of_row is None else weights[self.pattern_of_row]

    def resampled(self, evaluate: Evaluate, asked: Resampling) -> Resampled:
        """Evaluate statistics (weights of rows, R × B → B or S × B) on the data, on resamples, and with parts left out.

        The draw is exact: n units (or clusters) with replacement. Statistics may be larger than 1.
        """
        np.empty(FREED)  # never touched, freed at once; without it half the time goes into page faults
        return resample(
            lambda weights: evaluate(self.rows(weights)),
            self.multiplicity,
            resamples=asked.resamples,
            seed=asked.seed,
            width=self.n_rows,
            layout=SIDE_BY_SIDE,
            jackknife=asked.kind == "BCa",
            over=asked.over if self.clustered else "units",
            ceiling=None,
        )
