"""What a database says when its file or its disk has failed, in words: damaged, lost, full, read-only.

SQLite says so by error codes, PostgreSQL by SQLSTATEs. What is merely busy or away is `db.engine.DatabaseUnavailable`.
"""

from __future__ import annotations

import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sqlalchemy import URL
from sqlalchemy.exc import DBAPIError

from annotators.errors import NO_PLACES, OF_DISKS, AssayError, InvalidInput

_CODE = 0xFF  # the lowest byte of SQLite's extended codes is the code itself
DAMAGED = frozenset({sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB})
DISK = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_IOERR})
_DISK_OR_OPEN = frozenset({*DISK, sqlite3.SQLITE_CANTOPEN})
_REOPENED = DAMAGED | _DISK_OR_OPEN
_ROOM = 1 << 15
_MOST_SAID = 3
_DAMAGED_STATES = frozenset({"XX001", "XX002"})
BESIDE = ("-wal", "-shm", "-journal")
"""Endings of the files that SQLite keeps beside a database and that belong to it."""


class DatabaseUnavailable(AssayError):
    """The database cannot be reached, or stayed locked too long."""

    status = 503
    exit_code = 6


class DatabaseDamaged(DatabaseUnavailable):
    """The database cannot be read as one any more, or is gone; a backup has to be put back."""

    exit_code = 1


class DatabaseRefuses(DatabaseUnavailable):
    """The disk takes nothing: it is full, read-only, or fails."""

    exit_code = 1


def fault_of(error: DBAPIError, url: URL) -> DatabaseUnavailable | None:
    """What this error says about the database's file or disk; None when it is about something else."""
    state = getattr(error.orig, "sqlstate", None)
    code = sqlite_code(error.orig)
    name = Path(str(url.database)).name
    if code in DAMAGED or state in _DAMAGED_STATES:
        return damaged(name, str(error.orig))
    if code == sqlite3.SQLITE_FULL or state == "53100" or (code in _DISK_OR_OPEN and _is_full(url)):
        return DatabaseRefuses(f"The disk of the database {name} is full. Free some space, then try again.")
    if code == sqlite3.SQLITE_READONLY or state == "25006":
        return DatabaseRefuses(
            f"The database {name} is read-only ({error.orig}). Make it and its folder, or the disk they are on, "
            "writable again; then try again."
        )
    if code == sqlite3.SQLITE_IOERR or state == "58030":
        return DatabaseRefuses(
            f"The disk of the database {name} fails ({error.orig}). Check that it is sound, and that the file and its "
            "folder may be written; then try again."
        )
    if code == sqlite3.SQLITE_CANTOPEN and Path(str(url.database)).is_file():
        return DatabaseRefuses(
            f"The database {name} is there and cannot be opened ({error.orig}): SQLite writes files beside it. Check "
            "who may write in its folder, and that the disk is not read-only; then try again."
        )
    return None


def _is_full(url: URL) -> bool:
    """Whether the disk of a SQLite database has no room left: SQLite says of some files only that they fail."""
    with suppress(OSError):
        return shutil.disk_usage(Path(str(url.database)).parent).free < _ROOM
    return False


def refused(path: Path, said: str) -> DatabaseRefuses:
    """The error for a file that the disk did not take."""
    return DatabaseRefuses(f"{path} cannot be written ({said}). Free some space, or have the disk take writes again.")


@contextmanager
def told(path: Path) -> Iterator[None]:
    """Errors of SQLite and of the machine over this file, while it is copied or replaced, as errors of ours."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        if sqlite_code(error) in DAMAGED:
            raise damaged(path.name, str(error)) from None
        said = error.strerror if isinstance(error, OSError) else str(error)
        if getattr(error, "errno", None) in NO_PLACES:
            raise  # told as for any other file
        if sqlite_code(error) in DISK or getattr(error, "errno", None) in OF_DISKS:
            raise refused(path, str(said)) from None
        raise InvalidInput(
            f"{path} cannot be written ({said}). Choose another place, or check who may write."
        ) from None


def damaged(name: str, said: str) -> DatabaseDamaged:
    """The error for a database of that name that is damaged; `said` is what the database says of it."""
    return DatabaseDamaged(f"The database {name} is damaged ({said.splitlines()[0]}). Put a backup of it back.")


def is_to_be_reopened(error: DBAPIError) -> bool:
    """Whether connections that were open then are of no more use: SQLite keeps one read-only that was opened so."""
    return sqlite_code(error.orig) in _REOPENED


_OF_SCHEMAS = frozenset({"42P01", "42P07", "42701", "42703", "42704", "42710"})
"""PostgreSQL's states for tables, columns, types and other things that are not there, or are there already."""


def lacks_or_has_twice(error: DBAPIError) -> bool:
    """Whether a statement names what is not there, or makes what is there: the schema is another than thought."""
    return sqlite_code(error.orig) == sqlite3.SQLITE_ERROR or getattr(error.orig, "sqlstate", None) in _OF_SCHEMAS


def sqlite_code(error: BaseException | None) -> int | None:
    """SQLite's code of this error; None for an error of something else."""
    code = getattr(error, "sqlite_errorcode", None)
    return None if code is None else code & _CODE


def check_for_loss(url: URL, *, documents: Path, backups: Path) -> None:
    """Raise DatabaseDamaged when a SQLite file is missing or empty while something of its home folder is left.

    To be asked before the database is opened: SQLite makes an empty one in its place and removes a log that was left,
    and the loss would be found by people who look for their work. An empty file alone is another process that begins.
    """
    path = Path(str(url.database))
    is_there = path.is_file()
    if url.get_backend_name() != "sqlite" or (is_there and path.stat().st_size > 0):
        return
    log = Path(f"{path}-wal")
    left = [log.name] if log.is_file() and log.stat().st_size > 0 else []
    if next(documents.glob("??/*"), None) is not None:
        left.append(f"the documents in {documents}")
    if next(backups.glob("*.db"), None) is not None:
        left.append(f"the backups in {backups}")
    if left:
        state = "is empty" if is_there else "is missing"
        raise DatabaseDamaged(
            f"The database {path} {state} while there are still {' and '.join(left)}. Put a backup of it back."
        )


def damage_in(path: Path, *, deep: bool = False, seconds: float | None = None) -> str | None:
    """What SQLite says is damaged in this file; None when it finds nothing, or not within `seconds`.

    `deep` also compares every index with its table, which takes several times as long.
    """
    until = None if seconds is None else time.monotonic() + seconds
    try:
        connection = sqlite3.connect(path.absolute().as_uri() + "?mode=rw", uri=True, timeout=30)
    except sqlite3.Error as error:
        return str(error)
    try:
        if until is not None:
            connection.set_progress_handler(lambda: time.monotonic() > until, 10_000)
        check = "integrity_check" if deep else "quick_check"
        said = [str(row[0]) for row in connection.execute(f"PRAGMA {check}({_MOST_SAID})")]
    except sqlite3.DatabaseError as error:
        return None if sqlite_code(error) == sqlite3.SQLITE_INTERRUPT else str(error)
    finally:
        connection.close()
    return None if said == ["ok"] else " ".join(" ".join(said).split())[:300]
