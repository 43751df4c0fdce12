"""The interval of a share: Wilson's where labels are independent, longer where a cluster's labels are alike."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from annotators.intervals.shares import bounded_interval, share_interval, wilson_ends


@pytest.mark.parametrize(("hits", "n"), [(0, 7), (1, 4), (3, 10), (10, 10), (842, 1000)])
def test_the_ends_are_wilsons(hits: int, n: int) -> None:
    expected = stats.binomtest(hits, n).proportion_ci(method="wilson")
    assert wilson_ends(hits / n, n, stats.norm.ppf(0.975)) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_by_hand_two_labels_an_item_that_are_always_the_same_count_as_one() -> None:
    """4 items of 2 labels, 2 items all hits: p = 1/2, variance 4/3 · 4 · 1 / 64 = 1/12, so n = (1/4) / (1/12) = 3."""
    found = share_interval(np.array([2.0, 2.0, 0.0, 0.0]), np.full(4, 2.0))
    t = stats.t.ppf(0.975, 3)
    assert found.error == pytest.approx(np.sqrt(1 / 12))
    assert (found.low, found.high) == pytest.approx(wilson_ends(0.5, 3, t))
    assert found.note == "8 labels count as 3.0 independent ones"
    assert "over items, t with 3 degrees of freedom, 95 %" in found.in_words()


def test_where_all_labels_are_hits_a_whole_item_counts_as_one_label() -> None:
    found = share_interval(np.full(10, 3.0), np.full(10, 3.0))
    t = stats.t.ppf(0.975, 9)
    assert found.high == 1.0
    assert found.low == pytest.approx(10 / (10 + t * t))


def test_one_item_has_no_interval_and_items_without_labels_are_none() -> None:
    found = share_interval(np.array([1.0, 0.0]), np.array([2.0, 0.0]), over="questions")
    assert (found.low, found.high) == (None, None)
    assert found.in_words() == "no interval: one question gives no standard error"


@pytest.mark.slow
@pytest.mark.parametrize(("share", "alike"), [(0.5, 0.0), (0.9, 0.6), (0.97, 0.9)])
def test_its_intervals_cover_the_share_as_often_as_they_say(share: float, alike: float) -> None:
    """40 items of three annotators, who say the same of an item more often than by chance (`alike`)."""
    rng, covered = np.random.default_rng(5), 0
    for _ in range(2000):
        of_item = rng.random(40) < share
        own = rng.random((40, 3)) < share
        labels = np.where(rng.random((40, 3)) < np.sqrt(alike), of_item[:, None], own)
        found = share_interval(labels.sum(axis=1).astype(float), np.full(40, 3.0))
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= share <= found.high
    assert 0.93 <= covered / 2000 <= 0.99


GRADES = {"high": (0, 0, 0.03, 0.12, 0.85), "skew": (0.02, 0.03, 0.1, 0.3, 0.55), "ends": (0.3, 0.05, 0.05, 0.1, 0.5)}


@pytest.mark.parametrize("grades", GRADES)
@pytest.mark.parametrize("n", [3, 5, 10, 20])
def test_means_of_few_grades_are_covered_where_the_t_interval_is_far_too_short(grades: str, n: int) -> None:
    """docs/statistics.md has the figures of 2,000 samples each."""
    rng, scale, covered = np.random.default_rng(n), np.arange(1, 6), 0
    truth = float(scale @ np.array(GRADES[grades]))
    for sample in rng.choice(scale, size=(500, n), p=GRADES[grades]):
        error = float(sample.std(ddof=1)) / np.sqrt(n)
        found = bounded_interval(float(sample.mean()), error, n, 0.95, (1, 5))
        assert found.low is not None
        assert found.high is not None
        assert 1 <= found.low < found.high <= 5
        covered += found.low <= truth + 1e-9 and truth - 1e-9 <= found.high
    assert covered / 500 >= 0.9


def test_of_a_share_the_bounded_interval_is_nearly_wilsons() -> None:
    hits = np.array([1.0] * 16 + [0.0] * 4)
    found = bounded_interval(0.8, float(hits.std(ddof=1)) / np.sqrt(20), 20, 0.95, (0, 1))
    assert (found.low, found.high) == pytest.approx(wilson_ends(0.8, 20, float(stats.t.ppf(0.975, 21))), abs=0.01)
    assert bounded_interval(1.0, 0.0, 1, 0.95, (0, 1)).low is None
