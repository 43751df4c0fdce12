"""The coefficients of alignment as formulas over rows and how often each of many samples holds each row.

Every function takes `weights` (R × B): how often each of R rows occurs in each of B samples; the data as they are is
one such column. It returns B values (or S × B), NaN where the coefficient is not defined for a sample. A resample with
repeated rows is the sample with these weights, exactly: equal rows are ties. Samples lie side by side, so that every
step is one operation on all of them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotators.agreement.table import FloatArray, IntArray

NOTHING = 1e-12  # a variance below this share of the data's own is rounding
MATRIX_ROWS = 4_000  # up to so many rows all pairs are compared at once (64 MB)
FEW_LEVELS = 24  # up to so many values of one of the two, the rows of each are taken together
PAIRS_ARE_QUICK = 1_000  # up to so many rows comparing all pairs is as quick


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

    def sums(self, weights: FloatArray) -> FloatArray:
        """The weight of every value (K × B)."""
        if len(self.values) <= FEW_LEVELS and len(self.values) < len(weights):
            few: FloatArray = (self.code == np.arange(len(self.values))[:, None]).astype(np.float64) @ weights
            return few
        ordered = weights if self.order is None else weights[self.order]
        if len(self.values) == len(weights):
            return ordered
        sums: FloatArray = np.add.reduceat(ordered, self.starts, axis=0)
        return sums


def pearson(x: FloatArray, y: FloatArray, weights: FloatArray) -> FloatArray:
    """Pearson's r (B), -1..1. NaN when one of the two is constant in a sample."""
    x, y = _standard(x), _standard(y)
    n, sx, sy, sxx, syy, sxy = np.stack([np.ones_like(x), x, y, x * x, y * y, x * y]) @ weights
    with np.errstate(invalid="ignore", divide="ignore"):
        vx, vy = sxx - sx * sx / n, syy - sy * sy / n
        found = (sxy - sx * sy / n) / np.sqrt(np.maximum(vx, 0) * np.maximum(vy, 0))
    found[(vx <= NOTHING * n) | (vy <= NOTHING * n)] = np.nan
    return _bounded(found)


def spearman(x: Levels, y: Levels, weights: FloatArray) -> FloatArray:
    """Spearman's ρ (B), -1..1: Pearson's r of the ranks, ties sharing their mean rank.

    Spearman (1904), American Journal of Psychology 15, 72-101. Ranks are those within each sample.
    """
    if len(x.values) < len(y.values):
        x, y = y, x
    n = weights.sum(axis=0)
    ranks_x, cubes_x = _centred_ranks(x, weights, n)
    ranks_y, cubes_y = _centred_ranks(y, weights, n)
    covariance = np.einsum("kb,kb->b", x.sums(ranks_y[y.code] * weights), ranks_x)
    vx, vy = (n**3 - cubes_x) / 12, (n**3 - cubes_y) / 12
    return _bounded(_ratio(covariance, np.sqrt(np.maximum(vx, 0) * np.maximum(vy, 0))))


@dataclass(frozen=True, eq=False)
class Tau:
    """Two columns made ready for Kendall's τ of many samples: `x` has no more values than `y`.

    `signs` (R × R) says of every pair of rows whether it is concordant (1), discordant (-1) or tied (0); None where
    there are many rows and `x` has so few values that it is quicker to go through those.
    """

    x: Levels
    y: Levels
    signs: npt.NDArray[np.float32] | None

    @classmethod
    def of(cls, x: Levels, y: Levels) -> Tau:
        """Make it ready; see `can_resample_tau` for how large the columns may be."""
        if len(x.values) > len(y.values):
            x, y = y, x
        if len(x.values) <= FEW_LEVELS and len(x.code) > PAIRS_ARE_QUICK:
            return cls(x, y, None)
        signs = np.sign(x.code[:, None] - x.code) * np.sign(y.code[:, None] - y.code)
        return cls(x, y, signs.astype(np.float32))


def kendall_tau_b(tau: Tau, weights: FloatArray) -> FloatArray:
    """Kendall's τ-b (B), -1..1: (C - D) / √((n₀ - n₁)(n₀ - n₂)) over all pairs of rows, ties taken out.

    Kendall (1945), Biometrika 33, 239-251.
    """
    n = weights.sum(axis=0)
    counts_x, counts_y = tau.x.sums(weights), tau.y.sums(weights)
    untied_x = n * n - np.einsum("kb,kb->b", counts_x, counts_x)
    untied_y = n * n - np.einsum("kb,kb->b", counts_y, counts_y)
    concordance = _by_levels(tau.x, tau.y, weights) if tau.signs is None else _by_pairs(tau.signs, weights)
    return _bounded(_ratio(concordance, np.sqrt(np.maximum(untied_x, 0) * np.maximum(untied_y, 0))))


def can_resample_tau(x: Levels, y: Levels) -> bool:
    """Whether τ of many samples is worked out in reasonable time and memory."""
    return len(x.code) <= MATRIX_ROWS or min(len(x.values), len(y.values)) <= FEW_LEVELS


def auroc(score: Levels, positive: FloatArray, weights: FloatArray) -> FloatArray:
    """Area under the ROC curve (B), 0..1: how often a positive row scores above a negative one, ties by half.

    `positive` (R) is 1 or 0. Mann & Whitney (1947), Annals of Mathematical Statistics 18, 50-60; Hanley & McNeil
    (1982), Radiology 143, 29-36. NaN when a sample holds only one of the two.
    """
    everything = score.sums(weights)
    above = score.sums(weights * positive[:, None])
    below = everything - above
    wins = np.einsum("kb,kb->b", above, np.cumsum(below, axis=0) - below / 2)
    return _ratio(wins, above.sum(axis=0) * below.sum(axis=0))


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
            _ratio(tp + tn, n),
            _ratio(tp, tp + fp),
            _ratio(tp, tp + fn),
            _ratio(2 * tp, 2 * tp + fp + fn),
            _ratio(n * (tp + tn) - chance, n * n - chance),
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
    return np.stack([_ratio(same, n), _ratio(n * same - chance, n * n - chance), 1 - _ratio(distance, expected)])


def _standard(column: FloatArray) -> FloatArray:
    spread = column.std() if len(column) else 0.0
    return (column - column.mean()) / spread if spread > 0 else np.zeros_like(column)


def _centred_ranks(levels: Levels, weights: FloatArray, n: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mid-ranks of every value less their mean (K × B), and Σ t³ over the ties (B)."""
    counts = levels.sums(weights)
    ranks = np.cumsum(counts, axis=0)
    ranks -= counts * 0.5
    ranks -= n * 0.5
    return ranks, np.einsum("kb,kb,kb->b", counts, counts, counts)


def _by_levels(x: Levels, y: Levels, weights: FloatArray) -> FloatArray:
    """2 (C - D) (B): the rows of each level of x against all rows of lower levels, which are counted up along y."""
    total = np.zeros(weights.shape[1])
    lower = np.zeros((len(y.values), weights.shape[1]))
    for level in range(len(x.values)):
        rows = np.flatnonzero(x.code == level)
        rows = rows[np.argsort(y.code[rows], kind="stable")]
        places, starts = np.unique(y.code[rows], return_index=True)
        here = weights[rows] if len(places) == len(rows) else np.add.reduceat(weights[rows], starts, axis=0)
        if level:
            running = np.cumsum(lower, axis=0)
            total += np.einsum("kb,kb->b", here, 2 * running[places] - lower[places])
            total -= here.sum(axis=0) * running[-1]
        lower[places] += here
    return 2 * total


def _by_pairs(signs: npt.NDArray[np.float32], weights: FloatArray) -> FloatArray:
    """2 (C - D) (B): wᵀ S w. S w is a sum of whole numbers below 2²⁴, which single precision holds exactly."""
    found: FloatArray = np.einsum("rb,rb->b", weights, (signs @ weights.astype(np.float32)).astype(np.float64))
    return found


def _ratio(above: FloatArray, below: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore", divide="ignore"):
        found = np.asarray(above / below, dtype=np.float64)
    found[below == 0] = np.nan
    return found


def _bounded(values: FloatArray) -> FloatArray:
    """Correlations without what rounding leaves beyond ±1."""
    return np.clip(values, -1.0, 1.0)
