"""What judges are worth, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from db.people.accounts import local_administrator
from tests.app.cli.command_line import CommandLine
from tests.exports.judging.makers import panelled


@pytest.fixture
def judged(begun: CommandLine, tmp_path: Path) -> CommandLine:
    database = begun.database()
    errors = {"A": 0.15, "B": 0.25, "C": 0.25}
    panelled(database, local_administrator(database), tmp_path / "source", errors, questions=14, labelled=12)
    database.dispose()
    return begun


def test_a_panel_is_held_against_people(judged: CommandLine) -> None:
    call = ("panel", "judged", "grading", "--judges", "A,B,C", "--resamples", "200")
    found = judged.json(*call)
    assert {entry["name"] for entry in found["statistics"]} == {
        "panel_right", "member_right", "best_member_right", "panel_gain",
    }  # fmt: skip
    assert found["judges"] == ["A", "B", "C"]
    assert {entry["group"] for entry in found["statistics"] if entry["name"] == "member_right"} == {"A", "B", "C"}
    assert judged.json(*call, "--rule", "dawid_skene")["rule"] == "dawid_skene"
    words = judged(*call).out
    assert "Panel less its best member" in words
    assert "ties among the judges" in words


def test_a_panel_of_nobody_is_refused(judged: CommandLine) -> None:
    assert "Judges of it: 'A', 'B', 'C'" in judged("panel", "judged", "grading", "--judges", "A,Z", code=3).err
    assert "two judges or more" in judged("panel", "judged", "grading", "--judges", "A", code=2).err
    refused = judged("panel", "judged", "grading", "--judges", "A,B", "--rule", "mean", code=2).err
    assert "'mean' is none of majority, dawid_skene" in refused


def test_a_judge_is_checked_from_what_is_stored(judged: CommandLine, tmp_path: Path) -> None:
    call = ("judge", "check", "judged", "grading", "--judge", "A", "--resamples", "200")
    found = judged.json(*call, "--family", "quay,harbour")
    assert found["family"] == ["quay", "harbour"]
    names = {entry["name"] for entry in found["statistics"]}
    assert {"judge_error", "agreement_change", "alt_test_winning_rate", "family_bias", "self_agreement"} <= names
    right = next(one for one in found["criteria"] if one["criterion"] == "right")
    assert right["confusion"][0]["labels"] == ["no", "yes"]
    assert judged.json(*call, "--labels", "settled")["labels"] == "settled"
    report = tmp_path / "trust.html"
    words = judged(*call, "--report", str(report)).out
    assert "Agreement with the judge as one more rater" in words
    assert "The judge A in study grading" in report.read_text()


def test_a_judge_that_cannot_be_checked_is_refused_in_a_sentence(judged: CommandLine) -> None:
    check = ("judge", "check", "judged", "grading", "--judge")
    assert "Judges of it: 'A', 'B', 'C'" in judged(*check, "Z", code=3).err
    assert "ε is 1.5" in judged(*check, "A", "--epsilon", "1.5", code=2).err
    assert "'mean' is none of majority, settled" in judged(*check, "A", "--labels", "mean", code=2).err
