"""The gap between two conditions that the same questions were answered in, paired by question."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np

from annotators.alignment.resampling import Resampling, Sample, with_interval
from annotators.alignment.result import Aligned, undefined


def paired_gap(
    name: str, of: Mapping[Any, float], minus: Mapping[Any, float], asked: Resampling | None = None, **about: Any
) -> Aligned:
    """The mean of `of` less `minus` (both question → mean score) over the questions that have both.

    Questions are drawn again for the interval. `n` is how many have both; without one it is undefined.
    """
    asked = asked or Resampling()
    shared: list[Hashable] = [one for one in of if one in minus]
    if not shared:
        return undefined(name, "no question has a score in both conditions", 0, **about)
    differences = np.array([of[one] - minus[one] for one in shared])
    sample = Sample.of([differences], np.arange(len(shared)))
    values = sample.columns[:, 0]
    found = sample.resampled(lambda weights: (values @ weights) / len(shared), asked)
    entry = Aligned(name, None, None, None, None, len(shared), None, **about)
    return with_interval(entry, found, 0, asked, note="paired by question")
