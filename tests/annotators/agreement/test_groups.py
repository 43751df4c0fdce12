"""Agreement by category and over time is that of the units alone, and nothing is lost or counted twice."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.groups import agreement_by_group, agreement_over_time
from annotators.agreement.measure import measure
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import random_matrix, rated, ratings_of


def test_each_category_has_the_figures_of_its_units_alone() -> None:
    matrix = random_matrix(1, raters=3, units=60, missing=0.2)
    ratings = rated(matrix, labels=[0, 1, 2, 3])
    groups = {unit: "tables" if unit % 3 else "prose" for unit in range(60)}
    found = agreement_by_group(ratings, groups, resamples=100, seed=3)
    assert [group.group for group in found] == ["prose", "tables"]
    for group in found:
        alone = rated(matrix[:, [groups[unit] == group.group for unit in range(60)]], labels=[0, 1, 2, 3])
        expected = measure(alone, resamples=100, seed=3)
        assert [(a.name, a.value, a.low) for a in group.statistics] == [(b.name, b.value, b.low) for b in expected]
    assert sum(group.n_units for group in found) == 60


def test_units_without_a_category_come_last_under_none() -> None:
    ratings = ratings_of([["a", "b", "a"], ["a", "b", "b"]])
    found = agreement_by_group(ratings, {1: "x"}, ["percent_agreement"], resamples=0)
    assert [(group.group, group.n_units, group.statistics[0].value) for group in found] == [
        ("x", 1, 1.0),
        (None, 2, 0.5),
    ]
    assert found[0].to_json()["group"] == "x"


def test_a_group_without_agreement_has_its_reason() -> None:
    ratings = ratings_of([["a", "b"], ["a", None]])
    found = agreement_by_group(ratings, {0: "x", 1: "y"}, resamples=0)
    assert {statistic.reason for statistic in found[1].statistics} != {None}


def test_stretches_of_time_have_as_many_units_each_in_the_order_of_their_last_rating() -> None:
    rng = np.random.default_rng(2)
    ratings = rated(random_matrix(2, raters=3, units=50), scale="nominal")
    unit_time = rng.permutation(50).astype(np.float64)
    times = unit_time[ratings.unit] * 10 + ratings.rater
    found = agreement_over_time(ratings, times, 5, ["percent_agreement"], resamples=0)
    assert [group.n_units for group in found] == [10] * 5
    assert [group.group for group in found] == [0, 1, 2, 3, 4]
    assert [stretch.first for stretch in found] == [i * 100 + 2 for i in range(5)]
    assert [stretch.last for stretch in found] == [i * 100 + 92 for i in range(5)]
    early = ratings.of_units(np.flatnonzero(unit_time < 10))
    assert found[0].statistics[0].value == measure(early, ["percent_agreement"], resamples=0)[0].value


def test_units_with_one_rating_or_a_rating_without_a_time_are_left_out_of_time() -> None:
    ratings = ratings_of([["a", "a", "a", "b"], ["a", None, "b", "b"]])
    times = np.array([1.0, 2.0, 3.0, 4.0, np.nan, 6.0, 7.0])
    found = agreement_over_time(ratings, times, 8, ["percent_agreement"], resamples=0)
    assert [(stretch.n_units, stretch.last, stretch.statistics[0].value) for stretch in found] == [
        (1, 2.0, 1.0),
        (1, 7.0, 1.0),
    ]
    assert agreement_over_time(ratings_of([["a"]]), np.array([1.0])) == ()


def test_falling_agreement_shows() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(3, size=300)
    noise = rng.random((3, 300)) < np.linspace(0.0, 0.8, 300)
    ratings = ratings_of(np.where(noise, rng.integers(3, size=(3, 300)), truth).tolist())
    found = agreement_over_time(
        ratings, ratings.unit.astype(np.float64), 4, ["krippendorff_alpha_nominal"], resamples=0
    )
    values = [stretch.statistics[0].value or 0.0 for stretch in found]
    assert values == sorted(values, reverse=True)
    assert values[0] > values[-1] + 0.4


def test_columns_that_do_not_fit_are_refused() -> None:
    with pytest.raises(InvalidInput, match="one a rating"):
        agreement_over_time(ratings_of([["a", "b"]]), np.array([1.0]))
    with pytest.raises(InvalidInput, match="1 or more"):
        agreement_over_time(ratings_of([["a", "b"]]), np.array([1.0, 2.0]), 0)
