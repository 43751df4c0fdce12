"""Where studies are awkward, 95 % intervals cover as often as docs/statistics.md says."""

from __future__ import annotations

import pytest

from tests.annotators.agreement.test_documented import PAGE
from tests.bench.coverage_of_figures import DESIGNS, _row, line

SIMULATIONS = 300
SHORT = {"6 questions of 10 units", "12 questions of 10 units", "3 raters of their kind, 100 units",
         "5 raters of their kind, 100 units "}  # fmt: skip
"""Designs of which the report warns, or the document says that they fall short."""


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
def test_intervals_of_awkward_studies_cover_as_documented(design: str) -> None:
    figure, one = DESIGNS[design]
    row = _row(design, figure, SIMULATIONS, one)
    assert row.covered >= (82 if design in SHORT else 91)
    assert line(row) in PAGE.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("design", DESIGNS)
def test_the_document_has_every_design(design: str) -> None:
    begins = f"| {design.strip()} | {DESIGNS[design][0]} | "
    assert [row for row in PAGE.read_text(encoding="utf-8").splitlines() if row.startswith(begins)]
