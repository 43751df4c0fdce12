"""Workers: processes that carry out jobs, and the watch in the web process that starts one when there is work.

A scorer may load an embedding model (seconds, and half a gigabyte) and compute for hours: neither belongs into a
process that answers people. `python -m app.worker.jobs` is such a worker; the server starts it as its child, and it
ends when there has been no work for a while, or when the server is gone. A job whose worker dies is taken up again
where it stopped.
"""

from __future__ import annotations

import contextlib
import logging
import os
import secrets
import signal
import socket
import sys
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any, Self, TypeVar

from annotators.errors import AssayError, NotEquipped, NotFound
from annotators.progress import Progress
from annotators.scorers.shared.offered_models import offer
from app.settings import Settings
from app.worker.kinds.base import KINDS, JobKind, JobParameters, Work, known
from app.worker.process import Child, begin
from db.engine import Database
from db.faults import DatabaseUnavailable
from db.jobs import JobOrder, JobRow, TakenJob, WorkerDesk, queue_job
from db.permissions import Actor

log = logging.getLogger(__name__)

P = TypeVar("P", bound=JobParameters)

BEAT_SECONDS = 2.0
"""How often a worker says that it is there, and hears whether somebody has cancelled."""

IDLE_SECONDS = 120.0
"""A worker without work ends after so long, and gives its memory back."""

LOOK_SECONDS = 2.0
"""How often the queue is looked at."""

STUCK_SECONDS = 120.0
"""A worker whose job does not stop so long after it was cancelled ends itself."""

STOP_SECONDS = 10.0
_RATE_WINDOW = 60.0
_NICENESS = 10


class Interrupted(Exception):
    """A job stops before its end: cancelled, taken by another worker, or its worker is asked to stop."""

    def __init__(self, order: JobOrder | None) -> None:
        super().__init__(order)
        self.order = order


def worker_name() -> str:
    """A name that no other worker has: machine, process and a random part."""
    return f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"


# Carrying out ---------------------------------------------------------------------------------------------------------


class _Pulse:
    """Says that the worker is there while a job runs, writes down how far it is, and hears whether it is to stop."""

    def __init__(self, desk: WorkerDesk, job: TakenJob, stop: threading.Event, *, may_exit: bool) -> None:
        self.done, self.total = job.done, None if job.done == 0 else job.done
        self._desk, self._job, self._stop, self._may_exit = desk, job, stop, may_exit
        self._order = JobOrder.GO_ON
        self._seen: deque[tuple[float, int]] = deque()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._beat, name=f"pulse of job {job.job_id}", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._over.set()
        self._thread.join()

    def progress(self, done: int, of: int) -> None:
        """How far the job is; raises Interrupted when it is to stop here."""
        self.done, self.total = done, of
        at = time.monotonic()
        if not self._seen or at - self._seen[-1][0] >= 0.5:
            self._seen.append((at, done))
            while self._seen[0][0] < at - _RATE_WINDOW and len(self._seen) > 2:
                self._seen.popleft()
        if self._order is not JobOrder.GO_ON:
            raise Interrupted(self._order)
        if self._stop.is_set():
            raise Interrupted(None)

    @property
    def rate(self) -> float | None:
        """How many a second, over the last minute."""
        seen = list(self._seen)
        if len(seen) < 2 or seen[-1][0] == seen[0][0]:
            return None
        return (seen[-1][1] - seen[0][1]) / (seen[-1][0] - seen[0][0])

    def _beat(self) -> None:
        cancelled_at = None
        while not self._over.wait(BEAT_SECONDS):
            with contextlib.suppress(DatabaseUnavailable):  # the next beat tries again; a lost job is found out then
                order = self._desk.heartbeat(self._job.job_id, done=self.done, total=self.total, rate=self.rate)
                if order is not JobOrder.GO_ON:
                    self._order = order
                    cancelled_at = cancelled_at or time.monotonic()
            if self._may_exit and cancelled_at is not None and time.monotonic() - cancelled_at > STUCK_SECONDS:
                log.error("job %s did not stop; this worker ends", self._job.job_id)
                self._desk.cancelled(self._job.job_id)
                os._exit(1)


def carry_out(
    db: Database,
    desk: WorkerDesk,
    job: TakenJob,
    *,
    stop: threading.Event | None = None,
    shown: Progress | None = None,
    may_exit: bool = False,
    settings: Settings | None = None,
    leaves: bool = False,
) -> dict[str, Any]:
    """Do a job that this worker has taken, to its end; its result. Without `settings`, those of the environment hold.

    Raises what the job raised, after it was written down why; Interrupted when the job was cancelled, was taken by
    another worker, or goes back into the queue because `stop` was set. `shown` is told the progress as well. Where the
    worker lacks a setting for it (NotEquipped), it fails, or `leaves` the job to one that has it.
    """
    with _Pulse(desk, job, stop or threading.Event(), may_exit=may_exit) as pulse:

        def progress(done: int, of: int) -> None:
            if shown is not None:
                shown(done, of)
            pulse.progress(done, of)

        so_far: dict[str, Any] = {}
        try:
            kind = known(job.kind)
            if kind is None:
                names = ", ".join(KINDS.names())
                raise NotFound(f"This version does not know jobs of kind {job.kind!r}. Known: {names}.")
            parameters = kind.read(job.parameters)
            result = kind.carry_out(Work(db, job, progress, settings or Settings.load(), so_far), parameters)
        except Interrupted as interruption:
            if interruption.order is JobOrder.CANCEL:
                desk.cancelled(job.job_id, result=so_far or None)
            elif interruption.order is None:
                desk.give_back(job.job_id)
            raise
        except DatabaseUnavailable:
            raise  # nothing can be written down; the job is taken up again when its worker is not heard of
        except AssayError as error:
            if leaves and isinstance(error, NotEquipped):
                desk.leave(job.job_id, str(error))
            else:
                desk.fail(job.job_id, str(error))
            raise
        except Exception as error:
            details = "".join(traceback.format_exception(error))
            desk.fail(job.job_id, f"{type(error).__name__}: {error}", details=details)
            raise
        except KeyboardInterrupt:
            desk.cancelled(job.job_id, result=so_far or None)
            raise
        desk.finish(job.job_id, done=pulse.done, total=pulse.total, result=result)
        return result


def work(
    db: Database,
    name: str,
    *,
    stop: threading.Event | None = None,
    idle_seconds: float | None = 0.0,
    may_exit: bool = False,
    told: Callable[[str], None] = log.info,
    settings: Settings | None = None,
) -> int:
    """Carry out jobs until none has come for `idle_seconds` (None: until `stop` is set); how many were taken.

    A job that fails does not end the worker.
    """
    stop, desk = stop or threading.Event(), WorkerDesk(db, name)
    idle_since, taken = time.monotonic(), 0
    while not stop.is_set():
        job = desk.take()
        if job is None:
            if idle_seconds is not None and time.monotonic() - idle_since >= idle_seconds:
                break
            stop.wait(min(LOOK_SECONDS, idle_seconds or LOOK_SECONDS))
            continue
        taken += 1
        told(f"job {job.job_id} ({job.kind}) taken up at {job.done:,}")
        try:
            carry_out(db, desk, job, stop=stop, may_exit=may_exit, settings=settings, leaves=True)
            told(f"job {job.job_id} is done")
        except Interrupted as interruption:
            told(f"job {job.job_id} stopped: {interruption.order or 'the worker is asked to stop'}")
        except DatabaseUnavailable:
            raise
        except NotEquipped as error:
            told(f"job {job.job_id} is left to a worker that has what it needs: {error}")
        except Exception as error:
            told(f"job {job.job_id} failed: {error}")
            if not isinstance(error, AssayError):
                log.exception("job %s failed", job.job_id)
        idle_since = time.monotonic()
    return taken


# The worker process ---------------------------------------------------------------------------------------------------


def main(arguments: list[str]) -> int:
    """`python -m app.worker.jobs HOME NAME`: a worker that ends with its standard input; 0 when in good order."""
    home, name = arguments
    settings = Settings.load(home=Path(home))
    db = begin(settings, niceness=_NICENESS)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())

    def until_the_parent_is_gone() -> None:
        while os.read(0, 1):
            pass
        stop.set()

    threading.Thread(target=until_the_parent_is_gone, daemon=True).start()
    offer(settings.models)
    try:
        work(db, name, stop=stop, idle_seconds=IDLE_SECONDS, may_exit=True, settings=settings)
    finally:
        db.dispose()
    return 0


class Workers:
    """The watch of a web process over its worker: started when there is work, started again when it dies.

    A web process that holds several of these, or several web processes, do no harm: a job goes to one worker.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._db = Database(settings.database, pool_size=1)
        self._name = worker_name()
        self._child: Child | None = None
        self._wake, self._closed = threading.Event(), False
        self._thread = threading.Thread(target=self._watch, name="watch over the worker", daemon=True)

    def start(self) -> Self:
        """Begin to watch."""
        self._thread.start()
        return self

    def wake(self) -> None:
        """Look at the queue now."""
        self._wake.set()

    @property
    def pid(self) -> int | None:
        """The worker's process id, while there is one."""
        child = self._child
        return child.pid if child is not None and child.alive else None

    def close(self) -> None:
        """End the worker: it puts its job back into the queue, or is killed and the job is put back for it."""
        self._closed = True
        self._wake.set()
        self._thread.join()
        child = self._child
        if child is not None and not child.stop(STOP_SECONDS):
            with contextlib.suppress(AssayError):
                self._desk.give_back()
        self._db.dispose()

    @property
    def _desk(self) -> WorkerDesk:
        return WorkerDesk(self._db, self._name)

    def _watch(self) -> None:
        pause = LOOK_SECONDS
        while not self._closed:
            try:
                pause = LOOK_SECONDS if self._look() else min(60.0, 2 * pause)
            except AssayError as error:
                log.warning("the queue of jobs cannot be looked at: %s", error)
            self._wake.wait(pause)
            self._wake.clear()

    def _look(self) -> bool:
        """Start a worker if there is work and none; False when one has died, so that the next comes a little later."""
        well = True
        if self._child is not None:
            status = self._child.status
            if status is None:
                return True
            self._child.let_go()
            self._child = None
            if status != 0:
                log.warning("a worker ended with status %s", status)
                self._desk.give_back(died=True)
                well = False
        if well and not self._closed and self._desk.has_work():
            self._child = Child("app.worker.jobs", str(self._settings.home), self._name)
        return well


_workers: list[Workers] = []


def start(settings: Settings) -> None:
    """Watch over a worker from this process from now on (the server calls this when it starts)."""
    if not _workers:
        _workers.append(Workers(settings).start())


def wake() -> None:
    """Have the queue looked at now, where this process watches over a worker."""
    for watch in _workers:
        watch.wake()


def queue(
    db: Database, actor: Actor, project_id: int, kind: JobKind[P], parameters: P, *, worker: str | None = None
) -> JobRow:
    """Put a job into the queue for whoever may start its kind, and have the queue looked at; see `queue_job`."""
    given = parameters.model_dump(mode="json", exclude_unset=True)
    job = queue_job(db, actor, project_id, kind=kind.name, parameters=given, roles=kind.roles, worker=worker)
    wake()
    return job


def stop() -> None:
    """End the worker of this process (the server calls this when it stops)."""
    while _workers:
        _workers.pop().close()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
