"""Do metric and people rank the systems alike: Kendall's τ of the systems' means, and how many pairs agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

RANKED_ALIKE = declare(
    "system_kendall_tau_b", "Systems: Kendall's τ-b", "people or the metric give all systems the same mean"
)
PAIRS_ALIKE = declare("system_pairwise_accuracy", "Systems: pairwise accuracy", "people give all systems the same mean")
RANKING = (RANKED_ALIKE, PAIRS_ALIKE)
ROUNDING = 1e-9


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
        return _alike(order(people[a] - people[b]), order(scores[a] - scores[b]))

    found = sample.resampled(together, asked)
    return [
        statistic.measured(statistic.about(k, **about), found, place, asked, note=f"{k} systems")
        for place, statistic in enumerate(RANKING)
    ]


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
