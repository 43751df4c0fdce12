"""What the connection to the database keeps to itself, and what it says when the disk fails."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import select

from db import schema
from db.engine import Database, empty_log
from db.faults import DatabaseDamaged, DatabaseRefuses, DatabaseUnavailable
from db.models import Project

NORMAL, FULL = 1, 2
"""What SQLite calls its levels of `synchronous`."""


def test_a_failed_statement_does_not_tell_what_people_wrote(database: Database) -> None:
    expected = DatabaseUnavailable if database.is_sqlite else DBAPIError
    with pytest.raises(expected) as caught, database.write() as session:
        session.execute(text("INSERT INTO nowhere (comment) VALUES (:comment)"), {"comment": "Jo Field is wrong"})
    assert "nowhere" in str(caught.value)
    assert "Jo Field" not in str(caught.value)


def test_a_copy_of_the_database_is_for_its_owner_only(sqlite_database: Database, tmp_path: Path) -> None:
    made = schema.backup(sqlite_database, tmp_path / "backups" / "copy.db")
    assert made.stat().st_mode & 0o777 == 0o600


def test_what_is_committed_without_a_sync_does_not_wait_for_the_disk_and_is_there_all_the_same(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    monkeypatch.setattr(os, "fsync", lambda number: synced.append(str(Path(f"/proc/self/fd/{number}").readlink())))
    level = text("PRAGMA synchronous")
    with sqlite_database.write(synced=False) as session:
        session.add(Project(name="quick"))
        assert session.execute(level).scalar_one() == NORMAL
    assert not synced
    with Database(str(sqlite_database.url)).read() as session:
        assert list(session.execute(select(Project.name)).scalars()) == ["quick"]
    sqlite_database.sync()
    assert synced == [f"{sqlite_database.url.database}-wal"]
    for _ in range(2):  # the same connection, of the pool
        with sqlite_database.write() as session:
            assert session.execute(level).scalar_one() == FULL


@contextmanager
def opened_elsewhere(there: Database) -> Iterator[Database]:
    """Another process's view of the same database, which waits for nobody."""
    opened = Database(str(there.url), wait_seconds=0.2)
    yield opened
    opened.dispose()


def test_what_was_replaced_is_in_no_file_when_the_log_is_emptied_while_others_have_it_open(
    sqlite_database: Database,
) -> None:
    def in_files() -> bool:
        return any(b"Jo Field" in path.read_bytes() for path in file.parent.glob(f"{file.name}*"))

    file = Path(str(sqlite_database.url.database))
    with opened_elsewhere(sqlite_database) as served:
        with served.write() as session:
            session.add(Project(name="of Jo Field"))
        with served.write() as session:
            session.execute(text("UPDATE project SET name = 'of nobody'"))
        assert in_files()
        with sqlite_database.read() as session:
            assert session.execute(text("SELECT name FROM project")).scalar_one() == "of nobody"
            with served.write() as other:
                other.add(Project(name="another"))
            assert not empty_log(served)  # somebody reads what was there before
        assert empty_log(served)
        assert not in_files()


def test_a_log_that_is_gone_has_nothing_left_to_sync(sqlite_database: Database) -> None:
    sqlite_database.dispose()
    Path(f"{sqlite_database.url.database}-wal").unlink(missing_ok=True)
    sqlite_database.sync()


@contextmanager
def unwritable(database: Database) -> Iterator[None]:
    """The database's files as a disk that was mounted read-only leaves them: nobody may write, root neither."""
    folder = Path(str(database.url.database)).parent
    # Not of the log's index (-shm), which is mapped into memory: the system would end who writes there.
    names = [str(path) for path in folder.glob("assay.db*") if not path.name.endswith("-shm")]
    if (
        shutil.which("chattr") is None
        or subprocess.run(["chattr", "+i", *names], check=False, capture_output=True).returncode
    ):
        subprocess.run(["chattr", "-i", *names], check=False, capture_output=True)
        pytest.skip("files cannot be made immutable here")
    try:
        yield
    finally:
        subprocess.run(["chattr", "-i", *names], check=True)


def insert(database: Database, name: str) -> None:
    with database.write() as session:
        session.add(Project(name=name))


def names_in(database: Database) -> list[str]:
    with database.read() as session:
        return list(session.exec(select(Project.name).order_by(Project.name)))


def test_a_database_that_was_read_only_for_a_while_is_written_again(sqlite_database: Database) -> None:
    insert(sqlite_database, "before")
    others = [sqlite_database.engine.connect() for _ in range(3)]  # so that some are opened while it is read-only
    with unwritable(sqlite_database):
        sqlite_database.dispose()
        opened_then = [sqlite_database.engine.connect() for _ in range(3)]
        for connection in opened_then:
            connection.exec_driver_sql("SELECT count(*) FROM project").scalar()
        for _ in range(3):
            with pytest.raises(DatabaseUnavailable, match=r"read-only|fails|opened"):
                insert(sqlite_database, "meanwhile")
        assert names_in(sqlite_database) == ["before"]
        for connection in opened_then:
            connection.close()  # back into the pool, read-only
    for connection in others:
        connection.close()
    insert_at_the_latest_at_the_second_try(sqlite_database, "after")
    for number in range(6):
        insert(sqlite_database, f"later {number}")
    assert names_in(sqlite_database)[:2] == ["after", "before"]


def insert_at_the_latest_at_the_second_try(database: Database, name: str) -> None:
    """As the browser's outbox does: a connection that was opened read-only is found out by the first who uses it."""
    try:
        insert(database, name)
    except DatabaseUnavailable:
        insert(database, name)


def test_a_full_disk_is_named_and_what_was_there_stands(sqlite_database: Database) -> None:
    insert(sqlite_database, "before")
    size = Path(str(sqlite_database.url.database)).stat().st_size
    hard = resource.getrlimit(resource.RLIMIT_FSIZE)[1]
    resource.setrlimit(resource.RLIMIT_FSIZE, (size // 8, hard))  # of the log as well
    try:
        with pytest.raises(DatabaseRefuses, match=r"assay\.db") as caught, sqlite_database.write() as session:
            for number in range(20):
                session.add(Project(name=f"{number}" + "x" * 20_000))
        assert caught.value.exit_code == 1
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (hard, hard))
    insert(sqlite_database, "after")
    assert names_in(sqlite_database) == ["after", "before"]


@pytest.mark.slow
def test_a_damaged_row_of_postgresql_is_named(postgresql_database: Database) -> None:
    """By the SQLSTATE that PostgreSQL gives to what it cannot read, raised here by the database itself."""
    for state, error in (("XX001", DatabaseDamaged), ("53100", DatabaseRefuses), ("25006", DatabaseRefuses)):
        with pytest.raises(error), postgresql_database.read() as session:
            session.execute(text(f"DO $$ BEGIN RAISE EXCEPTION 'no' USING ERRCODE = '{state}'; END $$"))
    postgresql_database.url = postgresql_database.url.update_query_dict(
        {"options": "-c default_transaction_read_only=on"}
    )
    read_only = Database(postgresql_database.url.render_as_string(hide_password=False))
    with pytest.raises(DatabaseRefuses, match="read-only"):
        insert(read_only, "nothing")
    read_only.dispose()
