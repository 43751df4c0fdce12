"""Long work on the command line says what it does from its first moment, on a terminal and nowhere else."""

from __future__ import annotations

import io
import sys

import pytest

from app.cli.output import emit, progress, table, working


class Terminal(io.StringIO):
    """A terminal that keeps what was written to it."""

    def isatty(self) -> bool:
        return True


def test_a_line_stands_there_while_the_work_is_done_and_is_gone_after_it(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with working("Measuring agreement"):
        assert terminal.getvalue() == "Measuring agreement …"
    assert terminal.getvalue().endswith("\r")


def test_a_bar_stands_there_before_the_first_step(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with progress("Reading"):
        assert "Reading" in terminal.getvalue()


def test_nothing_is_written_where_nobody_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    elsewhere = io.StringIO()
    monkeypatch.setattr(sys, "stderr", elsewhere)
    with working("Measuring"), progress("Reading") as move:
        move(1, 2)
    assert elsewhere.getvalue() == ""


def test_the_line_goes_when_the_work_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with pytest.raises(ValueError, match="bad"), working("Exporting"):
        raise ValueError("bad")
    assert terminal.getvalue().endswith("\r")


def test_tables_fit_the_terminal_and_are_whole_lines_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    def widest(out: io.StringIO) -> int:
        monkeypatch.setattr(sys, "stdout", out)
        emit({}, lambda: table(("format", "loses"), [("argilla", "times of labels, " * 9)]), as_json=False)
        return max(map(len, out.getvalue().splitlines()))

    monkeypatch.setenv("COLUMNS", "60")
    assert widest(Terminal()) <= 60
    assert widest(io.StringIO()) <= 60, "COLUMNS gives a pipe a width"
    for nothing in ("", "0", "wide"):
        monkeypatch.setenv("COLUMNS", nothing)
        assert widest(io.StringIO()) > 140
    monkeypatch.delenv("COLUMNS")
    assert widest(io.StringIO()) > 140
