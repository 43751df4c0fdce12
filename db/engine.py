"""The connection to the database: one class for SQLite and PostgreSQL, short reading and writing transactions."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import RLock
from typing import Any

import orjson
from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import NullPool
from sqlmodel import Session

from annotators.errors import AssayError

BUSY_SECONDS = 30


def dumps(value: Any) -> str:
    """JSON as it is kept in the database."""
    return orjson.dumps(value).decode()


def loads(value: Any) -> Any:
    """JSON as it comes from the database; SQLite gives a JSON column numeric affinity, so that 1 comes as such."""
    return value if isinstance(value, int | float) else orjson.loads(value)


class DatabaseUnavailable(AssayError):
    """The database cannot be reached, or stayed locked too long."""

    status = 503
    exit_code = 6


class Deadlocked(DatabaseUnavailable):
    """Two transactions waited for each other and the database undid this one: doing the whole again is safe."""


class Database:
    """A database by its URL. `read()` and `write()` give a session for one short transaction.

    SQLite: write-ahead log, `synchronous=FULL`, foreign keys on; a writing transaction begins IMMEDIATE, and writers
    of one process queue for a lock, because SQLite's own waiting sleeps in growing steps.
    """

    def __init__(self, url: str, *, pool_size: int = 20) -> None:
        self.url = make_url(url)
        if self.url.get_backend_name() == "postgresql":
            self.url = self.url.set(drivername="postgresql+psycopg")
        self._writing = RLock()
        options: dict[str, Any] = {"json_serializer": dumps, "json_deserializer": loads}
        if self.is_sqlite:
            options["connect_args"] = {"timeout": BUSY_SECONDS, "check_same_thread": False}
        if self.is_sqlite and self.url.database in (None, "", ":memory:"):
            raise AssayError("A database in memory is lost with the process. Give a file: sqlite:////path/to/assay.db")
        self.engine: Engine = create_engine(
            self.url,
            pool_size=pool_size,
            max_overflow=40,
            pool_use_lifo=True,  # the connection used last is warm, and the others stay small
            pool_pre_ping=not self.is_sqlite,
            hide_parameters=True,  # people's texts and hashes of passwords do not belong into logs
            **options,
        )
        if self.is_sqlite:
            event.listen(self.engine, "connect", _prepare_sqlite)
            event.listen(self.engine, "begin", _begin_sqlite)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite (else PostgreSQL)."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def library_version(self) -> str | None:
        """The version of SQLite; PostgreSQL's is known when somebody has connected."""
        known = self.engine.dialect.server_version_info
        return sqlite3.sqlite_version if self.is_sqlite else ".".join(map(str, known)) if known else None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading: one consistent view, rolled back at the end."""
        with Session(self.engine, expire_on_commit=False, autoflush=False) as session:
            try:
                if not self.is_sqlite:
                    session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
                yield session
            except OperationalError as error:
                raise _unavailable(error) from error

    @contextmanager
    def glance(self) -> Iterator[Connection]:
        """A bare connection for a look-up or two that every request does; a session costs as much again as they do."""
        try:
            with self.engine.connect() as connection:
                yield connection
        except OperationalError as error:
            raise _unavailable(error) from error

    @contextmanager
    def write(self, on: Connection | None = None) -> Iterator[Session]:
        """A session for writing: committed when the block ends, undone whole when it raises.

        It takes a connection of the pool, or one of the caller's own.
        """
        with self._queue(), Session(self.engine if on is None else on, expire_on_commit=False) as session:
            try:
                session.connection(execution_options={"assay_write": True})
                yield session
                session.commit()
            except OperationalError as error:
                session.rollback()
                raise _unavailable(error) from error
            except BaseException:
                session.rollback()
                raise

    @contextmanager
    def _queue(self) -> Iterator[None]:
        if not self.is_sqlite:
            yield
            return
        with self._writing:
            yield

    def dispose(self) -> None:
        """Close every pooled connection."""
        self.engine.dispose()


def insert_many(connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert plain tuples through the driver, for imports of many rows; JSON columns are given as text."""
    if not rows:
        return
    mark = "?" if connection.dialect.name == "sqlite" else "%s"
    names = ", ".join(f'"{column}"' for column in columns)
    marks = ", ".join([mark] * len(columns))
    connection.exec_driver_sql(f"INSERT INTO {table} ({names}) VALUES ({marks})", list(map(tuple, rows)))


def unpooled(database: Database) -> Engine:
    """A second engine on the same database, of connections that are opened and closed at once (migrations, imports)."""
    json = {"json_serializer": dumps, "json_deserializer": loads}
    engine = create_engine(database.url, poolclass=NullPool, hide_parameters=True, **json)
    if database.is_sqlite:
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)
    return engine


@contextmanager
def connected(database: Database) -> Iterator[Connection]:
    """A connection of its own that is closed at once; DatabaseUnavailable when there is none to be had."""
    try:
        with unpooled(database).connect() as connection:
            yield connection
    except OperationalError as error:
        raise _unavailable(error) from error


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by hand, see _begin_sqlite
    for pragma in (
        f"busy_timeout={BUSY_SECONDS * 1000}",
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "recursive_triggers=ON",
        "temp_store=MEMORY",
        "cache_size=-2000",  # KiB, for each connection; the operating system keeps the file's pages as well
    ):
        connection.execute(f"PRAGMA {pragma}")
    # SQLite's own knows only ASCII: a search for "ärger" would miss "Ärger", and both could be names beside each other.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(value: str | bytes | float | None) -> str | bytes | float | None:
    return value.lower() if isinstance(value, str) else value


def _begin_sqlite(connection: Connection) -> None:
    immediate = connection.get_execution_options().get("assay_write", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if immediate else "BEGIN")


def _unavailable(error: OperationalError) -> AssayError:
    if getattr(error.orig, "sqlstate", None) in ("40P01", "40001"):
        return Deadlocked(f"Too many people write the same rows at once: {error.orig}. Nothing was changed. Try again.")
    return DatabaseUnavailable(
        f"The database did not answer: {error.orig}. Nothing was changed. Check that it runs and its address, that the "
        "disk is not full, and that no other program holds it locked; then try again."
    )
