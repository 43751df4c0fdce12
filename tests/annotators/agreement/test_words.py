"""Agreement in words: the sentence to paste, and the warning about prevalence."""

from __future__ import annotations

import pytest

from annotators.agreement.measure import measure
from annotators.agreement.remarks import prevalence_warning, sentence, warnings_about
from annotators.agreement.tables.ratings import Ratings, Scale
from annotators.errors import InvalidInput
from tests.annotators.agreement.makers import KRIPPENDORFF, ratings_of, table_rows


def test_the_sentence_says_who_how_much_and_how_sure() -> None:
    ratings = ratings_of([[0, 1, 0, 1, 1, 0] * 5, [0, 1, 0, 1, 0, 0] * 5, [0, 1, 0, 1, 1, 1] * 5])
    found = measure(ratings, seed=7)
    alpha = next(statistic for statistic in found if statistic.name == "krippendorff_alpha_nominal")
    assert sentence(found) == (
        f"Three annotators labelled 30 items; Krippendorff's α = {alpha.value:.2f}, 95 % CI "
        f"[{alpha.low:.2f}, {alpha.high:.2f}] (BCa, 1,000 bootstrap resamples over items, seed 7); "
        "raw agreement 77.8 %."
    )


def test_the_sentence_names_the_criterion_the_scale_and_the_units() -> None:
    found = measure(ratings_of(KRIPPENDORFF, scale="ordinal"), resamples=200, level=0.9)
    words = sentence(found, scale="ordinal", criterion="answer complete", units="pages")
    assert words.startswith(
        'Four annotators gave 40 labels to 11 pages (1 more with a single label left out); for "answer complete", '
        "Krippendorff's α (ordinal) = 0.82, 90 % CI ["
    )
    assert words.endswith("(jackknife over pages, t with 10 degrees of freedom); raw agreement 81.8 %.")
    drawn = measure(ratings_of(KRIPPENDORFF, scale="ordinal"), resamples=200, level=0.9, kind="percentile")
    assert "(percentile, 200 bootstrap resamples over pages, seed 0); raw agreement" in sentence(
        drawn, scale="ordinal", units="pages"
    )


def test_another_coefficient_can_stand_in_the_sentence() -> None:
    found = measure(ratings_of(KRIPPENDORFF), least_shared=9)
    assert "Fleiss' κ = 0.76" in sentence(found, coefficient="fleiss_kappa")
    assert "Cohen's κ of 0 and 1 = 0.84" in sentence(found, coefficient="cohen_kappa")


def test_an_undefined_coefficient_gives_its_reason() -> None:
    found = measure(ratings_of([["a", "a"], ["a", "a"]]))
    assert sentence(found) == (
        'Two annotators labelled 2 items; Krippendorff\'s α is not defined: every rating is "a", so that agreement '
        "and chance agreement are both complete (0/0); raw agreement 100.0 %."
    )


def test_nothing_shared_is_said_without_numbers() -> None:
    found = measure(ratings_of([["a", "b"]]))
    assert sentence(found) == "Krippendorff's α is not defined: only one rater has rated, and agreement needs two."


def test_negative_values_have_a_true_minus_sign() -> None:
    found = measure(ratings_of([[0, 1, 0, 1], [1, 0, 1, 0]]), resamples=0)
    assert "Krippendorff's α = −0.75 (no interval: no resamples were asked for)" in sentence(found)


def test_a_coefficient_that_was_not_measured_is_refused() -> None:
    found = measure(ratings_of(KRIPPENDORFF), ["fleiss_kappa"], resamples=0)
    with pytest.raises(InvalidInput, match=r"'krippendorff_alpha_nominal' was not measured \(measured: fleiss_kappa\)"):
        sentence(found)


def test_a_dominant_label_is_warned_about() -> None:
    # Feinstein & Cicchetti (1990): 85 % raw agreement, 85 + 90 of 200 ratings are the one label, κ = .32.
    ratings = ratings_of(table_rows([[80, 10], [5, 5]]), labels=[0, 1])
    assert prevalence_warning(ratings, measure(ratings, resamples=0)) == (
        '88 % of the labels are "0", so chance agreement is high and Krippendorff\'s α is low (0.32) although raw '
        'agreement is 85.0 %; Gwet\'s AC1 is 0.81. Read it beside the specific agreement on "1" (40 %).'
    )


@pytest.mark.parametrize(
    "table",
    [
        [[40, 9], [6, 45]],  # as much raw agreement, balanced
        [[60, 20], [15, 5]],  # one label dominates, but raw agreement is low, too
        [[90, 1], [1, 8]],  # one label dominates, and agreement is good all the same
        [[10, 0], [0, 0]],  # undefined: its own reason says it
    ],
)
def test_nothing_else_is_warned_about(table: list[list[int]]) -> None:
    ratings = ratings_of(table_rows(table), labels=[0, 1])
    assert prevalence_warning(ratings, measure(ratings, resamples=0)) is None


@pytest.mark.parametrize(("labels", "scale", "said"), [
    ([1, 2, 3], "nominal", True), ([1, 2, 3], "ordinal", False), ([0, 1], "nominal", False),
    ([1, 2, "none"], "nominal", False), (["a", "b", "c"], "nominal", False),
])  # fmt: skip
def test_grades_that_count_as_names_are_said(labels: list[object], scale: Scale, said: bool) -> None:
    n = len(labels)
    values = [labels[i % n] for i in range(40)]
    ratings = Ratings.from_triples([i // 2 for i in range(40)], [i % 2 for i in range(40)], values, None, scale)
    found = [words for words in warnings_about(ratings, []) if "count as names without an order" in words]
    assert len(found) == said
