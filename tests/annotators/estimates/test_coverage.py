"""How often the intervals of estimates cover, as docs/fewer-labels.md says."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("design", EVERYDAY)
def test_a_few_splits_do_not_speak_against_it(design: str) -> None:
    """What is broken covers far less: a λ that saw its own labels, weights left out, a variance without its strata."""
    for row in rows_of(design, 100):
        check(row, 88, 100)
        assert row.none == 0
