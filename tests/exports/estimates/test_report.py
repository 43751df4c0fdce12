"""The report of estimates in words and tables: what a paper says, what predictions bought, what is still needed."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from annotators.estimates.means import CLASSICAL, HELPS, POWERED, mean_of
from annotators.estimates.sample import Units
from annotators.estimates.sequence import error_with, times, tuned_for
from annotators.figures import number
from exports.estimates.report import EstimateReport, bought, estimates_table, name_in_words, report_of, strata_table
from exports.estimates.view import _ahead, _used
from tests.annotators.estimates.makers import NAN, correlated, units_of


def made(units: Units, **about: Any) -> EstimateReport:
    return report_of(units, what="study s", criterion="right", called="Is right", of="items", **about)


def stratified() -> Units:
    """Two strata: in the first the prediction is as good as the label, in the second it is noise."""
    rng = np.random.default_rng(9)
    y = rng.normal(size=240)
    first = np.arange(240) < 120
    score = np.where(first, y + 0.2 * rng.normal(size=240), rng.normal(size=240))
    human = np.where(np.arange(240) % 3 == 0, y, NAN)
    return units_of(human.tolist(), score.tolist(), strata=np.where(first, "text", "table").tolist())


# The sentence --------------------------------------------------------------------------------------------------------


def test_a_sentence_has_the_mean_its_interval_what_it_is_from_and_what_holds_of_it() -> None:
    report = made(correlated(60, 300, 0.9))
    best = report.best
    assert report.kind == POWERED
    assert report.sentence() == (
        f"The mean of “Is right” of {report.units.whom} is {number(best.value, 3)}, 95 % "
        f"[{number(best.low, 3)}, {number(best.high, 3)}], from 60 labels and predictions for 300; finite population."
    )
    assert "90 % [" in made(correlated(60, 300, 0.9), level=0.9).sentence()
    endless = made(correlated(60, 300, 0.9, population=math.inf)).sentence()
    assert endless.endswith("from 60 labels and predictions for 300.")
    weighed = made(correlated(60, 300, 0.9, probability=np.full(300, 0.2))).sentence()
    assert weighed.endswith("; weighted, finite population.")
    alone = made(correlated(60, 300, 0.9, scores=0)).sentence()
    assert alone.endswith("from 60 labels; finite population.")


def test_where_a_study_may_stop_the_sentence_has_the_interval_that_holds_at_every_look() -> None:
    report = made(correlated(60, 300, 0.9, scale=(-4.0, 4.0)), stop=0.2)
    sequence = report.find("mean_anytime")
    assert sequence is not None
    assert f"[{number(sequence.low, 3)}, {number(sequence.high, 3)}]" in report.sentence()
    assert report.sentence().endswith("; anytime-valid, finite population.")
    early = made(correlated(10, 300, 0.9, scale=(-4.0, 4.0)), stop=0.2)
    assert "anytime" not in early.sentence()


def test_without_a_mean_the_sentence_says_why() -> None:
    assert made(units_of([1, NAN, NAN])).sentence() == (
        "There is no mean of “Is right” yet: only 1 labelled unit; at least 2 are needed."
    )


@pytest.mark.parametrize(("stop", "reached"), [(None, False), (0.01, False), (9.0, True)])
def test_a_study_has_reached_its_width_when_the_sequence_is_as_narrow(stop: float | None, reached: bool) -> None:
    report = made(correlated(60, 300, 0.9, scale=(-4.0, 4.0)), stop=stop)
    assert report.reached is reached
    sequence = report.find("mean_anytime")
    assert sequence is not None
    assert made(report.units, stop=0.2).to_json()["stop_at"] == 0.2


# What it bought ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "effective", "words"),
    [(50, 50 * HELPS + 0.001, "1 label saved"), (50, 50.9, "nothing saved"), (100, 1234, "1,134 labels saved")],
)
def test_labels_saved_are_those_beyond_the_ones_there_are(n: int, effective: float, words: str) -> None:
    assert bought(n, effective) == words


def test_each_stratum_has_its_row_and_all_of_them_one() -> None:
    report = made(stratified())
    mean = report.mean
    table = strata_table(report)
    text, noise, whole = (list(row) for row in table.rows)
    assert [row[:3] for row in (text, noise, whole)] == [
        ["text", "120", "40"],
        ["table", "120", "40"],
        ["all", "240", "80"],
    ]
    assert mean.limits is not None
    for place, row in enumerate((text, noise)):
        assert row[3:6] == [
            number(mean.limits.parts.correlation(place), 2),
            number(float(mean.factors[place]), 2),
            f"{mean.effective_of(place) or 0:,.0f}",
        ]
    assert "labels saved" in text[6]
    assert noise[6] == "nothing saved: the predictions are poor here"
    assert whole[3:6] == [
        number(mean.limits.parts.correlation(), 2),
        number(float(np.mean(mean.factors)), 2),
        f"{mean.effective or 0:,.0f}",
    ]


def test_without_strata_there_is_one_row_and_without_predictions_it_says_so() -> None:
    [row] = strata_table(made(correlated(60, 300, 0.0, scores=0))).rows
    assert list(row)[:3] == ["all", "300", "60"]
    assert list(row)[6] == "nothing saved: there are no predictions"
    [none] = strata_table(made(units_of([1, NAN, NAN]))).rows
    assert "at least 2 are needed" in list(none)[6]


# The table -----------------------------------------------------------------------------------------------------------


def test_names_in_words() -> None:
    found = {name: name_in_words(name) for name in ("mean_ppi", "mean_classical", "difference_anytime", "rank_ppi")}
    assert found["mean_ppi"] == "Mean, with predictions"
    assert found["mean_classical"].startswith("Mean, ")
    assert found["difference_anytime"].endswith("at every look")
    assert len(set(found.values())) == 4
    assert name_in_words("labels_needed_mean_ppi").endswith(": Mean, with predictions")


def test_every_estimate_has_a_row_with_its_figure_or_why_it_has_none() -> None:
    report = made(correlated(60, 300, 0.9, groups=["a", "b"] * 150, scale=(-4.0, 4.0)), width=0.4)
    rows = {(row[0], row[1]): list(row) for row in map(list, estimates_table(report).rows)}
    best = report.best
    assert rows["Mean, with predictions", "all"][2:5] == [
        f"{number(best.value, 3)} [{number(best.low, 3)}, {number(best.high, 3)}]", "60", f"{best.effective_n:,.0f}",
    ]  # fmt: skip
    assert {of for _, of in rows} >= {"all", "a", "b", "a - b"}
    assert not any("drawn" in name for name, _ in rows)
    for row in rows.values():
        assert (row[2] == "–") == bool(row[5]), row
    needed = [row for (name, _), row in rows.items() if name.startswith("Labels needed")]
    assert needed
    assert all("." not in row[2].split(" ")[0] for row in needed)
    [rank] = [row for (name, of), row in rows.items() if name == name_in_words("rank_ppi") and of == "a"]
    assert rank[2].split(" ")[0] in ("1.0", "2.0")
    assert not any(entry.name.startswith("labels_needed") for entry in made(report.units).statistics)


# What is ahead -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("stops", "last"), [(None, 90), (200, 206), (999, 300)])
def test_what_is_ahead_goes_from_now_to_beyond_where_it_may_stop(stops: int | None, last: int) -> None:
    """Of 60 labels: 1.4 times as many and a tenth more, or where it stops and that; never more than there are."""
    mean = mean_of(correlated(60, 300, 0.9, scale=(-4.0, 4.0)))
    found = _ahead(mean, POWERED, 0.2, stops)
    assert (found[0][0], found[-1][0]) == (60, last)
    assert [n for n, _, _ in found] == sorted({n for n, _, _ in found})
    base = tuned_for(0.2, (-4.0, 4.0))
    n, powered, alone = found[-1]
    for kind, width in ((POWERED, powered), (CLASSICAL, alone)):
        error = error_with(mean, kind, n)
        assert width == pytest.approx(times(error, base) * error)
    assert powered < alone or n == 300


def test_what_predicts_is_counted_in_words() -> None:
    assert _used(made(correlated(60, 300, 0.9))) == "1 prediction, cross-fitted"
    assert _used(made(correlated(60, 300, 0.9, scores=2))) == "2 predictions combined, cross-fitted"
    assert _used(made(correlated(60, 300, 0.9, scores=0))) == "there are no predictions"
    assert _used(made(units_of([1.0, 2, 3, 4, NAN], [1, 1, 1, 1, 1]))) == "no prediction helps"
