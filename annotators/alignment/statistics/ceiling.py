"""The human ceiling: how well one person goes with the rest, and the metric with the same rest on the same units."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from annotators.alignment.statistics import coefficients
from annotators.alignment.statistics.base import derived
from annotators.alignment.statistics.concordance import Tau, can_resample_tau, kendall_tau_b
from annotators.alignment.statistics.thresholds import decide
from annotators.alignment.tables.labels import Labels, People, clusters_of, first_seen
from annotators.alignment.tables.levels import Levels, kinds
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, IntArray
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

NUMBERS = (coefficients.PEARSON, coefficients.SPEARMAN, coefficients.KENDALL)
LABELS = (coefficients.ACCURACY, coefficients.KAPPA)
CEILING = {of: derived("human_ceiling_{}", "Human ceiling, {}", of) for of in (*NUMBERS, *LABELS)}
TO_REST = {of: derived("metric_to_rest_{}", "Metric to the rest, {}", of) for of in (*NUMBERS, *LABELS)}
FEWEST = 3  # units that a person shares with others

BoolArray = npt.NDArray[np.bool_]
Formula = Callable[[FloatArray], FloatArray]


def human_ceiling(
    people: People | Labels,
    metric: Mapping[Any, float] | None = None,
    asked: Resampling | None = None,
    *,
    binary: bool = False,
    threshold: float | None = 0.5,
    clusters: Mapping[Any, Hashable] | IntArray | None = None,
    criterion: str | None = None,
    metric_name: str | None = None,
) -> list[Aligned]:
    """`human_ceiling_S`: statistic S of one person against the rest, the mean over people; n is the number of people.

    `people` is person → unit → label as a number. The rest is the mean of the other people's labels of a unit; for
    `binary` labels their majority; units on which they split evenly are left out. S is Pearson's r, Spearman's ρ and
    Kendall's τ-b, for binary labels accuracy and Cohen's κ. With a `metric` (unit → score) also `metric_to_rest_S`: the
    metric (its decision at `threshold`, for binary labels) against the very same rests on the same units, so that the
    two can be compared; a metric compared with the mean of all people would have the easier task. Units or `clusters`
    (unit → cluster) are resampled, and people are not: it is about these people.
    """
    asked = asked or Resampling()
    measured = LABELS if binary else NUMBERS
    about: dict[str, Any] = {"criterion": criterion}
    wanted = [(CEILING[of], about) for of in measured]
    scored = metric is not None and not (binary and threshold is None)
    if scored:
        wanted += [(TO_REST[of], {**about, "metric": metric_name}) for of in measured]
    labels = Labels.of(people)
    scores = labels.of_units(metric or {})
    counted = ~np.isnan(scores) if scored else np.ones(len(scores), dtype=np.bool_)
    seats = _seats(labels, counted, binary=binary)
    if len(seats) < 2:
        reason = "no two people labelled three of the same units"
        return [statistic.without_value(reason, len(seats), **entry) for statistic, entry in wanted]
    if scored and binary and threshold is not None:
        scores = decide(scores, threshold)
    cluster = clusters_of(labels.units, clusters)
    used = np.flatnonzero(counted)
    # Rows stay apart (their number is a column), because each person's rest is looked up by row.
    sample = DrawnRows.of([np.arange(len(used), dtype=np.float64)], first_seen(cluster[used]))
    row_of_unit = np.empty(len(labels.units), dtype=np.int64)
    row_of_unit[used[sample.columns[:, 0].astype(np.int64)]] = np.arange(len(used))
    rows = [row_of_unit[seat.units] for seat in seats]

    def formulas_of(given: list[FloatArray]) -> list[Formula]:
        parts = zip(rows, given, seats, strict=True)
        return [_formula(at, column, seat.rest, len(used), binary=binary) for at, column, seat in parts]

    formulas = formulas_of([seat.own for seat in seats])
    to_rest = formulas_of([scores[seat.units] for seat in seats]) if scored else []

    def together(weights: FloatArray) -> FloatArray:
        found = [_mean([formula(weights) for formula in formulas])]
        if scored:
            found.append(_mean([formula(weights) for formula in to_rest]))
        return np.concatenate(found)

    resampled = sample.resampled(together, asked)
    note = f"mean over {len(seats)} people, each against the rest, {_span(seats)} units each"
    why = "nobody, or nobody else, tells any unit from another (0/0)"
    return [
        statistic.measured(statistic.about(len(seats), **entry), resampled, place, asked, note=note, undefined=why)
        for place, (statistic, entry) in enumerate(wanted)
    ]


@dataclass(frozen=True, eq=False)
class _Seat:
    """One person: the units (places) that others labelled too, what the person and what the rest gave them."""

    units: IntArray
    own: FloatArray
    rest: FloatArray


def _seats(labels: Labels, counted: BoolArray, *, binary: bool) -> list[_Seat]:
    """Everybody, by name, with at least three units (of those `counted`, U) that others labelled, too."""
    rest = labels.beside(labels.value, lambda _, others: others.mean(axis=-1))
    there = (labels.others > 0) & counted[labels.unit]
    if binary:
        there &= rest != 0.5
        rest = (rest > 0.5).astype(np.float64)
    found = []
    for place in sorted(range(len(labels.people)), key=lambda person: str(labels.people[person])):
        rows = np.flatnonzero(there & (labels.person == place))
        if len(rows) >= FEWEST:
            found.append(_Seat(labels.unit[rows], labels.value[rows], rest[rows]))
    return found


def _formula(at: IntArray, given: FloatArray, rest: FloatArray, n_rows: int, *, binary: bool) -> Formula:
    """The statistics (S × B) of one column against the rest, from weights of all rows, of which these are `at`.

    Rows on which both are the same are one with the sum of their weights: they are ties anyway.
    """
    left, right, code = kinds(given, rest)
    held: Any = sparse.csr_array((np.ones(len(at)), (code, at)), shape=(len(left), n_rows))
    if binary:
        return lambda weights: coefficients.decisions(left, right, held @ weights)[[0, 4]]
    x, y = Levels.of(left), Levels.of(right)
    tau = Tau.of(x, y) if can_resample_tau(x, y) else None

    def numbers(weights: FloatArray) -> FloatArray:
        mine = held @ weights
        kendall = np.full(mine.shape[1], np.nan) if tau is None else kendall_tau_b(tau, mine)
        return np.stack([coefficients.pearson(left, right, mine), coefficients.spearman(x, y, mine), kendall])

    return numbers


def _mean(found: list[FloatArray]) -> FloatArray:
    """The mean over people (S × B) of those for whom the statistic is defined in the sample."""
    stacked = np.stack(found)
    there = ~np.isnan(stacked)
    with np.errstate(invalid="ignore", divide="ignore"):
        mean: FloatArray = np.where(there, stacked, 0.0).sum(axis=0) / there.sum(axis=0)
    return mean


def _span(seats: list[_Seat]) -> str:
    sizes = sorted(len(seat.units) for seat in seats)
    return f"{sizes[0]:,}" if sizes[0] == sizes[-1] else f"{sizes[0]:,} to {sizes[-1]:,}"
