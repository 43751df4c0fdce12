"""The ledger of requests to judges: on disk when it says so, written together, looked up at one price."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import event

from annotators.judges.asking import Asker
from annotators.judges.base import Ending, Reply
from annotators.judges.budget import Cost, Price, Spending, read_limit
from annotators.judges.client import Client, ServerRefuses
from db.engine import Database
from db.jobs import MOST_ATTEMPTS, WorkerDesk, job_facts, queue_job
from db.judging.replies import StoredReplies
from tests.foreign_locks import locked_file, locked_tables
from tests.judging import scripted as script
from tests.judging.test_asking import a_call
from tests.judging.test_trying_again import Clock
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


def test_a_reply_is_known_by_project_request_and_sample_and_the_first_that_did_not_fail(database: Database) -> None:
    first_administrator(database)
    here, there = (StoredReplies(database, make_project(database)) for _ in range(2))

    def keep(ledger: StoredReplies, key: str, sample: int, said: str, ending: Ending) -> None:
        ledger.keep(ledger.enter(key, sample, MOST), Reply(said, ending), MOST)

    def known(ledger: StoredReplies, key: str = "k", sample: int = 0) -> tuple[str, Ending] | None:
        found = ledger.known(key, sample)
        return None if found is None else (found.text, found.ending)

    for ending in (Ending.FAILED, Ending.CUT_OFF, Ending.WHOLE):
        keep(here, "k", 0, ending.value, ending)
    assert known(here) == ("cut off", Ending.CUT_OFF), "what was paid for is not asked again, whole or not"
    assert (known(there), known(here, "l"), known(here, sample=1)) == (None, None, None)
    keep(there, "k", 0, "theirs", Ending.WHOLE)
    keep(here, "k", 1, "another", Ending.WHOLE)
    keep(here, "l", 0, "", Ending.FAILED)
    assert known(there) == ("theirs", Ending.WHOLE)
    assert (known(here), known(here, sample=1)) == (("cut off", Ending.CUT_OFF), ("another", Ending.WHOLE))
    assert known(here, "l") is None, "what failed is asked anew"


def test_every_field_of_a_reply_comes_back_as_it_was_kept(database: Database) -> None:
    ledger = ledger_of(database)
    reply = Reply(
        "text", Ending.REFUSED, "m", "fp", 3, 4, 1.5, 2, "no", {"item/judgement/label": {"A": 0.75, "B": 0.25}}
    )  # fmt: skip
    ledger.keep(ledger.enter("k", 0, MOST), reply, MOST)
    assert ledger.known("k", 0) == reply
    nothing = Reply("", Ending.EMPTY)
    ledger.keep(ledger.enter("l", 0, MOST), nothing, MOST)
    assert ledger.known("l", 0) == nothing


def test_what_a_job_has_spent_is_its_own_and_counts_what_is_under_way_with_the_most(database: Database) -> None:
    admin = first_administrator(database)
    project, other = make_project(database), make_project(database)
    jobs = [
        queue_job(database, admin, project, kind="judge check", parameters={"n": number}).job_id for number in range(2)
    ]
    first, second = (StoredReplies(database, project, job) for job in jobs)
    by_hand, elsewhere = StoredReplies(database, project), StoredReplies(database, other)
    assert first.spent() == Cost(0, 0, 0.0)
    done = first.enter("a", 0, Cost(1, 900, 0.9))
    first.keep(done, Reply("", Ending.WHOLE, tokens_in=100, tokens_out=20), Cost(1, 120, 0.25))
    assert (first.spent(), second.spent(), by_hand.spent()) == (Cost(1, 120, 0.25), Cost(), Cost())
    failed = first.enter("b", 0, Cost(1, 700, 0.5))
    assert first.spent() == Cost(2, 820, 0.75), "under way: as much as it can have cost"
    first.keep(failed, Reply("", Ending.FAILED), Cost(1, 0, 0.0))
    assert first.spent() == Cost(2, 820, 0.25), "the server said nothing of tokens"
    second.enter("c", 0, Cost(1, 50, None))
    by_hand.enter("d", 0, Cost(1, 60, 0.1))
    elsewhere.enter("e", 0, Cost(1, 70, 0.2))
    assert (second.spent(), by_hand.spent(), elsewhere.spent()) == (
        Cost(1, 50, None),
        Cost(1, 60, 0.1),
        Cost(1, 70, 0.2),
    )
    assert first.totals() == {"requests": 2, "tokens": {"in": 100, "out": 20}}
    assert second.totals() == by_hand.totals() == {"requests": 1, "tokens": {"in": 0, "out": 0}}


@pytest.mark.parametrize("unit", ["requests", "tokens", "usd"])
def test_a_run_that_is_taken_up_again_has_spent_what_it_had(sqlite_database: Database, unit: str) -> None:
    """What surely was not paid for does not come back as the most that it could have cost."""
    admin = first_administrator(sqlite_database)
    project = make_project(sqlite_database)
    job = queue_job(sqlite_database, admin, project, kind="judge check", parameters={}).job_id
    spending = Spending(read_limit(f"100000{unit}"), Price(1.0, 1.0))
    turns = [script.Failed(500), script.Whole(), script.Dropped(made=True), script.Whole(), script.HTML]
    with script.ScriptedServer(turns) as server:
        client = Client(server.base_url, "tiny-judge", None, most=64)
        ledger = StoredReplies(sqlite_database, project, job)
        asker = Asker(client, ledger, spending, tries=2, stop=Clock())
        for words in ("One?", "Two?"):
            asker.ask(a_call(words))
        with pytest.raises(ServerRefuses):
            asker.ask(a_call("Three?"))
    spent = StoredReplies(sqlite_database, project, job).spent()
    assert (spent.requests, spent.tokens) == (spending.spent.requests, spending.spent.tokens) == (5, spent.tokens)
    assert spent.money == pytest.approx(spending.spent.money)
