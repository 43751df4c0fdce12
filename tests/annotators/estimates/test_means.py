"""Means, groups, differences and ranks from few labels and many predictions."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from annotators.alignment import prediction_powered_mean
from annotators.errors import InvalidInput
from annotators.estimates.means import differences, mean_of, means, ranks
from tests.annotators.estimates.makers import NAN, correlated, named, units_of


def test_the_classical_mean_by_hand() -> None:
    """4, 1, 3 of five: 8/3, s² = 7/3, three of five known: 7/3 / 3 · (1 - 3/5)."""
    found = named(means(units_of([4, 1, 3, NAN, NAN])))["mean_classical"]
    reach = stats.t.ppf(0.975, 2) * math.sqrt(7 / 9 * 2 / 5)
    assert (found.value, found.low, found.high) == pytest.approx((8 / 3, 8 / 3 - reach, 8 / 3 + reach))
    assert (found.n_labelled, found.effective_n) == (3, 3)
    endless = named(means(units_of([4, 1, 3, NAN, NAN], population=math.inf)))["mean_classical"]
    assert (endless.high or 0) - 8 / 3 == pytest.approx(stats.t.ppf(0.975, 2) * math.sqrt(7 / 9))


def test_a_population_of_known_size_lies_between_these_units_and_one_without_end() -> None:
    widths = [
        named(means(correlated(60, 300, 0.8, population=size)))["mean_ppi"].half_width or 0
        for size in (300, 600, 6000, math.inf)
    ]
    assert widths == sorted(widths)
    assert widths[0] < 0.8 * widths[-1]
    assert widths[2] == pytest.approx(widths[3], rel=0.05)


def test_a_good_prediction_is_worth_labels_and_a_useless_one_says_that_nothing_was_saved() -> None:
    good = named(means(correlated(80, 1000, 0.9, scores=2)))
    assert (good["mean_ppi"].half_width or 9) < 0.6 * (good["mean_classical"].half_width or 0)
    assert (good["mean_ppi"].effective_n or 0) > 200
    assert "s0, s1 combined, cross-fitted" in (good["mean_ppi"].method or "")
    useless = named(means(correlated(80, 1000, 0.0, scores=2)))
    assert (useless["mean_ppi"].half_width or 9) <= 1.03 * (useless["mean_classical"].half_width or 0)
    assert "nothing saved" in (useless["mean_ppi"].method or "")


def test_every_name_has_a_value_or_says_why_not() -> None:
    found = named(means(correlated(30, 100, 0.5)))
    assert "drawn alike" in (found["mean_active"].reason or "")
    few = named(means(units_of([1, NAN, NAN], [1, 2, 3])))
    assert all("at least 2 are needed" in (entry.reason or "") for entry in few.values())
    alone = named(means(units_of([1, 2, 3, NAN])))
    assert "no score and no judge" in (alone["mean_ppi"].reason or "")
    everything = named(means(units_of([1, 2, 5], [1, 2, 2])))
    assert "every unit is labelled" in (everything["mean_ppi"].reason or "")
    assert everything["mean_classical"].half_width == 0
    weighed = named(means(correlated(30, 100, 0.5, probability=np.full(100, 0.3))))
    assert weighed["mean_active"].value is not None
    assert "probabilities of their own" in (weighed["mean_ppi"].reason or "")
    assert {
        "name",
        "group",
        "value",
        "low",
        "high",
        "method",
        "n_labelled",
        "n_predicted",
        "effective_n",
        "reason",
    } == set(weighed["mean_active"].to_json())


def test_without_predictions_it_is_the_classical_mean_of_alignment() -> None:
    units = correlated(40, 200, 0.0)
    there = prediction_powered_mean(units.human, units.predictions[:, 0])[0]
    here = named(means(units))["mean_classical"]
    assert (here.value, here.low, here.high) == (there.value, there.low, there.high)


def test_weights_undo_what_the_drawing_preferred() -> None:
    """Half of the units with y = 1 are drawn and a tenth of those with 0: 5 / .5 and 1 / .1 are ten of each."""
    chance = np.array([*[0.5] * 5, 0.1, *[0.3] * 14])
    found = named(means(units_of([*[1] * 5, 0, *[NAN] * 14], probability=chance)))["mean_classical"]
    assert found.value == pytest.approx(0.5)


def test_groups_and_their_difference_share_the_questions() -> None:
    """Both systems answer the same hard and easy questions: the difference is of the questions, not of all answers."""
    rng = np.random.default_rng(0)
    hard = rng.normal(size=200)
    y = np.stack([hard + 0.2 * rng.normal(size=200) + 0.5, hard + 0.2 * rng.normal(size=200)], axis=1).ravel()
    human = np.where(np.arange(400) < 80, y, NAN)
    about = {"groups": ["a", "b"] * 200, "population": math.inf}
    clustered = units_of(human.tolist(), clusters=(np.arange(400) // 2).tolist(), **about)
    entry = named(differences(clustered), "a - b")["difference_classical"]
    apart = y[:80:2] - y[1:80:2]
    paired = stats.ttest_1samp(apart, 0).confidence_interval()
    assert entry.value == pytest.approx(apart.mean())
    assert (entry.low, entry.high) == pytest.approx((paired.low, paired.high), abs=0.01)
    alone = named(differences(units_of(human.tolist(), **about)), "a - b")["difference_classical"]
    assert (alone.half_width or 0) > 3 * (entry.half_width or 9)


def test_a_difference_of_shares_of_nought_has_an_interval_that_is_more_than_a_point() -> None:
    human = [0.0] * 40 + [NAN] * 60
    entry = named(differences(units_of(human, groups=["a", "b"] * 50)), "a - b")["difference_classical"]
    assert entry.value == 0
    assert (entry.low or 0) < -0.05 < 0.05 < (entry.high or 0)


def test_ranks_are_sure_only_where_groups_are_far_apart() -> None:
    rng = np.random.default_rng(1)
    group = np.arange(600) % 3
    y = rng.normal(size=600) + np.array([0.0, 0.05, 3.0])[group]
    human = np.where(np.arange(600) < 300, y, NAN).tolist()
    found = {entry.group: entry for entry in ranks(units_of(human, groups=[f"g{g}" for g in group]))}
    assert (found["g2"].value, found["g2"].low, found["g2"].high) == (1, 1, 1)
    assert (found["g0"].low, found["g0"].high) == (2, 3)
    assert ranks(units_of(human, groups=["one"] * 600))[0].reason == "there are no two groups with labels to be ranked"


def test_a_lambda_of_a_stratum_with_few_labels_is_drawn_to_that_of_all() -> None:
    rng = np.random.default_rng(2)
    stratum = np.arange(1000) % 10 == 0
    y = rng.normal(size=1000)
    f = np.where(stratum, rng.normal(size=1000), y + 0.3 * rng.normal(size=1000))
    human = np.where(rng.random(1000) < 0.5, y, NAN)
    made = mean_of(units_of(human.tolist(), f.tolist(), strata=stratum.tolist()))
    assert made.units.strata == ("True", "False")
    assert made.factors[0] < 0.6 < made.factors[1] <= 1
    assert made.limits is not None
    assert abs(made.limits.parts.correlation(0)) < 0.4 < made.limits.parts.correlation(1)


def test_a_stratum_without_labels_is_named() -> None:
    human = [1.0, 2, 3, 4, NAN, NAN]
    found = named(means(units_of(human, strata=["text"] * 4 + ["table"] * 2)))["mean_classical"]
    assert "'table' has fewer than two labelled units" in (found.reason or "")


@pytest.mark.parametrize(
    ("about", "words"),
    [
        ({"probability": np.zeros(3)}, "no probability above 0"),
        ({"population": 2}, "smaller than the 3 units"),
        ({"clusters": [1]}, "do not line up"),
    ],
)
def test_what_cannot_be_is_refused(about: dict[str, object], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        units_of([1, 2, NAN], [1, 2, 3], **about)
    with pytest.raises(InvalidInput, match="infinite"):
        units_of([1, 2, NAN], [1, math.inf, 3])
