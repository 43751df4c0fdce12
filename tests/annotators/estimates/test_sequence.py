"""When to stop: intervals that hold at every look."""

from __future__ import annotations

import math

import numpy as np
import pytest

from annotators.estimates.means import CLASSICAL, mean_of, means
from annotators.estimates.sequence import (
    differences_at_any_time,
    first_labels,
    labels_to_stop,
    looked_at,
    looks,
    mean_at_any_time,
    times,
    tuned_for,
)
from tests.annotators.estimates.makers import NAN, correlated, named, units_of


def test_the_mixture_holds_a_brownian_motion_at_all_times() -> None:
    """2,000 motions looked at 400 times, information 1 to 400: below 5 % leave it, but nearly half leave 1.96."""
    rng = np.random.default_rng(0)
    motion = np.cumsum(rng.normal(size=(2000, 400)), axis=1)
    information = np.arange(1, 401)
    reach = np.array([times(1 / math.sqrt(i), 10.0) for i in information]) * np.sqrt(information)
    assert 0.01 < (np.abs(motion) > reach).any(axis=1).mean() < 0.05
    assert (np.abs(motion) > 1.96 * np.sqrt(information)).any(axis=1).mean() > 0.4


def test_it_is_narrowest_at_the_width_at_which_to_stop() -> None:
    base = tuned_for(0.05, (0.0, 1.0))
    errors = np.linspace(0.005, 0.05, 400)
    best = errors[np.argmin([times(error, base) for error in errors])]
    assert times(float(best), base) * best == pytest.approx(0.05, rel=0.02)
    assert times(float(best), base) == pytest.approx(3.03, abs=0.01)


def test_a_sequence_begins_at_twenty_labels_and_is_wider_than_the_interval_of_one_look() -> None:
    early = mean_at_any_time(correlated(19, 400, 0.5))
    assert early.reason == "19 labels are too few to look after each: it begins at 20"
    units = correlated(60, 400, 0.9, scale=(-4.0, 4.0))
    entry, plain = mean_at_any_time(units, 0.2), named(means(units))["mean_ppi"]
    assert entry.value == plain.value
    assert 1.4 < (entry.half_width or 0) / (plain.half_width or 1) < 2
    assert "valid at every look" in (entry.method or "")


@pytest.mark.parametrize("ones", [0, 1])
def test_a_share_whose_labels_are_all_the_same_so_far_is_not_known_and_does_not_stop(ones: int) -> None:
    """Twenty wrong answers among many that are right may be the first twenty."""
    at = {}
    for n in (20, 60, 200):
        human = [float(place < ones) for place in range(n)] + [NAN] * 800
        units = units_of(human, scale=(0.0, 1.0))
        entry = mean_at_any_time(units, 0.05)
        assert entry.half_width is not None
        at[n] = entry.half_width
        plain = named(means(units))["mean_classical"]
        assert entry.half_width > (plain.half_width or 1)
    assert at[20] > 0.05
    assert at[20] > at[60] > at[200]
    assert (labels_to_stop(mean_of(units_of([0.0] * 20 + [NAN] * 800, scale=(0.0, 1.0))), CLASSICAL, 0.05) or 0) > 20


def test_grades_that_are_all_the_same_so_far_say_nothing_of_their_spread() -> None:
    units = units_of([3.0] * 30 + [NAN] * 300, scale=(0.0, 5.0))
    entry = mean_at_any_time(units, 0.2)
    assert (entry.value, entry.half_width) == (None, None)
    assert "all labels so far are the same" in (entry.reason or "")
    known = mean_at_any_time(units_of([3.0] * 30, scale=(0.0, 5.0)), 0.2)
    assert (known.value, known.half_width) == (pytest.approx(3), pytest.approx(0, abs=1e-9)), "all are labelled"


def test_groups_whose_labels_are_all_the_same_so_far_may_still_be_the_other_way_round() -> None:
    human = [1.0, 0.0] * 10 + [NAN] * 600
    [entry] = differences_at_any_time(units_of(human, groups=["a", "b"] * 310, scale=(0.0, 1.0)))
    assert entry.value == 1
    assert (entry.half_width or 0) > 0.1


@pytest.mark.nightly
def test_rare_labels_stop_no_study_before_their_share_is_known() -> None:
    """Of a share of 2 % the sequence holds the truth wherever it stops: of 500 studies at least 93 in a hundred."""
    rng, held = np.random.default_rng(4), 0
    for _ in range(500):
        y = (rng.random(1500) < 0.02).astype(float)
        for n in range(20, 1500, 20):
            entry = mean_at_any_time(units_of([*y[:n], *[NAN] * (1500 - n)], scale=(0.0, 1.0)), 0.03)
            if (entry.half_width or 1) <= 0.03:
                assert entry.low is not None
                assert entry.high is not None
                held += entry.low <= y.mean() <= entry.high
                break
    assert held >= 0.93 * 500


def test_labels_needed_to_stop_come_true() -> None:
    """What 60 labels say of the number at which the sequence is ±.25 is about where it is so."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=3000)
    order = rng.permutation(3000)

    def after(n: int) -> float:
        human = np.where(np.isin(np.arange(3000), order[:n]), y, NAN)
        return mean_at_any_time(units_of(human.tolist(), scale=(-4.0, 4.0)), 0.25).half_width or 9

    first = np.where(np.isin(np.arange(3000), order[:60]), y, NAN)
    needed = labels_to_stop(mean_of(units_of(first.tolist(), scale=(-4.0, 4.0))), CLASSICAL, 0.25)
    assert needed is not None
    assert after(int(needed * 1.35)) < 0.25 < after(int(needed / 1.35))


def test_a_population_may_be_too_uncertain_for_any_number_of_labels() -> None:
    few = correlated(30, 60, 0.0, population=math.inf, scale=(-4.0, 4.0))
    assert labels_to_stop(mean_of(few), CLASSICAL, 0.05) is None


def test_looks_go_by_the_time_of_the_labels() -> None:
    units = correlated(50, 300, 0.8, scale=(-4.0, 4.0))
    order = np.random.default_rng(1).permutation(300)
    at = looked_at(50, most=5)
    assert at == [20, 28, 35, 42, 50]
    assert looked_at(19) == []
    found = looks([(n, units.only(first_labels(order, units.labelled, n))) for n in at], 0.3)
    assert [look.powered.n_labelled for look in found] == at
    assert found[-1].powered.value == mean_at_any_time(units, 0.3).value
    widths = [look.classical.half_width or 0 for look in found]
    assert widths[-1] < widths[0]


def test_which_of_two_groups_is_better_may_be_looked_at_after_each_label() -> None:
    rng = np.random.default_rng(2)
    y = rng.normal(size=200) + np.tile([1.5, 0.0], 100)
    human = np.where(np.arange(200) < 80, y, NAN).tolist()
    [entry] = differences_at_any_time(units_of(human, groups=["a", "b"] * 100, scale=(-4.0, 4.0)))
    assert (entry.name, entry.group) == ("difference_anytime", "a - b")
    assert (entry.low or -1) > 0
    [few] = differences_at_any_time(units_of([*human[:10], *[NAN] * 190], groups=["a", "b"] * 100))
    assert few.reason == "10 labels are too few to look after each: it begins at 20"
    assert few.value is None
