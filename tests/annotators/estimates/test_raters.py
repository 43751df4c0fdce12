"""What raters differ by is in an estimate's interval: by hand, and where several labels make one unit's."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from annotators.arrays import FloatArray
from annotators.errors import InvalidInput
from annotators.estimates.coefficients import coefficients
from annotators.estimates.means import CLASSICAL, differences, mean_of, mean_with_raters_alike, means
from annotators.estimates.raters import LabelsByRater, joined_freedom
from annotators.estimates.sample import Units
from annotators.estimates.sequence import error_with
from tests.annotators.estimates.makers import NAN, correlated, named

TABLE = np.array([[1.0, 3.0], [2.0, 2.0], [4.0, NAN], [5.0, NAN]])
"""Two units with two labels, two with one: within units 2 of two degrees of freedom, so that σ² = 1."""


def of_table(table: FloatArray, **about: Any) -> Units:
    return Units.of(LabelsByRater.of(table), {}, n=len(table), **about)


def test_the_variance_of_a_label_is_that_within_units_that_several_rated() -> None:
    units = of_table(TABLE)
    assert units.human.tolist() == [2, 2, 4, 5]
    assert (units.n_labelled, units.n_ratings, units.n_several) == (4, 6, 2)
    assert units.noise is not None
    assert (units.noise.variance, units.noise.units) == (1.0, 2)
    noise, _ = units.noise_of(np.ones(4, dtype=np.bool_))
    assert noise.tolist() == [0.5, 0.5, 1, 1]


def test_of_a_finite_set_that_is_labelled_in_full_the_raters_part_stays() -> None:
    """(0.5 + 0.5 + 1 + 1) / 4² = 3/16."""
    made = mean_of(of_table(TABLE))
    assert made.error(CLASSICAL) == pytest.approx(math.sqrt(3 / 16))
    plain = mean_of(Units.of(np.array([2.0, 2, 4, 5]), {}))
    assert plain.error(CLASSICAL) == 0


def test_of_a_set_labelled_in_part_the_raters_have_what_its_correction_takes_from_them() -> None:
    """Half of eight units: (1 - 1/2) s² / 4 with s² = 2.25, and half of 3/16."""
    table = np.vstack([TABLE, np.full((4, 2), NAN)])
    made = mean_of(of_table(table))
    assert made.error(CLASSICAL) ** 2 == pytest.approx(0.5 * 2.25 / 4 + 0.5 * 3 / 16)


def test_of_a_population_without_end_the_units_vary_by_it_already() -> None:
    made = mean_of(of_table(TABLE, population=math.inf))
    assert made.error(CLASSICAL) ** 2 == pytest.approx(2.25 / 4)
    # Of eight in all, half of which are not among the units, half of each.
    half = mean_of(of_table(TABLE, population=8.0))
    assert half.error(CLASSICAL) ** 2 == pytest.approx(0.5 * 3 / 16 + 0.5 * 2.25 / 4)


def test_raters_who_agreed_on_every_unit_so_far_are_not_taken_to_agree_always() -> None:
    """As if one of four units had two labels that differ by 1: 1/2 in 4 degrees of freedom."""
    table = np.array([[0.0, 0.0], [1.0, 1.0], [1.0, 1.0], [0.0, NAN]])
    units = of_table(table, scale=(0.0, 1.0))
    assert units.noise is not None
    assert units.noise.variance == 0.5 / 4
    interval = named(means(units))["mean_classical"]
    assert (interval.half_width or 0) > 0.1
    grades = of_table(table + 2)
    assert grades.noise is not None
    assert grades.noise.variance == 0.5 / 4


def test_one_label_a_unit_says_nothing_of_raters() -> None:
    units = of_table(np.array([[1.0], [2.0], [4.0], [NAN]]))
    assert units.noise is None
    assert mean_of(units).error(CLASSICAL) == mean_of(Units.of(np.array([1.0, 2, 4, NAN]), {})).error(CLASSICAL)


def test_a_share_is_of_what_raters_say_on_average_and_split_votes_count_half() -> None:
    table = np.array([[1.0, 0.0], [1.0, 1.0], [0.0, NAN], [1.0, NAN]] * 5)
    units = of_table(np.vstack([table, np.full((20, 2), NAN)]), scale=(0.0, 1.0))
    found = named(means(units))["mean_classical"]
    assert found.value == pytest.approx(2.5 / 4)
    assert "Wilson" in str(found.method)


def test_a_group_has_its_own_variance_where_enough_of_it_have_several_labels() -> None:
    calm, wild = np.array([[1.0, 2.0]] * 12), np.array([[1.0, 5.0]] * 12)
    few = np.array([[1.0, NAN]] * 9 + [[1.0, 9.0]])
    table = np.vstack([calm, wild, few])
    units = of_table(table, groups=["calm"] * 12 + ["wild"] * 12 + ["few"] * 10)
    here = [units.group == place for place in range(3)]
    variance = [float(units.noise_of(some)[0][some].max()) for some in here]
    names = dict(zip(units.groups, variance, strict=True))
    assert (names["calm"], names["wild"]) == (0.25, 4.0)
    assert units.noise is not None
    assert names["few"] == units.noise.variance


def test_raters_differ_on_each_unit_independently_of_the_others_of_its_question() -> None:
    """The variance of a difference is the sum of both, although each question has an item of either system."""
    table = np.tile(TABLE, (6, 1))
    units = of_table(table, groups=["a", "b"] * 12, clusters=(np.arange(24) // 2).tolist())
    a, b = (mean_of(units, place) for place in range(2))
    [found] = [entry for entry in differences(units) if entry.name == "difference_classical"]
    assert found.interval is not None
    assert found.interval.error == pytest.approx(math.hypot(a.error(CLASSICAL), b.error(CLASSICAL)))
    assert a.error(CLASSICAL) > 0


def test_labels_that_are_still_to_come_take_nothing_from_what_raters_differ_by() -> None:
    """With all labelled there is left what raters differ by; with as many as now, the error that there is."""
    table = np.vstack([np.tile(TABLE, (5, 1)), np.full((20, 2), NAN)])
    made = mean_of(of_table(table))
    assert error_with(made, CLASSICAL, 20) == pytest.approx(made.error(CLASSICAL), rel=1e-9)
    assert made.limits is not None
    assert error_with(made, CLASSICAL, 40) == pytest.approx(math.sqrt(made.limits.parts.of_raters))


def test_with_as_many_labels_of_every_unit_a_correlation_is_that_with_their_mean() -> None:
    rng = np.random.default_rng(2)
    table = rng.normal(size=(40, 2))
    score = table.mean(axis=1) + rng.normal(size=40)
    by_rater = Units.of(LabelsByRater.of(table), {"s": score}, n=40)
    together = Units.of(table.mean(axis=1), {"s": score})
    one, other = (named(coefficients(units), metric="s") for units in (by_rater, together))
    assert one["pearson_classical"].value == other["pearson_classical"].value
    assert one["spearman_classical"].value == other["spearman_classical"].value
    assert "with the mean of 2 raters" in str(one["pearson_classical"].method)
    assert (one["pearson_classical"].half_width or 0) > (other["pearson_classical"].half_width or 0)


def test_with_one_label_of_most_units_a_correlation_is_that_with_one_raters_labels() -> None:
    """The five with three labels count once each, every label a third."""
    rng = np.random.default_rng(3)
    table = np.full((20, 3), NAN)
    table[:, 0] = rng.normal(size=20)
    table[:5, 1:] = rng.normal(size=(5, 2))
    score = rng.normal(size=20)
    units = Units.of(LabelsByRater.of(table), {"s": score}, n=20)
    found = named(coefficients(units), metric="s")["pearson_classical"]
    unit, rater = np.nonzero(~np.isnan(table))
    weight = np.where(unit < 5, 1 / 3, 1.0)
    covariance = np.cov(table[unit, rater], score[unit], aweights=weight, ddof=0)
    assert found.value == pytest.approx(covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1]))
    assert "with one rater's labels" in str(found.method)


def test_yes_and_no_of_two_raters_are_one_raters_word_and_of_three_the_majority() -> None:
    rng = np.random.default_rng(4)
    table = (rng.random(size=(30, 3)) > 0.5).astype(float)
    score = rng.random(30)
    three, two = (
        named(coefficients(Units.of(LabelsByRater.of(t), {"s": score}, n=30, scale=(0.0, 1.0))), metric="s")
        for t in (table, table[:, :2])
    )
    majority = named(coefficients(Units.of((table.mean(axis=1) > 0.5).astype(float), {"s": score})), metric="s")
    assert three["auroc_classical"].value == pytest.approx(majority["auroc_classical"].value)
    positive, negative = score[table[:, :2].nonzero()[0]], score[(1 - table[:, :2]).nonzero()[0]]
    above = (positive[:, None] > negative).mean() + (positive[:, None] == negative).mean() / 2
    assert two["auroc_classical"].value == pytest.approx(above)


def test_predictions_besides_scores_are_combined_and_have_no_coefficients() -> None:
    rng = np.random.default_rng(6)
    y = rng.normal(size=200)
    human = np.where(np.arange(200) % 3 == 0, y, NAN)
    about = {
        "score": np.where(np.arange(200) < 90, rng.normal(size=200), NAN),
        "length": y + 0.3 * rng.normal(size=200),
    }
    units = Units.of(human, about, beside=["length"])
    assert units.n_predicted == 90
    assert (mean_of(units).effective or 0) > 2 * units.n_labelled
    assert {entry.metric for entry in coefficients(units)} == {"score"}


def test_leniency_is_by_how_much_raters_means_differ_on_what_they_share() -> None:
    """Rater 1 is 2 above rater 0 on every unit: 2 σ²_r is (2² n - 0) / n, and equal shares halve it for the mean."""
    strict = np.array([1.0, 2, 3, 4])
    found = LabelsByRater.of(np.stack([strict, strict + 2], axis=1)).leniency()
    assert found is not None
    assert (found.variance, found.raters, found.of_mean, found.at_most) == (2.0, 2, 1.0, 1.0)
    # Chance alone, ±1 in turn, is no leniency: (n d² - 1 · s²) below 0 counts as 0.
    alike = LabelsByRater.of(np.stack([strict, strict + np.array([1, -1, 1, -1])], axis=1)).leniency()
    assert alike is not None
    assert alike.variance == 0
    assert LabelsByRater.of(np.array([[1.0, NAN], [NAN, 2.0]])).leniency() is None


def test_the_mean_with_raters_like_these_has_their_differences_in_its_interval() -> None:
    """Besides the error of the mean: 1, with one degree of freedom; nothing without raters who share units."""
    strict = np.array([1.0, 2, 3, 4])
    units = of_table(np.stack([strict, strict + 2], axis=1), population=math.inf)
    [plain, *_] = means(units)
    found = mean_with_raters_alike(units)
    assert plain.interval is not None
    assert found.interval is not None
    assert found.value == plain.value == 3.5
    assert found.interval.error == pytest.approx(math.sqrt((plain.interval.error or 0) ** 2 + 1))
    assert found.interval.freedom == 1, "(5/12 + 1)² / ((5/12)²/3 + 1²/1) = 1.9"
    assert (found.half_width or 0) > 2 * (plain.half_width or 9)
    alone = mean_with_raters_alike(of_table(np.array([[1.0, NAN], [NAN, 2.0], [3.0, NAN]])))
    assert alone.value is None
    assert "no two raters share units" in str(alone.reason)


def test_degrees_of_freedom_of_two_parts_lie_between_theirs_and_their_sum() -> None:
    """(1 + 1)² / (1/10 + 1/30) = 30."""
    assert joined_freedom([(1.0, 10), (1.0, 30)]) == pytest.approx(30)
    assert joined_freedom([(0.0, 3), (2.0, 7)]) == pytest.approx(7)


def test_labels_by_rater_say_how_many_units_there_are() -> None:
    with pytest.raises(InvalidInput, match="give n"):
        Units.of(LabelsByRater.of(TABLE), {})


def test_labels_left_out_take_their_raters_with_them() -> None:
    units = of_table(TABLE)
    some = units.only(np.array([True, False, True, True]))
    assert (some.n_ratings, some.n_several) == (4, 1)
    assert some.noise is not None
    assert some.noise.variance == 2.0
    assert correlated(10, 20, 0.5).noise is None
