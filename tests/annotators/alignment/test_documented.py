"""The guide names every statistic that alignment can give, and where its formula is from."""

from __future__ import annotations

from pathlib import Path

import pytest

from annotators.alignment.statistics.association import ASSOCIATION
from annotators.alignment.statistics.base import STATISTICS, AlignmentStatistic
from annotators.alignment.statistics.comparison import DIFFERENCES

DOCS = Path(__file__).parents[3] / "docs"


@pytest.mark.parametrize("statistic", list(STATISTICS), ids=lambda statistic: statistic.name)
def test_every_statistic_is_named_in_the_pages(statistic: AlignmentStatistic) -> None:
    assert f"`{(statistic.of or statistic).name}`" in (DOCS / "json.md").read_text()


@pytest.mark.parametrize("statistic", [*ASSOCIATION, *DIFFERENCES], ids=lambda statistic: statistic.name)
def test_every_statistic_has_a_title(statistic: AlignmentStatistic) -> None:
    assert STATISTICS.get(statistic.name) is statistic
    assert statistic.title not in ("", statistic.name)


@pytest.mark.parametrize("source", ["Spearman", "Kendall", "Williams", "Steiger", "Calderon", "Angelopoulos", "Naeini"])
def test_the_sources_of_the_formulas_are_cited(source: str) -> None:
    assert source in (DOCS / "alignment.md").read_text()
