"""Does seeing a score first pull people towards it: grades with the score at once, against grades after a blind one."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval

EFFECT = declare("anchoring_effect", "Anchoring effect")
BLIND_DISTANCE = declare("blind_distance", "Blind judgement to score, mean distance")
YIELDING = declare("yielding", "Agreed with a score unlike the blind judgement")
AGREES = 4.0
"""The grade from which a person agrees with a score, on the scale from 1 to 5."""


def anchoring_effect(
    seen_first: Mapping[Any, float],
    blind_first: Mapping[Any, float],
    asked: Resampling | None = None,
    *,
    clusters: Mapping[Any, Hashable] | None = None,
    **about: Any,
) -> Aligned:
    """Mean grade where the score was seen first, less that where people judged blind first.

    Both are unit → mean grade of agreement with the score. Above 0, people agree more with a score that they saw before
    they made up their mind. Units that both arms graded are compared in pairs, with a bootstrap over them or their
    `clusters`; without three such units the means of the two arms are compared by Welch's t interval.
    """
    asked = asked or Resampling()
    keys = clusters or {}
    shared = sorted(seen_first.keys() & blind_first.keys(), key=str)
    if len(shared) >= 3:
        differences = [seen_first[unit] - blind_first[unit] for unit in shared]
        owners = [keys.get(unit, ("unit", unit)) for unit in shared]
        rows = Pairs.of(differences, np.zeros(len(shared)), clusters=owners, binary=False)
        sample = DrawnRows.of([rows.human], rows.cluster)
        values = sample.columns[:, 0]
        found = sample.resampled(lambda weights: (values @ weights) / weights.sum(axis=0), asked)
        return EFFECT.measured(EFFECT.about(len(shared), **about), found, 0, asked, note="paired by unit")
    a, b = (np.array(list(arm.values()), dtype=np.float64) for arm in (seen_first, blind_first))
    if min(len(a), len(b)) < 2:
        reason = f"{len(a)} units with the score seen first and {len(b)} judged blind first: each needs two"
        return EFFECT.without_value(reason, len(a) + len(b), **about)
    difference = float(a.mean() - b.mean())
    variances = (a.var(ddof=1) / len(a), b.var(ddof=1) / len(b))
    about_it = replace(EFFECT.about(len(a) + len(b), **about), value=difference)
    if sum(variances) == 0:
        method = "difference of the arms' means; no interval: all grades of each arm are equal"
        return replace(about_it, method=method)
    freedom = sum(variances) ** 2 / sum(
        variance**2 / (len(arm) - 1) for variance, arm in zip(variances, (a, b), strict=True)
    )
    reach = float(stats.t.ppf((1 + asked.level) / 2, freedom) * np.sqrt(sum(variances)))
    made = Interval(difference - reach, difference + reach, "Welch's t", asked.level, freedom=freedom)
    method = f"difference of the arms' means, Welch's t interval, {100 * asked.level:g} %"
    return replace(about_it, interval=made, method=method)


def yielding(
    blind: Mapping[Any, float],
    score: Mapping[Any, float],
    grade: Mapping[Any, float],
    asked: Resampling | None = None,
    *,
    apart: float = 0.25,
    clusters: Mapping[Any, Hashable] | None = None,
    **about: Any,
) -> list[Aligned]:
    """Within the blind arm: how far the blind judgement was from the score, and who agreed with the score even so.

    All are judgement (a unit and person) → value; `blind` and `score` on 0..1, `grade` the agreement given after the
    score was shown, 1 to 5. `blind_distance` is the mean distance of blind judgement and score; `yielding` the share of
    the judgements at least `apart` from the score that agree with it (4 or 5) once they see it.
    """
    asked = asked or Resampling()
    keys, shared = clusters or {}, sorted(blind.keys() & score.keys(), key=str)
    if len(shared) < 3:
        reason = f"{len(shared)} blind judgements of units with a score; at least 3 are needed"
        return [statistic.without_value(reason, len(shared), **about) for statistic in (BLIND_DISTANCE, YIELDING)]
    distance = np.array([abs(blind[judgement] - score[judgement]) for judgement in shared])
    far = np.array(
        [float(judgement in grade and gap >= apart - 1e-9) for judgement, gap in zip(shared, distance, strict=True)]
    )
    agrees = np.array([float(grade.get(judgement, 0.0) >= AGREES) for judgement in shared]) * far
    place: dict[Hashable, int] = {}
    cluster = np.array([place.setdefault(keys.get(judgement, ("row", judgement)), len(place)) for judgement in shared])
    sample = DrawnRows.of([distance, far, agrees], cluster)
    columns = sample.columns.T

    def together(weights: FloatArray) -> FloatArray:
        apart_by, n_far, n_agree = columns @ weights
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.stack([apart_by / weights.sum(axis=0), n_agree / n_far])

    found = sample.resampled(together, asked)
    why = f"no blind judgement was {apart:g} or more from its score"
    said = (
        (BLIND_DISTANCE, len(shared), "mean distance of blind judgement and score"),
        (YIELDING, int(far.sum()), f"of judgements at least {apart:g} from the score"),
    )
    return [
        statistic.measured(statistic.about(n, **about), found, place, asked, note=note, undefined=why)
        for place, (statistic, n, note) in enumerate(said)
    ]
