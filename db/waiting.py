"""How long is waited for the database: one deadline for all the waits of a request, wherever in the queue it stands."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock

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
    """So many places at once; who finds none free waits for one, first come first served.

    A place that is given back goes to whoever waits longest: a thread that takes it again and again, as an import
    does, does not take it past those who wait.
    """

    def __init__(self, places: int) -> None:
        self._lock = Lock()
        self._free = places
        self._queue: deque[Lock] = deque()

    @contextmanager
    def one(self, until: float) -> Iterator[bool]:
        """A place for the block; False when none came free until that moment."""
        got = self._take(until)
        try:
            yield got
        finally:
            if got:
                self._give()

    def _take(self, until: float) -> bool:
        with self._lock:
            if self._free:
                self._free -= 1
                return True
            turn = Lock()
            turn.acquire()
            self._queue.append(turn)
        try:
            return turn.acquire(timeout=seconds_left(until)) or not self._leave(turn)
        except BaseException:  # Ctrl-C
            if not self._leave(turn):
                self._give()
            raise

    def _leave(self, turn: Lock) -> bool:
        """Leave the queue; False when a place was given in the last moment."""
        with self._lock:
            if turn not in self._queue:
                return False
            self._queue.remove(turn)
            return True

    def _give(self) -> None:
        with self._lock:
            if self._queue:
                self._queue.popleft().release()
            else:
                self._free += 1
