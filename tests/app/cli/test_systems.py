"""`assay systems`: of a study and of a table, as words and as JSON, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine
from tests.exports.judged import make_judged
from tests.exports.systems.test_systems import labels, written

HOW = ("--human", "grade", "--rater", "who")


def test_a_table_needs_no_home_folder(assay: CommandLine, tmp_path: Path) -> None:
    path = written(tmp_path / "t.csv", labels())
    document = assay.json("systems", "--table", path, *HOW, "--equivalent", "0.5")
    [criterion] = document["criteria"]
    names = [entry["name"] for entry in criterion["statistics"]]
    assert (names.count("system_mean"), names.count("system_difference"), names.count("system_equivalence")) == (
        3,
        3,
        3,
    )
    assert {part["name"] for part in criterion["variances"]} >= {"question", "answer", "error"}
    assert not assay.home.exists()
    report = tmp_path / "report.html"
    assert "these raters" in assay("systems", "--table", path, *HOW, "--raters", "fixed", "--report", report).out
    assert "means of systems" in report.read_text()


def test_a_study_is_compared_by_name(begun: CommandLine, tmp_path: Path) -> None:
    database = begun.database()
    make_judged(database, local_administrator(database), tmp_path / "source", questions=24, labelled=22)
    database.dispose()
    document = begun.json("systems", "judged", "grading", "--level", "0.9")
    assert (document["study"], document["level"]) == ("grading", 0.9)
    assert document["criteria"]
    assert "Mixed models of" in begun("systems", "judged", "grading").out
    assert "They can by" in begun("systems", "judged", "grading", "--criterion", "nothing", code=3).err


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["finance"], 2, "Give PROJECT and STUDY, or --table FILE"),
        (["finance", "v", "--human", "h"], 2, "columns of a --table"),
        (["--table", "t.csv", "--criterion", "c"], 2, "name it with --human"),
        (["--table", "t.csv", "--raters", "some"], 2, "fixed, random"),
        (["--table", "t.csv", "--equivalent", "-1"], 2, "no margin of equivalence"),
        (["--table", "t.csv", "--human", "mark"], 3, "mark"),
    ],
)
def test_wrong_usage_says_what_to_do(
    assay: CommandLine, tmp_path: Path, arguments: list[str], code: int, says: str
) -> None:
    path = written(tmp_path / "t.csv", ["1,a,q,r"])
    assert says in assay("systems", *[str(path) if part == "t.csv" else part for part in arguments], code=code).err
