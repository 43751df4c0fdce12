"""Jobs that a command starts: done here, unless a worker has the same work already."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from app.cli.base import Here
from app.cli.output import progress

if TYPE_CHECKING:
    from app.settings import Settings
    from app.worker.kinds.base import JobKind
    from db.jobs import JobRow

_LOOK_SECONDS = 0.5


def carried_out(
    here: Here, project_id: int, kind: JobKind[Any], given: Mapping[str, Any], *, settings: Settings | None = None
) -> dict[str, Any]:
    """Queue a job and do it here, unless a worker has it already: then wait for that; its result.

    Of a job that was cancelled, from here by Ctrl-C or by somebody else, it is what the job came to by then, where its
    kind says that; Conflict where not, and of one that failed elsewhere. `settings` are those it is done with, where
    they are not this home's: a worker that had it and lacks them leaves it, and it is done here.
    """
    from app.worker.jobs import Interrupted, carry_out, queue, worker_name
    from db.jobs import JobOrder, WorkerDesk

    desk = WorkerDesk(here.db, worker_name())

    job = queue(here.db, here.actor, project_id, kind, kind.read(given), worker=desk.name)
    with progress(kind.title) as move:
        while True:
            taken = desk.own(job.job_id) or desk.take(job.job_id)
            if taken is None:
                job = _followed(here, project_id, job.job_id, move)
                if job.is_unfinished:
                    continue
                break
            try:
                return carry_out(here.db, desk, taken, shown=move, settings=settings)
            except Interrupted as interruption:
                if interruption.order is not JobOrder.LOST:
                    job = _facts(here, project_id, job.job_id)
                    break
            except KeyboardInterrupt:
                job = _facts(here, project_id, job.job_id)
                if job.result is None:
                    raise
                break
    return _outcome(job)


def _facts(here: Here, project_id: int, job_id: int) -> JobRow:
    from db.jobs import job_facts

    return job_facts(here.db, here.actor, project_id, job_id=job_id)


def _followed(here: Here, project_id: int, job_id: int, move: Any) -> JobRow:
    """The job when nobody is at it: it has ended or waits, or its worker is no longer heard of."""
    from db.models import JobState

    while True:
        job = _facts(here, project_id, job_id)
        if job.total:
            move(job.done, job.total)
        if job.state != JobState.RUNNING or not job.answers:
            return job
        time.sleep(_LOOK_SECONDS)


def _outcome(job: JobRow) -> dict[str, Any]:
    """The result of a job that ended, or was cancelled; Conflict when it has none."""
    from annotators.errors import Conflict

    if job.state == "done" or (job.state == "cancelled" and job.result):
        return job.result or {}
    why = job.message or "somebody cancelled it"
    raise Conflict(f"Job {job.job_id} is {job.state} at {job.done:,} items: {why}. `assay job resume` goes on with it.")
