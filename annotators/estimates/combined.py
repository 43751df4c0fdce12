"""Several scores and judges combined into one prediction of the human value, each unit's by labels of others only.

Cross-prediction (Zrnic & Candès 2024, PNAS 121(15) e2322083121, eq. 3): the units are dealt out to folds, whole
clusters at a time, and what predicts a fold is fitted on the labels of the other folds. So the prediction of a unit
never saw its label, and labels need not be set aside for fitting.
"""

from __future__ import annotations

from dataclasses import dataclass

from annotators.arrays import BoolArray, FloatArray, IntArray, np

FOLDS = 10
FEWEST = 8
"""With fewer labels nothing is fitted: nothing could be told from noise."""
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)
"""Ridge penalties that are tried, in labels' worth."""
MUCH_MISSING = 0.02
SAME_ORDER = 0.97  # where a score and its ranks correlate so closely, the ranks add nothing


@dataclass(frozen=True, eq=False)
class Combined:
    """The prediction of every unit (N) less its mean within the stratum, which no estimate needs, and its fold (N).

    `used` is how often (0..1, over folds) each prediction had a part in it; all 0 says that none would have helped.
    `fitted` says whether there is any.
    """

    values: FloatArray
    fold: IntArray
    used: FloatArray

    @property
    def fitted(self) -> bool:
        """Whether anything is predicted."""
        return bool(self.used.any())


def combined(
    human: FloatArray,
    predictions: FloatArray,
    *,
    cluster: IntArray,
    stratum: IntArray,
    weights: FloatArray | None = None,
    seed: int = 0,
) -> Combined:
    """The cross-fitted combination of `predictions` (N × K, NaN: missing) for `human` (N, NaN: no label).

    Within the labels of the other folds ridge regressions (Hoerl & Kennard 1970, Technometrics 12, 55-67) on all
    predictions and on each alone compete with each other, and with none at all, by their error when each label is left
    out (Allen 1974, Technometrics 16, 125-127); none wins unless the best is better by a standard error of the
    difference. A missing prediction counts as the mean of the others of its column, with a column that says that it was
    missing. `weights` (N) are the labels' (one over their probability). `cluster` and `stratum` (N) are numbers from 0.
    """
    labelled = ~np.isnan(human)
    fold = _folds(labelled, cluster, seed)
    values, used = np.zeros(len(human)), np.zeros(predictions.shape[1])
    if labelled.sum() < FEWEST or not predictions.shape[1] or np.ptp(human[labelled]) == 0:
        return Combined(values, fold, used)
    features, owner = _features(predictions)
    if not features.shape[1]:
        return Combined(values, fold, used)
    weigh = np.ones(len(human)) if weights is None else weights
    n_folds = int(fold.max()) + 1
    for place in range(n_folds):
        train = labelled & (fold != place)
        if train.sum() < FEWEST - 1:
            continue
        slope = _fitted(features[train], human[train], weigh[train], owner)
        predicted = features @ slope
        middle = np.bincount(stratum, weights=predicted) / np.maximum(np.bincount(stratum), 1)
        here = fold == place
        values[here] = (predicted - middle[stratum])[here]
        there = np.zeros(len(used), dtype=np.bool_)
        there[owner[slope != 0]] = True
        used += there / n_folds
    return Combined(values, fold, used)


def _folds(labelled: BoolArray, cluster: IntArray, seed: int) -> IntArray:
    """A fold for every unit, the same for all of a cluster; clusters with labels are dealt out evenly."""
    n_clusters = int(cluster.max(initial=-1)) + 1
    with_labels = np.bincount(cluster[labelled], minlength=n_clusters) > 0
    n_folds = max(2, min(FOLDS, int(with_labels.sum())))
    order = np.random.default_rng([seed, 15]).permutation(n_clusters)
    order = order[np.argsort(~with_labels[order], kind="stable")]
    of_cluster = np.empty(n_clusters, dtype=np.int64)
    of_cluster[order] = np.arange(n_clusters) % n_folds
    found: IntArray = of_cluster[cluster]
    return found


def _features(predictions: FloatArray) -> tuple[FloatArray, IntArray]:
    """Standardised columns (N × F): each score, its ranks where they say something else, whether it is missing.

    With which prediction each is of (F).
    """
    columns, owner = list[FloatArray](), list[int]()
    for place in range(predictions.shape[1]):
        given = predictions[:, place]
        there = ~np.isnan(given)
        known = given[there]
        if not len(known) or np.ptp(known) == 0:
            made = []
        else:
            score = _standard(given, there)
            made = [score]
            _, inverse, counts = np.unique(known, return_inverse=True, return_counts=True)
            ranked = np.full(len(given), np.nan)
            ranked[there] = (np.cumsum(counts) - counts / 2)[inverse]
            ranks = _standard(ranked, there)
            if abs(float((ranks * score).mean())) < SAME_ORDER * float(there.mean()):
                made.append(ranks)
        if MUCH_MISSING < there.mean() < 1 - MUCH_MISSING:
            made.append(_standard(there.astype(np.float64), np.ones(len(there), dtype=np.bool_)))
        columns += made
        owner += [place] * len(made)
    return (np.stack(columns, axis=1) if columns else np.zeros((len(predictions), 0))), np.array(owner, dtype=np.int64)


def _standard(column: FloatArray, there: BoolArray) -> FloatArray:
    known = column[there]
    return np.where(there, (column - known.mean()) / (known.std() or 1.0), 0.0)


def _fitted(x: FloatArray, y: FloatArray, weights: FloatArray, owner: IntArray) -> FloatArray:
    """The slopes (F) of the best regression of y (n) on x (n × F); all 0 where none beats the mean."""
    w = weights / weights.mean()
    root = np.sqrt(w)
    mean_x, mean_y = (w @ x) / w.sum(), float(w @ y) / w.sum()
    centred, response = (x - mean_x) * root[:, None], (y - mean_y) * root
    share = w / w.sum()
    without = (response / (1 - share)) ** 2
    best, slopes = without, np.zeros(x.shape[1])
    choices = [np.arange(x.shape[1]), *(np.flatnonzero(owner == place) for place in np.unique(owner))]
    for chosen in choices if len(choices) > 2 else choices[:1]:
        u, s, vt = np.linalg.svd(centred[:, chosen], full_matrices=False)
        along = u.T @ response
        shrink = s**2 / (s**2 + np.array(PENALTIES)[:, None])  # penalties × columns: all of them in one pass
        leverage = shrink @ (u**2).T + share
        residual = response - (shrink * along) @ u.T
        errors = (residual / np.maximum(1 - leverage, 1e-3)) ** 2
        least = int(errors.sum(axis=1).argmin())
        if errors[least].sum() < best.sum():
            best = errors[least]
            slopes = np.zeros(x.shape[1])
            slopes[chosen] = vt.T @ ((s / (s**2 + PENALTIES[least])) * along)
    gain = without - best
    if gain.sum() <= np.sqrt(len(y)) * gain.std(ddof=1):
        return np.zeros(x.shape[1])
    return slopes
