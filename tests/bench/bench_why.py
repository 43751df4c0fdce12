"""How long it takes to explain a label (`assay why`) in a study of many items, against one of few.

Run: .venv/bin/python -m tests.bench.bench_why [--small 1000] [--large 100000] [--calls 200] [--database URL]
Every item has three labels of two criteria. The operation runs on items from all over each study, in turns; printed are
the median and 95th percentile, and the ratio of the medians.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from pathlib import Path

from db.engine import Database
from db.permissions import Actor
from db.schema import migrate
from db.studies.why import explain_label
from tests.bench.big_study import make_big_study
from tests.makers import make_person

TURNS = 10


def measure(db: Database, actor: Actor, study: int, items: list[str]) -> list[float]:
    """Milliseconds of each explanation."""
    times = []
    for item in items:
        begun = time.perf_counter()
        found = explain_label(db, actor, study, item=item, criterion="correct")
        times.append((time.perf_counter() - begun) * 1000)
        assert found.n == len([step for step in found.steps if step.did == "labelled"])
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=100_000)
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--database", help="a database URL; without it, SQLite in a temporary folder")
    arguments = parser.parse_args()
    rng = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        db = Database(arguments.database or f"sqlite:///{Path(folder) / 'bench.db'}")
        migrate(db)
        actor = make_person(db, admin=True)
        sizes = (arguments.small, arguments.large)
        studies = {size: make_big_study(db, size, seed=size).study_id for size in sizes}
        if not db.is_sqlite:
            with db.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
                connection.exec_driver_sql("ANALYZE")
        # In turns, so that what else the machine does meets both alike.
        found: dict[int, list[float]] = {size: [] for size in sizes}
        for turn in range(TURNS + 1):
            for size, study in studies.items():
                items = [f"i{rng.randrange(size):07}" for _ in range(arguments.calls // TURNS)]
                times = measure(db, actor, study, items)
                found[size] += times if turn else []  # the first turn warms the caches
        for size, times in found.items():
            tail = sorted(times)[int(len(times) * 0.95)]
            print(f"why, {size:>9,} items: p50 {statistics.median(times):6.2f} ms  p95 {tail:6.2f} ms")
        few, many = (statistics.median(times) for times in found.values())
        print(f"ratio of the medians {many / few:.2f} (target: at most 2)")
        db.dispose()


if __name__ == "__main__":
    main()
