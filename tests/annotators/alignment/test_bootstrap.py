"""The resamples: exact, seeded, by question, the same whatever the order of the rows; and what has no value."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from annotators.alignment import (
    ASSOCIATION,
    Pairs,
    alternative_annotator_test,
    anchoring_effect,
    association,
    calibration,
    compare,
    human_ceiling,
    mean_agreement,
    next_to_label,
    prediction_powered_mean,
    steiger_z,
    system_ranking,
    williams_t,
)
from annotators.alignment.statistics.base import STATISTICS
from annotators.alignment.tables.sample import DrawnRows
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from tests.annotators.alignment.makers import NO_INTERVALS, by_name, likert, yes_or_no


def ends(found: list[Aligned]) -> list[tuple[float | None, float | None]]:
    return [(statistic.low, statistic.high) for statistic in found]


def test_the_same_seed_gives_the_same_intervals_and_another_seed_others() -> None:
    pairs = Pairs.of(*likert(1))
    assert ends(association(pairs, Resampling(seed=4))) == ends(association(pairs, Resampling(seed=4)))
    assert ends(association(pairs, Resampling(seed=4)))[0] != ends(association(pairs, Resampling(seed=5)))[0]


@pytest.mark.parametrize("clustered", [False, True])
def test_the_order_of_the_rows_does_not_matter(clustered: bool) -> None:
    human, metric = yes_or_no(2, 80)
    keys = [f"q{i // 2}" for i in range(80)] if clustered else None
    order = np.random.default_rng(0).permutation(80)
    turned = [keys[i] for i in order] if keys else None
    if clustered:  # ties of equal rows in different clusters would be cut differently
        metric = metric + np.linspace(0, 1e-3, 80)
    first = association(Pairs.of(human, metric, clusters=keys))
    second = association(Pairs.of(human[order], metric[order], clusters=turned))
    assert [statistic.to_json() for statistic in first] == [statistic.to_json() for statistic in second]


def test_the_bootstrap_is_that_of_scipy() -> None:
    """SciPy's BCa interval of Spearman's ρ of 80 rows, both with 9,999 resamples: within sampling error."""
    human, metric = likert(3, 80)
    ours = by_name(association(Pairs.of(human, metric), Resampling(resamples=9999)))["spearman"]
    theirs = stats.bootstrap(
        (human, metric),
        lambda x, y: stats.spearmanr(x, y).statistic,
        paired=True,
        vectorized=False,
        n_resamples=2000,
        rng=np.random.default_rng(0),
    ).confidence_interval
    assert (ours.low, ours.high) == pytest.approx((theirs.low, theirs.high), abs=0.02)


def test_clusters_are_drawn_whole() -> None:
    rng = np.random.default_rng(0)
    cluster = np.repeat(np.arange(7), 3)
    sample = DrawnRows.of([rng.normal(size=21), rng.normal(size=21)], cluster)
    seen: list[np.ndarray[tuple[int, ...], np.dtype[np.float64]]] = []

    def watch(
        weights: np.ndarray[tuple[int, ...], np.dtype[np.float64]],
    ) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
        seen.append(weights)
        return weights.sum(axis=0)

    sample.resampled(watch, Resampling(resamples=40))
    drawn = np.concatenate(seen[1:2], axis=1)
    assert sample.pattern_of_row is not None
    for seed in range(7):
        rows = drawn[sample.pattern_of_row == seed]
        assert (rows == rows[0]).all()
    assert (drawn.sum(axis=0) == 21).all()
    assert len({tuple(column) for column in drawn.T}) > 30


def test_every_row_twice_under_its_question_changes_no_interval() -> None:
    """Doubling the data is no more information, if it is said that the copies belong together."""
    human, metric = likert(6, 50)
    once = by_name(association(Pairs.of(human, metric, clusters=list(range(50)))))["pearson"]
    doubled = Pairs.of([*human, *human], [*metric, *metric], clusters=[*range(50), *range(50)])
    twice = by_name(association(doubled))["pearson"]
    assert twice.value == pytest.approx(once.value)
    assert (twice.low, twice.high) == pytest.approx((once.low, once.high), abs=0.03)
    naive = by_name(association(Pairs.of(doubled.human, doubled.metric)))["pearson"]
    assert (naive.high or 0) - (naive.low or 0) < 0.85 * ((once.high or 0) - (once.low or 0))


def test_no_resamples_give_values_without_intervals() -> None:
    found = by_name(association(Pairs.of(*likert(1)), NO_INTERVALS))["pearson"]
    assert found.value is not None
    assert found.low is None
    assert found.method is not None
    assert "no interval" in found.method


def test_large_grades_are_not_cut_at_one() -> None:
    found = anchoring_effect({i: 60.0 + i for i in range(20)}, dict.fromkeys(range(20), 10.0))
    assert found.low is not None
    assert 50 < found.low < (found.value or 0)


# Undefined -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("human", "metric", "reason"),
    [
        ([], [], "no unit has both"),
        ([1, None, math.nan], [None, 1, 2], "no unit has both"),
        ([1, 2], [0.1, 0.2], "only 2 units"),
        ([3, 3, 3], [0.1, 0.2, 0.3], "people gave every unit the value 3"),
        ([1, 2, 3], [0, 0, 0], "the metric gave every unit the value 0"),
    ],
)
def test_what_cannot_be_measured_has_no_number_but_a_reason(
    human: list[float | None], metric: list[float | None], reason: str
) -> None:
    found = association(Pairs.of(human, metric))
    assert [statistic.name for statistic in found] == [statistic.name for statistic in ASSOCIATION]
    for statistic in found:
        assert (statistic.value, statistic.low, statistic.high) == (None, None, None)
        assert reason in (statistic.reason or "")


def test_every_statistic_is_there_with_a_value_or_a_reason_and_json_says_so() -> None:
    for pairs in (Pairs.of(*likert(1)), Pairs.of(*yes_or_no(1)), Pairs.of([1, 2, 3, 2], [1, 2, 2, 2])):
        for statistic in association(pairs, Resampling(resamples=100), metric="m", criterion="c"):
            json = statistic.to_json()
            assert list(json)[:10] == [
                "name", "metric", "criterion", "group", "value", "low", "high", "method", "n", "reason",
            ]  # fmt: skip
            assert (json["value"] is None) == (json["reason"] is not None)
            assert statistic.value is None or not math.isnan(statistic.value)
            assert statistic.name in STATISTICS.names()


def test_a_metric_that_never_says_yes_has_no_precision() -> None:
    found = by_name(association(Pairs.of([1, 0, 1, 0, 1], [0.1, 0.2, 0.3, 0.2, 0.1])))
    assert found["precision"].reason == "the metric never decides for the positive label (0/0)"
    assert found["recall"].value == 0
    assert found["cohen_kappa"].value == 0


def test_a_metric_outside_0_to_1_has_no_threshold_of_its_own() -> None:
    found = by_name(association(Pairs.of([1, 0, 1, 0, 1], [7, -3, 4, 1, 5])))
    assert "give one" in (found["accuracy"].reason or "")
    assert found["auroc"].value == 1.0
    assert found["accuracy_best_threshold"].value is not None
    given = by_name(association(Pairs.of([1, 0, 1, 0, 1], [7, -3, 4, 1, 5]), threshold=3))
    assert given["accuracy"].value == 1.0


def test_gaps_are_left_out_and_counted() -> None:
    found = by_name(association(Pairs.of([1, 2, 3, 4, None], [1, 2, 4, 3, 5])))
    assert found["pearson"].n == 4
    assert "1 without a label or a score left out" in (found["pearson"].method or "")


@pytest.mark.parametrize(
    "call",
    [
        lambda: Pairs.of([1, 2], [1]),
        lambda: Pairs.of([1, math.inf], [1, 2]),
        lambda: Pairs.of([1, 2, 0], [1, 2, 3], binary=True),
        lambda: Pairs.of([1, 2, 0], [1, 2, 3], clusters=["q"]),
        lambda: Resampling(level=95),
        lambda: Resampling(resamples=-1),
        lambda: next_to_label(["a"], {"m": [1, 2]}),
        lambda: next_to_label(["a"], {"m": [1]}, chosen="k"),
        lambda: alternative_annotator_test({}, {}, epsilon=1.5),
    ],
)
def test_wrong_input_is_refused_with_the_value(call: object) -> None:
    assert callable(call)
    with pytest.raises(InvalidInput, match=r"\d|m"):
        call()


def test_reasons_of_the_other_statistics() -> None:
    few = Pairs.of([1, 2], [1, 2])
    assert all(statistic.reason for statistic in compare(few, few.metric))
    assert "only one system" in (system_ranking(Pairs.of([1, 2, 3], [1, 2, 3], groups=["a"] * 3))[0].reason or "")
    assert "0 to 1" in (calibration(Pairs.of([1, 0, 1], [1, 2, 3]))[0].reason or "")
    assert "no two people" in (human_ceiling({"a": {1: 1.0}, "b": {2: 1.0}})[0].reason or "")
    assert "at least 2" in (prediction_powered_mean(np.array([1, math.nan]), np.array([1.0, 2.0]))[0].reason or "")
    everybody = prediction_powered_mean(np.array([1.0, 0, 1]), np.array([1.0, 0, 0]))
    assert everybody[0].value is not None
    assert "every unit is labelled" in (everybody[1].reason or "")
    assert "each needs two" in (anchoring_effect({1: 1.0}, {2: 1.0}).reason or "")
    assert "at least 4" in (williams_t(0.1, 0.2, 0.3, 3).reason or "")
    assert "infinite" in (steiger_z(1.0, 0.2, 0.3, 30).reason or "")
    assert alternative_annotator_test({"a": {1: 1.0}}, {1: 1.0})[0].reason is not None
    assert mean_agreement([None, None])[0].reason == "there are no grades"
