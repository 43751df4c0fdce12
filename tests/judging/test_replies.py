"""The ledger of requests to judges: on disk when it says so, written together, looked up at one price."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from annotators.judges.base import Ending, Reply
from annotators.judges.budget import Cost
from db.engine import Database
from db.jobs import MOST_ATTEMPTS, WorkerDesk, job_facts, queue_job
from db.judging.replies import StoredReplies
from tests.foreign_locks import locked_file, locked_tables
from tests.makers import first_administrator, make_project
from tests.waiting import until

MOST = Cost(1, 2_000, 0.5)
THREADS, EACH = 16, 6


def ledger_of(db: Database) -> StoredReplies:
    first_administrator(db)
    return StoredReplies(db, make_project(db))


def transactions(db: Database) -> list[str]:
    """A list that gets a word for each transaction that writes."""
    found: list[str] = []

    def committed(connection: Any) -> None:
        if connection.get_execution_options().get("assay_write"):
            found.append("write")

    event.listen(db.engine, "commit", committed)
    return found


def test_each_entry_is_on_disk_when_it_returns(database: Database) -> None:
    ledger = ledger_of(database)
    there, all_begun = StoredReplies(database, 1), threading.Barrier(THREADS)

    def work(number: int) -> list[int]:
        numbers = []
        for turn in range(EACH):
            all_begun.wait()  # so that all want something at once
            key = f"{number}/{turn}"
            call = ledger.enter(key, 0, MOST)
            assert there.known(key, 0) is None
            ledger.keep(call, Reply(key, Ending.WHOLE, tokens_in=7, tokens_out=2, chances={"a": {"x": 1.0}}), MOST)
            known = there.known(key, 0)
            assert known is not None
            assert (known.text, known.chances) == (key, {"a": {"x": 1.0}})
            numbers.append(call)
        return numbers

    with ThreadPoolExecutor(THREADS) as pool:
        numbers = [number for found in pool.map(work, range(THREADS)) for number in found]
    assert len(set(numbers)) == THREADS * EACH
    assert ledger.totals() == {"requests": THREADS * EACH, "tokens": {"in": 7 * len(numbers), "out": 2 * len(numbers)}}
    assert ledger.spent() == Cost(96, 9 * len(numbers), pytest.approx(0.5 * len(numbers)))


def test_what_waits_together_is_written_in_one_transaction(database: Database) -> None:
    ledger, written = ledger_of(database), transactions(database)

    def enter(number: int) -> int:
        return ledger.enter(f"{number}", 0, MOST)

    def keep(call: int) -> None:
        ledger.keep(call, Reply("", Ending.WHOLE), MOST)

    with ThreadPoolExecutor(THREADS) as pool:
        calls = list(while_another_writes(database, ledger, pool, enter, range(THREADS)))
        assert len(written) <= 3, "that of the first, and that of those who came meanwhile"
        written.clear()
        list(while_another_writes(database, ledger, pool, keep, calls))
        assert len(written) <= 3
    assert ledger.totals()["requests"] == len(set(calls)) == THREADS


def while_another_writes(
    db: Database, ledger: StoredReplies, pool: ThreadPoolExecutor, do: Callable[[int], Any], numbers: Iterable[int]
) -> Iterator[Any]:
    """What a thread for each number comes to: all of them wait before the database is free."""
    url = db.url.set(drivername="postgresql").render_as_string(hide_password=False)
    busy = locked_file(Path(str(db.url.database))) if db.is_sqlite else locked_tables(url, "judge_call")
    with busy:
        found = pool.map(do, numbers)
        until(lambda: len(ledger._waiting.entries) == THREADS - 1)  # one is writing, or waits to
    return found


def test_what_a_server_says_with_letters_that_cannot_be_stored_takes_no_other_with_it(database: Database) -> None:
    ledger = ledger_of(database)
    call = ledger.enter("k", 0, MOST)
    ledger.keep(call, Reply("a\0b", Ending.WHOLE, said="\ud800", model="m\0", fingerprint="\udfff"), MOST)
    known = ledger.known("k", 0)
    assert known is not None
    assert (known.text, known.said, known.model, known.fingerprint) == ("a\ufffdb", "?", "m\ufffd", "?")


def test_who_cannot_write_hears_of_it_each(sqlite_database: Database) -> None:
    ledger = ledger_of(sqlite_database)
    with sqlite_database.engine.begin() as connection:
        connection.exec_driver_sql("DROP TABLE judge_call")

    def enter(number: int) -> str:
        with pytest.raises(Exception, match="judge_call") as found:
            ledger.enter(f"{number}", 0, MOST)
        return str(found.value)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(enter, range(8)))


def test_a_reply_is_looked_up_by_its_request_and_not_among_all_of_the_project(sqlite_database: Database) -> None:
    ledger, plans = ledger_of(sqlite_database), []

    def explain(connection: Any, cursor: Any, statement: str, parameters: Any, *_: Any) -> None:
        if "judge_reply" in statement and not statement.startswith("EXPLAIN"):
            rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", parameters)
            plans.extend(row[-1] for row in rows)

    event.listen(sqlite_database.engine, "before_cursor_execute", explain)
    ledger.known("k", 0)
    assert plans == [
        "SEARCH judge_call USING INDEX ix_judge_call_key (key=? AND sample=?)",
        "SEARCH judge_reply USING INTEGER PRIMARY KEY (rowid=?)",
    ]


def killed_each_time(db: Database, ending: Ending) -> str | None:
    """Workers that die as soon as they have kept a reply, which no progress has counted yet; what the job says then."""
    admin, project_id = first_administrator(db), make_project(db)
    job = queue_job(db, admin, project_id, kind="judge check", parameters={}).job_id
    desk = WorkerDesk(db, "one that dies")
    for attempt in range(2 * MOST_ATTEMPTS):
        if desk.take() is None:
            break
        ledger = StoredReplies(db, project_id, job)
        for number in range(3):
            ledger.keep(ledger.enter(f"{attempt}/{number}", 0, MOST), Reply("", ending), MOST)
        desk.give_back(died=True)
    return job_facts(db, admin, project_id, job_id=job).message


def test_a_reply_that_is_kept_is_progress_however_often_the_worker_dies_before_a_block_ends(database: Database) -> None:
    assert killed_each_time(database, Ending.WHOLE) is None


def test_a_request_without_a_reply_is_no_progress(database: Database) -> None:
    assert "without getting any further" in (killed_each_time(database, Ending.FAILED) or "")
