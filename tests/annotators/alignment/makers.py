"""Small makers and slow, plain formulas for the tests of alignment."""

from __future__ import annotations

import numpy as np

from annotators.alignment import Pairs
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned

NO_INTERVALS = Resampling(resamples=0)


def by_name(found: list[Aligned], **about: object) -> dict[str, Aligned]:
    """The statistics by name; the first of each that is about this."""
    chosen: dict[str, Aligned] = {}
    for statistic in found:
        if all(getattr(statistic, key) == value for key, value in about.items()):
            chosen.setdefault(statistic.name, statistic)
    return chosen


def likert(seed: int, n: int = 60) -> tuple[FloatArray, FloatArray]:
    """Human grades 1 to 5 and a metric that goes with them, more or less."""
    rng = np.random.default_rng(seed)
    hidden = rng.normal(size=n)
    grades = np.clip(np.round(hidden + rng.normal(scale=0.5, size=n)) + 3, 1, 5)
    return grades, hidden + rng.normal(scale=0.8, size=n)


def yes_or_no(seed: int, n: int = 60) -> tuple[FloatArray, FloatArray]:
    """Human labels 0 or 1 and a metric from 0 to 1 with ties."""
    rng = np.random.default_rng(seed)
    labels = (rng.random(n) < 0.6).astype(np.float64)
    labels[:2] = (0, 1)
    return labels, np.round(np.clip(0.3 + 0.3 * labels + rng.normal(scale=0.2, size=n), 0, 1), 1)


def repeated(pairs: Pairs, drawn: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[FloatArray, FloatArray]:
    """Human and metric's values of a resample of clusters, written out row by row."""
    rows = np.concatenate([np.flatnonzero(pairs.cluster == weight) for weight in drawn])
    return pairs.human[rows], pairs.metric[rows]
