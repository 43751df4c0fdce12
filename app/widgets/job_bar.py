"""Jobs as pages draw them: bar, rate and time left, what can be done about each; and those that wait or run."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from annotators.figures import duration
from app import ui, wording
from app.widgets import blocks
from app.widgets.doing import acts
from app.worker import jobs
from app.worker.kinds.base import known
from db.jobs import JobRow, cancel_job, list_jobs, resume_job
from db.models import JobState

EVERY = 2
"""Seconds from one look at running jobs to the next."""

_LATE = 15
_STATES = {
    JobState.WAITING: "waiting",
    JobState.RUNNING: "running",
    JobState.DONE: "done",
    JobState.FAILED: "failed",
    JobState.CANCELLED: "cancelled",
}
_UNCOUNTED = {
    JobState.WAITING: "waiting",
    JobState.RUNNING: "counting what there is to do",
    JobState.DONE: "done",
    JobState.FAILED: "failed before anything was done",
    JobState.CANCELLED: "cancelled before anything was done",
}
"""Beside the bar of a job that has not said, or never did, how much there is to do."""


def title(job: JobRow) -> str:
    """What the job does, in a line."""
    kind = known(job.kind)
    return ": ".join(filter(None, (kind.title, kind.in_words(job.parameters)))) if kind else job.kind


def progress(job: JobRow) -> blocks.Html:
    """A bar with how much is done, of how much, how quickly, and how long it will take."""
    kind = known(job.kind)
    unit = kind.unit if kind else "step"
    share = job.done / job.total if job.total else float(job.state == JobState.DONE)
    if job.total is None and not job.done:
        return blocks.bar(share, _UNCOUNTED[JobState(job.state)])
    parts = [f"{job.done:,} of {wording.count(job.total, unit)}" if job.total else wording.count(job.done, unit)]
    if job.state == JobState.RUNNING and job.rate:
        parts.append(f"{job.rate:,.0f} a second" if job.rate >= 10 else f"{job.rate:.1f} a second")
    if job.seconds_left is not None:
        parts.append(f"{duration(job.seconds_left)} left")
    return blocks.bar(share, ", ".join(parts))


def state(job: JobRow) -> object:
    """Where it stands in a word or two; what wants attention stands out."""
    if job.state == JobState.RUNNING and job.cancel_requested:
        return blocks.tag("stopping", quiet=True)
    if job.state == JobState.RUNNING and not job.answers:
        return blocks.tag("its worker is gone")
    name = _STATES.get(JobState(job.state), job.state)
    return blocks.tag(name, quiet=job.state != JobState.FAILED)


def draw(job: JobRow) -> None:
    """One unfinished job with its bar and a button to cancel it."""
    left, right = st.columns([6, 1], vertical_alignment="center")
    with left:
        st.html(f"{blocks.panel(title(job), progress(job).html)}")
        if job.state == JobState.WAITING:
            st.caption(_waits(job))
        elif not job.answers:
            st.caption("Its worker is no longer heard of. Another takes it up where it stopped.")
    with right:
        actions(job)


def _waits(job: JobRow) -> str:
    from db.models import now  # noqa: PLC0415 - one clock for all

    if job.is_left:
        return f"Waiting for a worker that has what it needs, as the last did not: {ui.plain(job.message or '')}"

    if (now() - job.created_at).total_seconds() < _LATE:
        return "Waiting for a worker."
    return "Waiting for a worker. If none runs beside the server, start one: assay job run --stay"


def actions(job: JobRow) -> None:
    """Buttons: cancel an unfinished job, resume one that was cancelled or failed."""
    if job.is_unfinished:
        # It becomes *Resume* under the pointer: so it asks first.
        with acts.popover("Cancel…", key=f"job-cancel-{job.job_id}-asks", disabled=job.cancel_requested):
            st.write("What it has done so far is kept, and it can be resumed.")
            if st.button("Cancel it", type="primary", key=f"job-cancel-{job.job_id}"):
                with ui.problems():
                    cancel_job(ui.db(), ui.actor(), job.project_id, job_id=job.job_id)
                    acts.done("The job ends with what it is at.")
    elif job.state in (JobState.CANCELLED, JobState.FAILED) and st.button("Resume", key=f"job-resume-{job.job_id}"):
        with ui.problems():
            resume_job(ui.db(), ui.actor(), job.project_id, job_id=job.job_id)
            jobs.wake()
            st.rerun()


def unfinished(project_id: int, kind: str | None = None) -> list[JobRow]:
    """The project's jobs (of a kind) that wait or run, oldest first."""
    rows = list_jobs(ui.db(), ui.actor(), project_id, limit=100)
    return [job for job in reversed(rows) if job.is_unfinished and kind in (None, job.kind)]


@st.fragment(run_every=EVERY)
def running(project_id: int, kind: str | None = None, *, seen: Collection[int] = (), anew: str | None = None) -> None:
    """Draw the jobs (of a kind) that wait or run, and look again every few seconds.

    When one of them has ended, or one that the page has `seen` before, the page is drawn anew, with what the key `anew`
    of the session holds chosen anew as well.
    """
    with ui.problems():
        here = unfinished(project_id, kind)
        for job in here:
            draw(job)
        ids = {job.job_id for job in here}
        slot = f"jobs-running-{project_id}-{kind}"
        ended = {*st.session_state.get(slot, ()), *seen} - ids
        st.session_state[slot] = ids
        if ended:
            if anew is not None:
                st.session_state.pop(anew, None)
            st.rerun()
