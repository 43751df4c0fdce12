"""Weighted coefficients, AC1, Brennan-Prediger, Conger's κ and intraclass correlations against published examples."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from annotators.agreement.measure import measure
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import Ratings
from annotators.intervals.result import Interval, Statistic
from tests.annotators.agreement.makers import (
    GWET_4_RATERS,
    GWET_5_OBSERVERS,
    GWET_BEN_AND_GERRY,
    GWET_GENDER,
    GWET_TWO_GROUPS,
    KRIPPENDORFF,
    SHROUT_FLEISS,
    ratings_of,
    table_rows,
)


def analytic(ratings: Ratings, name: str, **asked: object) -> Statistic:
    """The first entry of a statistic, with its analytic interval."""
    return measure(ratings, [name], resamples=0, kind="analytic", **asked)[0]  # type: ignore[arg-type]


def interval_of(statistic: Statistic) -> Interval:
    assert statistic.interval is not None
    return statistic.interval


def test_ratio_alpha_of_krippendorffs_four_observers() -> None:
    # Krippendorff (2011), section E: ratio metric, α = .797.
    ratings = ratings_of(KRIPPENDORFF, scale="ratio")
    assert analytic(ratings, "krippendorff_alpha_ratio").value == pytest.approx(0.797, abs=5e-4)


def test_alpha_of_krippendorffs_two_observers_and_five_labels() -> None:
    # Krippendorff (2011), section C: twelve units, α = .692; Gwet calls them Ben and Gerry and leaves one rating out.
    rows = [list("aabbdcccedda"), list("babbbccceddd")]
    assert analytic(ratings_of(rows), "krippendorff_alpha_nominal").value == pytest.approx(0.692, abs=5e-4)


def test_weighted_kappa_of_cohens_example() -> None:
    # Cohen (1968), table 1: disagreement weights 0 1 3 / 1 0 6 / 3 6 0; Σ v p_o = .90, Σ v p_c = 1.38, κ_w = .348.
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    weights = [[1, 5 / 6, 3 / 6], [5 / 6, 1, 0], [3 / 6, 0, 1]]
    ratings = ratings_of(table_rows(table), labels=[0, 1, 2])
    own = OwnWeights.of(weights)
    statistic = analytic(ratings, "cohen_kappa_weighted", own_weights=own)
    assert statistic.value == pytest.approx(1 - 0.90 / 1.38)
    assert statistic.value == pytest.approx(0.348, abs=5e-4)
    assert analytic(ratings, "light_kappa_weighted", own_weights=own).value == pytest.approx(1 - 0.90 / 1.38)


def test_the_standard_error_of_kappa_in_fleiss_book() -> None:
    # Fleiss, Levin & Paik (2003), Statistical Methods for Rates and Proportions, section 18.1: κ = .68, se = .087.
    ratings = ratings_of(table_rows([[75, 1, 4], [5, 4, 1], [0, 0, 10]]))
    statistic = analytic(ratings, "cohen_kappa")
    assert statistic.value == pytest.approx(0.68, abs=5e-3)
    assert interval_of(statistic).error == pytest.approx(0.087, abs=1e-3)


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("cohen_kappa", 0.7964094, 0.05891072),
        ("scott_pi", 0.7962397, 0.05905473 * np.sqrt(100 / 99)),  # the package divides by n here, by n - 1 elsewhere
        ("gwet_ac1", 0.8493305, 0.04321747 * np.sqrt(100 / 99)),
        ("brennan_prediger", 0.835, 0.04693346 * np.sqrt(100 / 99)),
        ("krippendorff_alpha_nominal", 0.7972585, 0.05905473 * np.sqrt(100 / 99)),
        ("percent_agreement", 0.89, 0.03128898 * np.sqrt(100 / 99)),
    ],
)
def test_gwets_two_abstractors(name: str, value: float, error: float) -> None:
    # Gwet (2014), 100 pregnancies; values and errors of his own package, irrCAC.
    rows = table_rows([[13, 0, 0], [0, 20, 7], [0, 4, 56]])
    statistic = analytic(ratings_of(rows, labels=[0, 1, 2]), name)
    assert statistic.value == pytest.approx(value, abs=5e-7)
    assert interval_of(statistic).error == pytest.approx(error, rel=1e-6)


@pytest.mark.parametrize(
    ("name", "value", "low", "high"),
    [
        ("cohen_kappa", 0.432, 0.341, 0.522),
        ("cohen_kappa_linear", 0.407, 0.302, 0.512),
        ("cohen_kappa_quadratic", 0.383, 0.254, 0.513),
    ],
)
def test_gwets_psychiatric_diagnoses(name: str, value: float, low: float, high: float) -> None:
    # Gwet (2014), 223 patients, two methods of diagnosis; values and t intervals of irrCAC.
    table = [[40, 4, 4, 17], [6, 25, 2, 13], [4, 1, 21, 12], [15, 5, 9, 45]]
    statistic = analytic(ratings_of(table_rows(table), labels=[0, 1, 2, 3], scale="ordinal"), name)
    assert [statistic.value, statistic.low, statistic.high] == pytest.approx([value, low, high], abs=1e-3)


FOUR_RATERS = {
    # name: value, standard error, lower end of the 95 % interval with t; all upper ends are cut at 1.
    "gwet_ac1": (0.77544, 0.14295, 0.461),
    "gwet_ac2_linear": (0.859, 0.117, 0.600),
    "gwet_ac2_quadratic": (0.914, 0.104, 0.685),
    "gwet_ac2_ordinal": (0.899, 0.107, 0.664),
    "brennan_prediger": (0.77273, 0.14472, 0.454),
    "brennan_prediger_linear": (0.848, 0.123, 0.577),
    "brennan_prediger_quadratic": (0.902, 0.111, 0.657),
    "brennan_prediger_ordinal": (0.886, 0.114, 0.636),
    "fleiss_kappa": (0.76117, 0.15302, 0.424),
    "conger_kappa": (0.76282, 0.14917, 0.435),
    "krippendorff_alpha_nominal": (0.74342, 0.146, 0.419),
    "krippendorff_alpha_interval": (0.849, 0.129, 0.561),
    "krippendorff_alpha_ratio": (0.797, 0.140, 0.484),
}


@pytest.mark.parametrize("name", FOUR_RATERS)
def test_gwets_four_raters_with_gaps(name: str) -> None:
    # Gwet (2014), p. 120; values, errors and intervals of irrCAC (pe of AC1 .190, of Fleiss .239, of Conger .233).
    value, error, low = FOUR_RATERS[name]
    statistic = analytic(ratings_of(GWET_4_RATERS, scale="ratio"), name)
    assert statistic.value == pytest.approx(value, abs=6e-4)
    assert interval_of(statistic).error == pytest.approx(error, abs=6e-4)
    assert [statistic.low, statistic.high] == pytest.approx([low, 1.0], abs=1.1e-3)


FURTHER = {
    # rows: AC1 (value, se), Conger, Fleiss, Brennan-Prediger, α; irrCAC.
    "five observers": (
        GWET_5_OBSERVERS,
        [(0.497, 0.122), (0.469, 0.117), (0.458, 0.120), (0.487, 0.121), (0.481, 0.114)],
    ),
    "two groups": (GWET_TWO_GROUPS, [(0.685, 0.134), (0.659, 0.146), (0.657, 0.150), (0.679, 0.136), (0.632, 0.150)]),
    "gender": (GWET_GENDER, [(0.208, 0.091), (0.166, 0.121), (0.129, 0.141), (0.183, 0.102), (0.143, 0.141)]),
    "Ben and Gerry": (
        GWET_BEN_AND_GERRY,
        [(0.661, 0.184), (0.657, 0.179), (0.649, 0.191), (0.659, 0.185), (0.665, 0.180)],
    ),
}


@pytest.mark.parametrize("which", FURTHER)
def test_gwets_further_examples_with_gaps(which: str) -> None:
    rows, expected = FURTHER[which]
    names = ("gwet_ac1", "conger_kappa", "fleiss_kappa", "brennan_prediger", "krippendorff_alpha_nominal")
    for name, (value, error) in zip(names, expected, strict=True):
        statistic = analytic(ratings_of(rows), name)
        assert statistic.value == pytest.approx(value, abs=6e-4), name
        assert interval_of(statistic).error == pytest.approx(error, abs=6e-4), name


ICC = {
    # Shrout & Fleiss (1979), table 4: .17 .29 .71 .44 .62 .91; F intervals of psych::ICC (McGraw & Wong 1996).
    "icc_1_1": (0.17, -0.133, 0.72),
    "icc_a_1": (0.29, 0.019, 0.76),
    "icc_c_1": (0.71, 0.342, 0.95),
    "icc_1_k": (0.44, -0.884, 0.91),
    "icc_a_k": (0.62, 0.071, 0.93),
    "icc_c_k": (0.91, 0.676, 0.99),
}


@pytest.mark.parametrize("name", ICC)
def test_the_intraclass_correlations_of_shrout_and_fleiss(name: str) -> None:
    value, low, high = ICC[name]
    statistic = analytic(ratings_of(SHROUT_FLEISS, scale="interval"), name)
    assert statistic.value == pytest.approx(value, abs=5e-3)
    assert statistic.low == pytest.approx(low, abs=6e-4)
    assert statistic.high == pytest.approx(high, abs=6e-3)
    assert interval_of(statistic).kind == "F"


def test_quadratic_kappa_is_nearly_the_intraclass_correlation() -> None:
    # Fleiss & Cohen (1973): with quadratic weights κ is ICC(A,1) but for a term of the order of 1 / n.
    rng = np.random.default_rng(0)
    truth = rng.integers(1, 6, size=4000)
    rows: Sequence[Sequence[int]] = np.clip(truth + rng.integers(-1, 2, size=(2, 4000)), 1, 5).tolist()
    ratings = ratings_of(rows, scale="interval")
    kappa, icc = (analytic(ratings, name).value for name in ("cohen_kappa_quadratic", "icc_a_1"))
    assert kappa == pytest.approx(icc, abs=1e-3)


def test_two_labels_make_brennan_prediger_the_adjusted_kappa_of_byrt() -> None:
    # Byrt, Bishop & Carlin (1993), Journal of Clinical Epidemiology 46, 423-429: PABAK = 2 p_o - 1, for p_o = .85.
    ratings = ratings_of(table_rows([[80, 10], [5, 5]]))
    assert analytic(ratings, "brennan_prediger").value == pytest.approx(2 * 0.85 - 1)
    # AC1 of the same table (Gwet 2008): π = .875, p_e = 2 · .875 · .125 = .21875.
    assert analytic(ratings, "gwet_ac1").value == pytest.approx((0.85 - 0.21875) / (1 - 0.21875))


def test_ac1_stays_high_although_nobody_agrees_on_a_positive() -> None:
    # 5-statistics: 95 negative agreements, 5 disagreements, no positive agreement.
    ratings = ratings_of(table_rows([[95, 3], [2, 0]]), labels=[0, 1])
    found = {(statistic.name, statistic.label): statistic.value for statistic in measure(ratings, resamples=0)}
    assert found["gwet_ac1", None] == pytest.approx(0.947, abs=1e-3)
    assert found["specific_agreement", 1] == 0.0
    assert (found["cohen_kappa", None] or 0) < 0


def test_masi_alpha_by_hand() -> None:
    # Two raters, three units. J·M of {1} and {1}: 1; {1,2} and {2}: 1/2 · 2/3 = 1/3; {3} and {1,2}: 0. D_o = 2 (0 + 2/3
    # + 1) / 6. Six ratings: {1} twice, {1,2} twice, {2}, {3}. Ordered pairs: {1}-{1,2} 2/3 (8 pairs), {1}-{2}, {1}-{3},
    # {1,2}-{3}, {2}-{3} 1 (4 + 4 + 4 + 2 pairs), {1,2}-{2} 2/3 (4 pairs): D_e = (16/3 + 14 + 8/3) / 30 = 22 / 30.
    rows = [[[1], [1, 2], [3]], [[1], [2], [1, 2]]]
    found = {statistic.name: statistic.value for statistic in measure(ratings_of(rows, scale="set"), resamples=0)}
    assert found["krippendorff_alpha_masi"] == pytest.approx(1 - (5 / 9) / (22 / 30))
    assert found["mean_jaccard"] == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert found["exact_match"] == pytest.approx(1 / 3)
    # shared elements 1 + 1 + 0 of 2 + 3 + 3: F1 = 2 · 2 / 8
    assert found["pairwise_f1"] == pytest.approx(0.5)
