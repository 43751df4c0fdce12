"""When a study will be finished: against simulated days, and where nothing can be said."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.designing.finish import LEAST, finish


def first_day(rng: np.random.Generator, left: int, mean: float, shape: float) -> float:
    """The day on which as many are there, with the part of it that was needed."""
    total = day = 0
    while True:
        came = int(rng.negative_binomial(shape, shape / (shape + mean)))
        if total + came >= left:
            return day + (left - total) / came
        total, day = total + came, day + 1


@pytest.mark.parametrize(("days", "left", "shape"), [(7, 400, 20), (14, 400, 5), (14, 2000, 20), (7, 150, 3)])
def test_the_interval_has_the_day_as_often_as_it_says(days: int, left: int, shape: float) -> None:
    rng = np.random.default_rng(days + left)
    hit, n = 0, 1500
    for _ in range(n):
        daily = rng.negative_binomial(shape, shape / (shape + 40), size=days).tolist()
        found = finish(left, daily)
        assert found is not None
        end = first_day(rng, left, 40, shape)
        hit += found.low <= end <= (np.inf if found.high is None else found.high)
    assert 0.925 <= hit / n <= 0.985


def test_days_that_are_all_alike_leave_no_doubt() -> None:
    found = finish(100, [10] * LEAST)
    assert found is not None
    assert (found.days, found.low, found.high) == pytest.approx((10, 10, 10))


def test_days_that_differ_much_have_no_end_in_sight() -> None:
    found = finish(100, [0, 0, 0, 0, 50])
    assert found is not None
    assert found.days == pytest.approx(10)
    assert found.low < 10
    assert found.high is None


@pytest.mark.parametrize(("left", "daily"), [(0, [5] * 9), (10, [5] * (LEAST - 1)), (10, [0] * 9), (10, [])])
def test_nothing_is_said_where_nothing_can_be(left: int, daily: list[int]) -> None:
    assert finish(left, daily) is None
