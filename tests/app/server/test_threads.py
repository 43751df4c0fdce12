"""Worker threads of the routes: who finds none free waits as long as the request may, and no thread is lost."""

from __future__ import annotations

import threading
import time

import anyio
import pytest

from app.server.threads import PARTS, Threads, in_the_name_of
from db.engine import DatabaseBusy
from db.waiting import waiting_at_most


def test_waiting_for_a_thread_counts_towards_the_deadline_of_the_request() -> None:
    free, waited = threading.Event(), []

    async def late(threads: Threads) -> None:
        begun = time.monotonic()
        with waiting_at_most(0.2), pytest.raises(DatabaseBusy):
            await threads.run(time.sleep, 0)
        waited.append(time.monotonic() - begun)
        free.set()

    async def both() -> None:
        threads = Threads(1)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(threads.run, free.wait, 4)
            await anyio.sleep(0.05)  # until it has the only thread
            tasks.start_soon(late, threads)
        assert await threads.run(lambda: "free again") == "free again"

    anyio.run(both)
    assert waited[0] < 3


def test_a_thread_whose_work_failed_is_free_again() -> None:
    async def twice() -> None:
        threads = Threads(1)
        for _ in range(2):
            with waiting_at_most(0.2), pytest.raises(ZeroDivisionError):
                await threads.run(lambda: 1 // 0)

    anyio.run(twice)


def test_one_person_has_a_third_of_the_threads_and_others_find_some_at_once() -> None:
    go_on, at_work, most = threading.Event(), [0], [0]
    counting = threading.Lock()

    def hold() -> None:
        with counting:
            at_work[0] += 1
            most[0] = max(most[0], at_work[0])
        go_on.wait(8)
        with counting:
            at_work[0] -= 1

    async def ask(threads: Threads, whose: object) -> None:
        with in_the_name_of(whose):
            await threads.run(hold)

    async def both() -> None:
        threads = Threads(6)
        async with anyio.create_task_group() as tasks:
            for _ in range(60):
                tasks.start_soon(ask, threads, "greedy")
            await anyio.sleep(0.2)
            with in_the_name_of("patient"), waiting_at_most(4):
                assert await threads.run(lambda: "at once") == "at once"
            assert at_work[0] == 6 // PARTS
            go_on.set()
        assert threads._shares == {}, "nothing is kept of who asks for nothing"

    anyio.run(both)
    assert most[0] == 6 // PARTS


def test_who_waits_too_long_for_a_thread_of_their_own_is_told_so() -> None:
    free = threading.Event()

    async def late(threads: Threads) -> None:
        with in_the_name_of("greedy"), waiting_at_most(0.1), pytest.raises(DatabaseBusy):
            await threads.run(time.sleep, 0)
        free.set()

    async def hold(threads: Threads) -> None:
        with in_the_name_of("greedy"):
            await threads.run(free.wait, 4)

    async def both() -> None:
        threads = Threads(3)
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(hold, threads)
            await anyio.sleep(0.05)
            tasks.start_soon(late, threads)
        assert threads._shares == {}

    anyio.run(both)
