"""Single units: where metric and people differ most, and whose label would tell most about the metric."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from annotators.alignment.tables.pairs import Pairs
from annotators.arrays import FloatArray
from annotators.errors import InvalidInput
from annotators.estimates.drawing import draw
from annotators.items.prioritised import UNIFORM

NEIGHBOURS = 15


@dataclass(frozen=True)
class UnitDifference:
    """One unit: what people and the metric say, and the metric less people on a common scale from 0 to 1."""

    unit: Hashable
    human: float
    metric: float
    difference: float


def differences(
    pairs: Pairs,
    *,
    scale: tuple[float, float] | None = None,
    metric_scale: tuple[float, float] | None = None,
    turned: bool = False,
) -> list[UnitDifference]:
    """The units by how far metric and people are apart, farthest first.

    Where both scales are known, values are put on 0..1 by their ends; else each is replaced by its percentile rank
    among these units (mean rank of ties), which tells only who ranks a unit higher. `turned` reads a metric of which
    little is good the other way round; a `metric_scale` is then given from its bad end (high) to its good end (low).
    """
    if not pairs.n:
        return []
    if scale is not None and metric_scale is not None and scale[0] != scale[1] and metric_scale[0] != metric_scale[1]:
        people = (pairs.human - scale[0]) / (scale[1] - scale[0])
        scores = (pairs.metric - metric_scale[0]) / (metric_scale[1] - metric_scale[0])
    else:
        people, scores = _percentiles(pairs.human), _percentiles(-pairs.metric if turned else pairs.metric)
    apart = scores - people
    order = sorted(range(pairs.n), key=lambda i: (-abs(apart[i]), str(pairs.units[i])))
    return [
        UnitDifference(pairs.units[i], float(pairs.human[i]), float(pairs.metric[i]), float(apart[i])) for i in order
    ]


@dataclass(frozen=True)
class LabelCandidate:
    """A unit without a label: how far metrics disagree on it, how little its score says, and both together (0..1)."""

    unit: Hashable
    disagreement: float
    uncertainty: float
    worth: float


def next_to_label(
    units: Sequence[Hashable],
    metrics: Mapping[str, Sequence[float | None] | FloatArray],
    *,
    labelled: Pairs | None = None,
    chosen: str | None = None,
    clusters: Sequence[Hashable] | None = None,
    most: int = 50,
) -> list[LabelCandidate]:
    """The unlabelled units whose label would tell most about the metrics, the most telling first, at most `most`.

    `metrics` gives each metric's scores of the units (None or NaN: unscored). *Disagreement* is the range of a unit's
    percentile ranks over the metrics (0..1), as in query by committee (Seung, Opper & Sompolinsky, 1992, COLT).
    *Uncertainty* is the spread of the human labels of the 15 labelled units whose score of the `chosen` metric is
    nearest in rank, in units of the largest spread possible (uncertainty sampling: Lewis & Gale, 1994, SIGIR); with
    fewer than 15 labelled units it is how near a score lies to the middle of the ranks. *Worth* is their mean; with a
    single metric, uncertainty alone. One unit of a cluster comes before second ones. Raises InvalidInput for scores
    that do not line up with the units or an unknown metric.
    """
    if not metrics or not units:
        return []
    chosen = chosen or next(iter(metrics))
    if chosen not in metrics:
        raise InvalidInput(f"metric {chosen!r} is not among {', '.join(metrics)}: choose one of them")
    table = []
    for name, scores in metrics.items():
        column = np.array([np.nan if score is None else float(score) for score in scores], dtype=np.float64)
        if len(column) != len(units):
            raise InvalidInput(f"{len(column)} scores of {name!r} for {len(units)} units: give one for every unit")
        table.append(_percentiles(column))
    ranks = np.stack(table)
    scored = ~np.isnan(ranks)
    highest = np.where(scored, ranks, -np.inf).max(axis=0)
    lowest = np.where(scored, ranks, np.inf).min(axis=0)
    disagreement = np.where(scored.sum(axis=0) > 1, highest - lowest, 0.0)
    column = np.array([np.nan if score is None else float(score) for score in metrics[chosen]], dtype=np.float64)
    uncertainty = _uncertainty(column, ranks[list(metrics).index(chosen)], labelled)
    worth = (disagreement + uncertainty) / 2 if len(metrics) > 1 else uncertainty
    order = sorted(np.flatnonzero(scored.any(axis=0)).tolist(), key=lambda i: (-worth[i], str(units[i])))
    seen: dict[Hashable, int] = {}
    turns = []
    for i in order:
        key = clusters[i] if clusters is not None else ("unit", i)
        turns.append(seen.get(key, 0))
        seen[key] = turns[-1] + 1
    ordered = [i for _, i in sorted(zip(turns, order, strict=True), key=lambda entry: entry[0])]
    return [
        LabelCandidate(units[i], float(disagreement[i]), float(uncertainty[i]), float(worth[i])) for i in ordered[:most]
    ]


@dataclass(frozen=True)
class DrawnUnit:
    """A unit that was drawn to be labelled, and the probability (0..1) with which it could have been."""

    unit: Hashable
    probability: float


def draw_to_label(candidates: Sequence[LabelCandidate], n: int, *, seed: int = 0) -> list[DrawnUnit]:
    """n units drawn at random, those with more worth more often, each with a known inclusion probability.

    Labels of the units that look most telling are not a sample of anything: a mean of them misses the truth however
    many there are. See `annotators.estimates.drawing.draw`, which raises InvalidInput as it says.
    """
    worth = np.array([candidate.worth for candidate in candidates], dtype=np.float64)
    chosen, chance = draw(worth, n, seed=seed, uniform=UNIFORM)
    return [
        DrawnUnit(candidates[i].unit, probability)
        for i, probability in zip(chosen.tolist(), chance.tolist(), strict=True)
    ]


def _percentiles(column: FloatArray) -> FloatArray:
    """Mean ranks on 0..1, NaN where there is no value; a constant column is 0.5 throughout."""
    found = np.full(len(column), np.nan)
    there = ~np.isnan(column)
    n = int(there.sum())
    if n:
        found[there] = (stats.rankdata(column[there]) - 0.5) / n
    return found


def _uncertainty(scores: FloatArray, ranks: FloatArray, labelled: Pairs | None) -> FloatArray:
    """How little a score says about the label (0..1); 0.5 where there is no score."""
    if labelled is None or labelled.n < NEIGHBOURS or np.ptp(labelled.human) == 0:
        return np.where(np.isnan(ranks), 0.5, 1 - np.abs(2 * ranks - 1))
    # Rows are sorted by metric; those of one score stand for each other, else the order of ties would count.
    metric = labelled.metric
    _, place, sizes = np.unique(metric, return_inverse=True, return_counts=True)
    human, squared = (
        (np.bincount(place, weights=values) / sizes)[place] for values in (labelled.human, labelled.human**2)
    )
    middle = np.searchsorted(metric, scores, side="left") + np.searchsorted(metric, scores, side="right")
    start = np.clip(middle // 2 - NEIGHBOURS // 2, 0, labelled.n - NEIGHBOURS)
    sums, squares = np.r_[0.0, np.cumsum(human)], np.r_[0.0, np.cumsum(squared)]
    mean = (sums[start + NEIGHBOURS] - sums[start]) / NEIGHBOURS
    variance = np.maximum((squares[start + NEIGHBOURS] - squares[start]) / NEIGHBOURS - mean**2, 0)
    spread = np.minimum(2 * np.sqrt(variance) / np.ptp(labelled.human), 1.0)
    return np.where(np.isnan(scores), 0.5, spread)
