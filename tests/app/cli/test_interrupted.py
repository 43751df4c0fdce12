"""Ctrl-C ends a command with one line and the exit code 130."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import db.projects
from app.cli import main
from app.program import run
from tests.app.cli.command_line import CommandLine


@pytest.fixture
def interrupted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The arguments of a command that is interrupted while it works."""
    home = tmp_path / "home"
    CommandLine(home)("init")

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(db.projects, "my_projects", interrupt)
    return ["--home", str(home), "project", "list"]


def test_a_command_that_is_interrupted_says_so_in_one_line(
    interrupted: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(interrupted)
    assert ended.value.code == 130
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "Error: Interrupted before its end. Give the command again to have it done.\n")


def test_its_json_says_so_as_well(interrupted: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main([*interrupted, "--json"])
    assert ended.value.code == 130
    assert json.loads(capsys.readouterr().out)["kind"] == "Interrupted"


class NotThereYet:
    """A package whose import takes so long that people end it."""

    def __getattr__(self, _name: str) -> None:
        raise KeyboardInterrupt


@pytest.mark.parametrize("wanted", [[], ["--json"]])
def test_a_command_is_interrupted_before_its_modules_are_there(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], wanted: list[str]
) -> None:
    monkeypatch.setitem(sys.modules, "app.cli", NotThereYet())
    monkeypatch.setattr(sys, "argv", ["assay", "project", "list", *wanted])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 130
    said = capsys.readouterr()
    assert said.err == "Error: Interrupted before its end. Give the command again to have it done.\n"
    assert [json.loads(line)["kind"] for line in said.out.splitlines()] == ["Interrupted"] * len(wanted)
