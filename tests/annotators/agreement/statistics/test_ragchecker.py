"""The two raters of RAGChecker's published judgements: 280 pairs of answers, -2..2, values to four decimals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from annotators.agreement.measure import measure
from tests.annotators.agreement.makers import ratings_of

# Published nowhere; computed by independent packages for ../shared/data/README.md.
KNOWN = {
    "correctness": (0.3113, 0.3099, 0.5865, 0.6338),
    "completeness": (0.4626, 0.4617, 0.6828, 0.7188),
    "overall": (0.4133, 0.4107, 0.6836, 0.6988),
}


@pytest.mark.parametrize("criterion", KNOWN)
def test_the_raters_of_ragchecker(shared_data: Path, criterion: str) -> None:
    rows = json.loads((shared_data / "ragchecker" / "human_labeled_data.json").read_text(encoding="utf-8"))
    given = [row[f"{criterion}_label"] for row in rows]
    ratings = ratings_of([given[0::2], given[1::2]], labels=[-2, -1, 0, 1, 2], scale="interval")
    names = ("cohen_kappa", *(f"krippendorff_alpha_{scale}" for scale in ("nominal", "ordinal", "interval")))
    found = {statistic.name: statistic for statistic in measure(ratings, names, seed=7)}
    assert tuple(round(found[name].value or 0, 4) for name in names) == KNOWN[criterion]
    for name in names:
        statistic = found[name]
        assert statistic.n_units == 280
        assert statistic.value is not None
        assert statistic.low is not None
        assert statistic.high is not None
        assert statistic.low < statistic.value < statistic.high < statistic.low + 0.25
