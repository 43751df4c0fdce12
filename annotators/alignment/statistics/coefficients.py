"""The coefficients of alignment as formulas over rows and how often each of many samples holds each row.

Every function takes `weights` (R × B): how often each of R rows occurs in each of B samples; the data as they are is
one such column. It returns B values (or S × B), NaN where the coefficient is not defined for a sample. A resample with
repeated rows is the sample with these weights, exactly: equal rows are ties. Samples lie side by side, so that every
step is one operation on all of them.
"""

from __future__ import annotations

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.levels import Counts, Levels, bounded, centred_ranks, dot, whole
from annotators.arrays import FloatArray, ratio

PEARSON = declare("pearson", "Pearson's r")
SPEARMAN = declare("spearman", "Spearman's ρ")
KENDALL = declare("kendall_tau_b", "Kendall's τ-b")
AUROC = declare("auroc", "AUROC")
ACCURACY = declare("accuracy", "Accuracy")
PRECISION = declare("precision", "Precision", "the metric never decides for the positive label (0/0)")
RECALL = declare("recall", "Recall", "people never gave the positive label (0/0)")
F1 = declare("f1", "F1", "neither people nor the metric ever gave the positive label (0/0)")
KAPPA = declare("cohen_kappa", "Cohen's κ", "people and the metric gave one and the same label throughout (0/0)")
QUADRATIC_KAPPA = declare("cohen_kappa_quadratic", "Cohen's κ (quadratic)")
DECISIONS = (ACCURACY, PRECISION, RECALL, F1, KAPPA)
"""What `decisions` gives, in its order."""

NOTHING = 1e-12  # a variance below this share of the data's own is rounding


def pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Pearson's r (B), -1..1. NaN when one of the two is constant in a sample."""
    x, y = _standard(x), _standard(y)
    n, sx, sy, sxx, syy, sxy = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y]) @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = sxx - sx * sx / n, syy - sy * sy / n
        found = (sxy - sx * sy / n) / np.sqrt(np.maximum(vx, 0) * np.maximum(vy, 0))
    found[(vx <= NOTHING * n) | (vy <= NOTHING * n)] = np.nan
    return bounded(found)


def spearman(x: Levels, y: Levels, weights: FloatArray) -> FloatArray:
    """Spearman's ρ (B), -1..1: Pearson's r of the ranks, ties sharing their mean rank.

    Spearman (1904), American Journal of Psychology 15, 72-101. Ranks are those within each sample.
    """
    n = weights.sum(axis=0)
    counts = whole(weights, n)
    of_x, of_y = x.sums(counts), y.sums(counts)
    ranks_x, ranks_y = x.of_rows(centred_ranks(of_x, n)), y.of_rows(centred_ranks(of_y, n))
    covariance = np.einsum("rb,rb,rb->b", counts, ranks_x, ranks_y, dtype=np.float64) / 4
    vx = (n**3 - _cubes(weights if x.all_differ else of_x)) / 12
    vy = vx if x.all_differ and y.all_differ else (n**3 - _cubes(weights if y.all_differ else of_y)) / 12
    return bounded(ratio(covariance, np.sqrt(np.maximum(vx, 0) * np.maximum(vy, 0)), cut=False))


def _cubes(counts: Counts) -> FloatArray:
    """Σ t³ over the ties of every sample (B)."""
    found: FloatArray = np.einsum("kb,kb,kb->b", counts, counts, counts, dtype=np.float64)
    return found


def auroc(score: Levels, positive: FloatArray, weights: FloatArray) -> FloatArray:
    """Area under the ROC curve (B), 0..1: how often a positive row scores above a negative one, ties by half.

    `positive` (R) is 1 or 0. Mann & Whitney (1947), Annals of Mathematical Statistics 18, 50-60; Hanley & McNeil
    (1982), Radiology 143, 29-36. NaN when a sample holds only one of the two.
    """
    n = weights.sum(axis=0)
    counts = whole(weights, n)
    above = score.sums(counts * positive[:, None].astype(counts.dtype))
    below = score.sums(counts) - above
    twice_below = centred_ranks(below, np.zeros_like(n))
    n_above = positive @ weights
    return ratio(dot(above, twice_below, 2 * n.max() ** 2) / 2, n_above * (n - n_above), cut=False)


def decisions(said: FloatArray, truth: FloatArray, weights: FloatArray) -> FloatArray:
    """Accuracy, precision, recall, F1 and Cohen's κ of yes-no decisions (5 × B).

    `said` and `truth` (R) are 1 or 0. Precision is NaN without a positive decision, recall without a positive truth, F1
    = 2 TP / (2 TP + FP + FN) without either, κ when both are one and the same constant. van Rijsbergen (1979),
    Information Retrieval, chapter 7; Cohen (1960), Educational and Psychological Measurement 20, 37-46.
    """
    cells = np.stack([said * truth, said * (1 - truth), (1 - said) * truth, (1 - said) * (1 - truth)])
    tp, fp, fn, tn = cells @ weights
    n = tp + fp + fn + tn
    chance = (tp + fp) * (tp + fn) + (fn + tn) * (fp + tn)
    return np.stack(
        [
            ratio(tp + tn, n, cut=False),
            ratio(tp, tp + fp, cut=False),
            ratio(tp, tp + fn, cut=False),
            ratio(2 * tp, 2 * tp + fp + fn, cut=False),
            ratio(n * (tp + tn) - chance, n * n - chance, cut=False),
        ]
    )


def label_agreement(given: FloatArray, truth: FloatArray, weights: FloatArray) -> FloatArray:
    """Share of equal labels, Cohen's κ and quadratically weighted κ (3 × B) of two columns with the same labels.

    Quadratic weights go by the distance of the numbers: Cohen (1968), Psychological Bulletin 70, 213-220.
    """
    labels = np.union1d(given, truth)[:, None]
    left, right = (given == labels).astype(np.float64) @ weights, (truth == labels).astype(np.float64) @ weights
    n, same = weights.sum(axis=0), (given == truth).astype(np.float64) @ weights
    chance = (left * right).sum(axis=0)
    a, b, squares, distance = np.stack([given, truth, given**2 + truth**2, (given - truth) ** 2]) @ weights
    expected = squares - 2 * a * b / np.maximum(n, 1)
    expected[expected <= NOTHING * np.maximum(n, 1)] = 0.0
    return np.stack(
        [
            ratio(same, n, cut=False),
            ratio(n * same - chance, n * n - chance, cut=False),
            1 - ratio(distance, expected, cut=False),
        ]
    )


def _standard(column: FloatArray) -> FloatArray:
    spread = column.std() if len(column) else 0.0
    return (column - column.mean()) / spread if spread > 0 else np.zeros_like(column)
