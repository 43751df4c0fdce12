"""The revisions of the database's schema that this version knows, asked without loading what reads a database."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

MIGRATIONS = Path(__file__).parent / "migrations"


def known_revisions() -> set[str]:
    """The revisions that this version can use or bring up to date: a revision is the number its file begins with."""
    return {path.name.partition("_")[0] for path in (MIGRATIONS / "versions").glob("[0-9]*.py")}


def head_revision() -> str:
    """The revision that this version of the program needs."""
    return max(known_revisions())


def revision_in(path: Path) -> str | None:
    """The revision that a SQLite file says it is at; None where it says none. Nothing is written."""
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as file:
            found = file.execute("SELECT version_num FROM alembic_version").fetchone()
    except sqlite3.Error:
        return None
    return None if found is None else str(found[0])
