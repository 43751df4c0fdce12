"""Two one-sided tests: by hand as the guide has them, against statsmodels, and their verdicts in words."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.weightstats import ttost_paired

from annotators.alignment import equivalences
from annotators.errors import InvalidInput
from annotators.intervals.analytic import t_interval
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.equivalence import two_one_sided
from annotators.intervals.result import Aligned, Interval
from exports.alignment.sections import equivalence_table
from exports.alignment.table import MetricColumns, align_table
from tests.bench.false_equivalence import DESIGNS, share_of

STATISTICS = Path(__file__).parents[3] / "docs" / "statistics.md"
GUIDE = Path(__file__).parents[3] / "docs" / "alignment.md"


def difference(value: float, error: float, freedom: float = 40, against: str = "b") -> Aligned:
    made = t_interval(value, error, freedom, 0.95, "jackknife")
    return Aligned(name="difference_pearson", metric="a", against=against, criterion="h", n=41).measured(value, [made])


def test_the_example_of_the_guide() -> None:
    text = " ".join(GUIDE.read_text(encoding="utf-8").split())
    found = re.findall(r"error of (\.\d+) gives t = (\d), p = (\.\d+), and \*([^*]+)\*", text)
    assert len(found) == 2
    for error, t, p, verdict in found:
        [entry] = equivalences([difference(0.03, float(error))], 0.05)
        assert (0.05 - 0.03) / float(error) == pytest.approx(float(t))
        assert entry.p_value == pytest.approx(float(p), abs=0.0005)
        assert entry.verdict == verdict
        assert entry.interval is not None
        assert entry.interval.level == pytest.approx(0.9)


@pytest.mark.parametrize("seed", range(10))
def test_p_is_that_of_statsmodels_for_paired_means(seed: int) -> None:
    rng = np.random.default_rng(seed)
    first, other = rng.normal(size=(2, 25)) * 0.3
    apart = first - other
    mine = two_one_sided(float(apart.mean()), float(apart.std(ddof=1) / 5), 24, 0.2)
    assert mine == pytest.approx(ttost_paired(first, other, -0.2, 0.2)[0], rel=1e-9)


@pytest.mark.parametrize(("value", "error"), [(0.02, 0.015), (-0.02, 0.015), (-0.02, 0.03), (0.2, 0.01), (0.0, 0.029)])
def test_equivalent_is_what_has_its_ninety_percent_interval_within_the_margin(value: float, error: float) -> None:
    [entry] = equivalences([difference(value, error)], 0.05)
    assert entry.low is not None
    assert entry.high is not None
    assert entry.verdict is not None
    assert entry.verdict.startswith("equivalent") == (entry.low > -0.05 and entry.high < 0.05)


def test_of_several_the_verdict_goes_by_holm() -> None:
    alone = equivalences([difference(0.0, 0.028)], 0.05)[0]
    three = equivalences([difference(0.0, 0.028, against=name) for name in "bcd"], 0.05)
    assert alone.p_value == three[0].p_value == pytest.approx(0.0408, abs=0.0005)
    assert alone.verdict == "equivalent within ±0.05"
    assert three[0].p_holm == pytest.approx(3 * (alone.p_value or 0))
    assert {entry.verdict for entry in three} == {"not shown to be equivalent within ±0.05"}


def test_without_an_error_there_is_a_reason_and_no_verdict() -> None:
    percentile = Interval(-0.1, 0.1, "percentile", 0.95, 1000)
    without = Interval(None, None, "jackknife", 0.95, note="3 units are too few, at least 10 are needed")
    about = Aligned(name="difference_pearson", n=9)
    found = equivalences([about.measured(0.0, [percentile]), about.measured(0.0, [without])], 0.05)
    assert [entry.verdict for entry in found] == [None, None]
    assert "leave --interval out" in (found[0].reason or "")
    assert "3 units are too few" in (found[1].reason or "")
    assert equivalences([about.undefined("one metric is constant")], 0.05) == []  # the difference says why itself


@pytest.mark.parametrize("margin", [0.0, -0.1, float("nan"), float("inf")])
def test_a_margin_that_is_none_is_refused_with_its_value(margin: float) -> None:
    with pytest.raises(InvalidInput, match="margin"):
        equivalences([], margin)


def test_two_metrics_of_a_table_are_told_equivalent_or_not(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    human = rng.normal(size=200)
    close = human + 0.7 * rng.normal(size=200)
    columns = {"human": human, "a": close, "b": close + 0.05 * rng.normal(size=200), "c": rng.normal(size=200)}
    path = tmp_path / "t.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    statistics = align_table(path, MetricColumns("human", ("a", "b", "c")), Resampling(100)).statistics
    shown = equivalence_table([*statistics, *equivalences(statistics, 0.05)], "human")
    assert shown is not None
    said = {(row[0], row[1]): row[2] for row in shown.rows}
    assert said["a / b", "Spearman's ρ"] == "equivalent within ±0.05"
    assert said["a / c", "Spearman's ρ"] == "not shown to be equivalent within ±0.05"
    assert equivalence_table(statistics, "human") is None


@pytest.mark.nightly
@pytest.mark.parametrize("design", DESIGNS)
def test_metrics_that_differ_by_the_margin_are_called_equivalent_as_rarely_as_documented(design: str) -> None:
    begins = f"| {design} | {DESIGNS[design].margin:g} | "
    [row] = [line for line in STATISTICS.read_text(encoding="utf-8").splitlines() if line.startswith(begins)]
    share = share_of(design)
    assert share <= 5 + 1.96 * 0.69  # ± the error of 1,000 simulations
    assert share == pytest.approx(float(row.removeprefix(begins).strip(" |")), abs=0.8)
