"""Labels exported as Parquet beside their CSV, against pyarrow writing the same frame; and memory as the table grows.

    python -m tests.bench.bench_parquet [ITEMS]

Nine labels an item: 111,112 items make a million. What Parquet adds to an export of labels in CSV alone is held against
`pyarrow.parquet.write_table` of the same rows in memory, in processor time: writing alone is 1, and what is above is
columns with their types. Memory is that of a tenth of the labels.
"""

from __future__ import annotations

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from itertools import count
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from db.people.accounts import local_administrator
from exports.bundles.bundle import export_project
from exports.notebook import open_home
from exports.notebook.home import Study
from tests.bench.bench_notebook import labelled_home, seconds

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


def main(n: int = 111_112) -> float:
    """Print the times, their ratio, and how memory grew; the ratio."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder, numbers = Path(name), count()
        homes = folder / "tenth", folder / "all"
        for home, items in zip(homes, (n // 10, n), strict=True):
            labelled_home(home, items)
        with ProcessPoolExecutor(1, get_context("spawn"), max_tasks_per_child=1) as alone_in_a_process:
            few, many = alone_in_a_process.map(peak, homes)
        study = opened(homes[1])
        alone = seconds(lambda: export(study, folder / f"out{next(numbers)}"))
        beside = seconds(lambda: export(study, folder / f"out{next(numbers)}", "parquet"))
        frame: pa.Table = pq.read_table(homes[1] / "out" / "labels.parquet")
        plain = seconds(lambda: pq.write_table(frame, folder / "frame.parquet", compression="zstd"))
    ratio = (beside - alone) / plain
    print(f"{9 * n:,} labels as CSV: {alone:.2f} s; with Parquet beside it {beside:.2f} s")
    print(f"pyarrow writing the frame: {plain:.2f} s; ratio {ratio:.2f} (target: at most {TARGET:g})")
    print(f"peak memory: {few:.0f} MB for a tenth, {many:.0f} MB for all")
    return ratio


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 111_112) > TARGET)
