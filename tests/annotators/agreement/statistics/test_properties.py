"""What must hold for any table of ratings."""

from __future__ import annotations

import random
from itertools import combinations

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import coefficient_named
from annotators.intervals.result import Statistic
from tests.annotators.agreement.makers import ratings_of

pytestmark = pytest.mark.slow

Rows = list[list[int | None]]


@st.composite
def tables(draw: st.DrawFn) -> Rows:
    """2-5 raters × 1-9 units with labels 0-3 and gaps."""
    units = draw(st.integers(1, 9))
    cell = st.one_of(st.none(), st.integers(0, 3))
    return draw(st.lists(st.lists(cell, min_size=units, max_size=units), min_size=2, max_size=5))


def measured(rows: Rows, labels: list[int] | None = None, resamples: int = 0) -> list[Statistic]:
    return measure(ratings_of(rows, labels or [0, 1, 2, 3], "interval"), "all", resamples=resamples, least_shared=2)


def values(found: list[Statistic]) -> dict[object, float | None]:
    """Values by name, label and pair, whatever the order within a pair."""
    return {
        (statistic.name, statistic.label, frozenset(statistic.raters or ())): statistic.value for statistic in found
    }


def about_equal(a: float | None, b: float | None) -> bool:
    return a is b if a is None or b is None else a == pytest.approx(b, abs=1e-9)


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
@pytest.mark.slow
def test_the_order_of_units_does_not_matter_to_values_and_intervals(rows: Rows, shuffle: random.Random) -> None:
    order = list(range(len(rows[0])))
    shuffle.shuffle(order)
    first, second = (
        measured(rows, resamples=40),
        measured([[row[i] for i in order] for row in rows], resamples=40),
    )
    for a, b in zip(first, second, strict=True):
        assert (a.name, a.reason, a.method, a.n_units, a.n_raters, a.n_ratings) == (
            b.name, b.reason, b.method, b.n_units, b.n_raters, b.n_ratings,
        )  # fmt: skip
        assert all(about_equal(x, y) for x, y in [(a.value, b.value), (a.low, b.low), (a.high, b.high)])


@given(tables(), st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_the_order_of_raters_does_not_matter(rows: Rows, shuffle: random.Random) -> None:
    order = list(range(len(rows)))
    shuffle.shuffle(order)
    first, second = values(measured(rows)), values(measured([rows[i] for i in order]))
    for (name, label, pair), found in first.items():  # type: ignore[misc]
        moved = frozenset(order.index(rater) for rater in pair)
        assert about_equal(found, second[name, label, moved])


@given(tables(), st.permutations([0, 1, 2, 3]))
@settings(max_examples=60, deadline=None)
def test_the_names_of_nominal_labels_do_not_matter(rows: Rows, names: list[int]) -> None:
    renamed = [[None if x is None else names[x] for x in row] for row in rows]
    first, second = values(measured(rows)), values(measured(renamed))
    for (name, label, pair), found in first.items():  # type: ignore[misc]
        if coefficient_named(name).needs == "nothing":
            assert about_equal(found, second[name, None if label is None else names[label], pair])


NO_VARIANCE_LEFT: Rows = [[None, 0, 0, None, 1], [None, 0, 1, None, 0]]
"""ICC(A,k) divides by 1/2 - 1/2 here, which rounding must not turn into a number."""


@given(tables(), st.sampled_from([0.5, 3.0]), st.sampled_from([-10.0, 0.0, 7.0]))
@example(NO_VARIANCE_LEFT, 3.0, -10.0)
@settings(max_examples=60, deadline=None)
def test_a_linear_change_of_numbers_does_not_matter(rows: Rows, factor: float, shift: float) -> None:
    changed: list[list[float | None]] = [[None if x is None else factor * x + shift for x in row] for row in rows]
    labels = [factor * x + shift for x in range(4)]
    first = measured(rows)
    second = measure(ratings_of(changed, labels, "interval"), "all", resamples=0, least_shared=2)
    for a, b in zip(first, second, strict=True):
        assert coefficient_named(a.name).needs == "ratio" or about_equal(a.value, b.value), a.name


@given(tables())
@settings(max_examples=60, deadline=None)
def test_values_and_intervals_stay_in_their_bounds(rows: Rows) -> None:
    for statistic in measured(rows, resamples=40):
        for number in (statistic.value, statistic.low, statistic.high):
            assert number is None or number <= 1
        if statistic.name in ("percent_agreement", "specific_agreement") and statistic.value is not None:
            assert statistic.value >= 0
        if statistic.low is not None and statistic.high is not None:
            assert statistic.low <= statistic.high


@given(tables())
@settings(max_examples=60, deadline=None)
def test_a_unit_with_one_rating_counts_only_where_gwets_rule_says_so(rows: Rows) -> None:
    longer = [[*row, 3 if i == 0 else None] for i, row in enumerate(rows)]
    first, second = values(measured(rows)), values(measured(longer))
    for key, found in first.items():
        name = key[0]  # type: ignore[index]
        gwets_rule = coefficient_named(name).smallest == 1 or (name == "scott_pi" and not key[2])  # type: ignore[index]
        if not gwets_rule and found is not None:
            assert about_equal(found, second[key]), key


@given(tables())
@settings(max_examples=60, deadline=None)
def test_lights_kappa_is_the_mean_of_the_entries_of_cohens(rows: Rows) -> None:
    found = measured(rows)
    pairs = [statistic.value for statistic in found if statistic.name == "cohen_kappa"]
    assert len(pairs) == len(list(combinations(rows, 2)))
    if any(
        statistic.reason == "the two raters share no unit" for statistic in found if statistic.name == "cohen_kappa"
    ):
        return  # who rated alone is no pair: test_undefined.py
    defined = [kappa for kappa in pairs if kappa is not None]
    light = next(statistic for statistic in found if statistic.name == "light_kappa")
    assert about_equal(light.value, sum(defined) / len(defined) if len(defined) == len(pairs) else None)
