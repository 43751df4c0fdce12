"""The gap between two conditions that the same questions were answered in, paired by question."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from annotators.alignment.statistics.base import AlignmentStatistic
from annotators.alignment.tables.sample import DrawnRows
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned


def paired_gap(
    name: str, of: Mapping[Any, float], minus: Mapping[Any, float], asked: Resampling | None = None, **about: Any
) -> Aligned:
    """The mean of `of` less `minus` (both question → mean score) over the questions that have both.

    Questions are drawn again for the interval. `n` is how many have both; without one it is undefined.
    """
    asked = asked or Resampling()
    shared: list[Hashable] = [question for question in of if question in minus]
    if not shared:
        return Aligned(name=name, reason="no question has a score in both conditions", n=0, **about)
    differences = np.array([of[question] - minus[question] for question in shared])
    sample = DrawnRows.of([differences], np.arange(len(shared)))
    values = sample.columns[:, 0]
    found = sample.resampled(lambda weights: (values @ weights) / len(shared), asked)
    gap = AlignmentStatistic(name, name)
    return gap.measured(gap.about(len(shared), **about), found, 0, asked, note="paired by question")
