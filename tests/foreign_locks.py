"""Another program holds a database, and takes its time."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg


@contextmanager
def locked_file(path: Path) -> Iterator[None]:
    """A SQLite file against all writers."""
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        connection.execute("ROLLBACK")
        connection.close()


@contextmanager
def locked_tables(url: str, *tables: str) -> Iterator[None]:
    """Tables of a PostgreSQL database (its address as psycopg takes it) against all writers."""
    with psycopg.connect(url) as connection:
        connection.execute(f"LOCK TABLE {', '.join(tables)} IN EXCLUSIVE MODE".encode())
        yield
        connection.rollback()
