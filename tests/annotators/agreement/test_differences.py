"""Differences between two tables, paired and not, with interval and permutation p; several criteria at once."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.agreement.differences import by_raters, difference
from annotators.agreement.measure import measure
from annotators.agreement.simultaneous import jointly
from annotators.agreement.tables.columns import tables_of
from annotators.agreement.tables.ratings import Ratings
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import random_matrix, rated, ratings_of


def table(matrix: np.ndarray, first: int = 0, raters: str = "r") -> Ratings:
    n, units = matrix.shape
    return Ratings.from_triples(
        [f"u{first + i}" for i in range(units)] * n,
        [f"{raters}{i}" for i in range(n) for _ in range(units)],
        matrix.ravel().tolist(),
        labels=[0, 1, 2, 3],
        scale="interval",
    )


def noisy(seed: int, units: int, share: float, raters: int = 3) -> np.ndarray:
    """Raters × units: the truth, or with this probability any of four labels."""
    rng = np.random.default_rng(seed)
    truth = rng.integers(4, size=units)
    return np.where(rng.random((raters, units)) < share, rng.integers(4, size=(raters, units)), truth).astype(float)


def test_two_studies_that_differ_have_an_interval_away_from_zero_and_a_small_p() -> None:
    a, b = table(noisy(0, 120, 0.2)), table(noisy(1, 100, 0.7), first=1000, raters="s")
    found = difference(a, b, "krippendorff_alpha_nominal")
    assert found.value == pytest.approx((found.a.value or 0) - (found.b.value or 0))
    assert found.a == measure(a, ["krippendorff_alpha_nominal"])[0]
    assert not found.paired
    assert found.low is not None
    assert found.low > 0.2
    assert found.p_value == pytest.approx(1 / 2001)
    assert "difference of two independent tables; BCa bootstrap over units" in (found.method or "")


def test_two_halves_of_one_study_do_not_differ() -> None:
    p_values = []
    for seed in range(40):
        matrix = noisy(seed, 80, 0.5)
        a, b = table(matrix[:, :40]), table(matrix[:, 40:], first=40)
        found = difference(a, b, "gwet_ac1", resamples=200, permutations=199, seed=seed)
        assert found.p_value is not None
        p_values.append(found.p_value)
    # uniform under the null: 40 of them below .05 is 2 on average, and their mean is .5 ± .046
    assert sum(p <= 0.05 for p in p_values) <= 6
    assert np.mean(p_values) == pytest.approx(0.5, abs=0.14)


def test_the_independent_interval_is_that_of_both_spreads() -> None:
    a, b = table(noisy(2, 150, 0.3)), table(noisy(3, 150, 0.3), first=500)
    found = difference(a, b, "percent_agreement", kind="percentile", resamples=4000)
    errors = [measure(ratings, ["percent_agreement"], kind="jackknife")[0].interval for ratings in (a, b)]
    spread = np.sqrt(sum((error.error or 0) ** 2 for error in errors if error))
    assert found.low is not None
    assert found.high is not None
    assert found.high - found.low == pytest.approx(2 * 1.96 * spread, rel=0.06)


def test_groups_of_annotators_are_resampled_on_the_same_units() -> None:
    # The second group repeats the first but for one rater's noise: paired, the difference is far more certain.
    matrix = noisy(4, 100, 0.4, raters=4)
    rng = np.random.default_rng(5)
    worse = np.where(rng.random(matrix[2].shape) < 0.25, rng.integers(4, size=100), matrix[1])
    ratings = table(np.stack([matrix[0], matrix[1], matrix[0], worse]))
    groups = by_raters(ratings, {"r0": "a", "r1": "a", "r2": "b", "r3": "b"})
    assert groups["a"].raters == ("r0", "r1")
    found = difference(groups["a"], groups["b"], "cohen_kappa", kind="percentile")
    apart = difference(groups["a"], groups["b"], "cohen_kappa", kind="percentile", paired=False)
    assert found.paired
    assert found.value == pytest.approx(apart.value)
    widths = [(difference.high or 0) - (difference.low or 0) for difference in (found, apart)]
    assert widths[0] < 0.7 * widths[1]
    assert (found.p_value or 1) < 0.05


def test_paired_resamples_are_those_of_a_loop() -> None:
    matrix = random_matrix(6, raters=4, units=40, labels=3, missing=0.1)
    groups = by_raters(rated(matrix), {0: "a", 1: "a", 2: "b", 3: "b"})
    found = difference(groups["a"], groups["b"], "percent_agreement", kind="percentile", resamples=6000)
    rng = np.random.default_rng(0)

    def raw(a: np.ndarray, b: np.ndarray) -> float:
        both = ~np.isnan(a) & ~np.isnan(b)
        return float((a[both] == b[both]).mean())

    drawn = []
    for _ in range(3000):
        at = matrix[:, rng.integers(40, size=40)]
        drawn.append(raw(at[0], at[1]) - raw(at[2], at[3]))
    assert [found.low, found.high] == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.03)


def test_a_coefficient_that_asks_who_rated_has_no_permutation_across_other_raters() -> None:
    a, b = table(noisy(7, 40, 0.3)), table(noisy(8, 40, 0.3), first=100, raters="s")
    found = difference(a, b, "conger_kappa", resamples=100)
    assert found.value is not None
    assert found.p_value is None
    assert found.p_reason == "the coefficient depends on who rated, and the two tables have different raters"


def test_what_is_undefined_in_one_table_has_no_difference() -> None:
    a, b = table(noisy(9, 40, 0.3)), table(np.ones((3, 10)), first=100)
    found = difference(a, b, resamples=50, permutations=50)
    assert (found.value, found.p_value) == (None, None)
    assert found.reason is not None
    assert found.reason.startswith('it is not defined in one of the two tables: every rating is "1"')


def test_labels_of_either_table_are_declared_for_both() -> None:
    a = ratings_of([["x", "y", "x"], ["x", "y", "y"]])
    b = ratings_of([["x", "z", "x"], ["x", "z", "z"]])
    found = difference(a, b, "brennan_prediger", paired=False, resamples=50, permutations=50)
    assert found.a.value == pytest.approx((2 / 3 - 1 / 3) / (1 - 1 / 3))  # three labels, not two
    assert found.value == pytest.approx(0)


def test_clusters_are_drawn_and_dealt_out_together() -> None:
    matrix = np.repeat(noisy(10, 40, 0.5), 3, axis=1)  # every unit thrice: a cluster
    a, b = table(matrix[:, :60]), table(matrix[:, 60:], first=60)
    clusters = {f"u{i}": i // 3 for i in range(120)}
    alone = difference(a, b, "percent_agreement", kind="percentile", resamples=2000)
    together = difference(a, b, "percent_agreement", kind="percentile", resamples=2000, clusters=clusters)
    assert together.value == pytest.approx(alone.value)
    widths = [(difference.high or 0) - (difference.low or 0) for difference in (together, alone)]
    assert widths[0] / widths[1] == pytest.approx(np.sqrt(3), rel=0.12)
    assert (together.p_value or 0) > (alone.p_value or 1)
    assert "bootstrap over clusters" in (together.method or "")


@pytest.mark.parametrize(
    ("statistic", "message"),
    [
        ("kappa", "is unknown"),
        ("cohen_kappa", "one value a pair of raters: give tables of two raters each"),
        ("specific_agreement", "one value a label: say which label"),
    ],
)
def test_what_cannot_be_compared_is_refused(statistic: str, message: str) -> None:
    a, b = table(noisy(11, 20, 0.3)), table(noisy(12, 20, 0.3), first=100)
    with pytest.raises(InvalidInput, match=message):
        difference(a, b, statistic)


def test_one_label_can_be_compared() -> None:
    a, b = table(noisy(13, 60, 0.2)), table(noisy(14, 60, 0.6), first=100)
    found = difference(a, b, "specific_agreement", label=2.0, resamples=200, permutations=200)
    assert found.a.label == 2.0
    assert (found.value or 0) > 0.1


def criteria(seed: int, units: int = 120) -> list[object]:
    ratings = noisy(seed, units, 0.3)
    other = np.where(np.random.default_rng(seed).random(ratings.shape) < 0.2, 3 - ratings, ratings)
    values = [*ratings.ravel().tolist(), *other.ravel().tolist()]
    n = ratings.size
    return tables_of(
        [f"u{i}" for i in range(units)] * 6,
        [f"r{i}" for i in range(3) for _ in range(units)] * 2,
        values,
        criteria=["first"] * n + ["second"] * n,
        scale="ordinal",
    )  # type: ignore[return-value]


def test_criteria_of_the_same_items_move_together_and_their_intervals_are_wider() -> None:
    found = jointly(criteria(0), "krippendorff_alpha_nominal", resamples=2000)  # type: ignore[arg-type]
    assert found.correlation[0][1] > 0.2
    assert found.correlation[0][0] == pytest.approx(1)
    for member in found.members:
        assert member.value is not None
        assert member.error is not None
        assert member.low is not None
        reach = (member.value - member.low) / member.error
        assert 1.96 < reach < 2.3  # one interval needs 1.96, two independent ones 2.24
    contrast = found.contrasts[0]
    assert contrast.value > 0.1
    assert contrast.p_value < 0.01
    # the difference of two that move together is more certain than of independent ones
    errors = [member.error or 0 for member in found.members]
    assert contrast.high - contrast.low < 2 * 1.96 * np.hypot(*errors)


def test_a_criterion_without_a_value_is_listed_with_its_reason() -> None:
    tables = tables_of(
        ["a", "b"] * 4, ["r", "r", "s", "s"] * 2, [0, 1, 0, 0, 1, 1, 1, 1], criteria=["x"] * 4 + ["y"] * 4
    )
    found = jointly(tables, resamples=100)
    assert found.members[1].value is None
    assert 'every rating is "1"' in (found.members[1].reason or "")
    assert found.contrasts == ()
