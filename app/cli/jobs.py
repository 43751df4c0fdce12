"""`assay job …`: the queue of long work, and a worker that carries it out."""

from __future__ import annotations

import signal
import threading
from typing import TYPE_CHECKING, Annotated, Any

import typer

from annotators.figures import count, duration
from app.cli.base import AsJson, ProjectName, command, group, opened, project_id_of, settings_of
from app.cli.output import emit, say, say_aside, table

if TYPE_CHECKING:
    from db.jobs import JobRow

JobNumber = Annotated[int, typer.Argument(metavar="JOB", help="Number of the job.", show_default=False)]


def add_to(app: typer.Typer) -> None:
    """Enter the commands of this module."""
    jobs = group("job", "See, cancel and resume long work, and carry it out.")
    app.add_typer(jobs)
    command(jobs, "list", "assay --home ./assay-home job list finance")(list_them)
    command(jobs, "cancel", "assay --home ./assay-home job cancel finance 12")(cancel)
    command(jobs, "resume", "assay --home ./assay-home job resume finance 12")(resume)
    command(jobs, "run", "assay --home ./assay-home job run", "assay --home ./assay-home job run --stay")(run)


def list_them(context: typer.Context, project: ProjectName, as_json: AsJson = False) -> None:
    """List the jobs of a project, newest first."""
    from app.worker.kinds.base import known
    from db.jobs import list_jobs

    with opened(context) as here:
        rows = list_jobs(here.db, here.actor, project_id_of(here, project))

        def words() -> str:
            return table(
                ("job", "kind", "what", "state", "done", "of", "left", "message"),
                [
                    (
                        job.job_id,
                        job.kind,
                        kind.in_words(job.parameters) if (kind := known(job.kind)) else "",
                        job.state,
                        job.done,
                        job.total,
                        duration(job.seconds_left),
                        job.message or "",
                    )
                    for job in rows
                ],
            )

        emit([to_json(job) for job in rows], words, as_json=as_json)


def cancel(context: typer.Context, project: ProjectName, job: JobNumber, as_json: AsJson = False) -> None:
    """Cancel a job. What it has done stays."""
    from db.jobs import cancel_job

    with opened(context) as here:
        row = cancel_job(here.db, here.actor, project_id_of(here, project), job_id=job)
        words = f"Job {job} is cancelled." if not row.is_unfinished else f"Job {job} stops at its next step."
        emit(to_json(row), words, as_json=as_json)


def resume(context: typer.Context, project: ProjectName, job: JobNumber, as_json: AsJson = False) -> None:
    """Put a cancelled or failed job back into the queue; it goes on where it stopped."""
    from db.jobs import resume_job

    with opened(context) as here:
        row = resume_job(here.db, here.actor, project_id_of(here, project), job_id=job)
        words = f"Job {job} waits for a worker: that of the server, or `assay job run`."
        emit(to_json(row), words, as_json=as_json)


def run(
    context: typer.Context,
    stay: Annotated[bool, typer.Option("--stay", help="Then wait for further jobs, until stopped (Ctrl-C).")] = False,
) -> None:
    """Carry out waiting jobs in this process, one after the other.

    The server starts a worker of its own; this one is for a machine beside it, or for when no server runs. Any number
    of workers may run at once.
    """
    from app.worker.jobs import work, worker_name

    stop = threading.Event()
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            signal.signal(number, lambda *_: stop.set())
    settings = settings_of(context)
    with opened(context) as here:
        idle = None if stay else 0.0
        taken = work(here.db, worker_name(), stop=stop, idle_seconds=idle, told=say_aside, settings=settings)
    say(f"{count(taken, 'job')} carried out")


def to_json(job: JobRow) -> dict[str, Any]:
    """A job as `--json` prints it."""
    return {
        "job": job.job_id,
        "kind": job.kind,
        "parameters": job.parameters,
        "state": job.state,
        "done": job.done,
        "total": job.total,
        "rate": job.rate,
        "seconds_left": job.seconds_left,
        "message": job.message,
        "result": job.result,
        "queued_by": job.who,
        "queued_at": job.created_at.isoformat(),
        "started_at": job.started_at.isoformat() if job.started_at else None,
        "ended_at": job.ended_at.isoformat() if job.ended_at else None,
    }
