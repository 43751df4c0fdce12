"""How long commands take: `assay serve` until it answers that it is well, `agreement`, and the refusal of wrong input.

Run: .venv/bin/python -m tests.bench.bench_start [--rounds 7] [--checkout FOLDER]
Prints medians, all taken in turns, each with its ratio to an interpreter that imports what it cannot do without.
With --checkout the program of another checkout is measured, for before and after.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests.servers import ROOT

ITEMS = 1_000
PEOPLE = ("ada", "ben", "chloe")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--checkout", type=Path, default=ROOT)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        _assay(given.checkout, home, "init")
        _assay(given.checkout, home, "project", "create", "finance")
        table = Path(folder) / "labels.csv"
        _write_labels(table)
        _assay(given.checkout, home, "labels", "import", "finance", "labelled", str(table), "--infer", "--bare-items")
        commands = _commands(home, table)
        seconds: dict[str, list[float]] = {}
        for _ in range(given.rounds):
            for module in ("typer", "streamlit", "scipy.stats"):
                taken = _timed(given.checkout, "-c", f"import {module}")
                seconds.setdefault(f"import {module}", []).append(taken)
            seconds.setdefault("serve, until healthy", []).append(_until_healthy(given.checkout, home))
            for title, (_, arguments) in commands.items():
                taken = _timed(given.checkout, "-m", "app.cli", "--home", str(home), *arguments)
                seconds.setdefault(title, []).append(taken)
    middle = {name: statistics.median(taken) for name, taken in seconds.items()}
    against = {"serve, until healthy": "streamlit", **{title: module for title, (module, _) in commands.items()}}
    for name, taken in middle.items():
        module = against.get(name)
        ratio = f", {taken / middle[f'import {module}']:5.2f} x import {module}" if module else ""
        print(f"{name if module is None else 'assay ' + name:58} {taken:6.2f} s{ratio}")


def _commands(home: Path, table: Path) -> dict[str, tuple[str, list[str]]]:
    """Title → the module whose import cannot be avoided (all commands are read by typer), and the arguments."""
    missing = str(home / "none.jsonl")
    return {
        "--version": ("typer", ["--version"]),
        "--help": ("typer", ["--help"]),
        "agreement of an unknown study": ("typer", ["agreement", "finance", "nothing"]),
        "agreement of a table, wrong column": ("typer", ["agreement", "--table", str(table), "--unit", "thing"]),
        "agreement of a table, wrong statistic": ("typer", ["agreement", "--table", str(table), "--statistics", "x"]),
        "alignment in an unknown project": ("typer", ["alignment", "nothing", "labelled"]),
        "import of a file that is not there": ("typer", ["import", "finance", missing]),
        "labels import into an unknown study": ("typer", ["labels", "import", "finance", "nothing", str(table)]),
        "score with an unknown scorer": ("typer", ["score", "finance", "--scorer", "nothing"]),
        "export in an unknown format": ("typer", ["export", "finance", "--to", missing, "--format", "nothing"]),
        "verify of a folder that is no export": ("typer", ["verify", str(home)]),
        f"agreement of {ITEMS} items, {len(PEOPLE)} people, 2 criteria": (
            "scipy.stats",
            ["agreement", "finance", "labelled"],
        ),
    }


def _write_labels(path: Path) -> None:
    """Labels of a study of usual size: two criteria, three people who agree in most of what they see."""
    draw = random.Random(1)
    rows = ["item,annotator,criterion,value"]
    for item in range(ITEMS):
        for criterion, labels in (("correct", ("yes", "no")), ("grade", ("poor", "fair", "good"))):
            truth = draw.choice(labels)
            rows += [
                f"i{item},{person},{criterion},{truth if draw.random() < 0.8 else draw.choice(labels)}"
                for person in PEOPLE
            ]
    path.write_text("\n".join(rows) + "\n")


def _environment(checkout: Path) -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(checkout)}


def _assay(checkout: Path, home: Path, *arguments: str) -> None:
    command = [sys.executable, "-m", "app.cli", "--home", str(home), *arguments]
    subprocess.run(command, cwd=checkout, env=_environment(checkout), check=True, capture_output=True)


def _timed(checkout: Path, *arguments: str) -> float:
    begun = time.perf_counter()
    command = [sys.executable, *arguments]
    subprocess.run(command, cwd=checkout, env=_environment(checkout), check=False, capture_output=True)
    return time.perf_counter() - begun


@contextmanager
def _server(checkout: Path, home: Path) -> Iterator[str]:
    """The address of a server that has announced itself."""
    command = [sys.executable, "-m", "app.cli", "--home", str(home), "serve", "--port", "0"]
    process = subprocess.Popen(
        command, cwd=checkout, env=_environment(checkout), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split()[-1]
    finally:
        process.terminate()
        process.wait(30)


def _until_healthy(checkout: Path, home: Path) -> float:
    begun = time.perf_counter()
    with _server(checkout, home) as address:
        assert httpx.get(f"{address}/healthz", timeout=60).status_code == 200
        return time.perf_counter() - begun


if __name__ == "__main__":
    main()
