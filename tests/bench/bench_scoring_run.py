"""Scoring runs: a million items in constant memory, an embedding scorer in constant memory, and Dask's overhead.

    python -m tests.bench.bench_scoring_run [ITEMS] [EMBEDDED_ITEMS]

Each run is a process of its own, whose memory is looked at after every block. The embedding scorer does some 200 texts
a second, so it is measured on fewer items; memory is compared between the second and the last tenth of a run. Targets:
peak below 1.5 GB, growth below 10 %. Dask on two worker processes of this machine is measured for the cheapest scorer
there is, which it can only slow down (what travels costs the same for every scorer), and for one that uses the model.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from db.engine import Database
from db.schema import migrate
from db.scores.write import run_scorer
from exports.scoring.engines import scoring_engine
from tests.bulk import make_items
from tests.makers import first_administrator, make_project

PEAK_MB = 1_500
GROWTH = 1.10
PAGE = os.sysconf("SC_PAGE_SIZE")


def resident_mb() -> float:
    """The memory of this process at this moment."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE / 1e6


def run(path: str, project_id: int, scorer: str, on: tuple[str, str | None], out: Any) -> None:
    """Score a project in this process and send what it cost: seconds, items, peak, memory after each block."""
    db = Database(f"sqlite:///{path}")
    admin = first_administrator(db)
    seen: list[tuple[float, int, float]] = []
    with scoring_engine(*on) as engine:
        began = time.perf_counter()
        summary = run_scorer(
            db,
            admin,
            project_id,
            scorer=scorer,
            engine=engine,
            progress=lambda done, _of: seen.append((time.perf_counter() - began, done, resident_mb())),
        )
        seconds = time.perf_counter() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    out.send({"seconds": seconds, "added": summary.added, "peak_mb": peak, "seen": seen})
    db.dispose()


def measured(path: Path, project_id: int, scorer: str, engine: str = "local", address: str | None = None) -> Any:
    """`run` in a fresh process."""
    context = multiprocessing.get_context("spawn")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=run, args=(str(path), project_id, scorer, (engine, address), there))
    process.start()
    found = here.recv()
    process.join()
    return found


def growth(found: Any) -> float:
    """The highest memory in the last tenth of a run over the highest in its second tenth."""
    memory = [mb for _, done, mb in found["seen"] if done]
    tenth = max(1, len(memory) // 10)
    return float(max(memory[-tenth:]) / max(memory[tenth : 2 * tenth] or memory[:1]))


def told(name: str, found: Any) -> None:
    """Print what a run cost."""
    rate = found["added"] / found["seconds"]
    print(
        f"{name:52} {found['added']:>9,} items {found['seconds']:8.1f} s {rate:9,.0f} items/s "
        f"peak {found['peak_mb']:6.0f} MB, growth {growth(found):.3f}",
        flush=True,
    )


def main(n: int = 1_000_000, n_embedded: int = 5_000) -> bool:
    """Print every measurement; whether all targets are met."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        path = Path(name) / "assay.db"
        db = Database(f"sqlite:///{path}")
        migrate(db)
        first_administrator(db)
        many, few, again, slow, slow_again = (make_project(db) for _ in range(5))
        began = time.perf_counter()
        make_items(db, many, n)
        print(f"{n:,} items written in {time.perf_counter() - began:.0f} s", flush=True)
        sizes = {few: min(n, 50_000), again: min(n, 50_000), slow: n_embedded, slow_again: n_embedded}
        for project_id, number in sizes.items():
            make_items(db, project_id, number)
        db.dispose()
        large = measured(path, many, "phrase_recall")
        told("phrase_recall, in one process", large)
        embedded = measured(path, slow, "abstention")
        told("abstention, embedding model, in one process", embedded)
        here = measured(path, few, "phrase_recall")
        told("phrase_recall, in one process", here)
        deep = measured(path, slow, "semantic_similarity")
        told("semantic_similarity, in one process", deep)
        with two_workers() as address:
            measured(path, slow, "bert_score", "dask", address)  # the workers load their libraries and the model
            there = measured(path, again, "phrase_recall", "dask", address)
            told("phrase_recall, Dask, two worker processes", there)
            deep_there = measured(path, slow_again, "semantic_similarity", "dask", address)
            told("semantic_similarity, Dask, two worker processes", deep_there)
    travel = 1e3 * (there["seconds"] - here["seconds"]) / there["added"]
    report = {
        "peak_mb": max(large["peak_mb"], embedded["peak_mb"]),
        "growth": max(growth(large), growth(embedded)),
        "dask_cheapest": there["seconds"] / here["seconds"],
        "dask_milliseconds_per_item": travel,
        "dask_with_model": deep_there["seconds"] / deep["seconds"],
    }
    print(json.dumps(report))
    return report["peak_mb"] < PEAK_MB and report["growth"] < GROWTH


class two_workers:  # noqa: N801 - read as words where it is used
    """A cluster of two worker processes on this machine; gives its address."""

    def __enter__(self) -> str:
        from distributed import LocalCluster

        self.cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
        return str(self.cluster.scheduler_address)

    def __exit__(self, *_: object) -> None:
        self.cluster.close()


if __name__ == "__main__":
    sys.exit(not main(*map(int, sys.argv[1:3])))
