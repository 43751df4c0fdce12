"""Copies of a SQLite database, made and put back while it may be in use. PostgreSQL has pg_dump for that.

A copy is checked before it counts as one, and again before it replaces anything. A database that is damaged cannot be
overwritten in a transaction: it is moved away, with the files that belong to it, and the copy takes its place.
"""

from __future__ import annotations

import fcntl
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from sqlmodel import select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound, listed
from annotators.files import sync, under_way, written_aside
from db import schema
from db.engine import ALONE_SECONDS, Database, DatabaseBusy
from db.faults import BESIDE, DatabaseDamaged, DatabaseRefuses, damage_in, damaged, sqlite_code, told
from db.models import Account, Event
from db.people.accounts import acting, local_administrator
from db.permissions import Actor, On, operation, record
from db.upkeep import protection
from db.upkeep.copies import ELSEWHERE, Compared, compare, look_into, note_made


@dataclass(frozen=True)
class Restored:
    """What a restore did: where the database from before is (None: there was none), the backup's revision, and what the
    backup held beside it."""

    before: Path | None
    revision: str
    holds: Compared


@operation(On.APP)
def back_up(db: Database, actor: Actor, *, target: Path, backups: Path | None = None) -> Path:
    """Copy the database into a new file; documents are not in it. Conflict when the file is there, or on PostgreSQL.

    Where it lies is noted in the folder `backups`, so that it is proposed when the database is lost. The file is there
    when it is whole: raises DatabaseDamaged when the copy shows that the database is damaged.
    """
    _only_sqlite(db, "Use pg_dump.")
    if target.exists():
        raise Conflict(f"{target} is there already. Choose another name.")
    with told(target), written_aside(target) as made:
        with closing(sqlite3.connect(str(db.url.database))) as source:
            schema.copy_into(source, made)
        if said := damage_in(made, deep=True):
            raise damaged(Path(str(db.url.database)).name, said)
    try:
        if backups is not None:
            with told(backups / ELSEWHERE):
                note_made(backups, target)
        with db.write() as session:
            record(session, actor, "database backed up", "database", None, details={"file": target.name})
    except DatabaseRefuses as error:
        raise DatabaseRefuses(f"{target} was written and is whole. {error}") from None
    except DatabaseBusy:
        raise DatabaseBusy(
            f"{target} was written and is whole. The log does not say so, as others held the database all the time. "
            "Keep it, or make another later."
        ) from None
    return target


@operation(On.APP)
def restore(
    db: Database, actor: Actor, *, source: Path, backups: Path, tell: Callable[[str], None] | None = None
) -> Restored:
    """Replace everything in the database by what a backup holds; a copy from before goes into `backups`.

    The backup is checked and, if it is of an earlier version, brought up to date in a copy of its own before anything
    is replaced. Nobody else has the database meanwhile: what others saved before that is in the copy. `tell` is told
    how old the backup is and what it lacks, when all is ready and nothing replaced. Raises NotFound, InvalidInput for a
    file that is no whole Assay database, Conflict for one that a newer version has written, while others have the
    database open, or on PostgreSQL.
    """
    _only_sqlite(db, "Use pg_restore.")
    target = Path(str(db.url.database))
    before = backups / f"assay-before-restore-{datetime.now(UTC):%Y%m%dT%H%M%S%f}.db"
    with db.alone():
        with _checked_copy(source, target.parent) as (copy, revision):
            holds = _said(source, compare(copy, target), tell)
            with _held(target) as held:
                _replace(held, copy, target, before)
        _log(db, actor, source, before)
    return Restored(before, revision, holds)


def _replace(held: sqlite3.Connection, copy: Path, target: Path, before: Path) -> None:
    """Copy what is there, then overwrite it in one transaction, both by the connection that keeps all others out."""
    with told(before), written_aside(before) as made:
        schema.copy_into(held, made)
    with told(target), closing(sqlite3.connect(copy)) as read:
        read.backup(held)


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


def replace_unusable(
    db: Database,
    *,
    source: Path,
    why: str = DAMAGE,
    acting_as: str | None = None,
    tell: Callable[[str], None] | None = None,
) -> Restored:
    """Put a backup in the place of a SQLite file that is missing or unusable, as `why` says; that is kept beside.

    Nobody else may have it open. A database that cannot be read cannot be asked who may do this: whoever acts (by name,
    else the first administrator) has to be an administrator in the backup. Raises as `restore` does.
    """
    _only_sqlite(db, "Use pg_restore.")
    target = Path(str(db.url.database))
    target.parent.mkdir(parents=True, exist_ok=True)
    with db.alone():
        with _checked_copy(source, target.parent) as (copy, revision):
            actor = _administrator(copy, acting_as)
            copy.chmod(0o600)
            sync(copy)
            holds = _said(source, Compared(look_into(copy), None), tell)
            with _kept_from_others(target):
                before = _moved_away(target, why)
                copy.replace(target)
                sync(target.parent)
        _log(db, actor, source, before)
    return Restored(before, revision, holds)


def compared(source: Path, db: Database) -> Compared:
    """What a backup holds, and lacks of the SQLite database that is there; NotFound when there is no such file."""
    _only_sqlite(db, "Use pg_restore.")
    _check_there(source)
    return compare(source, Path(str(db.url.database)))


def _said(source: Path, holds: Compared, tell: Callable[[str], None] | None) -> Compared:
    if tell is not None:
        tell(f"{source} {holds.in_words()}")
    return holds


def _check_there(source: Path) -> None:
    if not source.is_file():
        raise NotFound(f"There is no backup {str(source)!r}. Check the path.")


def _only_sqlite(db: Database, remedy: str) -> None:
    if not db.is_sqlite:
        raise Conflict(f"The database is PostgreSQL, whose backups are made by its own tools. {remedy}")


@contextmanager
def _checked_copy(source: Path, folder: Path) -> Iterator[tuple[Path, str]]:
    """A copy of a backup, without damage and up to date, on the disk of `folder`; and the revision the backup had."""
    _check_there(source)
    with under_way(folder) as place:
        copy = place / "assay.db"
        with told(folder):
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
        if changed := protection.amiss(database):
            raise InvalidInput(
                f"{source} is not as Assay makes a database: it {'; it '.join(changed)}. Somebody has changed it. Take "
                "another backup."
            )
    except schema.ForeignDatabase:
        raise InvalidInput(f"{source} is a SQLite database, but none of Assay's. Take another file.") from None
    except schema.OtherSchema as error:
        raise InvalidInput(
            f"{source} says that it is at revision {revision}, and is not as Assay made that ({error.said}). Somebody "
            "has changed it. Take another backup."
        ) from None
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
def _held(target: Path) -> Iterator[sqlite3.Connection]:
    """A connection for which SQLite keeps everybody else out of the file, programs that are not ours as well."""
    with told(target), closing(sqlite3.connect(target, timeout=ALONE_SECONDS, isolation_level=None)) as held:
        try:
            held.execute("PRAGMA locking_mode=EXCLUSIVE")
            held.execute("BEGIN IMMEDIATE")
            held.execute("COMMIT")
        except sqlite3.OperationalError as error:
            if sqlite_code(error) == sqlite3.SQLITE_BUSY:
                raise _another_program(target) from None
            raise
        yield held


@contextmanager
def _kept_from_others(target: Path) -> Iterator[None]:
    """The same for a file that SQLite cannot read and must not write to: by the lock that it would take itself."""
    if not target.is_file():
        yield
        return
    with target.open("r+b") as file:
        try:
            fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB, _SHARED_BYTES, _SHARED_FIRST)
        except (BlockingIOError, PermissionError):
            raise _another_program(target) from None
        yield


_SHARED_FIRST, _SHARED_BYTES = 0x40000002, 510
"""Where everybody who reads a SQLite file has a lock (https://sqlite.org/fileformat.html#the_lock_byte_page)."""


def _another_program(target: Path) -> Conflict:
    return Conflict(
        f"Another program has {target} open, such as sqlite3 or an earlier version's server. Nothing was changed. Stop "
        "it, then do this again."
    )


def _log(db: Database, actor: Actor, source: Path, before: Path | None) -> None:
    """Record the restore in the restored database, under the actor's name as far as it is known there."""
    with db.write() as session:
        person_id = session.exec(select(Account.person_id).where(Account.name == actor.name)).first()
        details = {"file": source.name, "copy_from_before": before.name if before else None, "by": actor.name}
        session.add(
            Event(person_id=person_id, via=actor.via, kind="database restored", thing="database", details=details)
        )
