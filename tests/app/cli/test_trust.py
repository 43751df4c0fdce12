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
