"""What is undefined has no value and a reason in words; what is defined is not lost beside it."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement import STATISTICS, Ratings, Statistic, measure

CHANCE_CORRECTED = [name for name in STATISTICS if name not in ("percent_agreement", "specific_agreement")]


def by_name(ratings: Ratings, names: list[str] | None = None) -> dict[str, Statistic]:
    """The first entry of each statistic."""
    found = measure(ratings, names or list(STATISTICS), resamples=50)
    return {one.name: one for one in reversed(found)}


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ([[None, None], [None, None]], "there are no ratings"),
        ([[1, 2, 3]], "only one rater has rated"),
        ([[1, 2, 3], [None, None, None]], "only one rater has rated"),
        ([[1, 2, None], [None, None, 3]], "no unit was rated by two raters"),
    ],
)
def test_without_two_ratings_of_a_unit_nothing_is_defined(rows: list[list[object]], reason: str) -> None:
    found = measure(Ratings.from_rows(rows, labels=[1, 2, 3], scale="interval"), list(STATISTICS), resamples=50)
    assert {one.name for one in found} == set(STATISTICS)
    for one in found:
        assert one.value is one.low is one.high is one.method is None
        assert one.reason is not None
        assert one.reason.startswith(reason)


def test_an_empty_table_is_undefined() -> None:
    for one in measure(Ratings.from_triples([], [], [])):
        assert one.value is None
        assert one.reason == "there are no ratings"


def test_one_unit_leaves_what_is_corrected_for_chance_undefined() -> None:
    found = by_name(Ratings.from_rows([[1], [1], [2]], scale="interval"))
    for name in ("krippendorff_alpha_nominal", "krippendorff_alpha_interval", "fleiss_kappa", "cohen_kappa"):
        assert found[name].value is None
        assert "only one unit" in (found[name].reason or "")
    assert found["light_kappa"].value is None
    raw = found["percent_agreement"]
    assert raw.value == pytest.approx(1 / 3)
    assert (raw.low, raw.high) == (None, None)
    assert raw.method == "no interval: one unit cannot be resampled"


def test_one_label_throughout_is_undefined_and_not_perfect() -> None:
    found = by_name(Ratings.from_rows([["a"] * 5] * 3, labels=["a", "b"]))
    assert found["cohen_kappa"].value is None
    assert found["cohen_kappa"].reason == 'both raters gave "a" to every unit that they share (0/0)'
    for name in ("krippendorff_alpha_nominal", "fleiss_kappa"):
        assert found[name].value is None
        assert found[name].reason == (
            'every rating is "a", so that agreement and chance agreement are both complete (0/0)'
        )
    assert found["light_kappa"].reason == "Cohen's κ is undefined for every pair of raters"
    assert found["percent_agreement"].value == 1.0


@pytest.mark.parametrize("constant", [0.1, 3, 1e9 + 0.3])
def test_one_number_throughout_is_undefined_on_every_scale(constant: float) -> None:
    found = by_name(Ratings.from_rows([[constant] * 7] * 3, scale="interval"))
    assert all(found[name].value is None for name in CHANCE_CORRECTED)


def test_a_label_declared_and_never_used_has_no_specific_agreement() -> None:
    ratings = Ratings.from_rows([["a", "b", "a"], ["a", "b", "b"]], labels=["a", "b", "c"])
    specific = {one.label: one for one in measure(ratings, ["specific_agreement"], resamples=50)}
    assert specific["a"].value == pytest.approx(2 / 3)
    assert specific["c"].value is None
    assert specific["c"].reason == 'nobody used the label "c" on a unit with two ratings'


def test_a_label_declared_and_never_used_changes_no_other_statistic() -> None:
    rows = [["a", "b", "a", "b"], ["a", "b", "b", "b"]]
    few = measure(Ratings.from_rows(rows, labels=["a", "b"]), resamples=50)
    more = measure(Ratings.from_rows(rows, labels=["a", "b", "c"]), resamples=50)
    assert [one for one in more if one.label != "c"] == few


def test_a_pair_that_shares_no_unit_does_not_hide_the_others() -> None:
    rows = [[0, 1, 0, 1, None, None], [0, 1, 1, 1, 0, 1], [None, None, None, None, 0, 1]]
    found = measure(Ratings.from_rows(rows), ["cohen_kappa", "light_kappa"], resamples=200)
    ab, ac, bc, light = found
    assert ab.value == pytest.approx(0.5)
    assert ac.value is None
    assert ac.reason == "the two raters share no unit"
    assert bc.value == 1.0
    assert light.value == pytest.approx(0.75)
    assert light.method is not None
    assert "mean of 2 pairs of raters, 1 with an undefined κ left out" in light.method


def test_a_pair_that_shares_one_unit_is_undefined() -> None:
    rows = [[0, 1, 0], [0, 1, 0], [0, None, None]]
    found = measure(Ratings.from_rows(rows), ["cohen_kappa", "light_kappa"], resamples=50)
    assert [one.value for one in found] == [1.0, None, None, 1.0]
    assert "share only one unit" in (found[1].reason or "")


def test_ordered_coefficients_need_an_order_and_numbers() -> None:
    nominal = by_name(Ratings.from_rows([[1, 2, 1], [1, 2, 2]]))
    assert nominal["krippendorff_alpha_ordinal"].reason == "the scale is nominal, and its labels have no order"
    words = by_name(Ratings.from_rows([["lo", "hi", "lo"], ["lo", "hi", "hi"]], ["lo", "hi"], "ordinal"))
    assert words["krippendorff_alpha_ordinal"].value is not None
    assert words["krippendorff_alpha_interval"].reason == "the labels are not numbers"


def test_raters_who_never_use_the_same_label_have_a_kappa_of_zero() -> None:
    found = measure(Ratings.from_rows([[0, 0, 0], [1, 1, 1]]), ["cohen_kappa"], resamples=50)
    assert found[0].value == 0.0


def test_no_value_is_ever_nan() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        raters, units = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        rows = rng.choice(np.array([None, 0, 1], dtype=object), size=(raters, units)).tolist()
        for one in measure(Ratings.from_rows(rows, labels=[0, 1], scale="interval"), list(STATISTICS), resamples=30):
            assert (one.value is None) != (one.reason is None)
            assert all(number is None or np.isfinite(number) for number in (one.value, one.low, one.high))
