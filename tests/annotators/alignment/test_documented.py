"""The guide names every statistic that alignment can give, and where its formula is from."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.alignment import TITLES
from annotators.alignment.association import STATISTICS
from annotators.alignment.comparison import DIFFERENCES

DOCS = Path(__file__).parents[3] / "docs"
PREFIXES = ("difference_", "human_ceiling_", "metric_to_rest_")


@pytest.mark.parametrize("name", TITLES)
def test_every_statistic_is_named_in_the_pages(name: str) -> None:
    known = (DOCS / "json.md").read_text()
    plain = name.removesuffix("_best_threshold")
    for prefix in PREFIXES:
        plain = plain.removeprefix(prefix)
    assert f"`{plain}`" in known


@pytest.mark.parametrize("name", [*STATISTICS, *DIFFERENCES])
def test_every_statistic_has_a_title(name: str) -> None:
    assert name in TITLES


@pytest.mark.parametrize("source", ["Spearman", "Kendall", "Williams", "Steiger", "Calderon", "Angelopoulos", "Naeini"])
def test_the_sources_of_the_formulas_are_cited(source: str) -> None:
    assert source in (DOCS / "alignment.md").read_text()
