"""What no estimate may be, whatever the units: outside its interval or its scale, of more labels than there are."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.errors import InvalidInput
from annotators.estimates.coefficients import _ends
from annotators.estimates.drawing import draw, expected_error, neyman
from annotators.estimates.means import CLASSICAL, HELPS, differences, mean_of, means, ranks, saves
from annotators.estimates.planning import labels_needed, needed_for
from annotators.estimates.sample import Estimate, Units
from annotators.estimates.sequence import (
    FIRST,
    LOOKS,
    NARROWEST,
    _times,
    first_labels,
    looked_at,
    mean_at_any_time,
    times,
    tuned_for,
)
from annotators.intervals.result import Interval
from tests.annotators.estimates.makers import NAN, correlated, units_of

tried = settings(max_examples=25, deadline=None)


@st.composite
def some_units(draw_: st.DrawFn) -> Units:
    """Small sets, labels of a scale or yes and no, good and useless predictions, groups, strata and clusters."""
    size = draw_(st.integers(12, 60))
    rng = np.random.default_rng(draw_(st.integers(0, 2**32)))
    n = draw_(st.integers(8, size))
    truth = rng.normal(size=size)
    r = draw_(st.sampled_from([0.0, 0.5, 0.95, 0.9999]))
    score = r * truth + math.sqrt(1 - r * r) * rng.normal(size=size)
    scale = None
    if draw_(st.booleans()):
        truth, scale = (truth > draw_(st.sampled_from([-1.5, 0.0, 1.5]))).astype(float), (0.0, 1.0)
    drawn = np.isin(np.arange(size), rng.choice(size, n, replace=False))
    about: dict[str, Any] = {
        "groups": draw_(st.sampled_from([None, [f"g{k % 3}" for k in range(size)]])),
        "clusters": draw_(st.sampled_from([None, [k // 2 for k in range(size)]])),
        "strata": draw_(st.sampled_from([None, [str(k % 2) for k in range(size)]])),
        "population": draw_(st.sampled_from([None, size * 3, math.inf])),
    }
    return units_of(np.where(drawn, truth, NAN).tolist(), score.tolist(), scale=scale, **about)


@tried
@given(some_units(), st.sampled_from([0.5, 0.9, 0.95, 0.99]))
def test_every_estimate_lies_in_its_interval_its_scale_and_its_numbers(units: Units, level: float) -> None:
    found = [
        *means(units, level),
        *differences(units, level),
        *ranks(units, level),
        mean_at_any_time(units, 0.1, level),
    ]
    assert len({(one.name, one.group) for one in found}) == len(found), "each figure once"
    n_groups = len(units.groups)
    for one in found:
        assert (one.value is None) == (one.reason is not None) == (one.interval is None), one
        if one.value is None:
            continue
        assert one.low is not None and one.high is not None
        assert one.low - 1e-9 <= one.value <= one.high + 1e-9, one
        assert 0 < one.n_labelled <= units.n_labelled and one.n_predicted <= units.n_predicted
        if one.name.startswith("rank"):
            assert 1 <= one.low <= one.high <= n_groups and 1 <= one.value <= n_groups
        elif units.scale and one.name.startswith("mean"):
            assert 0 <= one.low <= one.high <= 1
        elif units.scale:
            assert -1 - 1e-9 <= one.low <= one.high <= 1 + 1e-9
        if one.name == f"mean_{CLASSICAL}":
            assert one.effective_n == one.n_labelled
    wide = {one.name: one for one in found if one.group is None}
    anytime, kinds = wide["mean_anytime"], ("mean_ppi", "mean_classical")
    if anytime.value is not None:
        fixed = next(wide[name] for name in kinds if wide[name].value is not None)
        if not units.scale:
            assert (anytime.half_width or 0) >= (fixed.half_width or 0), "to look at any time costs width"


def test_a_prediction_is_worth_labels_by_the_variance_that_it_leaves() -> None:
    for population in (None, 400, math.inf):
        made = mean_of(correlated(40, 200, 0.95, seed=2, population=population))
        assert made.effective == pytest.approx(40 * (made.error(CLASSICAL) / made.error("ppi")) ** 2)


def test_predictions_save_labels_from_a_fiftieth_on() -> None:
    made = mean_of(correlated(40, 200, 0.9))
    assert saves(made) and (made.effective or 0) >= HELPS * 40
    assert not saves(mean_of(correlated(40, 200, 0.0))) and not saves(mean_of(units_of([1, NAN, NAN])))


@tried
@given(some_units(), st.floats(0.02, 2.0))
def test_labels_needed_are_never_more_than_there_are_and_fewer_for_wider_intervals(units: Units, width: float) -> None:
    found, wider = ({one.name: one for one in labels_needed(units, w)} for w in (width, 2 * width))
    for name, one in found.items():
        if one.value is not None:
            assert 1 <= one.value <= units.n and one.value == int(one.value)
            if one.low is not None and one.high is not None:
                assert one.low <= one.value <= one.high <= units.n
            assert (wider[name].value or 0) <= one.value, name


@tried
@given(st.floats(0.001, 1), st.floats(0.001, 5), st.integers(1, 500), st.integers(0, 500))
def test_labels_that_a_figure_takes(spread: float, width: float, n: int, more: int) -> None:
    entry = Estimate(name="x", value=0.0, interval=Interval(-spread / 2, spread / 2, "t", 0.95))
    [of_all], [endless] = needed_for([(entry, n)], width, n + more), needed_for([(entry, n)], width)
    assert of_all is not None and endless is not None
    assert 1 <= of_all <= n + more and of_all <= max(n, endless)
    assert (endless <= n) == (width >= spread) or math.isclose(width, spread, rel_tol=0.01)
    point = replace(entry, interval=Interval(0.0, 0.0, "t", 0.95))
    assert needed_for([(point, n), (entry, 0)], width) == [1, None]


@tried
@given(st.lists(st.floats(0, 10), min_size=1, max_size=60), st.integers(1, 70), st.integers(0, 9), st.floats(0.05, 1))
def test_a_draw_has_as_many_as_asked_each_once_with_chances_that_add_up(
    worth: list[float], n: int, seed: int, uniform: float
) -> None:
    values = np.array(worth)
    chosen, chance = draw(values, n, seed=seed, uniform=uniform)
    assert len(chosen) == len(set(chosen.tolist())) == min(n, len(worth)) == len(chance)
    assert set(chosen.tolist()) <= set(range(len(worth)))
    assert ((chance > 0) & (chance <= 1)).all()
    assert (chance >= min(1.0, uniform * n / len(worth)) - 1e-9).all()
    again = draw(values, n, seed=seed, uniform=uniform)
    assert (again[0] == chosen).all() and (again[1] == chance).all()


def test_what_a_seed_draws_stays_as_it_was() -> None:
    """A design that names its seed is drawn anew by others, and in later versions."""
    assert draw(np.arange(1.0, 21.0), 5, seed=7)[0].tolist() == [1, 5, 7, 13, 18]
    assert len({tuple(draw(np.ones(20), 5, seed=seed)[0].tolist()) for seed in range(8)}) > 4
    for n, uniform in ((0, 0.5), (1, 0.0), (1, 1.01)):
        with pytest.raises(InvalidInput, match="units"):
            draw(np.ones(3), n, uniform=uniform)


@tried
@given(some_units(), st.integers(1, 50))
def test_what_strata_get_of_some_labels_adds_up_and_no_error_is_nothing(units: Units, n: int) -> None:
    shares = neyman(units, n)
    assert len(shares) == len(units.strata) and all(0 <= share <= n + 1e-9 for share in shares)
    assert sum(shares) == pytest.approx(0 if units.labelled.all() else n)
    assert (expected_error(units) > 0).all()


# Sequences ------------------------------------------------------------------------------------------------------------


@tried
@given(st.integers(0, 5_000))
def test_looks_begin_with_the_first_end_with_the_last_and_are_few(n: int) -> None:
    found = looked_at(n)
    assert found == sorted(set(found)) and len(found) <= LOOKS
    assert found == [] if n < FIRST else (found[0], found[-1]) == (FIRST, n)


@tried
@given(st.floats(0.05, 0.5), st.sampled_from([0.8, 0.95, 0.99]))
def test_a_sequence_is_narrowest_about_where_it_is_to_stop_and_always_wider_than_one_look(
    half_width: float, level: float
) -> None:
    base = tuned_for(half_width, None, level)
    at = half_width / times(math.sqrt(1 / (base * NARROWEST)), base, level)
    assert at == pytest.approx(math.sqrt(1 / (base * NARROWEST)))
    for ratio in (0.1, 1.0, NARROWEST, 100.0, 1e6):
        assert _times(ratio, level) >= math.sqrt(2 * math.log(1 / (1 - level)) * 0.5)
    assert _times(NARROWEST, 0.95) <= min(_times(r, 0.95) for r in (4.0, 6.0, 11.0, 20.0))
    assert times(0.0, base, level) == 0.0
    assert tuned_for(None, (0.0, 2.0)) == tuned_for(None, None) / 4


def test_the_first_labels_are_the_first_in_time() -> None:
    labelled = np.array([True, False, True, True, True])
    order = np.array([3, 0, 1, 2, 1])
    assert [np.flatnonzero(first_labels(order, labelled, n)).tolist() for n in (0, 1, 2, 3, 9)] == [
        [], [2], [2, 4], [2, 3, 4], [0, 2, 3, 4],
    ]  # fmt: skip


# Coefficients ---------------------------------------------------------------------------------------------------------


def test_the_ends_of_a_coefficient_by_hand() -> None:
    """r = .5: Fisher's z = .5493, slope 1 / .75; a share of .8: logit 1.3863, slope 1 / .16."""
    low, high, how = _ends("pearson", 0.5, 0.1)
    assert (low, high) == pytest.approx((math.tanh(0.549306 - 0.133333), math.tanh(0.549306 + 0.133333)), abs=1e-6)
    assert "Fisher" in how
    low, high, how = _ends("auroc", 0.8, 0.1)
    assert (low, high) == pytest.approx([1 / (1 + math.exp(-(1.386294 + sign * 0.625))) for sign in (-1, 1)], abs=1e-6)
    assert "logit" in how


@tried
@given(st.floats(-1, 1), st.floats(0, 3))
def test_the_ends_of_a_coefficient_stay_in_its_bounds(value: float, reach: float) -> None:
    low, high, _ = _ends("pearson", value, reach)
    assert -1 <= low <= high <= 1 and low - 1e-5 <= value <= high + 1e-5
    share = (value + 1) / 2
    low, high, _ = _ends("auroc", share, reach)
    assert 0 <= low <= high <= 1 and low - 1e-5 <= share <= high + 1e-5
