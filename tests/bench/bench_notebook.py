"""`study.labels()` in a notebook, against `pandas.read_parquet` of the same table.

    python -m tests.bench.bench_notebook [ITEMS]

Nine labels an item: 111,112 items make a million. In processor time, which other work on the machine does not change.
The first call reads them from the database; its floor is what `sqlite3` takes to hand over the same rows of the joined
tables to Python, and nothing else. A later one takes them from the file that the first has kept, and asks the database
whether they are the same. The issue's target is of that.
"""

from __future__ import annotations

import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pandas as pd

from annotators.designing.design import StudyDesign
from db.designing.making import create_study
from exports.bundles.labels.kept import forget_frames, frames_folder
from exports.importing.items import import_paths
from exports.notebook import open_home
from tests.bench.bench_export import PLAIN, annotate, protocol
from tests.bench.bench_import import fresh, write_items
from tests.makers import first_administrator, make_member, make_person, make_project

TARGET, FIRST_TARGET = 2.0, 0.95
TIMES = 3


def labelled_home(folder: Path, n: int) -> None:
    """A home with so many items, each labelled by three people in the study bench of the project bench."""
    folder.mkdir(exist_ok=True)
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


def once(work: Callable[[], object]) -> float:
    """Processor time of a call."""
    began = time.process_time()
    work()
    return time.process_time() - began


def seconds(work: Callable[[], object]) -> float:
    """Processor time of a call, the median of some."""
    return statistics.median(once(work) for _ in range(TIMES))


def main(n: int = 111_112) -> float:
    """Print the times and their ratios; of the two against their targets the worse."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        labelled_home(folder, n)
        study = open_home(folder).project("bench").study("bench")
        frame = study.labels()
        frame.to_parquet(folder / "labels.parquet", index=False)
        assert len(frame) == len(pd.read_parquet(folder / "labels.parquet")) == 9 * n
        del frame
        first = seconds(lambda: (forget_frames(frames_folder(folder)), study.labels()))
        later = seconds(study.labels)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        plain = seconds(lambda: pd.read_parquet(folder / "labels.parquet"))
        with closing(sqlite3.connect(folder / "assay.db")) as database:
            rows = seconds(lambda: database.execute(PLAIN).fetchall())
    later_ratio, first_ratio = later / plain, first / rows
    print(f"pandas.read_parquet of {9 * n:,} labels: {plain:.2f} s")
    print(f"study.labels(), not the first time:  {later:.2f} s; ratio {later_ratio:.2f} (target: at most {TARGET:g})")
    print(f"the first time, or after a label:    {first:.2f} s; ratio {first / plain:.2f}; peak {memory:,.0f} MB")
    print(f"the rows alone, fetched by sqlite3:  {rows:.2f} s; the first time is {first_ratio:.2f} of it "
          f"(target: at most {FIRST_TARGET:g})")  # fmt: skip
    return max(later_ratio / TARGET, first_ratio / FIRST_TARGET)


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 111_112) > 1)
