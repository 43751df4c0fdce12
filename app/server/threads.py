"""Worker threads of the routes: each sort of work has its own, so that what waits takes nobody else's."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import ParamSpec, TypeVar

import anyio

from annotators.errors import AssayError
from db.engine import WAIT_SECONDS, busy
from db.waiting import deadline, seconds_left

P = ParamSpec("P")
T = TypeVar("T")


class Threads:
    """At most `at_once` threads. Waiting for one counts towards the request's deadline (db/waiting.py).

    `late` makes the error for who found none in time; without it the database is said to be busy.
    """

    def __init__(self, at_once: int, late: Callable[[], AssayError] | None = None) -> None:
        self._late = late or (lambda: busy("too many requests wait for it"))
        self._limiter = anyio.CapacityLimiter(at_once)
        self._unlimited = anyio.CapacityLimiter(math.inf)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call it in a thread, to its end once it has begun; raises the error of `late` when none came free in time."""
        borrower = object()
        await self._take(borrower)
        try:
            return await anyio.to_thread.run_sync(partial(function, *args, **kwargs), limiter=self._unlimited)
        finally:
            self._limiter.release_on_behalf_of(borrower)

    async def _take(self, borrower: object) -> None:
        try:
            self._limiter.acquire_on_behalf_of_nowait(borrower)
        except anyio.WouldBlock:
            with anyio.move_on_after(seconds_left(deadline(WAIT_SECONDS))) as wait:
                await self._limiter.acquire_on_behalf_of(borrower)
            if wait.cancelled_caught:
                raise self._late() from None
