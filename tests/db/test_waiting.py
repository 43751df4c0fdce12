"""Waiting for the database, and what is said when it fails: one deadline for a whole queue, and only what is true."""

from __future__ import annotations

import threading
import time
import uuid
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import text
from sqlmodel import func, select

from annotators.errors import Conflict
from db.engine import Database, DatabaseBusy, OutcomeUnknown, as_one, connected
from db.faults import DatabaseUnavailable
from db.models import Submission
from db.projects import create_project, my_projects
from db.waiting import Places, given_deadline, waiting_at_most
from tests.faulty_wire import Wire, wired
from tests.foreign_locks import locked_file, locked_tables
from tests.makers import StudyInUse, make_person, make_project

NOTHING = "Nothing was changed"
COMMIT = "COMMIT\0"  # the whole statement: others say "READ COMMITTED"


def held(db: Database) -> AbstractContextManager[None]:
    """Another program writes, and takes its time."""
    if db.is_sqlite:
        return locked_file(Path(str(db.url.database)))
    return locked_tables(db.url.set(drivername="postgresql").render_as_string(hide_password=False), "project")


def impatient(db: Database, seconds: float) -> Database:
    return Database(db.url.render_as_string(hide_password=False), wait_seconds=seconds)


# One deadline ---------------------------------------------------------------------------------------------------------


def test_writers_that_wait_together_give_up_together(database: Database) -> None:
    db, told = impatient(database, 1.0), []

    def write() -> None:
        begun = time.monotonic()
        with pytest.raises(DatabaseBusy):
            make_project(db)
        told.append(time.monotonic() - begun)

    with held(database):
        threads = [threading.Thread(target=write) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(told) == 8
    assert min(told) > 0.9
    assert max(told) < 2.5  # one after the other it would be eight
    make_project(db)  # and when the other program has ended, all is as before
    db.dispose()


@pytest.mark.by_the_clock
def test_all_waits_of_a_block_have_one_deadline(database: Database) -> None:
    begun = time.monotonic()
    with held(database), waiting_at_most(1.0):
        for _ in range(4):
            with pytest.raises(DatabaseBusy):
                make_project(database)
    assert time.monotonic() - begun < 2.5


def test_a_block_in_a_block_has_the_deadline_of_the_one_around_it() -> None:
    with waiting_at_most(1.0):
        until = given_deadline()
        with waiting_at_most(60.0):
            assert given_deadline() == until
        assert given_deadline() == until
    assert given_deadline() is None


def test_who_need_not_wait_is_not_refused_for_being_late(database: Database) -> None:
    with waiting_at_most(0.01):
        time.sleep(0.05)
        assert make_project(database)


def test_places_are_given_in_the_order_in_which_they_were_asked_for() -> None:
    """Also where one thread gives its place back and wants it again at once, as an import does."""
    places, order = Places(1), []

    def wait(name: str) -> None:
        with places.one(time.monotonic() + 10) as got:
            assert got
            order.append(name)

    with places.one(time.monotonic()):
        threads = []
        for name in "abc":
            threads.append(threading.Thread(target=wait, args=(name,)))
            threads[-1].start()
            time.sleep(0.05)  # until it stands in the queue
        with places.one(time.monotonic() + 0.05) as fourth:
            assert not fourth
    wait("again")
    for thread in threads:
        thread.join()
    assert order == ["a", "b", "c", "again"]
    with places.one(time.monotonic()) as free:
        assert free


@pytest.mark.by_the_clock
def test_reading_does_not_wait_for_a_writer(database: Database) -> None:
    actor = make_person(database, admin=True)
    make_project(database)
    with held(database):
        begun = time.monotonic()
        assert len(my_projects(database, actor)) == 1
        assert time.monotonic() - begun < 1.0


def test_a_short_wait_does_not_make_the_connection_impatient(sqlite_database: Database) -> None:
    with held(sqlite_database), waiting_at_most(0.2), pytest.raises(DatabaseBusy):
        make_project(sqlite_database)
    with sqlite_database.glance() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == 30_000
    with connected(sqlite_database) as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar_one() == 30_000


@pytest.mark.by_the_clock
@pytest.mark.slow
def test_a_transaction_that_has_waited_waits_less_for_its_next_lock(postgresql_database: Database) -> None:
    """Two locks, the first let go shortly before the deadline: the second is not waited for as long again.

    In two statements: what one statement waits for, PostgreSQL counts lock by lock, and an insertion also waits for the
    tables that its row may refer to.
    """
    url = postgresql_database.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url) as first, psycopg.connect(url) as second:
        first.execute("LOCK TABLE sign_in_failure IN EXCLUSIVE MODE")
        second.execute("LOCK TABLE project IN EXCLUSIVE MODE")
        threading.Timer(2.0, first.rollback).start()
        begun = time.monotonic()
        with waiting_at_most(2.6), pytest.raises(DatabaseBusy), postgresql_database.write() as session:
            session.execute(text("UPDATE sign_in_failure SET count = 0"))
            session.execute(text("UPDATE project SET name = name"))
        assert 2.2 < time.monotonic() - begun < 4.4  # 2.6; without the deadline 4.6
        second.rollback()


@pytest.mark.slow
def test_a_process_opens_no_more_connections_than_it_is_given(postgresql_database: Database) -> None:
    db = Database(postgresql_database.url.render_as_string(hide_password=False), pool_size=3, wait_seconds=0.5)
    with db.glance(), db.glance(), db.glance(), pytest.raises(DatabaseBusy, match="Try again"), db.glance():
        pass
    with db.glance():
        pass
    db.dispose()


# What is said ---------------------------------------------------------------------------------------------------------


def test_that_nothing_was_changed_is_said_where_it_is_so(database: Database) -> None:
    admin = make_person(database, admin=True)
    with held(database), waiting_at_most(0.2), pytest.raises(DatabaseBusy, match=NOTHING):
        create_project(database, admin, "Never")


def test_after_a_commit_an_error_does_not_say_that_nothing_was_changed(database: Database) -> None:
    with as_one():
        make_project(database)
        with held(database), waiting_at_most(0.2), pytest.raises(DatabaseBusy) as caught:
            make_project(database)
    assert NOTHING not in str(caught.value)
    assert "stays saved" in str(caught.value)


def test_outside_of_an_operation_nothing_is_claimed(database: Database) -> None:
    make_project(database)
    with held(database), waiting_at_most(0.2), pytest.raises(DatabaseBusy) as caught:
        make_project(database)
    assert NOTHING not in str(caught.value)


def broken(db: Database, connection: Any) -> None:
    """Take the connection away from whoever works with it, as a fallen server or a closed file does."""
    driver = connection.connection.driver_connection
    if db.is_sqlite:
        driver.close()
        return
    with psycopg.connect(
        db.url.set(drivername="postgresql").render_as_string(hide_password=False), autocommit=True
    ) as other:
        other.execute("SELECT pg_terminate_backend(%s)", [driver.info.backend_pid])


@pytest.mark.parametrize("way", ["write", "read", "glance"])
def test_a_rollback_that_fails_does_not_hide_the_first_error(database: Database, way: str) -> None:
    with pytest.raises(Conflict, match="mine"), getattr(database, way)() as used:
        connection = used if way == "glance" else used.connection()
        connection.execute(text("SELECT 1"))
        broken(database, connection)
        raise Conflict("mine")
    assert database.engine.pool.checkedout() == 0  # type: ignore[attr-defined]
    assert make_project(database)
    with database.glance() as connection:
        assert connection.execute(text("SELECT COUNT(*) FROM project")).scalar_one() == 1


@pytest.mark.slow
def test_a_broken_connection_is_the_databases_fault_and_said_so(postgresql_database: Database) -> None:
    with pytest.raises(DatabaseUnavailable, match="did not answer"), postgresql_database.write() as session:
        broken(postgresql_database, session.connection())
        session.execute(text("DELETE FROM project"))
    assert make_project(postgresql_database)


# Commits whose answer is lost -----------------------------------------------------------------------------------------


@pytest.fixture
def wire(postgresql_database: Database) -> Iterator[tuple[StudyInUse, Wire]]:
    """A study on a database behind a wire that can break."""
    with wired(postgresql_database.url) as (db, wire):
        yield StudyInUse(db, items=2, annotators=1, overlap=1), wire


def stored(study: StudyInUse) -> list[str]:
    with study.db.read() as session:
        return list(session.exec(select(Submission.uid)).all())


@pytest.mark.slow
@pytest.mark.parametrize("committed", [True, False])
def test_a_commit_without_an_answer_claims_nothing_and_is_settled_by_its_uid(
    wire: tuple[StudyInUse, Wire], committed: bool
) -> None:
    study, line = wire
    item = study.work(0)["items"][0]
    uid = uuid.uuid4().hex
    line.cut(COMMIT, answered=committed)
    with pytest.raises(OutcomeUnknown) as caught:
        study.submit(0, item, {"right": "yes"}, uid=uid)
    assert line.cuts == 1
    assert NOTHING not in str(caught.value)
    assert stored(study) == ([uid] if committed else [])
    again = study.submit(0, item, {"right": "yes"}, uid=uid)
    assert again.status == ("duplicate" if committed else "done")
    assert stored(study) == [uid]
    assert again.progress["done"] == 1


@pytest.mark.slow
def test_a_submit_whose_answer_could_not_be_read_after_the_commit_is_acknowledged_by_its_uid(
    wire: tuple[StudyInUse, Wire],
) -> None:
    study, line = wire
    item = study.work(0)["items"][0]
    uid = uuid.uuid4().hex
    # The first statement of the reading that follows the commit.
    line.cut("REPEATABLE READ", answered=False)
    with pytest.raises(DatabaseUnavailable) as caught:
        study.submit(0, item, {"right": "yes"}, uid=uid)
    assert line.cuts == 1
    assert not isinstance(caught.value, OutcomeUnknown)
    assert "stays saved" in str(caught.value)
    assert NOTHING not in str(caught.value)
    assert stored(study) == [uid]
    assert study.submit(0, item, {"right": "yes"}, uid=uid).status == "duplicate"
    assert stored(study) == [uid]


@pytest.mark.slow
def test_broken_connections_do_not_stay_in_the_pool(wire: tuple[StudyInUse, Wire]) -> None:
    study, line = wire
    for statement in ("SELECT", "INSERT", COMMIT):
        line.cut(statement, answered=False)
        with pytest.raises(DatabaseUnavailable):
            make_project(study.db)
            with study.db.read() as session:
                session.exec(select(func.count()).select_from(Submission)).one()
    pool = study.db.engine.pool
    assert pool.checkedout() == 0  # type: ignore[attr-defined]
    for _ in range(5):
        assert make_project(study.db)
