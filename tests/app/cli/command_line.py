"""The command line as tests call it: real commands on a home folder of their own."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import patch

import typer.main

from app.cli import main
from app.settings import Settings
from db.engine import Database

ROOT = Path(__file__).resolve().parents[3]

# Every call would build all commands with their options anew, which takes longer than most of them.
typer.main.get_command = cache(typer.main.get_command)


@dataclass(frozen=True)
class Outcome:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class CommandLine:
    """Calls `assay --home HOME …`; a test says which exit code it expects."""

    home: Path

    def __call__(self, *arguments: str | Path, code: int = 0, stdin: str = "") -> Outcome:
        given = ["--home", str(self.home), *map(str, arguments)]
        out, err = io.StringIO(), io.StringIO()
        found = 0
        with patch.object(sys, "stdin", io.StringIO(stdin)), redirect_stdout(out), redirect_stderr(err):
            try:
                main(given)
            except SystemExit as end:
                found = int(end.code or 0)
        outcome = Outcome(found, out.getvalue(), err.getvalue())
        assert found == code, outcome
        return outcome

    def json(self, *arguments: str | Path, code: int = 0, stdin: str = "") -> Any:
        return self(*arguments, "--json", code=code, stdin=stdin).json

    def begun(self) -> CommandLine:
        """With a database, three annotators and a project `finance`."""
        self("init")
        for name in ("ada", "ben", "chloe"):
            self("user", "add", name, "--role", "annotator")
        self("project", "create", "finance")
        return self

    def database(self) -> Database:
        return Database(Settings.load({}, home=self.home).database)


def subprocess_of(*arguments: str | Path, **options: Any) -> subprocess.CompletedProcess[str]:
    """`assay …` in a process of its own."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")}
    return subprocess.run(
        [sys.executable, "-m", "app.cli", *map(str, arguments)],
        cwd=ROOT,
        env=environment,
        text=True,
        check=False,
        timeout=120,
        capture_output=True,
        **options,
    )


def examples_in(text: str) -> list[list[str]]:
    """The arguments of every `assay …` line, without what stands before a pipe or after a redirection."""
    lines = re.findall(r"^ {2,}(?:.*\| )?assay (.+)$", text, re.MULTILINE)
    return [shlex.split(line.split(" > ")[0]) for line in lines]


def write_items(folder: Path, *rows: dict[str, Any]) -> Path:
    """A native items.jsonl with these rows, or with three of two systems."""
    rows = rows or tuple(
        {
            "id": f"q{number}:{system}",
            "question_key": f"q{number}",
            "question": f"What was the rent in 202{number}?",
            "answer": f"It was {600 + number} euros.",
            "system": system,
            "category": "Text" if number else "Tables",
            "references": [[f"{600 + number}"], ["never said"]],
            "evidence": [{"text": f"The rent was {600 + number} euros."}],
        }
        for number in range(3)
        for system in ("harbour", "lantern")
    )
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path
