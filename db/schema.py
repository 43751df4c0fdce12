"""Bring a database to the schema of this version: migrations, guards, a backup before, and a refusal of the future.

Alembic is imported when there is something to migrate: a database that is up to date is known by one look, so that
commands and the server need not wait for it.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection, inspect
from sqlalchemy.exc import DBAPIError

from annotators.errors import Conflict, listed
from annotators.files import written_aside
from annotators.version import program_version
from db import guards
from db.engine import Database, connected
from db.faults import lacks_or_has_twice, told
from db.revisions import MIGRATIONS, head_revision, known_revisions

if TYPE_CHECKING:
    from alembic.config import Config

UPDATE = "`git pull` and then `make setup` in its folder, or as it was installed"
"""How Assay is brought to its newest version, for messages."""


class ForeignDatabase(Conflict):
    """A database that is none of Assay's."""


class OtherSchema(Conflict):
    """A database that is not as Assay made the revision that it says to be at; `said` is what the database says."""

    def __init__(self, name: str, revision: str | None, said: str) -> None:
        super().__init__(
            f"The database {name} says that it is at revision {revision}, and is not as Assay made that ({said}). "
            "Nothing was changed. Put a backup back that was made before somebody changed it."
        )
        self.said = said


class NewerDatabase(Conflict):
    """A database that a newer version of Assay made."""


def alembic_config(connection: Connection | None = None) -> Config:
    """Alembic's configuration without a file of its own."""
    from alembic.config import Config as Made  # noqa: PLC0415

    config = Made()
    config.set_main_option("script_location", str(MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def current_revision(database: Database) -> str | None:
    """The revision the database is at; None when it has no tables of ours."""
    with connected(database) as connection:
        return _revision(connection)


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    found = sorted(str(row[0]) for row in connection.exec_driver_sql("SELECT version_num FROM alembic_version"))
    return ", ".join(found) or None  # several are none of ours


def usable_revision(database: Database) -> str | None:
    """The revision of a database that this version uses or brings up to date; None of one that has no tables yet.

    Raises NewerDatabase or ForeignDatabase for every other one, with what it is and what can be done. On PostgreSQL
    tables of others may be there as well, such as those of extensions.
    """
    with connected(database) as connection:
        found = _revision(connection)
        tables = inspect(connection).get_table_names() if found is None and database.is_sqlite else []
    name = Path(str(database.url.database)).name
    if found is None:
        if others := sorted(set(tables) - {"alembic_version"}):
            raise ForeignDatabase(
                f"The database {name} is none of Assay's (its tables: {listed(others)}). Name another home folder, or "
                "move this file away."
            )
        return None
    if found in known_revisions():
        return found
    if not found.isdigit() or found < head_revision():
        raise ForeignDatabase(
            f"The database {name} is at revision {found!r}, which Assay never had: another program made it. Name "
            "another database or home folder."
        )
    raise NewerDatabase(
        f"A newer version of Assay made the database {name}: it is at revision {found}, and this version of Assay, "
        f"{program_version()}, knows revisions up to {head_revision()}. Update Assay ({UPDATE}), or put back a backup "
        f"that was made before{'' if database.is_sqlite else ', with pg_restore'}."
    )


def out_of_date(found: str) -> str:
    """What is said of a database of an earlier version; the remedy is `assay init` on it."""
    needed = head_revision()
    return f"An earlier version of Assay made the database: it is at revision {found}, and this one needs {needed}."


def migrate(database: Database, *, backups: Path | None = None, revision: str = "head") -> bool:
    """Bring the database up to date; True if anything was done.

    A database that is behind is first copied into `backups` (SQLite; on PostgreSQL a backup is the operator's, by
    pg_dump). One that a newer version or another program has written is refused unchanged, as by `usable_revision`.
    A SQLite database is had alone for it: Conflict while others have it open, who know only what it was before. Raises
    OtherSchema for one that lacks what its revision has, or has it already.
    """
    if database.is_sqlite and database.url.database:
        Path(database.url.database).parent.mkdir(parents=True, exist_ok=True)
    found = usable_revision(database)
    if found == head_revision() and revision == "head":
        return False
    try:
        with database.alone() if database.is_sqlite and found is not None else nullcontext():
            return _migrated(database, found, backups, revision)
    except Conflict:
        if revision == "head" and usable_revision(database) == head_revision():
            return False  # it was another process that brought it up to date
        raise


def _migrated(database: Database, found: str | None, backups: Path | None, revision: str) -> bool:
    """Migrate a database that was found at this revision; False where another process has by now."""
    if database.is_sqlite and found is not None:
        if revision == "head" and current_revision(database) == head_revision():
            return False
        if backups is not None:
            backup(database, backups / f"assay-{found}-{datetime.now(UTC):%Y%m%dT%H%M%S}.db")
    from alembic import command  # noqa: PLC0415

    with connected(database) as connection:
        connection = connection.execution_options(assay_write=True)  # noqa: PLW2901 - the same connection, marked
        if database.is_sqlite and found is not None:
            # A table that others point at is made anew without its rows being missed; they are looked for at the end.
            # This can be said before a transaction only, and holds for this connection, which is closed afterwards.
            driver = connection.connection.driver_connection
            assert isinstance(driver, sqlite3.Connection)
            driver.execute("PRAGMA foreign_keys=OFF")
        with connection.begin():
            if not database.is_sqlite:
                # Processes that start together take turns here; on SQLite the transaction itself makes them.
                connection.exec_driver_sql("SELECT pg_advisory_xact_lock(4153534159)")
            if revision == "head" and _revision(connection) == head_revision():
                return False
            if database.is_sqlite:  # which renames no table while the trigger of another one names it
                guards.remove(connection)
            with _as_its_revision_says(database, found):
                command.upgrade(alembic_config(connection), revision)
            if database.is_sqlite and (lost := connection.exec_driver_sql("PRAGMA foreign_key_check").first()):
                raise Conflict(
                    f"After the migration a row of {lost[0]!r} would point at one of {lost[2]!r} that is not there. "
                    "Nothing was changed. Restore a backup, or look at the rows with `assay doctor`."
                )
            if revision in ("head", head_revision()):
                if found is not None:
                    from db.upkeep.resettling import CHANGED_BY, settle_again  # noqa: PLC0415 - only where it is due

                    if found < CHANGED_BY:
                        settle_again(connection)
                guards.install(connection)
    return True


@contextmanager
def _as_its_revision_says(database: Database, found: str | None) -> Iterator[None]:
    """OtherSchema where a migration finds other things than its revision has."""
    try:
        yield
    except DBAPIError as error:
        if not lacks_or_has_twice(error):
            raise
        name = Path(str(database.url.database)).name
        raise OtherSchema(name, found, str(error.orig).splitlines()[0]) from error


def backup(database: Database, target: Path) -> Path:
    """Copy a SQLite database to `target` while it is in use; the file is there when it is whole and on the disk."""
    with told(target), written_aside(target) as made, closing(sqlite3.connect(str(database.url.database))) as source:
        copy_into(source, made)
    return target


def copy_into(source: sqlite3.Connection, target: Path) -> None:
    """Copy what a connection sees into a new file, through SQLite's own backup; for its owner only."""
    target.touch(mode=0o600)
    target.chmod(0o600)
    with closing(sqlite3.connect(target)) as copy:
        source.backup(copy)


def missing_tables(database: Database) -> list[str]:
    """Tables of this version that the database lacks; for `assay doctor` and the tests."""
    from db.models import Table  # noqa: PLC0415 - keeps the module light for callers that only back up

    with connected(database) as connection:
        there = set(inspect(connection).get_table_names())
    return sorted(set(Table.metadata.tables) - there)
