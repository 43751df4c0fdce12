"""An empty, migrated SQLite database: made once a process, and copied for whoever needs one."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path

from db.engine import Database
from db.schema import migrate


def put_database(path: Path) -> None:
    """An empty, migrated database at `path`, whose folder is made if need be. What is there stays."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists():
        shutil.copyfile(_template(), path)


@cache
def _template() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="assay-template-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path = folder / "assay.db"
    database = Database(f"sqlite:///{path}")
    migrate(database)
    database.dispose()
    return path
