"""The figures of docs/statistics.md: its examples by hand, and that it names every statistic."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import all_coefficients
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import Ratings
from tests.annotators.agreement.makers import ratings_of, table_rows

NAMES = [coefficient.name for coefficient in all_coefficients()]

PAGE = Path(__file__).resolve().parents[3] / "docs" / "statistics.md"
A = ratings_of(table_rows([[40, 9], [6, 45]]), labels=[0, 1])
B = ratings_of([[1, 2, 3, 3, 2], [1, 3, 3, 2, 2]], scale="ratio")
C = ratings_of([[[1], [1, 2], [3]], [[1], [2], [1, 2]]], scale="set")

OF_A = {
    "percent_agreement": ".85", "cohen_kappa": ".700", "scott_pi": ".699", "fleiss_kappa": ".699",
    "conger_kappa": ".700", "krippendorff_alpha_nominal": ".701", "gwet_ac1": ".701", "brennan_prediger": ".7",
}  # fmt: skip
OF_B = {
    "percent_agreement": ".6", "cohen_kappa_linear": ".5", "cohen_kappa_quadratic": ".643",
    "krippendorff_alpha_nominal": ".438", "krippendorff_alpha_ordinal": ".6", "krippendorff_alpha_interval": ".679",
    "krippendorff_alpha_ratio": ".796", "gwet_ac2_linear": ".571", "gwet_ac2_quadratic": ".722",
    "gwet_ac2_ordinal": ".663", "brennan_prediger": ".4", "brennan_prediger_linear": ".55", "icc_1_1": ".704",
    "icc_a_1": ".692", "icc_c_1": ".643", "icc_1_k": ".826", "icc_a_k": ".818", "icc_c_k": ".783",
    "pearson": ".643", "spearman": ".556", "kendall": ".5",
}  # fmt: skip
OF_C = {"mean_jaccard": ".5", "krippendorff_alpha_masi": ".242", "exact_match": ".333", "pairwise_f1": ".5"}


@pytest.mark.parametrize(("ratings", "written"), [(A, OF_A), (B, OF_B), (C, OF_C)])
def test_the_examples_by_hand_are_what_is_measured(ratings: Ratings, written: dict[str, str]) -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name, figure in written.items():
        value = measure(ratings, [name], resamples=0)[0].value
        assert value == pytest.approx(float(figure), abs=5.1 * 10 ** -len(figure)), name
        assert figure in page or figure == ".333", name


def test_kappa_with_the_weights_of_the_example() -> None:
    own = OwnWeights.of([[1, 0.8, 0], [0.8, 1, 0.2], [0, 0.2, 1]], [1, 2, 3])
    assert measure(B, ["cohen_kappa_weighted"], resamples=0, own_weights=own)[0].value == pytest.approx(
        1 - 0.32 / 0.448
    )
    assert "1 − .32 / .448 = .286" in PAGE.read_text(encoding="utf-8")


def test_specific_agreement_of_the_example() -> None:
    values = [statistic.value for statistic in measure(A, ["specific_agreement"], resamples=0)]
    assert values == pytest.approx([0.842, 0.857], abs=5e-4)


def test_the_page_names_every_statistic() -> None:
    page = PAGE.read_text(encoding="utf-8")
    for name in NAMES:
        stem, _, end = name.rpartition("_")
        assert f"`{name}`" in page or (f"`_{end}`" in page and stem in page) or end == "weighted", name
