"""Small units for the tests of estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from annotators.estimates.sample import Estimate, Units

NAN = math.nan


def units_of(human: Sequence[float], *scores: Sequence[float], **about: Any) -> Units:
    """Units with these labels (NaN: none) and scores named s0, s1, …"""
    columns = {f"s{k}": np.array(column, dtype=float) for k, column in enumerate(scores)}
    return Units.of(np.array(human, dtype=float), columns, **about)


def correlated(n: int, size: int, r: float, seed: int = 0, scores: int = 1, **about: Any) -> Units:
    """n of `size` units labelled, drawn at random; the scores correlate r with the labels."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=size)
    drawn = np.isin(np.arange(size), rng.choice(size, n, replace=False))
    made = [r * y + math.sqrt(1 - r * r) * rng.normal(size=size) for _ in range(scores)]
    return units_of(np.where(drawn, y, NAN).tolist(), *[column.tolist() for column in made], **about)


def named(found: Sequence[Estimate], group: str | None = None, metric: str | None = None) -> dict[str, Estimate]:
    """Name → estimate, of one group or metric."""
    return {entry.name: entry for entry in found if (entry.group, entry.metric) == (group, metric)}
