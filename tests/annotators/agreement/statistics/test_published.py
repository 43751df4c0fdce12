"""Coefficients against worked examples that were published or can be summed by hand."""

from __future__ import annotations

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.tables.ratings import Scale
from tests.annotators.agreement.makers import KRIPPENDORFF, fleiss_rows, ratings_of, table_rows, value


@pytest.mark.parametrize(("scale", "expected"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)])
def test_alpha_of_krippendorffs_four_observers(scale: Scale, expected: float) -> None:
    # Krippendorff (2011), sections D and E.
    ratings = ratings_of(KRIPPENDORFF, scale="interval")
    assert value(ratings, f"krippendorff_alpha_{scale}") == pytest.approx(expected, abs=5e-4)


def test_alpha_of_two_observers_and_two_labels() -> None:
    # Krippendorff (2011), section B: ten units, four of them 0-1 disagreements; α = 0.095.
    rows = [[0, 1, 0, 0, 0, 0, 0, 0, 1, 0], [1, 1, 1, 0, 0, 1, 0, 0, 0, 0]]
    # o_01 = 4 (ordered), n_0 = 14, n_1 = 6, n = 20: 1 - 19 * 4 / (14 * 6) = 0.095
    assert value(ratings_of(rows), "krippendorff_alpha_nominal") == pytest.approx(1 - 19 * 4 / 84)


def test_fleiss_kappa_of_the_psychiatric_diagnoses() -> None:
    # Fleiss (1971): mean P_i = .5556, P_e = .2199, κ = .430.
    ratings = ratings_of(fleiss_rows())
    assert value(ratings, "percent_agreement") == pytest.approx(0.5556, abs=5e-5)
    assert value(ratings, "fleiss_kappa") == pytest.approx(0.430, abs=5e-4)


def test_fleiss_kappa_with_gaps_follows_gwets_rule() -> None:
    # irrCAC (Gwet's own package), data set cac.raw4raters (Gwet, 2014, p. 120), which are Krippendorff's observers:
    # p_a = 0.81818, p_e = 0.23872, κ = 0.76117; the unit with one rating counts in p_e alone.
    ratings = ratings_of(KRIPPENDORFF)
    assert value(ratings, "percent_agreement") == pytest.approx(0.81818, abs=5e-6)
    assert value(ratings, "fleiss_kappa") == pytest.approx(0.76117, abs=5e-6)


def test_cohens_kappa_of_cohens_example() -> None:
    # Cohen (1960), table 2: 200 subjects, f_o = 140, f_c = (120 * 100 + 60 * 60 + 20 * 40) / 200 = 82,
    # κ = (140 - 82) / (200 - 82) = .492.
    ratings = ratings_of(table_rows([[88, 14, 18], [10, 40, 10], [2, 6, 12]]))
    assert value(ratings, "cohen_kappa") == pytest.approx((140 - 82) / (200 - 82))


@pytest.mark.parametrize(
    ("table", "kappa", "positive", "negative"),
    [
        ([[40, 9], [6, 45]], 0.70, 80 / 95, 90 / 105),
        ([[80, 10], [5, 5]], 0.32, 160 / 175, 10 / 25),
    ],
)
def test_the_same_raw_agreement_has_two_kappas(
    table: list[list[int]], kappa: float, positive: float, negative: float
) -> None:
    # Feinstein & Cicchetti (1990): both tables agree on 85 of 100; positive agreement is 2a / (2a + b + c).
    ratings = ratings_of(table_rows(table))
    assert value(ratings, "percent_agreement") == pytest.approx(0.85)
    assert value(ratings, "cohen_kappa") == pytest.approx(kappa, abs=5e-3)
    specific = measure(ratings, ["specific_agreement"], resamples=0)
    assert [(statistic.label, statistic.value) for statistic in specific] == [
        (0, pytest.approx(positive)),
        (1, pytest.approx(negative)),
    ]


def test_cohens_kappa_by_hand() -> None:
    # 25 agree "yes", 20 agree "no", 5 and 10 do not: p_o = 45/60; p_e = (30 * 35 + 30 * 25) / 3600 = .5; κ = .5.
    ratings = ratings_of(table_rows([[25, 5], [10, 20]]))
    assert value(ratings, "cohen_kappa") == pytest.approx(0.5)


def test_lights_kappa_is_the_mean_of_the_pairs() -> None:
    # a-b: agree on all four, κ = 1. a-c and b-c: agree on 3 of 4; p_e = (2 * 1 + 2 * 3) / 16 = .5; κ = .5.
    ratings = ratings_of([[0, 0, 1, 1], [0, 0, 1, 1], [0, 1, 1, 1]])
    *pairs, light = measure(ratings, ["cohen_kappa", "light_kappa"], resamples=0, least_shared=2)
    assert [pair.value for pair in pairs] == pytest.approx([1.0, 0.5, 0.5])
    assert light.value == pytest.approx(2 / 3)


def test_raw_agreement_counts_a_unit_once_whatever_its_number_of_raters() -> None:
    # first unit: 4 raters, 1 of 2 labels each, 2 agreeing pairs of 6; second: 2 raters, agreed: (1/3 + 1) / 2.
    rows = [["a", "a"], ["a", "a"], ["b", None], ["b", None]]
    assert value(ratings_of(rows), "percent_agreement") == pytest.approx((1 / 3 + 1) / 2)


def test_specific_agreement_pools_pairs_over_units() -> None:
    # label a: ordered agreeing pairs 2 + 2 of 2 * 3 + 2 * 1 possible; label b: 2 of 2 * 3.
    rows = [["a", "a"], ["a", "a"], ["b", None], ["b", None]]
    found = measure(ratings_of(rows), ["specific_agreement"], resamples=0)
    assert [statistic.value for statistic in found] == pytest.approx([4 / 8, 2 / 6])


def test_ordinal_alpha_goes_by_declared_rank_and_not_by_alphabet() -> None:
    words = {1: "poor", 2: "fair", 3: "good", 4: "better", 5: "best"}
    rows = [[None if x is None else words[x] for x in row] for row in KRIPPENDORFF]
    ratings = ratings_of(rows, labels=list(words.values()), scale="ordinal")
    assert value(ratings, "krippendorff_alpha_ordinal") == pytest.approx(0.815, abs=5e-4)
