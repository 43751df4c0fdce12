"""Copies of a SQLite database, made and put back while it may be in use. PostgreSQL has pg_dump for that."""

from __future__ import annotations

import shutil
import sqlite3
import tempfile
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlmodel import select

from annotators.errors import Conflict, InvalidInput, NotFound
from db import schema
from db.engine import Database
from db.models import Account, Event
from db.permissions import Actor, On, operation, record


@dataclass(frozen=True)
class Restored:
    """What a restore did: where the copy of the database from before is, and the revision that the backup had."""

    before: Path
    revision: str


@operation(On.APP)
def back_up(db: Database, actor: Actor, *, target: Path) -> Path:
    """Copy the database into a new file; documents are not in it. Conflict when the file is there, or on PostgreSQL."""
    _only_sqlite(db, "Use pg_dump.")
    if target.exists():
        raise Conflict(f"{target} is there already. Choose another name.")
    try:
        made = schema.backup(db, target)
    except (sqlite3.OperationalError, OSError) as error:
        target.unlink(missing_ok=True)
        raise InvalidInput(f"{target} cannot be written ({error}). Choose another place, or free some space.") from None
    with db.write() as session:
        record(session, actor, "database backed up", "database", None, details={"file": target.name})
    return made


@operation(On.APP)
def restore(db: Database, actor: Actor, *, source: Path, backups: Path) -> Restored:
    """Replace everything in the database by what a backup holds; a copy from before goes into `backups`.

    The backup is checked and, if it is of an earlier version, brought up to date in a copy of its own before anything
    is replaced. Raises NotFound, InvalidInput for a file that is no whole Assay database, Conflict for one that a newer
    version has written, or on PostgreSQL.
    """
    _only_sqlite(db, "Use pg_restore.")
    if not source.is_file():
        raise NotFound(f"There is no backup {str(source)!r}. Check the path.")
    with tempfile.TemporaryDirectory(prefix="assay-restore-") as folder:
        copy = Path(folder) / "assay.db"
        shutil.copyfile(source, copy)
        revision = _checked(copy, source)
        before = schema.backup(db, backups / f"assay-before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db")
        _put_back(copy, Path(str(db.url.database)))
    _log(db, actor, source, before)
    return Restored(before, revision)


def _only_sqlite(db: Database, remedy: str) -> None:
    if not db.is_sqlite:
        raise Conflict(f"The database is PostgreSQL, whose backups are made by its own tools. {remedy}")


def _checked(copy: Path, source: Path) -> str:
    """The revision that the backup had; its copy is up to date afterwards."""
    connection = sqlite3.connect(copy)
    try:
        found = connection.execute("PRAGMA quick_check(1)").fetchone()
        damage = None if found == ("ok",) else str(found)
    except sqlite3.DatabaseError as error:
        damage = str(error)
    finally:
        connection.close()
    if damage:
        raise InvalidInput(f"{source} is no whole SQLite database ({damage}). Take another backup.")
    database = Database(f"sqlite:///{copy}")
    try:
        revision = schema.current_revision(database)
        if revision is None:
            raise InvalidInput(f"{source} is a SQLite database, but none of Assay's. Take another file.")
        schema.migrate(database)
    finally:
        database.dispose()
    return revision


def _put_back(copy: Path, target: Path) -> None:
    """Overwrite the database in one transaction; whoever has it open sees the old one or the new one, whole."""
    read, write = sqlite3.connect(copy), sqlite3.connect(target)
    try:
        read.backup(write)
    finally:
        write.close()
        read.close()


def _log(db: Database, actor: Actor, source: Path, before: Path) -> None:
    """Record the restore in the restored database, under the actor's name as far as it is known there."""
    with db.write() as session:
        person_id = session.exec(select(Account.person_id).where(Account.name == actor.name)).first()
        details = {"file": source.name, "copy_from_before": before.name, "by": actor.name}
        session.add(
            Event(person_id=person_id, via=actor.via, kind="database restored", thing="database", details=details)
        )
