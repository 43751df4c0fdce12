"""Reports: statistics are made in processes of their own, kept for everybody, and dropped when nobody looks.

A page asks for a piece of work by a key, which says what it is of (with the stamp of the labels) and how it is made.
The first who asks has it put into a queue; a process beside the server carries it out, part by part, at low priority
and under a limit of memory, and whoever asks for the same key looks at the same parts. Nothing of it runs on the
interpreter that answers annotators but taking the parts in. Work that nobody looks at any more is ended with its
process, which is replaced, as one that dies by itself is.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import os
import pickle
import resource
import sys
import threading
import time
import traceback
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from typing import Any, Self

from annotators.errors import AssayError
from app.settings import Settings
from app.worker.process import Child, begin
from db.engine import Database

log = logging.getLogger(__name__)

GRACE_SECONDS = 3.0
"""So long work goes on without anybody who looks at it: a page that is reloaded asks for the same again."""

IDLE_SECONDS = 300.0
"""A second process without work ends after so long; the first lives as long as the server."""

MOST_KEPT_BYTES = 96 << 20
"""Results are kept up to this size together, those looked at last."""

_LOOK_SECONDS = 0.2

Task = Callable[[Database], Any]
"""What a process carries out: can be pickled; gives a value, or an iterator of parts."""

DIED = (
    "The process that measures has ended in the middle of this: it was stopped, or ran out of memory. A new one has "
    "taken its place. Press Measure again."
)


class NotMeasured(AssayError):
    """Something could not be measured, and the data are not the reason: no process, no memory, a fault of ours."""

    status = 503


@dataclass(frozen=True)
class Plain:
    """A task that needs no database: `function(*given, **named)`."""

    function: Callable[..., Any]
    given: tuple[Any, ...] = ()
    named: dict[str, Any] = field(default_factory=dict)

    def __call__(self, _db: Database) -> Any:
        """Do it."""
        return self.function(*self.given, **self.named)


# In the web process ---------------------------------------------------------------------------------------------------


class _ReportWork:
    """A piece of work: its parts so far, whether it is done, and who looks at it."""

    def __init__(self, key: Hashable, task: Task) -> None:
        self.key, self.task = key, task
        self.parts: list[Any] = []
        self.done = False
        self.error: BaseException | None = None
        self.size = 0
        self.lookers, self.left_at = 0, time.monotonic()

    @property
    def abandoned(self) -> bool:
        return self.lookers == 0 and time.monotonic() - self.left_at > GRACE_SECONDS


class Look:
    """Somebody who looks at a piece of work; to be used in a `with` block, at whose end they look away."""

    def __init__(self, work: _ReportWork, changed: threading.Condition) -> None:
        self._work, self._changed = work, changed

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        with self._changed:
            self._work.lookers -= 1
            self._work.left_at = time.monotonic()
            self._changed.notify_all()

    @property
    def parts(self) -> list[Any]:
        """The parts that there are by now. Raises what the work failed with."""
        with self._changed:
            if self._work.error is not None:
                raise self._work.error
            return list(self._work.parts)

    def wait(self, seconds: float, *, beyond: int | None = None) -> bool:
        """Wait until the work is done, or (with `beyond`) there are more parts than that; whether it is done."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._work.done or (beyond is not None and len(self._work.parts) > beyond), seconds
            )
            return self._work.done

    def result(self) -> Any:
        """The last part, when all is done; waits for it. Raises what the work failed with."""
        while not self.wait(60.0):
            pass
        return self.parts[-1]


class Reports:
    """The processes that measure, what they are to do, and what they have found. One a web process; thread-safe."""

    def __init__(self, settings: Settings) -> None:
        self._settings, self._most = settings, max(1, settings.report_workers)
        self._changed = threading.Condition()
        self._known: OrderedDict[Hashable, _ReportWork] = OrderedDict()
        self._queue: deque[_ReportWork] = deque()
        self._threads: list[threading.Thread] = []
        self._processes: dict[threading.Thread, _Process] = {}
        self._busy, self._closed = 0, False
        self.begun = 0
        """How many pieces of work were begun so far, for monitoring."""

    def look(self, key: Hashable, task: Task) -> Look:
        """Look at the work of this key, which is begun if nobody has asked for it before. NotMeasured at the end."""
        with self._changed:
            if self._closed:
                raise NotMeasured("The server is stopping. Try again in a minute.")
            work = self._known.get(key)
            if work is None or work.error is not None:
                work = self._known[key] = _ReportWork(key, task)
                self._queue.append(work)
                self.begun += 1
                self._hire()
            self._known.move_to_end(key)
            work.lookers += 1
            self._forget()
            self._changed.notify_all()
        return Look(work, self._changed)

    def result(self, key: Hashable, task: Task) -> Any:
        """The last part of a piece of work, waited for where nothing can be shown meanwhile."""
        with self.look(key, task) as look:
            return look.result()

    def warm(self) -> None:
        """Have one process started and its libraries loaded, so that the first report does not wait for them."""
        with self._changed:
            if not self._threads and not self._closed:
                self._hire(always=True)

    def pids(self) -> list[int]:
        """The processes that there are now, for monitoring."""
        with self._changed:
            return [process.child.pid for process in self._processes.values() if process.child.alive]

    @property
    def at_work(self) -> int:
        """How many pieces of work wait or are being done."""
        with self._changed:
            return sum(not work.done for work in self._known.values())

    def close(self) -> None:
        """End the processes and what they do."""
        with self._changed:
            self._closed = True
            for process in self._processes.values():
                process.child.kill()
            for work in self._known.values():
                self._failed(work, NotMeasured("The server is stopping. Try again in a minute."))
            self._changed.notify_all()
            threads = list(self._threads)
        for thread in threads:
            thread.join(10)

    # The threads that mind a process each

    def _hire(self, *, always: bool = False) -> None:
        free = len(self._threads) - self._busy
        if always or (free < len(self._queue) and len(self._threads) < self._most):
            thread = threading.Thread(target=self._mind, name="minds a process that measures", daemon=True)
            self._threads.append(thread)
            thread.start()

    def _mind(self) -> None:
        me = threading.current_thread()
        process: _Process | None = None
        try:
            while not self._closed:
                if process is None or not process.child.alive:
                    process = self._start(me)
                work = self._next(me)
                if work is None:
                    return
                try:
                    self._carry_out(process, work)
                except (OSError, EOFError, pickle.PickleError):
                    process.child.kill()
                    if not self._closed:
                        log.warning("the process that measures (%s) has ended", process.child.pid)
                    with self._changed:
                        self._failed(work, NotMeasured(DIED))
                finally:
                    with self._changed:
                        self._busy -= 1
        finally:
            with self._changed:
                self._threads.remove(me)
                self._processes.pop(me, None)
            if process is not None:
                process.child.kill()

    def _start(self, me: threading.Thread) -> _Process:
        process = _Process(self._settings)
        with self._changed:
            self._processes[me] = process
            if self._closed:
                process.child.kill()
        return process

    def _next(self, me: threading.Thread) -> _ReportWork | None:
        """The next piece of work that somebody looks at; None when this thread is to end."""
        idle_since = time.monotonic()
        with self._changed:
            while not self._closed:
                while self._queue:
                    work = self._queue.popleft()
                    if not work.abandoned:
                        self._busy += 1
                        return work
                    self._drop(work)
                spare = self._threads[0] is not me
                if spare and time.monotonic() - idle_since > IDLE_SECONDS:
                    return None
                self._changed.wait(5.0)
        return None

    def _carry_out(self, process: _Process, work: _ReportWork) -> None:
        process.pipe.send_bytes(pickle.dumps(work.task, pickle.HIGHEST_PROTOCOL))
        while True:
            if process.pipe.poll(_LOOK_SECONDS):
                given = process.pipe.recv_bytes()
                what, value = pickle.loads(given)  # noqa: S301 - from our own process
                with self._changed:
                    work.size += len(given)
                    if what == "part":
                        work.parts.append(value)
                    elif what == "failed":
                        self._failed(work, value)
                    else:
                        work.done = True
                    self._changed.notify_all()
                if what != "part":
                    return
            with self._changed:
                if work.abandoned:
                    process.child.kill()
                    self._drop(work)
                    return

    def _failed(self, work: _ReportWork, error: BaseException) -> None:
        if not work.done:
            work.error, work.done = error, True
            self._changed.notify_all()

    def _drop(self, work: _ReportWork) -> None:
        """Forget work that nobody waits for."""
        work.done, work.error = True, NotMeasured("Nobody looked at this any more. Open the page again.")
        if self._known.get(work.key) is work:
            del self._known[work.key]

    def _forget(self) -> None:
        """Forget the results that were looked at longest ago, as far as they take too much memory."""
        held = sum(work.size for work in self._known.values())
        for key, work in list(self._known.items()):
            if held <= MOST_KEPT_BYTES:
                return
            if work.done and not work.lookers:
                held -= work.size
                del self._known[key]


class _Process:
    """One process that measures, and the pipe to it."""

    def __init__(self, settings: Settings) -> None:
        self.pipe, theirs = Pipe()
        # One thread of its linear algebra: two would take both processors and, where others need them, wait for each
        # other by spinning (here five times the processor time of one).
        threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
        number = theirs.fileno()
        self.child = Child("app.worker.reports", str(number), pipes=[number], environment=threads, tied=True)
        theirs.close()
        with contextlib.suppress(OSError):
            self.pipe.send_bytes(pickle.dumps(settings))


# In the process that measures -----------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """`python -m app.worker.reports FD`: carry out what comes through this pipe, until it ends."""
    pipe = Connection(int(arguments[0]))
    try:
        settings: Settings = pickle.loads(pipe.recv_bytes())  # noqa: S301 - from the server that started us
    except EOFError:
        return 0  # which is gone already
    db = begin(settings, niceness=settings.report_niceness)
    # Memory that is written to, and not address space, of which what draws plots (V8) reserves more than there is.
    with contextlib.suppress(ValueError, OSError):  # macOS refuses a limit
        resource.setrlimit(resource.RLIMIT_DATA, (settings.report_memory_mb << 20,) * 2)
    from app.worker import report_tasks  # noqa: F401, PLC0415 - what the first report would otherwise wait for

    tasks: deque[bytes] = deque()
    there = threading.Semaphore(0)

    def listen() -> None:
        while True:
            try:
                tasks.append(pipe.recv_bytes())
            except (EOFError, OSError):
                os._exit(0)  # the server is gone, or wants nothing of this any more
            there.release()

    threading.Thread(target=listen, name="listens to the server", daemon=True).start()
    while True:
        there.acquire()
        for message in _answers(db, tasks.popleft()):
            pipe.send_bytes(message)


def _answers(db: Database, given: bytes) -> Iterator[bytes]:
    """The messages about one task: its parts, then that it is done, or what it failed with."""
    try:
        found = pickle.loads(given)(db)  # noqa: S301 - from the server that started us
        for part in found if isinstance(found, Iterator) else [found]:
            yield pickle.dumps(("part", part), pickle.HIGHEST_PROTOCOL)
        yield pickle.dumps(("done", None))
    except AssayError as error:
        yield pickle.dumps(("failed", error))
    except MemoryError:
        words = "Measuring this takes more memory than a report may use. Choose fewer resamples, or a smaller part."
        yield pickle.dumps(("failed", NotMeasured(words)))
    except Exception as error:
        log.error("a report failed\n%s", "".join(traceback.format_exception(error)))
        words = f"This could not be measured, because of a fault in the program ({type(error).__name__}: {error})."
        yield pickle.dumps(("failed", NotMeasured(words)))


if __name__ == "__main__":
    # By its own name, so that what is pickled here is what the server knows.
    sys.exit(importlib.import_module("app.worker.reports").main(sys.argv[1:]))
