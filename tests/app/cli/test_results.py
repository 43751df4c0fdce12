"""`assay results`: figures, tables and the report of a study, and errors in words."""

from __future__ import annotations

import csv
from pathlib import Path

from tests.app.cli.command_line import CommandLine
from tests.exports.results.test_ambiguity import ambiguous_and_clear
from tests.exports.results.verified import labelled

ROW = {"name", "criterion", "group", "value", "low", "high", "method", "n", "reason"}


def test_it_prints_rows_and_the_tables_that_the_page_shows(assay: CommandLine, tmp_path: Path) -> None:
    assay("init")
    db = assay.database()
    said = {("complete", "item"): ("complete", "complete", "complete")}
    other = {("complete", "item"): ("incomplete", "incomplete", "incomplete")}
    study = labelled(db, {"a": said, "b": said, "c": other})
    db.dispose()
    found = assay.json("results", study.project, "verified", "--level", "0.9")
    assert (found["study"], found["protocol"]) == ("verified", "qa_verification")
    assert all(set(row) >= ROW for row in found["rows"])
    [complete] = [row for row in found["rows"] if row["name"] == "Complete." and row["labels"] == "settled"]
    assert round(complete["value"], 4) == 0.6667
    assert complete["low"] < 0.6667 < complete["high"]
    assert "Wilson" in complete["method"]
    assert "90 %" in complete["method"]
    [table] = [table for table in found["tables"] if table["caption"] == "Verified quality"]
    place = table["columns"].index("Complete.")
    assert table["rows"][0][place].startswith("66.7 %")
    words = assay("results", study.project, "verified", "--report", tmp_path / "r.md")
    assert "Verified quality" in words.out
    assert "Complete." in (tmp_path / "r.md").read_text()


def test_a_study_that_is_not_there_is_told_with_those_that_are(assay: CommandLine) -> None:
    assay.begun()
    found = assay.json("results", "finance", "nothing", code=3)
    assert found["kind"] == "NotFound"
    assert "'nothing'" in found["error"]


def test_a_report_in_a_form_that_there_is_not_is_refused_at_once(assay: CommandLine) -> None:
    assay.begun()
    assert "docx" in assay("results", "finance", "nothing", "--report", "r.docx", code=2).err


def test_the_ambiguous_split_is_written_with_its_matched_clear_set(assay: CommandLine, tmp_path: Path) -> None:
    assay("init")
    db = assay.database()
    study = ambiguous_and_clear(db)
    db.dispose()
    file = tmp_path / "split.csv"
    said = assay("results", study.project, "verified", "--split", file, "--match", "category", "--seed", "4")
    assert "Split: 6 items" in said.err
    with file.open(newline="") as opened:
        rows = list(csv.DictReader(opened))
    assert [row["set"] for row in rows].count("clear") == 3
    refused = assay("results", study.project, "verified", "--split", file, "--match", "colour", code=2)
    assert "'colour'" in refused.err
