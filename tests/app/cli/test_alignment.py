"""`assay alignment`: of a study and of a table, as words and as JSON, with its report."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlmodel import select

from db.models import Study
from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine
from tests.exports.alignment.test_table import write
from tests.exports.judged import make_judged

FIELDS = {"name", "metric", "criterion", "group", "value", "low", "high", "method", "n", "reason"}
NAMES = {
    "pearson", "spearman", "kendall_tau_b", "auroc", "accuracy", "cohen_kappa", "mean_agreement", "williams_t",
    "steiger_z",
}  # fmt: skip


@pytest.fixture
def judged(begun: CommandLine, tmp_path: Path) -> CommandLine:
    database = begun.database()
    make_judged(database, local_administrator(database), tmp_path / "source", questions=12, labelled=10)
    database.dispose()
    return begun


def test_a_study_is_measured_by_name(judged: CommandLine) -> None:
    document = judged.json("alignment", "judged", "grading", "--resamples", "200", "--seed", "3")
    assert (document["study"], document["labels"], document["seed"]) == ("grading", "item", 3)
    assert all(set(statistic) >= FIELDS for statistic in document["statistics"])
    assert {statistic["name"] for statistic in document["statistics"]} >= NAMES - {"mean_agreement"}
    assert judged.json("alignment", "judged", "grading", "--resamples", "200", "--seed", "3") == document
    words = judged("alignment", "judged", "grading", "--resamples", "200", "--labels", "each", "--by", "group").out
    assert "imported:native: overlap" in words
    assert "one person against the rest (3 people)" in words
    assert "group     open" in words


def test_a_table_needs_no_home_folder(assay: CommandLine, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv")
    document = assay.json(
        "alignment", "--table", path, "--human", "right", "--metric", "m", "--metric", "k", "--group", "part",
        "--cluster", "q", "--resamples", "200",
    )  # fmt: skip
    assert {statistic["name"] for statistic in document["statistics"]} >= NAMES
    assert all(set(statistic) >= FIELDS for statistic in document["statistics"])
    assert not assay.home.exists()


def test_a_plan_says_how_many_labels_a_width_takes(assay: CommandLine, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv")
    call = ("alignment", "--table", path, "--human", "right", "--metric", "m", "--metric", "k", "--resamples", "200")
    document = assay.json(*call, "--plan", "0.1")
    by_name = {(e["name"], e["metric"], e.get("against")): e for e in document["statistics"] if e["group"] is None}
    now, needed = by_name["spearman", "m", None], by_name["labels_needed_spearman", "m", None]
    assert needed["value"] == pytest.approx(now["n"] * ((now["high"] - now["low"]) / 0.1) ** 2, abs=1)
    assert ("labels_needed_difference_spearman", "m", "k") in by_name
    assert "Labels for intervals 0.1 wide" in assay(*call, "--plan", "0.1").out
    assert "no width of an interval" in assay(*call, "--plan", "0", code=2).err


def test_two_metrics_are_tested_for_equivalence_within_a_margin(assay: CommandLine, tmp_path: Path) -> None:
    path = write(tmp_path / "t.csv")
    call = ("alignment", "--table", path, "--human", "right", "--metric", "m", "--metric", "k", "--resamples", "200")
    document = assay.json(*call, "--equivalent", "1.5")
    [entry] = [found for found in document["statistics"] if found["name"] == "equivalence_spearman"]
    [apart] = [found for found in document["statistics"] if found["name"] == "difference_spearman"]
    assert (entry["value"], entry["margin"], entry["against"]) == (apart["value"], 1.5, "k")
    assert apart["low"] < entry["low"] < entry["high"] < apart["high"]
    assert entry["verdict"] == "equivalent within ±1.5"
    report = tmp_path / "report.html"
    assert "equivalent within ±1.5" in assay(*call, "--equivalent", "1.5", "--report", report).out
    assert "are two metrics equivalent within ±1.5?" in report.read_text()
    assert "no margin of equivalence" in assay(*call, "--equivalent", "0", code=2).err


def test_the_report_is_written_and_named_on_standard_error(assay: CommandLine, tmp_path: Path) -> None:
    path, report = write(tmp_path / "t.csv"), tmp_path / "report.html"
    outcome = assay(
        "alignment", "--table", path, "--human", "grade", "--metric", "m", "--resamples", "100", "--report", report
    )
    assert str(report) in outcome.err
    assert "<svg" in report.read_text()


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["finance"], 2, "Give PROJECT and STUDY, or --table FILE"),
        (["finance", "v", "--human", "h"], 2, "columns of a --table"),
        (["finance", "v", "--labels", "some"], 2, "item, each, settled"),
        (["--table", "t.csv"], 2, "--human and --metric"),
        (["finance", "--table", "t.csv", "--human", "h", "--metric", "m"], 2, "Leave them out"),
        (["--table", "none.csv", "--human", "h", "--metric", "m"], 3, "no file"),
        (["finance", "v"], 3, "no study named 'v'"),
    ],
)
def test_wrong_usage_says_what_to_do(begun: CommandLine, arguments: list[str], code: int, says: str) -> None:
    assert says in begun("alignment", *arguments, code=code).err


def test_advice_lists_what_to_label_and_its_draw_becomes_a_study_that_knows_its_probabilities(
    judged: CommandLine, tmp_path: Path
) -> None:
    metric = "imported:native: overlap"
    listed = judged.json("advice", "judged", "grading", "--metric", metric, "--most", "3")
    assert [item["worth"] for item in listed["items"]] == sorted(
        (item["worth"] for item in listed["items"]), reverse=True
    )
    assert (len(listed["items"]), listed["metric"]) == (3, metric)
    assert "no sample" in judged("advice", "judged", "grading", "--metric", metric).out
    call = ("advice", "judged", "grading", "--metric", metric, "--draw", "4", "--seed", "5")
    drawn = judged.json(*call)
    assert drawn == judged.json(*call)
    assert len(drawn["drawn"]) == 4
    assert all(0 < item["probability"] <= 1 for item in drawn["drawn"])
    file = tmp_path / "drawn.json"
    file.write_text(judged(*call, "--json").out)
    create = ("study", "create", "judged", "more", "--protocol", "ambiguity", "--annotators", "ada,ben")
    assert judged.json(*create, "--drawn", file)["items"] == 4
    database = judged.database()
    with database.read() as session:
        kept = session.exec(select(Study).where(Study.name == "more")).one().settings
    database.dispose()
    assert kept["drawn_with"] == {item["item"]: item["probability"] for item in drawn["drawn"]}
    assert (kept["draw_seed"], kept["not_drawn_from"]) == (5, drawn["not_drawn_from"])
    assert "Leave --sample" in judged(*create, "--drawn", file, "--sample", "2", code=2).err
    file.write_text('{"drawn": [{"item": "a", "probability": 2}], "not_drawn_from": [], "seed": 0}')
    assert "holds no draw" in judged(*create, "--drawn", file, code=2).err
    assert "no scores named 'nothing'" in judged("advice", "judged", "grading", "--metric", "nothing", code=3).err
