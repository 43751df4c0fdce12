"""The bootstrap of alignment: clusters of rows drawn again, every statistic on the same resamples at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from annotators.agreement.bootstrap import Resampled
from annotators.agreement.result import Interval
from annotators.agreement.table import FloatArray, IntArray
from annotators.alignment.result import Aligned
from annotators.errors import InvalidInput

Evaluate = Callable[[FloatArray], FloatArray]
Kind = Literal["BCa", "percentile"]
CELLS_AT_ONCE = 100_000  # 0.8 MB of weights, so that the few arrays of a formula stay near the processor
SAMPLES_AT_ONCE = 64  # but so many resamples side by side, where they take no more than
MOST_CELLS = 2_000_000  # 16 MB of weights
FREED = 3_000_000  # 24 MB: what glibc is shown once, so that it keeps freed blocks for the next go
JACKKNIFE_GROUPS = 200
MUCH_FEWER = 2  # so many times fewer different rows than rows are worth a sum for each resample
FEWEST_KEPT, MOST_KEPT, KEPT_DRAWS = 1_000_000, 32_000_000, 6  # bytes of one set of draws that is kept, and how many

_kept_draws: dict[tuple[int, int, int, int], list[npt.NDArray[np.uint8]]] = {}


@dataclass(frozen=True)
class Resampling:
    """How intervals are made: number of resamples, seed, level (0..1), kind, and what a cluster is (`over`, plural).

    Raises InvalidInput for a level outside 0..1 or negative numbers. 0 resamples give values without intervals.
    """

    resamples: int = 1000
    seed: int = 0
    level: float = 0.95
    kind: Kind = "BCa"
    over: str = "questions"

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InvalidInput(f"level {self.level} is not between 0 and 1: give a share such as 0.95")
        if self.resamples < 0 or self.seed < 0:
            raise InvalidInput(f"{self.resamples} resamples and seed {self.seed}: neither may be negative")


@dataclass(frozen=True, eq=False)
class Sample:
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
    def of(cls, columns: Sequence[FloatArray], cluster: IntArray) -> Sample:
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

    def drawn(self, asked: Resampling) -> str:
        """What is drawn, in words: units, or the clusters."""
        return asked.over if self.clustered else "units"

    def resampled(self, evaluate: Evaluate, asked: Resampling) -> Resampled:
        """Evaluate statistics (weights of rows, R × B → B or S × B) on the data, on resamples, and with parts left out.

        The draw is exact: n units (or clusters) with replacement. The jackknife that BCa needs leaves out each unit or,
        above 200, each of 200 random groups of units, whose influences are sums of the units'.
        """
        n, width = int(self.multiplicity.sum()), max(1, self.n_rows)
        at_once = max(1, CELLS_AT_ONCE // width, min(SAMPLES_AT_ONCE, MOST_CELLS // width))
        np.empty(FREED)  # never touched, freed at once; without it half the time goes into page faults

        def evaluated(weights: FloatArray) -> FloatArray:
            return evaluate(self.rows(weights)).reshape(-1, weights.shape[1]).T

        values = evaluated(self.multiplicity[:, None].astype(np.float64))
        replicates, jackknife, repeats = values[:0], values[:0], np.empty(0)
        if asked.resamples and n > 1:
            replicates = np.concatenate([evaluated(drawn) for drawn in self._draws(asked, at_once)])
            if asked.kind == "BCa":
                left_out, repeats = self._left_out(asked.seed)
                kept = self.multiplicity[:, None] - left_out
                jackknife = np.concatenate(
                    [evaluated(kept[:, start : start + at_once]) for start in range(0, len(repeats), at_once)]
                )
        return Resampled(values[0], replicates, jackknife, repeats, asked.seed, n, self.drawn(asked))

    def _draws(self, asked: Resampling, at_once: int) -> Iterator[FloatArray]:
        """The weights (P × so many `at_once`) of all resamples.

        Those of many clusters are kept for a while: all metrics of a study are measured on the same resamples of its
        questions, and drawing them again takes longer than most formulas.
        """
        n = int(self.multiplicity.sum())
        key = (asked.seed, n, at_once, asked.resamples)
        same = len(self.multiplicity) == n  # each cluster once: nothing else of the sample matters
        if same and (kept := _kept_draws.get(key)) is not None:
            yield from (block.astype(np.float64) for block in kept)
            return
        rng, blocks = np.random.default_rng(asked.seed), []
        keeping = same and FEWEST_KEPT <= n * asked.resamples <= MOST_KEPT
        for start in range(0, asked.resamples, at_once):
            drawn = self._draw(rng, min(at_once, asked.resamples - start))
            keeping = keeping and drawn.max(initial=0) < 256
            if keeping:
                blocks.append(drawn.astype(np.uint8))
            yield drawn
        if keeping:
            while len(_kept_draws) >= KEPT_DRAWS:
                _kept_draws.pop(next(iter(_kept_draws)), None)
            _kept_draws[key] = blocks

    def _draw(self, rng: np.random.Generator, size: int) -> FloatArray:
        """The weights (P × size) of resamples."""
        patterns, n = len(self.multiplicity), int(self.multiplicity.sum())
        if 8 * patterns <= n:
            return np.ascontiguousarray(rng.multinomial(n, self.multiplicity / n, size=size).T, dtype=np.float64)
        drawn = rng.integers(n, size=size * n, dtype=np.uint16 if n < 2**16 else np.int64)
        if patterns < n:
            drawn = np.repeat(np.arange(patterns), self.multiplicity)[drawn]
        ones = np.ones(len(drawn), dtype=np.float32)
        counts = sparse.csr_array((ones, drawn, np.arange(0, len(drawn) + 1, n)), shape=(size, patterns)).toarray()
        return np.ascontiguousarray(counts.T, dtype=np.float64)

    def _left_out(self, seed: int) -> tuple[FloatArray, FloatArray]:
        """What each column of the jackknife leaves out (P × J), and how often the column counts (J)."""
        patterns, n = len(self.multiplicity), int(self.multiplicity.sum())
        if patterns <= JACKKNIFE_GROUPS:
            return np.eye(patterns), self.multiplicity.astype(np.float64)
        group = np.random.default_rng([seed, 1]).permutation(n) % JACKKNIFE_GROUPS
        pattern_of_unit = np.repeat(np.arange(patterns), self.multiplicity)
        left_out = np.zeros((patterns, JACKKNIFE_GROUPS))
        np.add.at(left_out, (pattern_of_unit, group), 1.0)
        return left_out, np.ones(JACKKNIFE_GROUPS)


def with_interval(
    entry: Aligned,
    found: Resampled,
    place: int,
    asked: Resampling,
    *,
    kind: Kind | None = None,
    note: str = "",
    nan: str = "it is not defined for these values (0/0)",
) -> Aligned:
    """The entry with the value and interval of statistic `place`; `nan` says why it can be NaN."""
    if entry.reason is not None:
        return entry
    value = float(found.values[place])
    if np.isnan(value):
        return replace(entry, reason=nan)
    made = interval_of(found, place, asked.level, kind or asked.kind)
    method = "; ".join(filter(None, [made.in_words(), note]))
    return replace(entry, value=value, low=made.low, high=made.high, method=method, interval=made)


def interval_of(found: Resampled, place: int, level: float, kind: Kind) -> Interval:
    """The interval of one statistic that may be larger than 1, such as a mean of grades.

    `Resampled.interval` cuts at 1, the bound of coefficients: larger statistics are measured in units of their largest
    value, which changes nothing else about percentile and BCa intervals.
    """
    pieces = (found.values[place : place + 1], found.replicates[:, place], found.jackknife[:, place])
    largest = max((float(np.abs(one[~np.isnan(one)]).max(initial=0)) for one in pieces), default=0)
    unit = max(1.0, largest)
    scaled: dict[str, Any] = {
        "values": found.values[place : place + 1] / unit,
        "replicates": found.replicates[:, place : place + 1] / unit,
        "jackknife": found.jackknife[:, place : place + 1] / unit,
    }
    made = replace(found, **scaled).interval(0, level, kind)
    if made.low is None or made.high is None:
        return made
    return replace(made, low=made.low * unit, high=made.high * unit)
