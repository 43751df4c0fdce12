"""Worker threads of the routes: who finds none free waits as long as the request may, and no thread is lost."""

from __future__ import annotations

import threading
import time

import anyio
import pytest

from app.server.threads import Threads
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
