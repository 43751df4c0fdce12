"""How often the intervals of estimates cover, as docs/fewer-labels.md says."""

from __future__ import annotations

import pytest

from tests.bench import coverage_with_raters as raters
from tests.bench.coverage_of_estimates import DESIGNS, REAL, SHARED, Row, rows_of

ANYTIME = ("mean_anytime", "difference_anytime")
COEFFICIENTS = ("pearson", "spearman", "auroc", "f1")
"""Of few skewed grades a correlation's interval is a little short: documented as it is."""
USELESS = ("r = 0", "noise")
EVERYDAY = (
    "mean, r = .7, 20 of 400",
    "share of .05, r = .7, 150 of 2,000",
    "a share drawn by expected error, 140 of 1,000",
)


def check(row: Row, low: float, high: float) -> None:
    """A sequence may cover more, as it holds at every look; ranks hold all at once."""
    top = 100.0 if row.figure in ANYTIME or row.figure == "rank" else high
    slack = 1.0 if row.figure.startswith(COEFFICIENTS) else 0.0
    assert low - slack <= row.covered <= top + slack, row
    if any(word in row.design for word in USELESS):
        assert row.width <= 1.03, row


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_made_up_ratings_cover(design: str) -> None:
    for row in rows_of(design):
        check(row, 93, 97.5)


@pytest.mark.nightly
@pytest.mark.skipif(not SHARED.exists(), reason="the real ratings are not here")
@pytest.mark.parametrize("design", REAL)
def test_intervals_of_splits_of_real_ratings_cover(design: str) -> None:
    for row in rows_of(design):
        check(row, 93, 97.5)


@pytest.mark.nightly
@pytest.mark.parametrize("design", raters.MADE)
def test_intervals_cover_where_raters_differ(design: str) -> None:
    for row in rows_of(design, split=raters.MADE[design]):
        if row.figure == "mean_ppi of others like them":
            assert row.covered < 90, "it is said beside the figure that the interval leaves this out"
        else:
            check(row, 92.5, 97.5)


@pytest.mark.nightly
@pytest.mark.skipif(not raters.REAL, reason="the real ratings are not here")
@pytest.mark.parametrize("name", raters.REAL)
def test_one_rater_an_item_is_no_wider_than_two_of_half_the_items(name: str) -> None:
    made = raters.at_equal_labels(raters.REAL[name](), 200)
    assert 93 - 3 <= made.covers <= 97 + 3
    assert made.no_wider_than_two >= 80 or made.icc < 0.2, "where raters hardly agree, all labels are worth as much"


@pytest.mark.parametrize("design", ["yes or no, ICC 0.5, all of 200", "grades 1 to 5, ICC 0.3, 200 of 1,000"])
def test_a_few_made_up_sets_of_raters_do_not_speak_against_it(design: str) -> None:
    """Without what raters differ by, the interval of a set that is labelled in full is a point."""
    for row in rows_of(design, 100, raters.MADE[design]):
        check(row, 88, 100)
        assert row.none == 0


@pytest.mark.parametrize("design", EVERYDAY)
def test_a_few_splits_do_not_speak_against_it(design: str) -> None:
    """What is broken covers far less: a λ that saw its own labels, weights left out, a variance without its strata."""
    for row in rows_of(design, 100):
        check(row, 88, 100)
        assert row.none == 0
