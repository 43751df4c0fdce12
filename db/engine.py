"""The connection to the database: one class for SQLite and PostgreSQL, short reading and writing transactions.

What is raised when the database does not do its part says what became of the work, and no more than is known.
"""

from __future__ import annotations

import logging
import os
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext, suppress
from contextvars import ContextVar
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import orjson
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError
from sqlalchemy.pool import NullPool
from sqlmodel import Session

from annotators.errors import AssayError, Conflict, InvalidInput
from db.faults import DatabaseUnavailable, fault_of, is_to_be_reopened, sqlite_code
from db.query import mark
from db.upkeep.presence import Presence
from db.waiting import Places, deadline, given_deadline, seconds_left

if TYPE_CHECKING:
    import psycopg

log = logging.getLogger(__name__)

WAIT_SECONDS = 30
"""How long a command or a job waits for the database. Requests wait less (app/settings.py)."""

MOST_CONNECTIONS = 32
"""Connections of a process that serves people. With those of its worker and its watch (app/worker/jobs.py), two such
processes fit into the 97 that PostgreSQL gives by default, and the command line beside them."""

MOST_WRITING = 16
"""Writing transactions of a process at once on PostgreSQL: writers that wait for locks must leave readers some."""

ALONE_SECONDS = 3.0
"""How long somebody who is to replace a SQLite database waits for others to be gone."""

_KEPT_OPEN = 10
_ROWS_A_STATEMENT = 50  # a longer statement takes as long to be read as it saves
_BUSY = frozenset({sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED})
_LOCK_NOT_AVAILABLE = "55P03"
_DEADLOCKS = ("40P01", "40001")


def dumps(value: Any) -> str:
    """JSON as it is kept in the database."""
    return orjson.dumps(value).decode()


def loads(value: Any) -> Any:
    """JSON as it comes from the database; SQLite gives a JSON column numeric affinity, so that 1 comes as such."""
    return value if isinstance(value, int | float) else orjson.loads(value)


class DatabaseBusy(DatabaseUnavailable):
    """The database is there, but others kept it for as long as one waits: doing the same again later is safe."""


class OutcomeUnknown(DatabaseUnavailable):
    """The connection broke while a transaction was being committed: it is stored, or it is not."""


class Deadlocked(DatabaseUnavailable):
    """Two transactions waited for each other and the database undid this one: doing the whole again is safe."""


# What became of the work ----------------------------------------------------------------------------------------------

_saved: ContextVar[list[bool] | None] = ContextVar("saved", default=None)


@contextmanager
def as_one() -> Iterator[None]:
    """What is done in the block is one thing to whoever asked for it, so that errors say what became of all of it."""
    if _saved.get() is not None:
        yield
        return
    token = _saved.set([])
    try:
        yield
    finally:
        _saved.reset(token)


def outcome() -> str:
    """What is true of what was asked for, when it now fails before a commit: a sentence, or nothing if unknown."""
    saved = _saved.get()
    if saved is None:
        return ""
    return "What was saved before that stays saved. " if saved else "Nothing was changed. "


def _note_saved() -> None:
    saved = _saved.get()
    if saved is not None:
        saved.append(True)


# The database ---------------------------------------------------------------------------------------------------------


class Database:
    """A database by its URL. `read()` and `write()` give a session for one short transaction.

    SQLite: whoever has connected is present until `dispose`, and keeps out who would replace the file; write-ahead log,
    `synchronous=FULL`, foreign keys on; a writing transaction begins IMMEDIATE, and writers
    of one process queue for a place, because SQLite's own waiting sleeps in growing steps. At most `pool_size`
    connections are open at once. Who waits, waits `wait_seconds` (or until the deadline of the block around,
    db/waiting.py) for a place, a connection and locks together, and is then told that the database is busy.
    """

    only_read = False
    """Whether writing is refused."""

    def __init__(self, url: str, *, pool_size: int = MOST_CONNECTIONS, wait_seconds: float = WAIT_SECONDS) -> None:
        self.url = _checked_url(url)
        self.wait_seconds = wait_seconds
        self._writing = Places(1 if self.is_sqlite else min(MOST_WRITING, pool_size))
        self._connections = Places(pool_size)
        if self.is_sqlite and self.url.database in (None, "", ":memory:"):
            raise AssayError("A database in memory is lost with the process. Give a file: sqlite:////path/to/assay.db")
        self._presence = Presence(Path(self.url.database)) if self.is_sqlite and self.url.database else None
        kept = min(_KEPT_OPEN, pool_size)
        self.engine: Engine = create_engine(
            self.url,
            pool_size=kept,
            max_overflow=pool_size - kept,
            pool_use_lifo=True,  # the connection used last is warm, and the others stay small
            pool_pre_ping=not self.is_sqlite,
            hide_parameters=True,  # people's texts and hashes of passwords do not belong into logs
            json_serializer=dumps,
            json_deserializer=loads,
            connect_args=self.connect_args,
        )
        if self.is_sqlite:
            self.prepare(self.engine)
        else:
            event.listen(self.engine, "connect", self._prepare_postgresql)
            event.listen(self.engine, "begin", self._note_lock_seconds)
            event.listen(self.engine, "before_cursor_execute", _limit_lock_seconds)

    @property
    def is_sqlite(self) -> bool:
        """Whether this is SQLite (else PostgreSQL)."""
        return self.url.get_backend_name() == "sqlite"

    @property
    def connect_args(self) -> dict[str, Any]:
        """What a driver is told when it connects. What the URL says goes first."""
        if self.is_sqlite:
            return {"timeout": self.wait_seconds, "check_same_thread": False}
        # A machine that has gone, and says so to nobody, is noticed.
        seconds = self.wait_seconds
        told: dict[str, Any] = {"connect_timeout": max(2, round(seconds)), "tcp_user_timeout": _milliseconds(seconds)}
        told |= {"keepalives_idle": 10, "keepalives_interval": 5, "keepalives_count": 3}
        return {name: value for name, value in told.items() if name not in self.url.query}

    @property
    def library_version(self) -> str | None:
        """The version of SQLite; PostgreSQL's is known when somebody has connected."""
        known = self.engine.dialect.server_version_info
        return sqlite3.sqlite_version if self.is_sqlite else ".".join(map(str, known)) if known else None

    @contextmanager
    def read(self) -> Iterator[Session]:
        """A session for reading: one consistent view, rolled back at the end."""
        with self._place(self._connections, deadline(self.wait_seconds)):
            session = Session(self.engine, expire_on_commit=False, autoflush=False)
            connection = None
            try:
                view = {} if self.is_sqlite else {"isolation_level": "REPEATABLE READ"}
                connection = session.connection(execution_options=view)
                yield session
            except DBAPIError as error:
                self._explain(error)
            finally:
                _put_back(session, connection)

    @contextmanager
    def glance(self) -> Iterator[Connection]:
        """A bare connection for a look-up or two that every request does; a session costs as much again as they do."""
        with self._place(self._connections, deadline(self.wait_seconds)):
            connection = None
            try:
                connection = self.engine.connect()
                yield connection
            except DBAPIError as error:
                self._explain(error)
            finally:
                _put_back(connection, connection)

    @contextmanager
    def write(self, on: Connection | None = None, *, synced: bool = True) -> Iterator[Session]:
        """A session for writing: committed when the block ends, undone whole when it raises.

        It takes a connection of the pool, or one of the caller's own. Without `synced` what is committed outlives the
        process, but the power of the machine only when `sync` has returned: others need not wait for the disk.
        """
        until = deadline(self.wait_seconds)
        pooled = nullcontext() if on is not None else self._place(self._connections, until)
        with self._place(self._writing, until), pooled:
            session = Session(self.engine if on is None else on, expire_on_commit=False)
            connection, committing = None, False
            try:
                connection = session.connection(execution_options={"assay_write": until, "assay_synced": synced})
                yield session
                session.flush()
                committing = True
                session.commit()
                _note_saved()
            except DBAPIError as error:
                self._explain(error, committing=committing)
            finally:
                _put_back(session, connection)

    def sync(self) -> None:
        """Return when all that was committed is on the disk; see `write`. PostgreSQL has it there when it commits.

        SQLite syncs its log in `commit`, with the lock that all other writers wait for; here it is done without. A log
        that is gone, or was begun anew, has been synced into the database by whoever did that.
        """
        if self.is_sqlite:
            with suppress(FileNotFoundError):
                log_file = os.open(f"{self.url.database}-wal", os.O_RDONLY)
                try:
                    os.fsync(log_file)
                finally:
                    os.close(log_file)

    @contextmanager
    def _place(self, places: Places, until: float) -> Iterator[None]:
        with places.one(until) as got:
            if not got:
                raise busy("too much waits for it")
            yield

    def enter(self) -> None:
        """Be present from now on, until `dispose`: nobody then replaces the file of a SQLite database.

        How is in db/upkeep/presence.py. Whoever connects enters; before that it is for those who look at the file.
        DatabaseBusy while somebody has it alone.
        """
        self._enter(makes=False)

    def _enter(self, *, makes: bool = True) -> None:
        if self._presence is not None and not self._presence.enter(deadline(self.wait_seconds), makes=makes):
            raise busy("another program replaces it, or brings it up to date")

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Have a SQLite database alone in the block, to replace it: whoever comes to it through this class waits.

        Raises Conflict when others have it open, or nobody can be kept out of it. The connections of this object are
        closed before.
        """
        if self._presence is None:
            raise Conflict("The database is PostgreSQL, which is not replaced from here. Use its own tools.")
        self.engine.dispose()
        with self._presence.alone(time.monotonic() + ALONE_SECONDS):
            yield

    def prepare(self, engine: Engine) -> None:
        """Have the connections of an engine on this SQLite database enter, and be as ours are."""
        event.listen(engine, "do_connect", self._enter_first)
        event.listen(engine, "connect", _prepare_sqlite)
        event.listen(engine, "begin", _begin_sqlite)

    def _enter_first(self, *_connection: object) -> None:
        self._enter()

    def _explain(self, error: DBAPIError, *, committing: bool = False) -> NoReturn:
        """Raise what this error says about the database, in words; an error about something else as it is."""
        if is_to_be_reopened(error):
            self.engine.dispose()
        _explain(error, self.url, committing=committing)

    def dispose(self) -> None:
        """Close every pooled connection, and leave."""
        self.engine.dispose()
        if self._presence is not None:
            self._presence.leave()

    def _prepare_postgresql(self, connection: psycopg.Connection[Any], _record: object) -> None:
        connection.execute(f"SET lock_timeout = {_milliseconds(self.wait_seconds)}")
        connection.commit()

    def _note_lock_seconds(self, connection: Connection) -> None:
        connection.info["assay_lock_seconds"] = self.wait_seconds


def _put_back(used: Session | Connection | None, connection: Connection | None) -> None:
    """Undo what is not committed and give the connection back, or close it if that fails.

    What failed first is what the caller hears of, and a broken connection is nobody else's.
    """
    if used is None:
        return
    try:
        used.close()
    except Exception:  # whatever the driver makes of it
        log.warning("a transaction could not be rolled back; its connection is closed", exc_info=True)
        if connection is not None:
            with suppress(Exception):
                connection.invalidate()
            with suppress(Exception):
                connection.close()


def _checked_url(given: str) -> URL:
    """The URL as SQLAlchemy takes it; InvalidInput names one that is none, without its password."""
    try:
        url = make_url(given)
        name = url.get_backend_name()
        if name == "sqlite":
            return url
        if name in ("postgresql", "postgres"):
            return _checked_by_driver(url.set(drivername="postgresql+psycopg"))
        amiss = f"Assay does not know databases of the kind {name!r}"
    except (ArgumentError, ValueError):
        amiss = "it is no address of a database"
    except DBAPIError as error:
        amiss = str(error.orig).splitlines()[0]
    raise InvalidInput(
        f"The database {without_password(given)!r} cannot be used: {amiss}. Write an address such as "
        "postgresql://user:password@host/assay or sqlite:////path/to/assay.db (ASSAY_DATABASE_URL, or database_url in "
        "assay.toml)."
    )


def _checked_by_driver(url: URL) -> URL:
    """The URL, when PostgreSQL's driver knows all that it asks for; DBAPIError otherwise."""
    from psycopg import ProgrammingError  # noqa: PLC0415 - who has SQLite need not load the driver
    from psycopg.conninfo import make_conninfo  # noqa: PLC0415

    engine = create_engine(url, poolclass=NullPool)
    _, settings = engine.dialect.create_connect_args(url)
    try:
        make_conninfo(**{name: value for name, value in settings.items() if name != "context"})
    except ProgrammingError as error:
        raise DBAPIError("", None, error) from None
    return url


def without_password(url: str) -> str:
    """A URL, however malformed, with *** where a password may be: behind user and colon, and behind `password=`."""
    head, slashes, rest = url.partition("//") if "//" in url else ("", "", url)
    account, at, place = rest.rpartition("@")
    if not at:
        account, at, place = rest.partition("/")
    user, colon, secret = account.partition(":")
    is_port = at != "@" and secret.isdigit()
    shown = f"{head}{slashes}{user}{colon}{secret if is_port or not colon else '***'}{at}{place}"
    start, named, secret = shown.partition("password=")
    return f"{start}{named}***{secret[len(secret.partition('&')[0]) :]}" if named else shown


def insert_many(connection: Connection, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Insert plain tuples through the driver, for imports of many rows; JSON columns are given as text.

    SQLite takes many rows in one statement a quarter faster than the same rows one by one; psycopg does it by itself.
    """
    if not rows:
        return
    sqlite = connection.dialect.name == "sqlite"
    names = ", ".join(f'"{column}"' for column in columns)
    row = "(" + ", ".join([mark(connection)] * len(columns)) + ")"
    insert = f"INSERT INTO {table} ({names}) VALUES "
    blocks = len(rows) // _ROWS_A_STATEMENT if sqlite else 0
    if blocks:
        starts = range(0, blocks * _ROWS_A_STATEMENT, _ROWS_A_STATEMENT)
        flat = [tuple(chain.from_iterable(rows[start : start + _ROWS_A_STATEMENT])) for start in starts]
        connection.exec_driver_sql(insert + ", ".join([row] * _ROWS_A_STATEMENT), flat)
    if rest := rows[blocks * _ROWS_A_STATEMENT :]:
        connection.exec_driver_sql(insert + row, list(map(tuple, rest)))


def unpooled(database: Database) -> Engine:
    """A second engine on the same database, of connections that are opened and closed at once (migrations, imports)."""
    engine = create_engine(
        database.url,
        poolclass=NullPool,
        hide_parameters=True,
        json_serializer=dumps,
        json_deserializer=loads,
        connect_args=database.connect_args,
    )
    if database.is_sqlite:
        database.prepare(engine)
    return engine


@contextmanager
def connected(database: Database) -> Iterator[Connection]:
    """A connection of its own that is closed at once; DatabaseUnavailable when there is none to be had."""
    try:
        with unpooled(database).connect() as connection:
            yield connection
    except DBAPIError as error:
        _explain(error, database.url)


def empty_log(database: Database) -> bool:
    """Whether what SQLite has in its log of changes is in its file now, and the log empty; PostgreSQL keeps its own.

    Until then file and log may have what was replaced. Somebody who reads can be in the way for longer than is waited.
    """
    if not database.is_sqlite:
        return True
    with closing(unpooled(database).raw_connection()) as connection:
        busy, *_ = connection.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not busy


def _prepare_sqlite(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by hand, see _begin_sqlite
    for pragma in (
        "journal_mode=WAL",
        "synchronous=FULL",
        "foreign_keys=ON",
        "recursive_triggers=ON",
        "temp_store=MEMORY",
        "secure_delete=ON",  # what was redacted or erased is not left in pages that are free
        "cache_size=-2000",  # KiB, for each connection; the operating system keeps the file's pages as well
    ):
        connection.execute(f"PRAGMA {pragma}")
    # SQLite's own knows only ASCII: a search for "ärger" would miss "Ärger", and both could be names beside each other.
    connection.create_function("lower", 1, _lower, deterministic=True)


def _lower(value: str | bytes | float | None) -> str | bytes | float | None:
    return value.lower() if isinstance(value, str) else value


def _begin_sqlite(connection: Connection) -> None:
    """Begin; a writing transaction waits for the file's lock until the moment that its option names (True: as set)."""
    options = connection.get_execution_options()
    until = options.get("assay_write", False)
    if until is False:
        connection.exec_driver_sql("BEGIN")
        return
    driver = connection.connection.driver_connection
    assert isinstance(driver, sqlite3.Connection)
    driver.execute(f"PRAGMA synchronous={'FULL' if options.get('assay_synced', True) else 'NORMAL'}")
    if until is True:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        return
    usual = driver.execute("PRAGMA busy_timeout").fetchone()[0]
    driver.execute(f"PRAGMA busy_timeout={_milliseconds(seconds_left(until))}")
    try:
        connection.exec_driver_sql("BEGIN IMMEDIATE")
    finally:
        driver.execute(f"PRAGMA busy_timeout={usual}")


def _limit_lock_seconds(connection: Connection, *_statement: object) -> None:
    """Before a statement on PostgreSQL: a transaction that has waited waits for its next lock so much less.

    Between the locks of one statement nobody can intervene: each of them is waited for that long.
    """
    until = given_deadline()
    if until is None or not connection.in_transaction():
        return
    left = until - time.monotonic()
    if left < connection.info["assay_lock_seconds"] - 0.5:
        connection.info["assay_lock_seconds"] = left
        driver: psycopg.Connection[Any] = connection.connection.driver_connection  # type: ignore[assignment]
        driver.execute(f"SET LOCAL lock_timeout = {_milliseconds(left)}")


def _milliseconds(seconds: float) -> int:
    """As a setting of a database, where 0 would be for ever (PostgreSQL) or not at all (SQLite)."""
    return max(1, round(seconds * 1000))


def busy(why: str) -> DatabaseBusy:
    """What somebody is told who has waited long enough."""
    return DatabaseBusy(f"The database is busy: {why}. {outcome()}Try again in a moment.")


def _explain(error: DBAPIError, url: URL, *, committing: bool = False) -> NoReturn:
    """Raise a driver's error as a domain error, where the database does not do its part; else as it is."""
    fault = fault_of(error, url)
    if fault is not None:
        raise fault from error
    if isinstance(error, OperationalError) or error.connection_invalidated:
        raise _explained(error, committing=committing) from error
    raise error


def _explained(error: DBAPIError, *, committing: bool) -> DatabaseUnavailable:
    state = getattr(error.orig, "sqlstate", None)
    if state in _DEADLOCKS:
        return Deadlocked(f"Too many people write the same rows at once: {error.orig}. {outcome()}Try again.")
    if state == _LOCK_NOT_AVAILABLE or sqlite_code(error.orig) in _BUSY:
        return busy(f"another program, or long work, holds it ({_first_line(error)})")
    if committing and (state is None or error.connection_invalidated):
        _note_saved()
        return OutcomeUnknown(
            f"The database broke off while it was saving: {_first_line(error)}. Whether this was saved is not known: "
            "look before you do it again. What an annotator submitted is sent again by itself, and stored once."
        )
    return DatabaseUnavailable(
        f"The database did not answer: {_first_line(error)}. {outcome()}Check that it runs and its address, that the "
        "disk is not full, and that no other program holds it locked; then try again."
    )


def _first_line(error: DBAPIError) -> str:
    return str(error.orig).strip().partition("\n")[0].rstrip(".")


class Within(Database):
    """A database as one open session sees it: whatever reads of it reads in that session."""

    def __init__(self, db: Database, session: Session) -> None:
        self.__dict__.update(db.__dict__)
        self._session = session

    @contextmanager
    def read(self) -> Iterator[Session]:
        """The session."""
        yield self._session
