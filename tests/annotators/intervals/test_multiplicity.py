"""Adjusted p values: by hand, against statsmodels, and as reports of alignment say them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from statsmodels.stats.multitest import multipletests

from annotators.alignment import TESTS
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.multiplicity import adjusted, benjamini_hochberg, holm
from annotators.intervals.result import Aligned
from exports.alignment.table import MetricColumns, align_table


def test_adjustments_by_hand() -> None:
    # sorted .01 .02 .04. Holm: 3 · .01 = .03, 2 · .02 = .04, 1 · .04 = .04. Their rate: .03, .03, .04
    assert holm([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.04])
    assert benjamini_hochberg([0.04, 0.01, 0.02]) == pytest.approx([0.04, 0.03, 0.03])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([]) == benjamini_hochberg([]) == []


@pytest.mark.parametrize("seed", range(20))
def test_adjustments_are_those_of_statsmodels(seed: int) -> None:
    p = np.random.default_rng(seed).random(1 + seed) ** 3
    for mine, name in ((holm, "holm"), (benjamini_hochberg, "fdr_bh")):
        assert mine(p.tolist()) == pytest.approx(multipletests(p, method=name)[1].tolist(), abs=1e-12)


def test_the_tests_of_one_name_are_one_family() -> None:
    entries = [Aligned(name="t", n=9, p_value=p, method="t") for p in (0.04, 0.01, 0.02)]
    others = [Aligned(name="u", n=9, p_value=0.5), Aligned(name="t", n=9, reason="too few"), Aligned(name="r", n=9)]
    found = adjusted([*entries, *others], ["t", "u"])
    assert [entry.p_holm for entry in found] == pytest.approx([0.04, 0.03, 0.04, None, None, None])
    assert [entry.p_bh for entry in found] == pytest.approx([0.04, 0.03, 0.03, None, None, None])
    assert found[1].method == "t; of 3 tests p is 0.030 by Holm, 0.030 by Benjamini–Hochberg"
    assert found[1].to_json()["p_holm"] == pytest.approx(0.03)
    assert found[3:] == others  # one test alone is not adjusted


def test_a_table_with_three_metrics_has_its_comparisons_adjusted(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    human = rng.normal(size=60)
    metrics = {name: human * share + rng.normal(size=60) for name, share in (("a", 2.0), ("b", 0.5), ("c", 0.3))}
    columns = {"human": human, **metrics}
    path = tmp_path / "t.csv"
    rows = zip(*columns.values(), strict=True)
    path.write_text("\n".join([",".join(columns), *(",".join(map(str, row)) for row in rows)]))
    found = align_table(path, MetricColumns("human", ("a", "b", "c")), Resampling(0)).statistics
    for name in TESTS[:2]:
        family = [entry for entry in found if entry.name == name]
        assert len(family) == 3
        p = [entry.p_value for entry in family]
        assert [entry.p_holm for entry in family] == pytest.approx(multipletests(p, method="holm")[1].tolist())
