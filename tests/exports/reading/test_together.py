"""What a table says was drawn together: one rule for agreement, alignment and estimates, and words for it."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pytest

from annotators.agreement.report import CriterionAgreement, agreement_report
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.together import Together, drawn_together
from exports.agreement.rating_tables import RatingColumns, read_ratings
from exports.agreement.report import Report
from exports.alignment.table import MetricColumns, align_table
from exports.estimates.table import EstimateColumns, estimate_table

QUICK = Resampling(resamples=200)
Row = Mapping[str, object]


def write(path: Path, rows: Sequence[Row]) -> Path:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


@pytest.mark.parametrize(
    ("columns", "found"),
    [
        ({"question": [1, 1, 2, 2], "item": [1, 2, 3, 4]}, Together("question")),
        ({"question": [1, 1, 2, 2], "item": [1, 1, 2, 2]}, Together("question")),
        ({"question": [1, 1, 1, 1], "item": [1, 1, 2, 2]}, Together("question", ("item",))),
        ({"question": [1, 1, 2, 3], "item": [1, 1, 1, 2]}, Together("item", ("question",))),
        ({"question": [1, 2, 3, 4], "item": [1, 2, 3, 3]}, Together("item")),
        ({"question": [1, 2, 3, 4], "item": [1, 2, 3, 4]}, None),
        ({"question": [None, None, "", ""], "item": [1, 2, 3, 4]}, None),
        ({}, None),
    ],
)
def test_the_coarser_of_two_columns_is_taken_and_the_other_said(
    columns: dict[str, list[int]], found: Together | None
) -> None:
    assert drawn_together(columns, ["a", "b", "c", "d"]) == found


def test_several_rows_of_one_unit_do_not_make_a_cluster_of_it() -> None:
    rows = {"item": [1, 1, 2, 2]}
    assert drawn_together(rows, ["a", "a", "b", "b"]) is None
    assert drawn_together(rows, ["a", "b", "c", "d"]) == Together("item")


def test_a_document_is_said_and_never_taken() -> None:
    found = drawn_together({"question": [1, 1, 2, 2]}, range(4), {"document": [1, 1, 1, 1]})
    assert found == Together("question", ("document",))
    assert found.in_words("--cluster") == (
        "What has the same question counts as one cluster. It could also be document: --cluster names the column."
    )
    assert drawn_together({}, range(4), {"document": [1, 1, 1, 1]}) is None


# The three commands ---------------------------------------------------------------------------------------------------

RNG = np.random.default_rng(3)


def parts_of_items(parts: int) -> list[Row]:
    """Thirty items whose parts are all alike: two people who agree on an item agree on each of its parts."""
    found: list[Row] = []
    for item in range(30):
        truth, other = RNG.integers(2), RNG.random() < 0.3
        for part in range(parts):
            for who, label in (("ada", truth), ("ben", 1 - truth if other else truth)):
                row = {"item": f"i{item}", "target": f"claim:c{part}", "annotator": who, "value": ["no", "yes"][label]}
                found.append(row)
    return found


def agreement(path: Path, clustered: bool | None = None) -> tuple[CriterionAgreement, Report]:
    tables = read_ratings(path, RatingColumns())
    [found] = agreement_report(tables.tables, resamples=200, clustered=clustered)
    return found, Report.of_table(tables, [found], resamples=200, seed=0)


def width(found: CriterionAgreement) -> float:
    statistic = found.find("percent_agreement")
    assert statistic is not None
    assert statistic.high is not None
    assert statistic.low is not None
    return statistic.high - statistic.low


def test_parts_of_one_item_are_resampled_with_their_item(tmp_path: Path) -> None:
    found, report = agreement(path := write(tmp_path / "t.csv", parts_of_items(6)))
    one_by_one, _ = agreement(path, clustered=False)
    statistic = found.find("percent_agreement")
    assert statistic is not None
    assert "over items" in (statistic.method or "")
    assert width(found) > 1.8 * width(one_by_one)  # six parts that are all alike say no more than one: √6 = 2.4
    assert found.to_json()["together"] == "item"
    assert "What has the same item counts as one cluster; --question names another column." in report.notes
    assert "together" not in one_by_one.to_json()


def test_a_table_with_one_unit_an_item_has_nothing_together(tmp_path: Path) -> None:
    found, report = agreement(write(tmp_path / "t.csv", parts_of_items(1)))
    assert found.together is None
    assert not any("one cluster" in note for note in report.notes)


def test_a_unit_without_a_question_stands_alone(tmp_path: Path) -> None:
    rows = [{**row, "question": "q" if i < 4 else ""} for i, row in enumerate(parts_of_items(1))]
    found, _ = agreement(write(tmp_path / "t.csv", rows))
    assert found.together == Together("question")
    assert any("29 questions" in warning for warning in found.warnings) or width(found) > 0.2


def judged(several: int) -> list[Row]:
    """Forty questions with a few answers each, whose grades and scores go by the question."""
    found: list[Row] = []
    for question in range(40):
        level = RNG.normal()
        for answer in range(several):
            score = level + RNG.normal() / 4
            row = {
                "question": f"q{question}",
                "item": f"i{question}-{answer}",
                "document": f"d{question // 4}",
                "m": score,
            }
            found.append({**row, "grade": score + level + RNG.normal() / 2})
    return found


def test_alignment_and_estimates_take_the_question_of_a_table_and_say_so(tmp_path: Path) -> None:
    rows = judged(3)
    path = write(tmp_path / "t.csv", rows)
    said = "What has the same question counts as one cluster. It could also be document: --cluster names the column."
    aligned = align_table(path, MetricColumns("grade", ("m",)), QUICK)
    named = align_table(path, MetricColumns("grade", ("m",), cluster="question"), QUICK)
    alone = align_table(path, MetricColumns("grade", ("m",), cluster=""), QUICK)
    assert said in aligned.notes
    assert aligned.to_json()["statistics"] == named.to_json()["statistics"]
    assert not any("one cluster" in note for note in [*named.notes, *alone.notes])
    [pearson] = [statistic for statistic in alone.statistics if statistic.name == "pearson"]
    assert "over units" in (pearson.method or "")

    estimate = estimate_table(path, EstimateColumns(("grade",), ("m",)))
    as_named = estimate_table(path, EstimateColumns(("grade",), ("m",), cluster="question"))
    one_by_one = estimate_table(path, EstimateColumns(("grade",), ("m",), cluster=""))
    assert said in estimate.notes
    assert estimate.to_json()["statistics"] == as_named.to_json()["statistics"]
    means = [found.find("mean_classical") for found in (estimate, one_by_one)]
    widths = [mean.high - mean.low for mean in means if mean and mean.low is not None and mean.high is not None]
    assert widths[0] > 1.3 * widths[1]


def test_one_answer_a_question_changes_nothing(tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv", judged(1))
    found, alone = (align_table(path, MetricColumns("grade", ("m",), cluster=c), QUICK) for c in (None, ""))
    assert found.to_json() == alone.to_json()
    assert not any("one cluster" in note for note in estimate_table(path, EstimateColumns(("grade",), ("m",))).notes)
