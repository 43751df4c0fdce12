"""What is undefined has no value and a reason in words; what is defined is not lost beside it."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.catalogue import all_statistics
from annotators.agreement.measure import measure
from annotators.agreement.remarks import small_sample_warning
from annotators.agreement.statistics.base import coefficient_named
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from annotators.intervals.result import Statistic
from tests.annotators.agreement.makers import ratings_of

FIXED_CHANCE = ("gwet_ac", "brennan_prediger")


def by_name(ratings: Ratings, names: list[str] | str = "all") -> dict[str, Statistic]:
    """The first entry of each statistic."""
    found = measure(ratings, names, resamples=50)
    return {statistic.name: statistic for statistic in reversed(found)}


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
    ratings = ratings_of(rows, labels=[1, 2, 3], scale="interval")
    found = measure(ratings, "all", resamples=50)
    assert {statistic.name for statistic in found} == set(all_statistics(ratings))
    for statistic in found:
        assert statistic.value is statistic.low is statistic.high is statistic.method is None
        assert statistic.reason is not None
        assert statistic.reason.startswith(reason)


def test_an_empty_table_is_undefined() -> None:
    for statistic in measure(Ratings.from_triples([], [], [])):
        assert statistic.value is None
        assert statistic.reason == "there are no ratings"


def test_one_unit_leaves_what_is_corrected_for_chance_undefined() -> None:
    found = by_name(ratings_of([[1], [1], [2]], scale="interval"))
    for name, statistic in found.items():
        if name.startswith(("krippendorff", "fleiss", "cohen", "conger", "scott", "icc", "pearson")):
            assert statistic.value is None, name
            assert "only one unit" in (statistic.reason or ""), name
    assert found["light_kappa"].value is None
    # p_o = 1/3, π = (2/3, 1/3), p_e = 2 · 2/9 = 4/9: (1/3 - 4/9) / (5/9)
    assert found["gwet_ac1"].value == pytest.approx(-0.2)
    assert found["gwet_ac1"].method == "no interval: one unit cannot be resampled"
    # its chance agreement, 1 / 2, is not estimated: (1/3 - 1/2) / (1 - 1/2)
    assert found["brennan_prediger"].value == pytest.approx(-1 / 3)
    raw = found["percent_agreement"]
    assert raw.value == pytest.approx(1 / 3)
    assert (raw.low, raw.high) == (None, None)
    assert raw.method == "no interval: one unit cannot be resampled"


def test_ac1_of_one_unit_on_which_all_agree_is_one_when_another_label_is_declared() -> None:
    assert by_name(ratings_of([["a"]] * 3, labels=["a", "b"]), ["gwet_ac1"])["gwet_ac1"].value == 1.0
    assert by_name(ratings_of([["a"]] * 3), ["gwet_ac1"])["gwet_ac1"].value is None


def test_one_label_throughout_is_undefined_and_not_perfect() -> None:
    found = by_name(ratings_of([["a"] * 10] * 3, labels=["a", "b"]))
    assert found["cohen_kappa"].value is None
    assert found["cohen_kappa"].reason == 'both raters gave "a" to every unit that they share (0/0)'
    for name in ("krippendorff_alpha_nominal", "fleiss_kappa"):
        assert found[name].value is None
        assert found[name].reason == (
            'every rating is "a", so that agreement and chance agreement are both complete (0/0)'
        )
    assert "of 3 pairs of raters 3 have no κ (3 gave one label throughout (0/0))" in (found["light_kappa"].reason or "")
    assert found["icc_1_1"].reason == 'every rating is "a", so that there is no variance to share out (0/0)'
    assert found["pearson"].reason == found["cohen_kappa"].reason
    assert found["percent_agreement"].value == 1.0


def test_one_label_of_two_declared_is_perfect_for_ac1_and_brennan_prediger() -> None:
    found = by_name(ratings_of([["a"] * 5] * 3, labels=["a", "b"]))
    for name, statistic in found.items():
        if name.startswith(FIXED_CHANCE):
            assert statistic.value == 1.0, name


def test_one_label_that_is_the_only_one_declared_leaves_them_undefined() -> None:
    found = by_name(ratings_of([["a"] * 5] * 3))
    for name, statistic in found.items():
        if name.startswith(FIXED_CHANCE):
            assert (
                statistic.reason == 'every rating is "a", and no other label is declared that could have been given'
            ), name


@pytest.mark.parametrize("constant", [0.1, 3, 1e9 + 0.3])
def test_one_number_throughout_is_undefined_on_every_scale(constant: float) -> None:
    found = by_name(ratings_of([[constant] * 7] * 3, scale="interval"))
    assert all(statistic.value is None for name, statistic in found.items() if coefficient_named(name).estimated)


def test_a_label_declared_and_never_used_has_no_specific_agreement() -> None:
    ratings = ratings_of([["a", "b", "a"], ["a", "b", "b"]], labels=["a", "b", "c"])
    specific = {statistic.label: statistic for statistic in measure(ratings, ["specific_agreement"], resamples=50)}
    assert specific["a"].value == pytest.approx(2 / 3)
    assert specific["c"].value is None
    assert specific["c"].reason == 'nobody used the label "c" on a unit with two ratings'


def test_a_label_declared_and_never_used_counts_in_ac1_and_brennan_prediger_alone() -> None:
    rows = [["a", "b", "a", "b"], ["a", "b", "b", "b"]]
    few, more = (measure(ratings_of(rows, labels=labels), "all", resamples=50) for labels in ("ab", "abc"))
    counting = {statistic.name for statistic in more if coefficient_named(statistic.name).declared}
    assert counting == {statistic.name for statistic in more if statistic.name.startswith(FIXED_CHANCE)}
    values = [
        {(statistic.name, statistic.label): statistic.value for statistic in found if statistic.label != "c"}
        for found in (few, more)
    ]
    for (name, label), value in values[0].items():
        assert (values[1][name, label] == pytest.approx(value, abs=1e-12)) is (name not in counting), name
    # p_o = 3/4, π = (3/8, 5/8): chance agreement is Σ π (1 - π) / (K - 1) for AC1 and 1 / K for Brennan-Prediger
    for found, k in zip(values, (2, 3), strict=True):
        chance = 2 * 3 / 8 * 5 / 8 / (k - 1)
        assert found["gwet_ac1", None] == pytest.approx((3 / 4 - chance) / (1 - chance))
        assert found["brennan_prediger", None] == pytest.approx((3 / 4 - 1 / k) / (1 - 1 / k))


def test_lights_kappa_is_undefined_unless_every_pair_has_a_kappa() -> None:
    rows = [[0, 1, 0, 1, None, None], [0, 1, 1, 1, 0, 1], [None, None, None, None, 0, 1]]
    found = measure(ratings_of(rows), ["cohen_kappa", "light_kappa"], resamples=200, least_shared=2)
    ab, ac, bc, light = found
    assert ab.value == pytest.approx(0.5)
    assert ac.value is None
    assert ac.reason == "the two raters share no unit"
    assert bc.value == 1.0
    assert light.value is None
    assert light.reason == (
        "of 3 pairs of raters 1 has no κ (1 share fewer than 2 units), and a mean of the others would leave out "
        "agreement: read α, which takes gaps"
    )


def test_a_mean_of_kappas_does_not_leave_out_two_raters_who_agree_throughout() -> None:
    # a and b agree on "yes" throughout, so that their κ is 0/0; c differs from both.
    rows = [["yes"] * 12, ["yes"] * 12, ["yes"] * 11 + ["no"]]
    *pairs, light = measure(ratings_of(rows), ["cohen_kappa", "light_kappa"], resamples=50)
    assert [pair.value for pair in pairs] == [None, 0.0, 0.0]
    assert light.value is None
    assert "1 gave one label throughout (0/0)" in (light.reason or "")


def test_a_resample_in_which_a_pair_has_no_kappa_does_not_count() -> None:
    rng = np.random.default_rng(0)
    rows = (rng.random((3, 12)) < 0.15).astype(int)
    rows[:, 0], rows[:, 1] = 1, (1, 0, 0)
    light = measure(ratings_of(rows.tolist()), ["light_kappa"], resamples=500, kind="percentile")[0]
    assert light.value is not None
    assert light.interval is not None
    assert light.interval.undefined >= 10


def test_of_several_raters_a_pair_needs_ten_shared_units_unless_another_number_is_asked_for() -> None:
    both = [0, 1] * 5
    rows = [both, both, [*both[:9], None]]
    ratings = ratings_of(rows)
    found = measure(ratings, ["cohen_kappa", "light_kappa", "spearman"], resamples=0, any_scale=True)
    assert [statistic.value for statistic in found if statistic.name == "cohen_kappa"] == [1.0, None, None]
    assert found[1].reason == "the two raters share only 9 units, and a κ of one pair of several needs 10"
    assert "2 share fewer than 10 units" in (found[3].reason or "")
    assert all(statistic.value == 1.0 for statistic in found if statistic.name == "spearman")
    assert all(
        statistic.value == 1.0 for statistic in measure(ratings, ["cohen_kappa", "light_kappa"], 0, least_shared=9)
    )
    # Where everybody rated all there is, no pair is there by chance, however few units there are.
    complete = ratings_of([[0, 1, 0, 1], [0, 1, 1, 1], [0, 1, 0, 0]])
    [light] = [one for one in measure(complete, ["cohen_kappa", "light_kappa"], 0) if one.name == "light_kappa"]
    assert light.value == pytest.approx((0.5 + 0.5 + 0.2) / 3)
    assert small_sample_warning(complete) is not None
    one_more = ratings_of([[0, 1, 0, 1, 0], [0, 1, 1, 1, None], [0, 1, 0, 0, None]])
    assert all(one.value is None for one in measure(one_more, ["cohen_kappa", "light_kappa"], 0))
    two = measure(ratings_of([row[:5] for row in rows[:2]]), ["cohen_kappa"], resamples=0)
    assert two[0].value == 1.0  # the two raters are the whole table, and its warning says how small it is


def test_who_rated_alone_is_no_pair() -> None:
    rows = [[0, 1, 0, None], [0, 1, 1, None], [None, None, None, 1]]
    found = measure(ratings_of(rows), ["cohen_kappa", "light_kappa"], resamples=0)
    assert found[0].value == found[3].value == pytest.approx(0.4)
    with pytest.raises(InvalidInput, match="1 shared units: a κ needs 2 or more"):
        measure(ratings_of(rows), least_shared=1)


def test_a_pair_that_shares_one_unit_is_undefined() -> None:
    rows = [[0, 1, 0], [0, 1, 0], [0, None, None]]
    found = measure(ratings_of(rows), ["cohen_kappa", "light_kappa"], resamples=50, least_shared=2)
    assert [statistic.value for statistic in found] == [1.0, None, None, None]
    assert "share only one unit" in (found[1].reason or "")


def test_ordered_coefficients_need_an_order_and_numbers() -> None:
    asked = ["krippendorff_alpha_ordinal", "krippendorff_alpha_interval", "cohen_kappa_linear", "icc_a_1"]
    nominal = by_name(ratings_of([[1, 2, 1], [1, 2, 2]]), asked)
    assert {statistic.reason for statistic in nominal.values()} == {
        "the scale is nominal, and its labels have no order"
    }
    words = by_name(ratings_of([["lo", "hi", "lo"], ["lo", "hi", "hi"]], ["lo", "hi"], "ordinal"), asked)
    assert words["krippendorff_alpha_ordinal"].value is not None
    assert words["krippendorff_alpha_interval"].reason == "the labels are not numbers"


def test_raters_who_never_use_the_same_label_have_a_kappa_of_zero() -> None:
    found = measure(ratings_of([[0, 0, 0], [1, 1, 1]]), ["cohen_kappa"], resamples=50)
    assert found[0].value == 0.0


def test_no_value_is_ever_nan() -> None:
    rng = np.random.default_rng(0)
    for _ in range(60):
        raters, units = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        rows = rng.choice(np.array([None, 0, 1], dtype=object), size=(raters, units)).tolist()
        for statistic in measure(ratings_of(rows, labels=[0, 1], scale="interval"), "all", resamples=30):
            assert (statistic.value is None) != (statistic.reason is None)
            ends = [end for other in statistic.beside for end in (other.low, other.high)]
            assert all(
                number is None or np.isfinite(number)
                for number in (statistic.value, statistic.low, statistic.high, *ends)
            )


def test_raters_who_never_vary_have_no_correlation_although_they_differ() -> None:
    found = by_name(ratings_of([[1, 1, 1, 1], [1, 2, 3, 2]], scale="interval"))
    for name in ("pearson", "spearman", "kendall"):
        assert found[name].reason == "one of the two raters gave one label throughout"
    assert found["cohen_kappa"].value == 0.0


def test_a_ratio_scale_starts_at_zero() -> None:
    found = by_name(ratings_of([[-2, 1, 3], [-1, 1, 3]], scale="interval"))
    assert found["krippendorff_alpha_ratio"].reason == "a ratio scale starts at 0, and there is -2"
    assert found["krippendorff_alpha_interval"].value is not None
