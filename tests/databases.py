"""What makes fresh databases cheap: one that is migrated once a process and copied, and statements compiled once."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from sqlalchemy import Dialect, Engine
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

import db.engine
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


def compile_statements_once() -> None:
    """What one engine has compiled, all later ones of this process take, as those of a server do that runs for weeks.

    SQLAlchemy keeps statements an engine, and every test has engines of its own: a seventh of the processor's time went
    into compiling the same few hundred statements thousands of times.
    """
    compiled: LRUCache[Any, Any] = LRUCache(10_000)
    make = db.engine.create_engine

    def create_engine(*url: Any, **options: Any) -> Engine:
        engine = make(*url, **options)
        engine._compiled_cache = compiled
        return engine

    db.engine.create_engine = create_engine
    # A statement is kept for the dialect that it was compiled for. All of one kind are set up alike here.
    for kind in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        kind.__eq__ = _same_kind
        kind.__hash__ = _of_kind


def _same_kind(one: Dialect, other: object) -> bool:
    return type(one) is type(other)


def _of_kind(one: Dialect) -> int:
    return hash(type(one))
