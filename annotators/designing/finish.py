"""When a study will have all its annotations, from how many came on each of the last days."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from annotators.arrays import np, stats

LEAST = 5
"""Days below which nothing is said: their spread says too little of the days to come."""


@dataclass(frozen=True)
class Finish:
    """Days from now until all annotations are there, with a prediction interval; `high` None: no end is in sight."""

    days: float
    low: float
    high: float | None


def finish(left: int, daily: Sequence[int], *, level: float = 0.95) -> Finish | None:
    """When so many annotations that are `left` will be there, if days to come are like those that are given.

    `daily` are the annotations of d days. Days are taken as independent and alike, with mean r and standard deviation
    s. Of T days to come the sum has mean rT and, with the error of r itself, variance s²(T + T²/d), so that the T are
    in the interval for which (left - rT)² ≤ t²s²(T + T²/d), t of Student's distribution with d - 1 degrees of freedom:
    the inversion of a prediction interval, as Fieller's theorem inverts a confidence interval. None where nothing is
    left, with fewer than `LEAST` days, and where nothing came.
    """
    d = len(daily)
    rate = sum(daily) / d if d else 0.0
    if left <= 0 or d < LEAST or rate == 0:
        return None
    t = float(stats.t.ppf((1 + level) / 2, d - 1))
    spread = t * t * float(np.var(daily, ddof=1))
    # (rate² - spread/d) T² - (2 rate left + spread) T + left² = 0
    square, linear = rate * rate - spread / d, 2 * rate * left + spread
    root = math.sqrt(max(0.0, linear * linear - 4 * square * left * left))
    low = 2 * left * left / (linear + root)
    return Finish(left / rate, low, (linear + root) / (2 * square) if square > 0 else None)
