"""Speed and drift: medians and ratios by hand, planted drift is found."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from annotators.agreement.pace import agreement_of_ratings, drifts, speeds
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import ratings_of


def test_columns_of_other_lengths_are_refused() -> None:
    ratings = Ratings.from_triples(["u", "u"], ["ann", "bob"], ["x", "y"])
    with pytest.raises(InvalidInput, match="one a rating"):
        speeds(ratings, np.array([1.0]))


def table(rows: list[list[object]]) -> Ratings:
    return ratings_of(rows, labels=["a", "b"])


def column(ratings: Ratings, rows: list[list[float]]) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    return np.array([rows[r][u] for u, r in zip(ratings.unit, ratings.rater, strict=True)], dtype=np.float64)


def test_speed_by_hand() -> None:
    ratings = table([["a"] * 4, ["a"] * 4, ["a", "a", None, None]])
    seconds = column(ratings, [[10, 20, 30, 40], [20, 40, 60, float("nan")], [80, 40, 0, 0]])
    first, second, third = speeds(ratings, seconds)
    assert first.median.value == 25
    assert first.quartiles == (17.5, 32.5)
    assert first.total == 100
    # the others' medians: 50, 40, 60; the fourth unit has no other time: (10/50 * 20/40 * 30/60)^(1/3)
    assert first.relative.n == 3
    assert first.relative.value == pytest.approx((0.2 * 0.5 * 0.5) ** (1 / 3))
    # second's others: 45, 30, 30
    assert second.relative.value == pytest.approx((20 / 45 * 40 / 30 * 60 / 30) ** (1 / 3))
    assert third.median.value == 60
    assert third.median.low is None
    assert "too few" in (third.median.method or "")


def test_the_interval_of_the_median_covers_what_it_says() -> None:
    # order statistics l and n + 1 - l cover with 1 - 2 P(Bin(n, 1/2) < l)
    for n in (6, 10, 25, 100):
        ratings = table([["a"] * n, ["b"] * n])
        speed = speeds(ratings, column(ratings, [list(range(1, n + 1)), [1.0] * n]))[0].median
        assert speed.low is not None
        assert speed.high is not None
        place = int(speed.low)
        assert speed.high == n + 1 - place
        assert 1 - 2 * binom.cdf(place - 1, n, 0.5) >= 0.95
        assert 1 - 2 * binom.cdf(place, n, 0.5) < 0.95


def test_an_annotator_without_times_has_reasons() -> None:
    ratings = table([["a", "b"], ["a", "b"]])
    found = speeds(ratings, column(ratings, [[float("nan"), -1.0], [5.0, 6.0]]))
    assert found[0].median.reason == "there are no times"
    assert found[0].relative.reason is not None
    assert found[1].relative.reason is not None
    assert found[0].quartiles is None
    assert found[0].total == 0


def test_the_agreement_of_a_rating_is_the_share_of_the_others_that_are_alike() -> None:
    ratings = table([["a", "a"], ["a", "b"], ["b", None]])
    assert agreement_of_ratings(ratings).tolist() == pytest.approx([0.5, 0.5, 0.0, 0.0, 0.0])
    alone = table([["a", "b"], [None, "b"]])
    assert np.isnan(agreement_of_ratings(alone)[0])


def drifting(n: int = 400) -> tuple[Ratings, np.ndarray, np.ndarray]:  # type: ignore[type-arg]
    """Four raters; the last one errs more and works faster the longer it takes."""
    rng = np.random.default_rng(1)
    truth = rng.integers(2, size=n)
    wrong = np.array([np.full(n, 0.1)] * 3 + [np.linspace(0.05, 0.55, n)])
    rows = np.where(rng.random((4, n)) < wrong, 1 - truth, truth)
    ratings = ratings_of(rows.tolist())
    when = np.arange(n, dtype=np.float64)
    pace = np.array([np.full(n, 30.0)] * 3 + [np.geomspace(40, 10, n)]) * rng.lognormal(0, 0.2, (4, n))
    return ratings, when[ratings.unit], pace[ratings.rater, ratings.unit]


def test_planted_drift_is_found_and_only_where_it_was_planted() -> None:
    ratings, times, seconds = drifting()
    found = drifts(ratings, times, seconds)
    last = found[3]
    assert last.agreement.value == pytest.approx(-0.5 * 0.8, abs=0.15)  # others are right in 90 %: slope × (0.9 - 0.1)
    assert last.agreement.high is not None
    assert last.agreement.high < 0
    assert last.speed.value == pytest.approx(0.25, abs=0.05)
    assert last.speed.high is not None
    assert last.speed.high < 0.5
    for drift in found[:3]:
        assert drift.speed.low is not None
        assert drift.speed.high is not None
        assert drift.speed.low < 1.1
        assert drift.speed.high > 0.9
    assert last.stretches[0].agreement is not None
    assert last.stretches[-1].agreement is not None
    assert last.stretches[0].agreement > last.stretches[-1].agreement + 0.2
    assert [(stretch.start, stretch.stop) for stretch in last.stretches] == [(40 * i, 40 * i + 40) for i in range(10)]
    assert all(sum(stretch.labels.values()) == pytest.approx(1) for stretch in last.stretches)


def test_the_order_is_that_of_the_times_and_not_of_the_units() -> None:
    ratings, times, seconds = drifting()
    forwards, backwards = drifts(ratings, times, seconds)[3], drifts(ratings, -times, seconds)[3]
    assert forwards.agreement.value == pytest.approx(-(backwards.agreement.value or 0))


def test_the_interval_of_the_change_covers_no_change_about_as_often_as_it_says() -> None:
    covered = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        rows = (rng.random((2, 60)) < 0.3).astype(int)
        ratings = ratings_of(rows.tolist())
        drift = drifts(ratings, ratings.unit.astype(np.float64))[0].agreement
        assert drift.low is not None
        assert drift.high is not None
        covered += drift.low <= 0 <= drift.high
    assert 183 <= covered <= 198  # 95 % of 200 is 190, standard error 3


def test_few_ratings_and_ratings_without_a_time_are_not_stretched_into_a_trend() -> None:
    ratings = table([["a"] * 6, ["a"] * 6])
    times = np.where(ratings.rater == 0, ratings.unit, np.nan).astype(np.float64)
    first, second = drifts(ratings, times)
    assert first.agreement.reason == "6 ratings of units that others rated are too few to see a change"
    assert first.speed.reason == "0 times are too few to see a change"
    assert [(stretch.start, stretch.stop) for stretch in first.stretches] == [(0, 6)]
    assert second.n_ratings == 0
    assert second.stretches == ()
