"""The human ceiling: how well one person goes with the rest, and the metric with the same rest on the same units."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from annotators.agreement.table import FloatArray, IntArray
from annotators.alignment import coefficients
from annotators.alignment.concordance import Tau, can_resample_tau, kendall_tau_b
from annotators.alignment.levels import Levels
from annotators.alignment.resampling import Resampling, Sample, with_interval
from annotators.alignment.result import Aligned, undefined
from annotators.alignment.thresholds import decide

NUMBERS = ("pearson", "spearman", "kendall_tau_b")
LABELS = ("accuracy", "cohen_kappa")
People = Mapping[Any, Mapping[Any, float]]


def human_ceiling(
    people: People,
    metric: Mapping[Any, float] | None = None,
    asked: Resampling | None = None,
    *,
    binary: bool = False,
    threshold: float | None = 0.5,
    clusters: Mapping[Any, Hashable] | None = None,
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
    names = LABELS if binary else NUMBERS
    about: dict[str, Any] = {"criterion": criterion}
    wanted = [(f"human_ceiling_{name}", about) for name in names]
    scored = metric is not None and not (binary and threshold is None)
    if scored:
        wanted += [(f"metric_to_rest_{name}", {**about, "metric": metric_name}) for name in names]
    units = sorted(
        {unit for given in people.values() for unit in given if not scored or unit in (metric or {})}, key=str
    )
    seats = [seat for name in sorted(people, key=str) if (seat := _seat(name, people, units, binary)) is not None]
    if len(seats) < 2:
        reason = "no two people labelled three of the same units"
        return [undefined(name, reason, len(seats), **entry) for name, entry in wanted]
    scores = np.array([(metric or {}).get(unit, np.nan) for unit in units])
    if scored and binary and threshold is not None:
        scores = decide(scores, threshold)
    place: dict[Hashable, int] = {}
    keys = clusters or {}
    cluster = np.array([place.setdefault(keys.get(unit, ("unit", unit)), len(place)) for unit in units])
    # Rows stay apart (their number is a column), because each person's rest is looked up by row.
    sample = Sample.of([np.arange(len(units), dtype=np.float64)], cluster)
    at = sample.columns[:, 0].astype(np.int64)
    row_of_unit = np.empty(len(units), dtype=np.int64)
    row_of_unit[at] = np.arange(len(at))
    formulas = [_formula(seat.own, seat.rest, binary=binary) for seat in seats]
    if scored:
        to_rest = [_formula(scores[seat.units], seat.rest, binary=binary) for seat in seats]

    def together(weights: FloatArray) -> FloatArray:
        parts = [weights[row_of_unit[seat.units]] for seat in seats]
        found = [_mean([formula(part) for formula, part in zip(formulas, parts, strict=True)])]
        if scored:
            found.append(_mean([formula(part) for formula, part in zip(to_rest, parts, strict=True)]))
        return np.concatenate(found)

    resampled = sample.resampled(together, asked)
    note = f"mean over {len(seats)} people, each against the rest, {_span(seats)} units each"
    nan = "nobody, or nobody else, tells any unit from another (0/0)"
    entries = [Aligned(name, None, None, None, None, len(seats), None, **entry) for name, entry in wanted]
    return [with_interval(entry, resampled, i, asked, note=note, nan=nan) for i, entry in enumerate(entries)]


@dataclass(frozen=True, eq=False)
class _Seat:
    """One person: the units (places) that others labelled too, what the person and what the rest gave them."""

    units: IntArray
    own: FloatArray
    rest: FloatArray


def _seat(name: Hashable, people: People, units: list[Hashable], binary: bool) -> _Seat | None:
    places, own, rest = [], [], []
    for place, unit in enumerate(units):
        if unit not in people[name]:
            continue
        others = [given[unit] for other, given in people.items() if other != name and unit in given]
        if not others:
            continue
        mean = float(np.mean(others))
        if binary:
            if mean == 0.5:
                continue
            mean = float(mean > 0.5)
        places.append(place)
        own.append(people[name][unit])
        rest.append(mean)
    if len(places) < 3:
        return None
    return _Seat(np.array(places, dtype=np.int64), np.array(own, dtype=np.float64), np.array(rest, dtype=np.float64))


def _formula(given: FloatArray, rest: FloatArray, *, binary: bool) -> Any:
    """The statistics (S × B) of one column against the rest, from weights of the rows."""
    if binary:
        return lambda weights: coefficients.decisions(given, rest, weights)[[0, 4]]
    x, y = Levels.of(given), Levels.of(rest)
    tau = Tau.of(x, y) if can_resample_tau(x, y) else None

    def numbers(weights: FloatArray) -> FloatArray:
        kendall = np.full(weights.shape[1], np.nan) if tau is None else kendall_tau_b(tau, weights)
        return np.stack([coefficients.pearson(given, rest, weights), coefficients.spearman(x, y, weights), kendall])

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
