"""Yes-no decisions from a metric: at a threshold, at the best one found by cross-validation, and the ROC curve."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from annotators.alignment.tables.pairs import Pairs
from annotators.arrays import FloatArray, IntArray

FOLDS = 10


@dataclass(frozen=True, eq=False)
class CrossValidated:
    """Decisions (n, 1 or 0) each made at a threshold that was chosen without the row's own fold.

    `thresholds` holds each fold's, `on_all` the one chosen on all rows, for use from now on.
    """

    said: FloatArray
    thresholds: tuple[float, ...]
    on_all: float


@dataclass(frozen=True, eq=False)
class Curve:
    """The ROC curve: false and true positive rate (0..1) at each threshold, from strict to lenient."""

    false_positive: FloatArray
    true_positive: FloatArray
    thresholds: FloatArray


def decide(metric: FloatArray, threshold: float) -> FloatArray:
    """1 where the metric is at or above the threshold, else 0."""
    return (metric >= threshold).astype(np.float64)


def best_threshold(metric: FloatArray, human: FloatArray) -> float:
    """The threshold at which decisions and human labels (0 or 1) have the highest Cohen's κ.

    Candidates lie half-way between neighbouring values of the metric; "everything" and "nothing" are candidates, too.
    Of equally good ones the one nearest to the middle of them is taken. -inf when the metric tells nothing.
    """
    order = np.argsort(metric, kind="stable")
    values, truth = metric[order], human[order]
    n, positive = len(values), truth.sum()
    below = np.r_[0, np.flatnonzero(values[1:] > values[:-1]) + 1, n]  # how many rows lie below each candidate
    positive_below = np.r_[0.0, np.cumsum(truth)][below]
    said, tp = n - below, positive - positive_below
    tn = below - positive_below
    chance = said * positive + below * (n - positive)
    with np.errstate(invalid="ignore", divide="ignore"):
        kappa = (n * (tp + tn) - chance) / (n * n - chance)
    kappa[~np.isfinite(kappa)] = 0.0
    best = np.flatnonzero(kappa >= kappa.max() - 1e-12)
    at = int(best[len(best) // 2])
    cut = int(below[at])
    if cut == 0:
        return -math.inf
    return math.inf if cut == n else float(values[cut - 1] + values[cut]) / 2


def cross_validated(pairs: Pairs, folds: int = FOLDS, seed: int = 0) -> CrossValidated:
    """Decisions at thresholds chosen on the other folds; a cluster is never split between folds."""
    fold = _folds(pairs, folds, seed)
    said, thresholds = np.zeros(pairs.n), []
    for number in range(int(fold.max(initial=0)) + 1):
        here = fold == number
        threshold = best_threshold(pairs.metric[~here], pairs.human[~here])
        thresholds.append(threshold)
        said[here] = decide(pairs.metric[here], threshold)
    return CrossValidated(said, tuple(thresholds), best_threshold(pairs.metric, pairs.human))


def _folds(pairs: Pairs, folds: int, seed: int) -> IntArray:
    """The fold of every row: clusters dealt out at random, those with positive labels first, so that all get some."""
    n = pairs.n_clusters
    shuffled = np.random.default_rng([seed, 3]).permutation(n)
    positive = np.bincount(pairs.cluster, weights=pairs.human, minlength=n)[shuffled] > 0
    dealt = np.concatenate([shuffled[positive], shuffled[~positive]])
    fold_of_cluster = np.empty(n, dtype=np.int64)
    fold_of_cluster[dealt] = np.arange(n) % max(2, min(folds, n))
    return fold_of_cluster[pairs.cluster]


def roc_curve(pairs: Pairs) -> Curve:
    """The ROC curve against binary human labels; Fawcett (2006), Pattern Recognition Letters 27, 861-874."""
    metric, truth = pairs.metric[::-1], pairs.human[::-1]
    last = np.r_[np.flatnonzero(metric[1:] != metric[:-1]), pairs.n - 1]
    tp, fp = np.cumsum(truth)[last], np.cumsum(1 - truth)[last]
    return Curve(
        np.r_[0.0, fp / max(1.0, (1 - truth).sum())],
        np.r_[0.0, tp / max(1.0, truth.sum())],
        np.r_[math.inf, metric[last]],
    )


def confusion(said: FloatArray, truth: FloatArray) -> dict[tuple[float, float], int]:
    """(human value, metric's value or decision) → how many rows."""
    cells, counts = np.unique(np.column_stack([truth, said]), axis=0, return_counts=True)
    return {(float(a), float(b)): int(n) for (a, b), n in zip(cells.tolist(), counts.tolist(), strict=True)}
