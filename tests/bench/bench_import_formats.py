"""Importing the real files of each format, against `json.load` of the same files and plain inserts of the same rows.

    python -m tests.bench.bench_import_formats [DATA]

DATA is the folder of real data, a folder a format (default ../shared/data). The baseline reads the files with `json`
and writes the rows that the import made into the same empty tables by `executemany`: it checks, hashes and compares
nothing. Processor seconds, the best of fifteen of either. Target: at most 3 times the baseline; exit code 1 where one
is above. MMLongBench is left out: of its 52 rows little is read, and its seven PDF files are looked at by processes of
their own, which a plain insert has no part in.
"""

from __future__ import annotations

import json
import sqlite3
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from db.engine import Database
from db.schema import migrate
from exports.importing.items import import_paths
from tests.makers import make_person, make_project

TARGET = 3.0
ROUNDS = 15
FORMATS = ("unidoc", "double_bench", "ragchecker", "refchecker", "mmdocrag", "fathoms")
TABLES = (
    "document", "question", "item", "item_version", "item_document", "evidence", "claim", "image", "run", "score",
)  # fmt: skip


def imported(folder: Path, home: Path) -> float:
    """Processor seconds of importing a folder into a new database."""
    db = Database(f"sqlite:///{home}/a.db")
    migrate(db)
    actor, project = make_person(db, admin=True), make_project(db)
    began = time.process_time()
    import_paths(db, actor, project, paths=[folder], data_folder=home / "documents")
    return time.process_time() - began


def plain(folder: Path, home: Path) -> float:
    """Processor seconds of reading the files with `json` and writing the rows of the database that was made."""
    migrate(Database(f"sqlite:///{home}/b.db"))
    rows: dict[str, tuple[int, list[Any]]] = {}
    with sqlite3.connect(home / "a.db") as made:
        there = {name for (name,) in made.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in filter(there.__contains__, TABLES):
            found = made.execute(f"SELECT * FROM {table}")
            rows[table] = len(found.description), found.fetchall()
    began = time.process_time()
    for file in folder.rglob("*.json*"):
        with file.open(encoding="utf-8") as stream:
            _ = [json.loads(line) for line in stream] if file.suffix == ".jsonl" else json.load(stream)
    with sqlite3.connect(home / "b.db") as empty:
        empty.execute("PRAGMA foreign_keys = OFF")
        for table, (wide, found_rows) in rows.items():
            empty.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * wide)})", found_rows)
    return time.process_time() - began


def main(data: Path) -> bool:
    """Print a line a format; whether all are within the target."""
    within = True
    for name in FORMATS:
        took = least = float("inf")
        for _ in range(ROUNDS):
            with tempfile.TemporaryDirectory() as home:
                took = min(took, imported(data / name, Path(home)))
                least = min(least, plain(data / name, Path(home)))
        ratio = took / least
        within = within and ratio <= TARGET
        print(
            f"{name}: import {took * 1000:.0f} ms, plain {least * 1000:.0f} ms, ratio {ratio:.2f} (target {TARGET:g})"
        )
    return within


if __name__ == "__main__":
    sys.exit(not main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path("../shared/data")))
