"""Importing 100,000 native items with three evidence units each, against plain executemany of the same rows.

    python -m tests.bench.bench_import [ITEMS]

Both write into the same schema (triggers, indexes, foreign keys, synchronous=FULL) in one transaction. The baseline has
its rows in memory already: it neither reads nor checks nor hashes anything. Target: at most 3 times the baseline.
"""

from __future__ import annotations

import resource
import sqlite3
import sys
import tempfile
import time
from pathlib import Path

import orjson

from db.engine import Database
from db.schema import migrate
from exports.importing.items import import_paths
from tests.makers import make_person, make_project

TABLES = ("document", "question", "item", "item_version", "item_document", "evidence", "score")
TARGET = 3.0


def write_items(path: Path, n: int, *, start: int = 0) -> None:
    """A JSONL file of n items of 1.5 kB, numbered from `start`: three evidence units each, 25 items a document."""
    with path.open("wb") as file:
        for number in range(start, start + n):
            document = f"report-{number // 25:05}.pdf"
            row = {
                "question_key": f"q{number // 5:06}",
                "system": f"system-{number % 5}",
                "question": f"How many visitors did the harbour museum count in the season of year {number // 5}?",
                "answer": f"The museum counted {number * 7} visitors, a little more than in the season before it. " * 2,
                "category": ("Text", "Tables", "Figures")[number % 3],
                "references": [f"{number * 7} visitors", [str(number * 7), "visitors"]],
                "documents": [document],
                "evidence": [
                    {
                        "key": f"e{rank}",
                        "kind": "passage",
                        "role": "retrieved",
                        "document": document,
                        "pages": [rank],
                        "text": f"Passage {rank} of {number}. "
                        + "The count includes guided tours and school classes. " * 4,
                        "rank": rank,
                    }
                    for rank in (1, 2, 3)
                ],
                "metadata": {"source": "bench", "number": number},
            }
            file.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))


def fresh(folder: Path, name: str) -> Database:
    """An empty migrated database."""
    database = Database(f"sqlite:///{folder / name}")
    migrate(database)
    return database


def plain(folder: Path, rows: dict[str, tuple[list[str], list[tuple[object, ...]]]]) -> float:
    """Seconds that executemany takes for the rows of every table in one transaction."""
    database = fresh(folder, "plain.db")
    make_project(database)
    make_person(database)
    database.dispose()
    connection = sqlite3.connect(folder / "plain.db", isolation_level=None)
    for pragma in ("journal_mode=WAL", "synchronous=FULL", "foreign_keys=ON", "recursive_triggers=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("PRAGMA cache_size=-65536")
    began = time.perf_counter()
    connection.execute("BEGIN IMMEDIATE")
    for table, (columns, values) in rows.items():
        names, marks = ", ".join(f'"{column}"' for column in columns), ", ".join("?" * len(columns))
        connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({marks})", values)
    connection.execute("COMMIT")
    seconds = time.perf_counter() - began
    connection.close()
    return seconds


def rows_of(path: Path) -> dict[str, tuple[list[str], list[tuple[object, ...]]]]:
    """Every row that an import wrote, by table."""
    connection = sqlite3.connect(path)
    found = {}
    for table in ("batch", *TABLES):
        cursor = connection.execute(f"SELECT * FROM {table}")
        found[table] = ([column[0] for column in cursor.description], cursor.fetchall())
    connection.close()
    return found


def main(n: int = 100_000) -> float:
    """Print both times, the ratio and the memory; the ratio."""
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as name:
        folder = Path(name)
        write_items(folder / "items.jsonl", n)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        database = fresh(folder, "assay.db")
        project, actor = make_project(database), make_person(database, admin=True)
        began = time.perf_counter()
        report = import_paths(database, actor, project, paths=[folder / "items.jsonl"])
        ours = time.perf_counter() - began
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert (report.added, report.rejected) == (n, [])
        began = time.perf_counter()
        again = import_paths(database, actor, project, paths=[folder / "items.jsonl"])
        repeated = time.perf_counter() - began
        assert (again.added, again.unchanged, again.batch) == (0, n, None)
        database.dispose()
        theirs = plain(folder, rows_of(folder / "assay.db"))
    ratio = ours / theirs
    print(f"import of {n:,} items: {ours:.2f} s ({n / ours:,.0f} items/s), {memory / 1024:.0f} MB more memory")
    print(f"import again:           {repeated:.2f} s, nothing added")
    print(f"plain executemany:      {theirs:.2f} s")
    print(f"ratio:                  {ratio:.2f} (target: at most {TARGET:g})")
    return ratio


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000) > TARGET)
