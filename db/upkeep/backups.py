"""Copies of a SQLite database, made and put back while it may be in use. PostgreSQL has pg_dump for that.

A copy is checked before it counts as one, and again before it replaces anything. A database that is damaged cannot be
overwritten in a transaction: it is moved away, with the files that belong to it, and the copy takes its place.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlmodel import select

from annotators.errors import OF_DISKS, Conflict, InvalidInput, NotAllowed, NotFound, listed
from annotators.files import sync
from db import schema
from db.engine import Database, DatabaseBusy
from db.faults import BESIDE, DAMAGED, DISK, DatabaseDamaged, DatabaseRefuses, damage_in, damaged, refused, sqlite_code
from db.models import Account, Event
from db.people.accounts import acting, local_administrator
from db.permissions import Actor, On, operation, record
from db.upkeep import protection


@dataclass(frozen=True)
class Restored:
    """What a restore did: where the database from before is (None: there was none), and the backup's revision."""

    before: Path | None
    revision: str


@operation(On.APP)
def back_up(db: Database, actor: Actor, *, target: Path) -> Path:
    """Copy the database into a new file; documents are not in it. Conflict when the file is there, or on PostgreSQL.

    Raises DatabaseDamaged when the copy shows that the database is damaged; the copy is then removed.
    """
    _only_sqlite(db, "Use pg_dump.")
    if target.exists():
        raise Conflict(f"{target} is there already. Choose another name.")
    with _written(target):
        made = schema.backup(db, target)
        if said := damage_in(made, deep=True):
            raise damaged(Path(str(db.url.database)).name, said)
    try:
        with db.write() as session:
            record(session, actor, "database backed up", "database", None, details={"file": target.name})
    except DatabaseRefuses as error:
        raise DatabaseRefuses(f"{target} was written and is whole. {error}") from None
    except DatabaseBusy:
        raise DatabaseBusy(
            f"{target} was written and is whole. The log does not say so, as others held the database all the time. "
            "Keep it, or make another later."
        ) from None
    return made


@operation(On.APP)
def restore(db: Database, actor: Actor, *, source: Path, backups: Path) -> Restored:
    """Replace everything in the database by what a backup holds; a copy from before goes into `backups`.

    The backup is checked and, if it is of an earlier version, brought up to date in a copy of its own before anything
    is replaced. Raises NotFound, InvalidInput for a file that is no whole Assay database, Conflict for one that a newer
    version has written, or on PostgreSQL.
    """
    _only_sqlite(db, "Use pg_restore.")
    target = Path(str(db.url.database))
    with _checked_copy(source, target.parent) as (copy, revision):
        before = backups / f"assay-before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
        with _written(before):
            schema.backup(db, before)
        with _told(target):
            _put_back(copy, target)
    _log(db, actor, source, before)
    return Restored(before, revision)


DAMAGE, NEWER = "damaged", "newer"


def why_unusable(db: Database) -> str | None:
    """Why nobody can be asked for leave to replace a SQLite file (DAMAGE, also where it is missing or another
    program's; NEWER: a newer version made it); None where it is an Assay database with an administrator.
    """
    path = Path(str(db.url.database))
    if not path.is_file() or path.stat().st_size == 0 or damage_in(path, deep=True):
        return DAMAGE
    try:
        return None if schema.usable_revision(db) is not None and local_administrator(db) is not None else DAMAGE
    except schema.NewerDatabase:
        return NEWER
    except (DatabaseDamaged, NotFound, schema.ForeignDatabase):
        return DAMAGE


def replace_unusable(db: Database, *, source: Path, why: str = DAMAGE, acting_as: str | None = None) -> Restored:
    """Put a backup in the place of a SQLite file that is missing or unusable, as `why` says; that is kept beside.

    No server may have it open. A database that cannot be read cannot be asked who may do this: whoever acts (by name,
    else the first administrator) has to be an administrator in the backup. Raises as `restore` does.
    """
    _only_sqlite(db, "Use pg_restore.")
    target = Path(str(db.url.database))
    target.parent.mkdir(parents=True, exist_ok=True)
    with _checked_copy(source, target.parent) as (copy, revision):
        actor = _administrator(copy, acting_as)
        copy.chmod(0o600)
        sync(copy)
        before = _moved_away(target, why)
        copy.replace(target)
        if os.name == "posix":  # elsewhere folders cannot be opened
            sync(target.parent)
    db.dispose()
    _log(db, actor, source, before)
    return Restored(before, revision)


def _only_sqlite(db: Database, remedy: str) -> None:
    if not db.is_sqlite:
        raise Conflict(f"The database is PostgreSQL, whose backups are made by its own tools. {remedy}")


@contextmanager
def _checked_copy(source: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """A copy of a backup, without damage and up to date, on the disk of `folder`; and the revision the backup had."""
    if not source.is_file():
        raise NotFound(f"There is no backup {str(source)!r}. Check the path.")
    with tempfile.TemporaryDirectory(prefix=".assay-restore-", dir=folder) as place:
        copy = Path(place) / "assay.db"
        with _told(copy):
            for ending in ("", "-wal"):  # a copy of a home folder may have the newest changes in the log beside it
                if (part := Path(f"{source}{ending}")).is_file():
                    shutil.copyfile(part, f"{copy}{ending}")
            revision = _checked(copy, source)
        yield copy, revision


def _checked(copy: Path, source: Path) -> str:
    """The revision that the backup had; its copy is up to date afterwards."""
    if copy.stat().st_size == 0:
        raise InvalidInput(f"{source} is empty. Take another backup.")
    if said := damage_in(copy, deep=True):
        raise InvalidInput(f"{source} is no whole SQLite database ({said}). Take another backup.")
    database = Database(f"sqlite:///{copy}")
    try:
        revision = schema.usable_revision(database)
        if revision is None:
            raise InvalidInput(f"{source} is a SQLite database, but none of Assay's. Take another file.")
        if open_to_change := protection.guards_lacking(database):
            raise InvalidInput(
                f"{source} lacks what protects it: rows of {listed(open_to_change)} can be changed there, and may have "
                "been. Take another backup."
            )
        schema.migrate(database)
        if said := protection.amiss(database):
            raise InvalidInput(
                f"{source} is not as Assay makes a database: it {'; it '.join(said)}. Somebody has changed it. Take "
                "another backup."
            )
    except schema.ForeignDatabase:
        raise InvalidInput(f"{source} is a SQLite database, but none of Assay's. Take another file.") from None
    except schema.NewerDatabase:
        raise Conflict(
            f"A newer version of Assay made {source}. Take a backup that was made before, or update Assay "
            f"({schema.UPDATE})."
        ) from None
    finally:
        database.dispose()
    return revision


def _administrator(copy: Path, name: str | None) -> Actor:
    database = Database(f"sqlite:///{copy}")
    try:
        actor = acting(database, name)
    finally:
        database.dispose()
    if not actor.is_admin:
        raise NotAllowed(f"{actor.name!r} is no administrator in the backup. Leave --as out, or name one.")
    return actor


def _moved_away(target: Path, why: str) -> Path | None:
    """Rename a database with the files that belong to it, so that SQLite still knows them as one; the new name."""
    there = [ending for ending in ("", *BESIDE) if Path(f"{target}{ending}").exists()]
    if not there:
        return None
    kept = target.with_name(f"{target.stem}-{why}-{datetime.now(UTC):%Y%m%dT%H%M%S%f}{target.suffix}")
    for ending in there:
        Path(f"{target}{ending}").rename(f"{kept}{ending}")
    return kept


@contextmanager
def _written(target: Path) -> Iterator[None]:
    """Remove a copy that could not be made whole."""
    try:
        with _told(target):
            yield
    except BaseException:
        for ending in ("", *BESIDE):
            Path(f"{target}{ending}").unlink(missing_ok=True)
        raise


@contextmanager
def _told(target: Path) -> Iterator[None]:
    """Errors of SQLite and of the machine over this file as errors of ours."""
    try:
        yield
    except (sqlite3.DatabaseError, OSError) as error:
        if sqlite_code(error) in DAMAGED:
            raise damaged(target.name, str(error)) from None
        said = error.strerror if isinstance(error, OSError) else str(error)
        if sqlite_code(error) in DISK or getattr(error, "errno", None) in OF_DISKS:
            raise refused(target, str(said)) from None
        raise InvalidInput(
            f"{target} cannot be written ({said}). Choose another place, or check who may write."
        ) from None


def _put_back(copy: Path, target: Path) -> None:
    """Overwrite the database in one transaction; whoever has it open sees the old one or the new one, whole."""
    read, write = sqlite3.connect(copy), sqlite3.connect(target)
    try:
        read.backup(write)
    finally:
        write.close()
        read.close()


def _log(db: Database, actor: Actor, source: Path, before: Path | None) -> None:
    """Record the restore in the restored database, under the actor's name as far as it is known there."""
    with db.write() as session:
        person_id = session.exec(select(Account.person_id).where(Account.name == actor.name)).first()
        details = {"file": source.name, "copy_from_before": before.name if before else None, "by": actor.name}
        session.add(
            Event(person_id=person_id, via=actor.via, kind="database restored", thing="database", details=details)
        )
