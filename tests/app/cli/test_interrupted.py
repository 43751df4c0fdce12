"""Ctrl-C ends a command with one line and the exit code 130."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import db.projects
from app.cli import main
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
