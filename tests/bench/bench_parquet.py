"""Labels exported as Parquet beside their CSV, against pyarrow writing the same frame; and memory as the table grows.

    python -m tests.bench.bench_parquet [ITEMS [TIMES]]

Nine labels an item: 111,112 items make a million. What Parquet takes beside an export of labels in CSV is held against
`pyarrow.parquet.write_table` of the same rows in memory, in processor time: writing alone is 1, and what is above is
columns with their types. It is timed where it is done (the columns, their file, and its way into the export), as the
difference of two exports is a tenth of what these differ by themselves; that is printed too, with its quartiles, as
what else of an export Parquet makes slower (it uses the same caches) shows in it alone. Memory is that of a tenth of
the labels.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from db.people.accounts import local_administrator
from exports.bundles.bundle import export_project
from exports.bundles.labels.typed import TypedLabels
from exports.bundles.typed import TypedFiles
from exports.notebook import open_home
from exports.notebook.home import Study
from exports.sinks import FolderSink
from tests.bench.bench_notebook import labelled_home, once

TARGET = 1.5


def export(study: Study, to: Path, *typed: str) -> None:
    """Export its labels."""
    db, project_id = study.project.home.db, study.project.project_id
    export_project(
        db, local_administrator(db), project_id, to=to, study_id=study.study_id, formats=["labels"], typed=typed
    )


def opened(home: Path) -> Study:
    """The study of a home."""
    return open_home(home, write=True).project("bench").study("bench")


def peak(home: Path) -> float:
    """Peak memory of this process, in MB, when it has exported a home's labels as Parquet."""
    export(opened(home), home / "out", "parquet")
    said = Path("/proc/self/status").read_text(encoding="utf-8")  # what a process began with counts as rusage's peak
    [kilobytes] = [line.split()[1] for line in said.splitlines() if line.startswith("VmHWM:")]
    return int(kilobytes) / 1024


def timed(*methods: tuple[type, str]) -> list[float]:
    """Time these methods from now on: the processor time of each call is put at the end of the list."""
    spent: list[float] = []
    for kind, name in methods:
        setattr(kind, name, _timed(getattr(kind, name), spent))
    return spent


def _timed(method: Callable[..., Any], spent: list[float]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        began = time.process_time()
        result = method(*args)
        spent.append(time.process_time() - began)
        return result

    return call


def main(n: int = 111_112, times: int = 11) -> float:
    """Print the times, their ratio, and how memory grew; the ratio."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder, numbers = Path(name), count()
        homes = folder / "tenth", folder / "all"
        for home, items in zip(homes, (n // 10, n), strict=True):
            labelled_home(home, items)
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as alone_in_a_process:
            few, many = alone_in_a_process.map(peak, homes)
        study = opened(homes[1])
        frame: pa.Table = pq.read_table(homes[1] / "out" / "labels.parquet")
        spent = timed((TypedLabels, "batch"), (TypedFiles, "add_batch"), (TypedFiles, "close"), (FolderSink, "put"))
        rounds = []
        for _ in range(times):
            alone = once(lambda: export(study, folder / f"out{next(numbers)}"))
            spent.clear()
            beside = once(lambda: export(study, folder / f"out{next(numbers)}", "parquet"))
            plain = once(lambda: pq.write_table(frame, folder / "frame.parquet", compression="zstd"))
            rounds.append((alone, beside, plain, sum(spent)))
    alone, beside, plain, inside = map(statistics.median, zip(*rounds, strict=True))
    low, difference, high = statistics.quantiles([(b - a) / p for a, b, p, _ in rounds], n=4)
    ratio = statistics.median(took / p for *_, p, took in rounds)
    print(f"{9 * n:,} labels as CSV: {alone:.2f} s; with Parquet beside it {beside:.2f} s, {inside:.2f} of it that")
    print(f"pyarrow writing the frame: {plain:.2f} s; ratio {ratio:.2f} (target: at most {TARGET:g})")
    print(f"by the difference {difference:.2f}; of {times} rounds half lie between {low:.2f} and {high:.2f}")
    print(f"peak memory: {few:.0f} MB for a tenth, {many:.0f} MB for all")
    return ratio


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])) > TARGET)
