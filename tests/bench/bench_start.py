"""How long `assay serve` takes until it answers that it is well, against an interpreter that imports Streamlit.

Run: .venv/bin/python -m tests.bench.bench_start [--rounds 7] [--checkout FOLDER]
Prints the medians of both, taken in turns, and their ratio, and the same for `assay --version`.
With --checkout the program of another checkout is measured, for before and after.
"""

from __future__ import annotations

import argparse
import os
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


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--checkout", type=Path, default=ROOT)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        _assay(given.checkout, home, "init")
        seconds: dict[str, list[float]] = {"import streamlit": [], "serve": [], "version": []}
        for _ in range(given.rounds):
            seconds["import streamlit"].append(_timed(given.checkout, "-c", "import streamlit"))
            seconds["serve"].append(_until_healthy(given.checkout, home))
            seconds["version"].append(_timed(given.checkout, "-m", "app.cli", "--version"))
    middle = {name: statistics.median(taken) for name, taken in seconds.items()}
    print(f"python -c 'import streamlit'     {middle['import streamlit']:6.2f} s")
    for name, title in (("serve", "assay serve, until healthy"), ("version", "assay --version")):
        print(f"{title:32} {middle[name]:6.2f} s, ratio {middle[name] / middle['import streamlit']:.2f}")


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
