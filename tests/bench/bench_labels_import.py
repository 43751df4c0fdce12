"""Importing a table of 60,000 labels into a study, against the csv module and plain executemany of the same rows.

    python -m tests.bench.bench_labels_import [ITEMS]

Three people judge two criteria of each of 10,000 items. Both write into the same schema (triggers, indexes, foreign
keys, synchronous=FULL) in one transaction. The baseline reads the table with `csv.reader` and has the other rows
(assignments, submissions, annotations, where items stand) in memory already: it checks, groups and settles nothing.
Target: at least 40,000 labels a second, or at most 3 times the baseline.
"""

from __future__ import annotations

import csv
import shutil
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.designing.design import StudyDesign
from annotators.protocols import Material, Step
from db.designing.making import create_study
from db.engine import Database
from db.permissions import Actor
from exports.importing.labels import import_label_table, plan_label_table
from tests.bench.bench_import import fresh
from tests.bulk import make_items
from tests.makers import make_member, make_person, make_project, tiny_protocol

TARGET = 3.0
TARGET_RATE = 40_000
TABLES = ("person", "account", "batch", "assignment", "submission", "annotation", "label", "settlement", "event")
PEOPLE = ("ada", "ben", "chloe")


def write_table(path: Path, n_items: int) -> int:
    """A table of labels of these items; how many rows."""
    with path.open("w", encoding="utf-8", newline="") as file:
        table = csv.writer(file, lineterminator="\n")
        table.writerow(("item", "annotator", "criterion", "value", "time", "comment"))
        for number in range(n_items):
            for place, who in enumerate(PEOPLE):
                odd = (number * 7 + place) % 5 == 0
                at = f"2026-03-{1 + number % 28:02}T09:{place:02}:{number % 60:02}Z"
                said = "see the second table, not the first" if number % 10 == 0 else ""
                table.writerow((f"i{number:07}", who, "correct", "no" if odd else "yes", at, said))
                table.writerow((f"i{number:07}", who, "clarity", 1 + (number + odd) % 5, at, ""))
    return n_items * len(PEOPLE) * 2


def make(folder: Path, n_items: int) -> tuple[Database, Actor, int]:
    """A database with a study `bench` of this many items that nobody has labelled, a researcher, and the project."""
    db = fresh(folder, "assay.db")
    project, researcher, someone = make_project(db), make_person(db, admin=True), make_person(db)
    make_member(db, project, someone, "annotator")
    make_items(db, project, n_items)
    criteria = [
        Choice(name="correct", title="Correct", labels=[Label(value="yes"), Label(value="no")]),
        Grade(name="clarity", title="Clarity", labels=[Label(value=value) for value in range(1, 6)]),
    ]
    step = Step(name="judge", title="Judge", shows=[Material.ANSWER], criteria=["correct", "clarity"])
    design = StudyDesign(name="bench", annotators=(someone.name,), overlap=1, order="given")
    protocol = tiny_protocol(criteria=criteria, steps=[step])
    create_study(db, researcher, project, protocol=protocol, design=design)
    with db.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    return db, researcher, project


def rows_of(path: Path) -> dict[str, tuple[list[str], list[tuple[object, ...]]]]:
    """All rows of the tables that an import writes."""
    connection = sqlite3.connect(path)
    found = {}
    for table in TABLES:
        cursor = connection.execute(f"SELECT * FROM {table} ORDER BY rowid")
        found[table] = ([column[0] for column in cursor.description], cursor.fetchall())
    connection.close()
    return found


def plain(path: Path, table: Path, imported: Path) -> float:
    """Seconds to read the table with the csv module, and to write the rows that `imported` has more than `path`."""
    before = {name: len(rows) for name, (_, rows) in rows_of(path).items()}
    added = {name: (columns, rows[before[name] :]) for name, (columns, rows) in rows_of(imported).items()}
    connection = sqlite3.connect(path, isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "recursive_triggers=ON"):
        connection.execute(f"PRAGMA {pragma}")
    began = time.perf_counter()
    with table.open(encoding="utf-8", newline="") as file:
        n = sum(1 for _ in csv.reader(file)) - 1
    connection.execute("BEGIN IMMEDIATE")
    for name, (columns, values) in added.items():
        names, marks = ", ".join(f'"{column}"' for column in columns), ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {name} ({names}) VALUES ({marks})", values)
    connection.execute("COMMIT")
    seconds = time.perf_counter() - began
    connection.close()
    assert n == len(added["label"][1])
    return seconds


def main(n_items: int = 10_000) -> bool:
    """Print times, rates and the ratio; whether the target is met."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        table = folder / "labels.csv"
        n = write_table(table, n_items)
        db, researcher, project = make(folder, n_items)
        shutil.copy(folder / "assay.db", folder / "plain.db")
        began = time.perf_counter()
        plan = plan_label_table(db, researcher, project, study="bench", path=table)
        planning = time.perf_counter() - began
        began = time.perf_counter()
        made = import_label_table(db, researcher, project, study="bench", path=table)
        ours = time.perf_counter() - began
        assert (plan.plan.labels, made.labels.labels, plan.obstacles) == (n, n, [])
        theirs = plain(folder / "plain.db", table, folder / "assay.db")
        began = time.perf_counter()
        inferred = import_label_table(db, researcher, project, study="inferred", path=table, infer=True)
        inferring = time.perf_counter() - began
        assert inferred.labels.labels == n
        db.dispose()
    print(f"preview of {n:,} labels:   {planning:.2f} s ({n / planning:,.0f} labels/s)")
    print(f"import:                     {ours:.2f} s ({n / ours:,.0f} labels/s; target: at least {TARGET_RATE:,})")
    print(f"into an inferred study:     {inferring:.2f} s ({n / inferring:,.0f} labels/s)")
    print(f"csv and plain executemany:  {theirs:.2f} s; ratio {ours / theirs:.2f} (target: at most {TARGET:g})")
    return n / ours >= TARGET_RATE or ours / theirs <= TARGET


if __name__ == "__main__":
    sys.exit(not main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000))
