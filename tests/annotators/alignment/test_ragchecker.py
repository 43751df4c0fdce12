"""RAGChecker's raters and metrics: the correlations known from independent packages, to four decimals."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from annotators.alignment import Pairs, association, compare, human_ceiling
from annotators.intervals.result import Aligned
from tests.annotators.alignment.makers import by_name

# ../shared/data/README.md: correctness, completeness, overall.
RATERS = {
    "pearson": (0.6367, 0.7191, 0.7009),
    "spearman": (0.5919, 0.6836, 0.6889),
    "cohen_kappa": (0.3113, 0.4626, 0.4133),
    "cohen_kappa_quadratic": (0.6331, 0.7184, 0.6985),
}
METRICS = {"pearson": (0.4966, 0.6067, 0.6193), "spearman": (0.4694, 0.5809, 0.6090)}
CRITERIA = ("correctness", "completeness", "overall")


@pytest.fixture(scope="module")
def rows(shared_data: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((shared_data / "ragchecker" / "human_labeled_data.json").read_text())
    return found


def has_an_interval(statistic: Aligned, n: int) -> None:
    assert statistic.value is not None
    assert statistic.low is not None
    assert statistic.high is not None
    assert statistic.low < statistic.value < statistic.high < statistic.low + 0.3
    assert statistic.n == n
    assert statistic.reason is None


@pytest.mark.parametrize("place", range(3), ids=CRITERIA)
def test_one_rater_against_the_other(rows: list[dict[str, Any]], place: int) -> None:
    given = [row[f"{CRITERIA[place]}_label"] for row in rows]
    found = by_name(association(Pairs.of(given[0::2], given[1::2])))
    for name, known in RATERS.items():
        assert round(found[name].value or 0, 4) == known[place]
        has_an_interval(found[name], 280)
    assert found["auroc"].value is None
    assert "5 different values" in (found["auroc"].reason or "")


@pytest.fixture(scope="module")
def differences(shared_data: Path) -> dict[str, list[float]]:
    """How much better the second answer is by the metric, each row twice: once for each rater."""
    pairs = json.loads((shared_data / "ragchecker" / "baseline_ragchecker.json").read_text())
    found = {}
    for criterion in CRITERIA:
        name = f"{criterion}_label"
        apart = [pair["model2"]["ragchecker"][name] - pair["model1"]["ragchecker"][name] for pair in pairs]
        found[criterion] = [value for value in apart for _ in range(2)]
    return found


@pytest.mark.parametrize("place", range(3), ids=CRITERIA)
def test_the_metric_against_the_raters(
    rows: list[dict[str, Any]], differences: dict[str, list[float]], place: int
) -> None:
    criterion = CRITERIA[place]
    human = [row[f"{criterion}_label"] for row in rows]
    answers = [row["instance_id"] for row in rows]
    pairs = Pairs.of(human, differences[criterion], clusters=answers)
    found = by_name(association(pairs))
    for name, known in METRICS.items():
        assert round(found[name].value or 0, 4) == known[place]
        has_an_interval(found[name], 560)
        assert "over questions" in (found[name].method or "")
    alone = by_name(association(Pairs.of(human, differences[criterion])))
    # Two raters of one pair of answers are not two pairs of answers: the honest interval is wider.
    assert width(found["pearson"]) > 1.1 * width(alone["pearson"])


def width(statistic: Aligned) -> float:
    assert statistic.low is not None
    assert statistic.high is not None
    return statistic.high - statistic.low


def test_the_metric_is_below_the_human_ceiling(rows: list[dict[str, Any]], differences: dict[str, list[float]]) -> None:
    """With two raters the rest of each is the other: the ceiling is their correlation, .7009."""
    people = {rater: {row["instance_id"]: float(row["overall_label"]) for row in rows[rater::2]} for rater in range(2)}
    metric = {row["instance_id"]: value for row, value in zip(rows, differences["overall"], strict=True)}
    found = by_name(human_ceiling(people, metric))
    assert round(found["human_ceiling_pearson"].value or 0, 4) == 0.7009
    apart = (found["human_ceiling_pearson"].value or 0) - (found["metric_to_rest_pearson"].value or 0)
    assert 0.05 < apart < 0.12


def test_two_of_its_metrics_compared(rows: list[dict[str, Any]], differences: dict[str, list[float]]) -> None:
    """F1 of claims goes better with the overall judgement than precision alone: .6193 against .4473."""
    human = [row["overall_label"] for row in rows]
    units = list(range(len(rows)))
    pairs = Pairs.of(human, differences["overall"], clusters=[row["instance_id"] for row in rows], units=units)
    other = np.array(differences["correctness"])[list(pairs.units)]
    found = by_name(compare(pairs, other))
    assert found["difference_pearson"].value == pytest.approx(0.6193 - 0.4473, abs=1e-4)
    assert (found["difference_pearson"].low or 0) > 0.08
    assert (found["williams_t"].p_value or 1) < 1e-6
    assert "items of one question are not" in (found["williams_t"].method or "")
