"""How long is waited for the database: one deadline for all the waits of a request, wherever in the queue it stands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Semaphore

_until: ContextVar[float | None] = ContextVar("waiting_until", default=None)


@contextmanager
def waiting_at_most(seconds: float) -> Iterator[None]:
    """All waits for the database in the block, in whatever thread works for it, last `seconds` together.

    Only waiting is limited: who finds what they need free goes on, however late it is. A deadline around it goes first.
    """
    around = _until.get()
    token = _until.set(time.monotonic() + seconds if around is None else around)
    try:
        yield
    finally:
        _until.reset(token)


def given_deadline() -> float | None:
    """The deadline of the block around, a moment of time.monotonic(); None outside of every block."""
    return _until.get()


def deadline(seconds: float) -> float:
    """The moment until which to wait: that of the block around, else `seconds` from now."""
    until = _until.get()
    return time.monotonic() + seconds if until is None else until


def seconds_left(until: float) -> float:
    """Seconds until the moment, 0 when it has passed."""
    return max(0.0, until - time.monotonic())


class Places:
    """So many places at once; who finds none free waits for one."""

    def __init__(self, places: int) -> None:
        self._free = Semaphore(places)

    @contextmanager
    def one(self, until: float) -> Iterator[bool]:
        """A place for the block; False when none came free until that moment."""
        got = self._free.acquire(blocking=False) or self._free.acquire(timeout=seconds_left(until))
        try:
            yield got
        finally:
            if got:
                self._free.release()
