"""Do metric and people rank the systems alike: Kendall's τ of the systems' means, and how many pairs agree."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampled, Resampling
from annotators.intervals.result import OUTER, Aligned, Interval

RANKED_ALIKE = declare(
    "system_kendall_tau_b", "Systems: Kendall's τ-b", "people or the metric give all systems the same mean"
)
PAIRS_ALIKE = declare("system_pairwise_accuracy", "Systems: pairwise accuracy", "people give all systems the same mean")
RANKING = (RANKED_ALIKE, PAIRS_ALIKE)
ROUNDING = 1e-9
TOLD_APART = 0.5
"""The share of the pairs of systems that must be told apart: in simulations with fewer 82 to 94 % of the intervals
covered, with more 95 to 99 % (3 to 20 systems, 20 to 300 questions: docs/statistics.md)."""


@dataclass(frozen=True)
class SystemMeans:
    """One system: how many rows it has, and the means of the human labels and of the metric over them."""

    system: str
    n: int
    human: float
    metric: float


def system_means(pairs: Pairs) -> list[SystemMeans]:
    """The means of every system (`pairs.groups`), the best by people first."""
    found = []
    for place, name in enumerate(pairs.groups):
        here = pairs.group == place
        found.append(
            SystemMeans(name, int(here.sum()), float(pairs.human[here].mean()), float(pairs.metric[here].mean()))
        )
    return sorted(found, key=lambda system: (-system.human, system.system))


def system_ranking(pairs: Pairs, asked: Resampling | None = None, **about: Any) -> list[Aligned]:
    """How alike metric and people rank the systems, which are the groups of the rows; n is the number of systems.

    `system_kendall_tau_b`: Kendall's τ-b of the two means of each system. `system_pairwise_accuracy`: of the pairs of
    systems that people tell apart, the share that the metric puts in the same order, a tie of the metric counting by
    half (Kocmi et al., 2021, To Ship or Not to Ship, WMT). Resampled are questions or rows, never systems: the interval
    says how sure the ranking of these very systems is. In a resample a system without rows is left out.

    Chance mixes systems that are close, so that both come out too low, and resamples lower still. The interval is the
    `OUTER` one of percentile and basic bootstrap (Davison & Hinkley, 1997, Bootstrap Methods and their Application,
    5.2), and there is none where people and metric do not both tell at least `TOLD_APART` of the pairs apart (two
    standard errors of the resamples): docs/statistics.md has how often it covers. A kind that is asked for stands.
    """
    asked = asked or Resampling()
    k = len(pairs.groups)
    if k < 2:
        reason = "there is only one system" if k else "no system is named"
        return [statistic.without_value(f"{reason}, and a ranking needs two", k, **about) for statistic in RANKING]
    sample = DrawnRows.of([pairs.metric, pairs.human, pairs.group.astype(np.float64)], pairs.cluster)
    metric, human, group = sample.columns.T
    member = (group == np.arange(k)[:, None]).astype(np.float64)
    a, b = np.triu_indices(k, 1)

    def together(weights: FloatArray) -> FloatArray:
        sizes = member @ weights
        with np.errstate(invalid="ignore", divide="ignore"):
            people, scores = (member * human) @ weights / sizes, (member * metric) @ weights / sizes
        alike = _alike(order(people[a] - people[b]), order(scores[a] - scores[b]))
        return np.concatenate([alike, people, scores])

    found = sample.resampled(together, asked)
    apart = _told_apart(found, k)
    why = (
        f"too uncertain: only {apart} of {len(a)} pairs of systems differ by two standard errors both for people and "
        "for the metric"
    )
    entries = []
    for place, statistic in enumerate(RANKING):
        entry = statistic.measured(statistic.about(k, **about), found, place, asked, note=f"{k} systems")
        if entry.interval is not None and entry.interval.low is not None:
            made = _outer(found, place, asked, floor=-1.0 if statistic is RANKED_ALIKE else 0.0)
            if apart < TOLD_APART * len(a):
                made = replace(made, low=None, high=None, note=why)
            entry = entry.measured(float(found.values[place]), [made], entry.note)
        entries.append(entry)
    return entries


def _told_apart(found: Resampled, k: int) -> int:
    """How many pairs of systems people and metric both tell apart: their means differ by two standard errors."""
    told = np.ones(k * (k - 1) // 2, dtype=bool)
    a, b = np.triu_indices(k, 1)
    for start in (2, 2 + k):
        drawn = found.replicates[:, start : start + k]
        drawn = drawn[~np.isnan(drawn).any(axis=1)]
        if len(drawn) < 2:
            return 0
        covariance = np.atleast_2d(np.cov(drawn, rowvar=False))
        error = np.sqrt(np.maximum(covariance[a, a] + covariance[b, b] - 2 * covariance[a, b], 0))
        means = found.values[start : start + k]
        told &= np.abs(means[a] - means[b]) > np.maximum(1.96 * error, ROUNDING)
    return int(told.sum())


def _outer(found: Resampled, place: int, asked: Resampling, floor: float) -> Interval:
    """The outer ends of percentile and basic bootstrap, where no other kind is asked for."""
    made = found.interval(place, asked.level, asked.kind_or("percentile"))
    if asked.kind != "BCa" or made.low is None or made.high is None:
        return made
    twice = 2 * float(found.values[place])
    low, high = min(made.low, twice - made.high), max(made.high, twice - made.low)
    return replace(made, low=max(low, floor), high=min(high, 1.0), kind=OUTER)


def order(differences: FloatArray) -> FloatArray:
    """The sign of differences, what is only rounding being 0: -1, 0, 1 or (one of the two is missing) NaN."""
    return np.where(np.abs(differences) < ROUNDING, 0.0, np.sign(differences))


def _alike(people: FloatArray, scores: FloatArray) -> FloatArray:
    """τ-b and pairwise accuracy (2 × B) from the orders of all pairs of systems (pairs × B)."""
    there = ~np.isnan(people)
    people, scores = np.where(there, people, 0.0), np.where(there, scores, 0.0)
    told_apart, scored_apart = np.abs(people).sum(axis=0), np.abs(scores).sum(axis=0)
    balance = (people * scores).sum(axis=0)
    with np.errstate(invalid="ignore", divide="ignore"):
        tau = balance / np.sqrt(told_apart * scored_apart)
        accuracy = ((people != 0) * (1 + people * scores) / 2).sum(axis=0) / told_apart
    found: FloatArray = np.clip(np.stack([tau, accuracy]), -1, 1)
    return found
