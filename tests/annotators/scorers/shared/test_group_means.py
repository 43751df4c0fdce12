"""Means of groups and their intervals, against sums by hand and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from annotators.scorers.shared.group_means import GroupMeans, JointSums, Sums
from tests.annotators.scorers.records import sums


def test_a_mean_with_its_interval() -> None:
    # 0, 1, 1, 1: mean 3/4, variance (9/16 + 3/16) / 3 = 1/4, half width 1.96 · √(1/4 / 4) = 0.49.
    found = sums(0, 1, 1, 1)
    assert (found.mean, found.variance) == (0.75, 0.25)
    assert found.interval == pytest.approx((0.75 - 0.4899910, 0.75 + 0.4899910))


def test_too_few_scores_have_no_interval() -> None:
    assert (Sums().mean, Sums().variance, Sums().interval) == (None, None, None)
    assert (sums(0.5).mean, sums(0.5).interval) == (0.5, None)


def test_the_macro_mean_takes_categories_as_strata() -> None:
    groups = GroupMeans()
    groups.add("Text", sums(1, 0, 1, 0))
    groups.add("Tables", sums(1, 1))
    groups.add(None, Sums())
    # Means 1/2 and 1, so 3/4. Variances 1/3 and 0: half width 1.96 · √(1/3 / 4) / 2.
    assert groups.macro_mean == 0.75
    half = 1.959963984540054 * math.sqrt(1 / 12) / 2
    assert groups.macro_interval == pytest.approx((0.75 - half, 0.75 + half))
    assert groups.all.mean == pytest.approx(4 / 6)
    groups.add("Figures", sums(0.5))
    assert groups.macro_interval is None
    assert GroupMeans().macro_mean is None
    assert GroupMeans().macro_interval is None


def test_each_category_counts_the_same() -> None:
    groups = GroupMeans()
    for category, value in [("a", 1.0), ("a", 0.0), ("a", 0.0), ("b", 1.0)]:
        groups.add(category, sums(value))
    assert groups.all.mean == 0.5  # 2 / 4
    assert groups.macro_mean == pytest.approx(2 / 3)  # (1/3 + 1) / 2


def test_items_without_a_category_are_one_of_their_own() -> None:
    groups = GroupMeans()
    groups.add("a", sums(1, 1, 1))
    groups.add(None, sums(0))
    assert groups.macro_mean == 0.5


def test_without_scores_there_is_no_mean() -> None:
    groups = GroupMeans()
    groups.add("a", Sums())
    assert (groups.all.n, groups.all.mean, groups.macro_mean) == (0, None, None)


@pytest.mark.parametrize(("ones", "n"), [(0, 26), (3, 26), (26, 26), (1, 1), (28, 56)])
def test_the_interval_of_a_share_is_wilsons(ones: int, n: int) -> None:
    expected = stats.binomtest(ones, n).proportion_ci(method="wilson")
    found = sums(*[1] * ones, *[0] * (n - ones)).share_interval
    assert found == pytest.approx((expected.low, expected.high), abs=1e-12)
    groups = GroupMeans(shares=True)
    groups.add("Text", sums(*[1] * ones, *[0] * (n - ones)))
    assert groups.interval == found
    assert groups.macro_interval == pytest.approx(found)
    assert Sums().share_interval is None


def test_the_macro_mean_of_shares_stays_between_0_and_1() -> None:
    groups = GroupMeans(shares=True)
    groups.add("Text", sums(1, 0, 0, 0))
    groups.add("Tables", sums(0, 0))
    # Wilson: 1 of 4 is 0.25 (0.04559, 0.69936), 0 of 2 is 0 (0, 0.65762). Below: √(0.20441² + 0²) / 2 = 0.10221;
    # above: √(0.44936² + 0.65762²) / 2 = 0.39824.
    assert groups.macro_mean == 0.125
    assert groups.macro_interval == pytest.approx((0.02279, 0.52324), abs=2e-5)


def joint(x: np.ndarray, y: np.ndarray) -> JointSums:
    return JointSums(len(x), *(float(part) for part in (x.sum(), y.sum(), (x * x).sum(), (y * y).sum(), (x * y).sum())))


def test_two_scorers_are_compared_as_scipy_does() -> None:
    random = np.random.default_rng(5)
    x = random.random(200)
    y = 0.6 * x + 0.4 * random.random(200)
    found = joint(x, y)
    expected = stats.pearsonr(x, y)
    assert found.pearson == pytest.approx(expected.statistic)
    assert found.pearson_interval == pytest.approx(tuple(expected.confidence_interval()))
    assert found.difference.mean == pytest.approx((x - y).mean())
    assert found.difference.variance == pytest.approx((x - y).var(ddof=1))


def test_a_scorer_that_does_not_vary_has_no_correlation() -> None:
    still, moving = np.full(9, 0.3), np.linspace(0, 1, 9)
    assert joint(still, moving).pearson is None
    assert joint(moving, still).pearson_interval is None
    assert joint(moving, moving).pearson == pytest.approx(1.0)
    assert joint(moving[:1], moving[:1]).pearson is None
