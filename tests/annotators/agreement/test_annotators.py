"""Each annotator beside the others: figures that can be summed by hand, intervals, similarity."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.annotators import (
    agreement_with_reference,
    agreement_with_rest,
    similarity,
)
from annotators.agreement.measure import measure
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import random_matrix, rated, ratings_of

ROWS = [["a", "a", "b", "b"], ["a", "b", "b", "b"], ["a", "a", "b", None], [None, None, None, "b"]]


def test_agreement_with_the_rest_by_hand() -> None:
    first, second, third, fourth = agreement_with_rest(ratings_of(ROWS), resamples=0)
    # first beside the others, unit by unit: 2/2, 1/2, 2/2, 2/2
    assert first.agreement.value == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    # second: 2/2, 0/2, 2/2, 2/2
    assert second.agreement.value == pytest.approx(3 / 4)
    assert third.agreement.n_units == 3
    assert fourth.agreement.value == 1.0
    # second's chance: own shares 1/4 a, 3/4 b; the rest's mean shares (1 + 1 + 0 + 0) / 4 = 1/2 each
    assert second.kappa.value == pytest.approx((0.75 - 0.5) / 0.5)
    # second says "a" on 1/4 of the units, the rest on 1/2
    assert [(bias.label, bias.value) for bias in second.bias] == [
        ("a", pytest.approx(-0.25)),
        ("b", pytest.approx(0.25)),
    ]
    assert second.difference is None
    assert second.agreement.method == "no interval: no resamples were asked for"


def test_with_two_annotators_it_is_cohens_kappa() -> None:
    ratings = rated(random_matrix(1, raters=2, units=50), scale="nominal")
    expected = {
        statistic.name: statistic.value
        for statistic in measure(ratings, ["cohen_kappa", "percent_agreement"], resamples=0)
    }
    for rater in agreement_with_rest(ratings, resamples=0):
        assert rater.kappa.value == pytest.approx(expected["cohen_kappa"])
        assert rater.agreement.value == pytest.approx(expected["percent_agreement"])


def test_the_mean_over_annotators_is_raw_agreement_without_gaps() -> None:
    ratings = rated(random_matrix(2, raters=4, units=60), scale="nominal")
    found = [rater.agreement.value or 0.0 for rater in agreement_with_rest(ratings, resamples=0)]
    assert np.mean(found) == pytest.approx(measure(ratings, ["percent_agreement"], resamples=0)[0].value)


def test_an_annotator_who_overuses_a_label_has_a_bias_whose_interval_is_above_0() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(2, size=200)
    rows = np.where(rng.random((4, 200)) < 0.9, truth, 1 - truth)
    rows[3] = np.where(rng.random(200) < 0.4, 1, rows[3])
    found = agreement_with_rest(ratings_of(rows.tolist()), resamples=500)
    leaning = found[3].bias[1]
    assert leaning.low is not None
    assert leaning.low > 0.05
    assert all(rater.bias[1].low is not None and rater.bias[1].low < 0 for rater in found[:3])
    assert found[3].agreement.high is not None
    assert found[0].agreement.value is not None
    assert found[3].agreement.high < found[0].agreement.value


def test_a_difference_is_on_the_scale_of_the_labels_and_not_cut_at_1() -> None:
    rng = np.random.default_rng(4)
    truth = rng.integers(20, 80, size=100)
    rows = truth + rng.integers(-3, 4, size=(3, 100))
    rows[2] += 12  # the third is 12 points more generous than the other two
    found = agreement_with_rest(ratings_of(rows.tolist(), scale="interval"), resamples=300)
    generous = found[2].difference
    assert generous is not None
    assert generous.value == pytest.approx(np.mean(rows[2] - rows[:2].mean(axis=0)))
    assert generous.low is not None
    assert generous.high is not None
    assert 11 < generous.low < 12 < generous.high < 13
    assert found[2].bias == ()  # too many labels


def test_who_shares_no_unit_has_a_reason_and_everybody_is_listed() -> None:
    found = agreement_with_rest(ratings_of([["a", "b", None], ["a", "a", None], [None, None, "a"], [None] * 3]))
    assert [rater.rater for rater in found] == [0, 1, 2, 3]
    assert found[2].agreement.reason == "nobody else rated a unit of this annotator"
    assert found[3].agreement.reason == "the annotator has no ratings"
    assert [rater.n_ratings for rater in found] == [2, 2, 1, 0]
    for rater in found[2:]:
        assert rater.kappa.value is None
        assert all(bias.value is None and bias.reason for bias in rater.bias)


def test_one_label_throughout_leaves_kappa_undefined_and_agreement_complete() -> None:
    found = agreement_with_rest(ratings_of([["a", "a"], ["a", "a"]], labels=["a", "b"]))[0]
    assert found.agreement.value == 1.0
    assert found.kappa.value is None
    assert "0/0" in (found.kappa.reason or "")


def test_too_many_labels_leave_agreement_and_a_reason_for_the_rest(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = rated(random_matrix(7, raters=3, units=30, labels=6, missing=0.2))
    whole = agreement_with_rest(ratings, resamples=100)
    monkeypatch.setattr("annotators.agreement.annotators.MOST_CELLS", 10)
    for rater, other in zip(agreement_with_rest(ratings, resamples=100), whole, strict=True):
        assert rater.agreement.value == pytest.approx(other.agreement.value)
        assert rater.kappa.value is None
        assert rater.difference is not None
        for undefined in (rater.kappa, rater.difference, *rater.bias):
            assert undefined.reason == "6 labels are too many for what is corrected for chance"
            assert undefined.value is undefined.low is undefined.method is None


def test_agreement_with_settled_labels() -> None:
    reference = {0: "a", 1: "b", 3: "b", "not rated": "a"}
    found = agreement_with_reference(ratings_of(ROWS), reference, resamples=0)
    # first: right, wrong, right of the three settled units that they rated
    assert found[0].agreement.value == pytest.approx(2 / 3)
    assert found[1].agreement.value == 1.0
    assert found[0].agreement.n_units == 3
    assert found[0].agreement.name == "agreement_with_reference"
    # Cohen's κ of first and reference: p_o = 2/3, p_e = (2/3)(1/3) + (1/3)(2/3) = 4/9
    assert found[0].kappa.value == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    nobody = agreement_with_reference(ratings_of(ROWS), {}, resamples=0)
    assert nobody[0].agreement.reason == "no unit of this annotator has a reference label"


def test_a_reference_label_that_is_not_on_the_scale_is_refused() -> None:
    with pytest.raises(InvalidInput, match="not on the scale"):
        agreement_with_reference(ratings_of(ROWS), {0: "c"})


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_similarity_is_what_each_pair_has(missing: float) -> None:
    ratings = rated(random_matrix(5, raters=5, units=40, missing=missing), scale="nominal")
    kappa, raw = similarity(ratings, "cohen_kappa"), similarity(ratings)
    for statistic in measure(ratings, ["cohen_kappa"], resamples=0):
        a, b = (ratings.raters.index(rater) for rater in statistic.raters or ())
        assert kappa.value[a, b] == pytest.approx(statistic.value)
        assert kappa.shared[a, b] == statistic.n_units
    matrix = ratings.matrix()
    both = (matrix[0] >= 0) & (matrix[1] >= 0)
    assert raw.value[0, 1] == pytest.approx(np.mean(matrix[0, both] == matrix[1, both]))
    np.testing.assert_allclose(raw.value, raw.value.T)
    assert (np.diag(raw.value) == 1).all()


def test_the_order_puts_those_together_who_label_alike() -> None:
    camps = np.random.default_rng(6).integers(3, size=(2, 60))
    rows = [camps[i].tolist() for i in (0, 1, 0, 1, 0, 1)]
    order = similarity(ratings_of(rows)).order
    assert {frozenset(order[:3]), frozenset(order[3:])} == {frozenset({0, 2, 4}), frozenset({1, 3, 5})}


def test_pairs_that_share_nothing_are_undefined_and_still_have_a_place() -> None:
    ratings = ratings_of([["a", "b", None], ["a", "b", None], [None, None, "a"]])
    found = similarity(ratings)
    assert np.isnan(found.value[0, 2])
    assert found.shared[0, 2] == 0
    assert sorted(found.order) == [0, 1, 2]
    assert np.isnan(similarity(ratings_of([["a", "a"], ["a", "a"]]), "cohen_kappa").value[0, 1])
    with pytest.raises(InvalidInput):
        similarity(ratings, "fleiss_kappa")  # type: ignore[arg-type]
