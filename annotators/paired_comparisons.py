"""Strengths of systems from comparisons of two at a time: the Bradley–Terry model, with ties as Davidson has them."""

from __future__ import annotations

from dataclasses import dataclass, replace

from annotators.arrays import BoolArray, FloatArray, IntArray, np
from annotators.intervals.bootstrap import Resampled, Resampling, resample
from annotators.intervals.result import Interval

STEPS = 2_000
CLOSE = 1e-9

ALL_TIES = "every preference is a tie, so that nothing tells the systems apart"
ONE_WAY = "the preferences so far point one way only, so that the differences between the systems have no bound"


@dataclass(frozen=True, eq=False)
class Comparisons:
    """N comparisons of S systems: `first` and `second` (N) are places of systems, `outcome` (N) −1, 0 or 1.

    −1: the first was preferred, 1: the second, 0: neither. `cluster` (N) numbers what is drawn together, from 0.
    """

    n_systems: int
    first: IntArray
    second: IntArray
    outcome: IntArray
    cluster: IntArray

    def points(self) -> tuple[FloatArray, FloatArray]:
        """By cluster (C × S × S): how often the one of the row was preferred to that of the column, and ties."""
        clusters = int(self.cluster.max(initial=-1)) + 1
        wins, ties = np.zeros((2, clusters, self.n_systems, self.n_systems))
        first, second, drawn = self.outcome < 0, self.outcome > 0, self.outcome == 0
        np.add.at(wins, (self.cluster[first], self.first[first], self.second[first]), 1)
        np.add.at(wins, (self.cluster[second], self.second[second], self.first[second]), 1)
        for row, column in ((self.first, self.second), (self.second, self.first)):
            np.add.at(ties, (self.cluster[drawn], row[drawn], column[drawn]), 1)
        return wins, ties


def strengths(wins: FloatArray, ties: FloatArray) -> FloatArray:
    """The logarithms of the systems' worths, with mean 0 (B × S); NaN in a sample where they have no bound.

    `wins` (B × S × S): how often the row's was preferred to the column's; `ties` (B × S × S), symmetric. Of worths π a
    comparison of i and j ends for i with π_i / D, in a tie with ν √(π_i π_j) / D, where D = π_i + π_j + ν √(π_i π_j):
    Davidson (1970), Journal of the American Statistical Association 65, 317-328. A difference of 1 makes i preferred e
    times as often as j, among those that are no ties. The likelihood is solved as he does, by turns for the worths and
    for ν. It has a maximum unless some systems never win or draw against the others: Ford (1957), American
    Mathematical Monthly 64 (8), 28-33.
    """
    n = wins + np.swapaxes(wins, 1, 2) + ties
    points = wins.sum(axis=2) + ties.sum(axis=2) / 2
    n_ties, n_all = ties.sum(axis=(1, 2)) / 2, n.sum(axis=(1, 2)) / 2
    bounded = _connected(wins + ties > 0) & ~_ties_cost_nothing(wins > 0, ties > 0)
    log_worth = np.zeros(points.shape)
    nu = n_ties / np.maximum(n_all, 1)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        for _ in range(STEPS):
            half = np.exp(log_worth / 2)
            root = half[:, :, None] * half[:, None, :]
            worth = half**2
            total = worth[:, :, None] + worth[:, None, :] + nu[:, None, None] * root
            ratio = half[:, None, :] / half[:, :, None]
            denominator = (n * (1 + nu[:, None, None] / 2 * ratio) / total).sum(axis=2)
            after = np.log(points / denominator)
            after -= after.mean(axis=1, keepdims=True)
            shared = (n * root / total).sum(axis=(1, 2)) / 2
            nu = np.where(shared > 0, n_ties / shared, 0.0)
            moved = np.abs(after - log_worth)[bounded].max(initial=0.0)
            log_worth = after
            if moved < CLOSE:
                break
    log_worth[~bounded] = np.nan
    return log_worth


def _connected(beats: BoolArray) -> BoolArray:
    """For each sample (B × S × S, who has a point against whom) whether everybody is reached from everybody."""
    reached = beats | np.eye(beats.shape[1], dtype=bool)
    for _ in range(max(1, int(beats.shape[1]).bit_length())):
        reached = (reached.astype(np.float64) @ reached.astype(np.float64)) > 0
    found: BoolArray = np.asarray(reached.all(axis=(1, 2)))
    return found


def _ties_cost_nothing(wins: BoolArray, ties: BoolArray) -> BoolArray:
    """For each sample (B × S × S) whether differences and ν can grow together for ever, each label becoming likelier.

    That is so where systems can be put on a line so that every win is by 1 or more and every tie within 1: with ν as
    large as e to half of that, ties between neighbours and wins over those farther off are all that is ever seen. Two
    systems of which one wins or draws every time are the plainest case. Such a line is a set of constraints on
    differences, which can be met unless a cycle of them has a negative sum (shortest paths of all pairs).
    """
    path = np.where(wins, -1.0, np.where(ties, 1.0, np.inf))
    size = path.shape[1]
    path[:, np.arange(size), np.arange(size)] = 0
    for by in range(size):
        path = np.minimum(path, path[:, :, by, None] + path[:, None, by, :])
    met = (np.diagonal(path, axis1=1, axis2=2) >= 0).all(axis=1)
    return np.asarray(met & ties.any(axis=(1, 2)), dtype=np.bool_)


def bradley_terry(comparisons: Comparisons, asked: Resampling) -> Resampled:
    """The strengths of all systems (S), on resamples of the clusters, with each cluster left out."""
    wins, ties = comparisons.points()
    clusters, size = len(wins), comparisons.n_systems
    flat = np.concatenate([wins.reshape(clusters, -1), ties.reshape(clusters, -1)], axis=1)

    def evaluate(weights: FloatArray) -> FloatArray:
        drawn = weights @ flat
        cells = size * size
        return strengths(drawn[:, :cells].reshape(-1, size, size), drawn[:, cells:].reshape(-1, size, size))

    return resample(
        evaluate,
        np.ones(clusters, dtype=np.int64),
        resamples=asked.resamples,
        seed=asked.seed,
        width=2 * size * size,
        over=asked.over,
        ceiling=None,
    )


def strength_interval(measured: Resampled, system: int, asked: Resampling) -> Interval:
    """The interval of one of the strengths, or none where so many resamples have no bound that one end has none.

    Those are no gaps that could be left out, as undefined resamples are elsewhere: they are as far out as can be.
    """
    interval = measured.interval(system, asked.level, asked.kind)
    if interval.low is None or 2 * interval.undefined <= (1 - interval.level) * interval.resamples:
        return interval
    note = f"in {interval.undefined:,} of {interval.resamples:,} resamples the differences have no bound"
    return replace(interval, low=None, high=None, note=note)
