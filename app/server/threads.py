"""Worker threads of the routes: each sort of work has its own, and nobody has all of them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator, Callable, Hashable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import ContextVar
from functools import partial
from typing import ParamSpec, TypeVar

import anyio

from annotators.errors import AssayError
from db.engine import WAIT_SECONDS, busy
from db.waiting import deadline, seconds_left

P = ParamSpec("P")
T = TypeVar("T")


PARTS = 3
"""One person has a third of the threads of each sort at most, so that others find some however much they ask."""

_whose: ContextVar[Hashable] = ContextVar("whose", default=None)


@contextmanager
def in_the_name_of(whose: Hashable) -> Iterator[None]:
    """What runs in threads within the block counts as that person's, or session's, or address's."""
    token = _whose.set(whose)
    try:
        yield
    finally:
        _whose.reset(token)


class Threads:
    """At most `at_once` threads, a third of them for one person (`in_the_name_of`).

    Waiting for one counts towards the request's deadline (db/waiting.py). `late` makes the error for who found none in
    time; without it the database is said to be busy.
    """

    def __init__(self, at_once: int, late: Callable[[], AssayError] | None = None) -> None:
        self._late = late or (lambda: busy("too many requests wait for it"))
        self._limiter = anyio.CapacityLimiter(at_once)
        self._most = max(1, at_once // PARTS)
        self._shares: dict[Hashable, anyio.CapacityLimiter] = {}
        self._unlimited = anyio.CapacityLimiter(math.inf)

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call it in a thread, to its end once it has begun; raises the error of `late` when none came free in time."""
        async with self._own_place(), self._place(self._limiter):
            return await anyio.to_thread.run_sync(partial(function, *args, **kwargs), limiter=self._unlimited)

    @asynccontextmanager
    async def _own_place(self) -> AsyncIterator[None]:
        """One of the places of whoever is asked for; nobody in particular has any number."""
        whose = _whose.get()
        if whose is None:
            yield
            return
        share = self._shares.setdefault(whose, anyio.CapacityLimiter(self._most))
        try:
            async with self._place(share):
                yield
        finally:
            if not share.borrowed_tokens and not share.statistics().tasks_waiting:
                self._shares.pop(whose, None)

    @asynccontextmanager
    async def _place(self, limiter: anyio.CapacityLimiter) -> AsyncIterator[None]:
        borrower = object()
        await self._take(limiter, borrower)
        try:
            yield
        finally:
            limiter.release_on_behalf_of(borrower)

    async def _take(self, limiter: anyio.CapacityLimiter, borrower: object) -> None:
        try:
            limiter.acquire_on_behalf_of_nowait(borrower)
        except anyio.WouldBlock:
            with anyio.move_on_after(seconds_left(deadline(WAIT_SECONDS))) as wait:
                await limiter.acquire_on_behalf_of(borrower)
            if wait.cancelled_caught:
                raise self._late() from None
