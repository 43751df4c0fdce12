"""Means of groups and their intervals, against sums by hand and SciPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from annotators.group_means import GroupMeans, JointSums, Sums


def sums(*values: float) -> Sums:
    return Sums(len(values), sum(values), sum(value * value for value in values))


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
