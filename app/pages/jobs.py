"""Jobs: long work with its progress, rate and time left; cancelled, resumed, and why it failed."""

from __future__ import annotations

from html import escape

import streamlit as st

from annotators.figures import duration
from app import ui
from app.widgets import blocks, job_bar, pager
from db.jobs import JobRow, list_jobs
from db.models import JobState

PAGE = 30


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    ui.heading("Jobs", "Long work: it goes on when this page is closed, and where it stopped when a worker dies.")
    before = pager.start("jobs", project.project_id)
    rows = list_jobs(ui.db(), ui.actor(), project.project_id, before=before, limit=PAGE)
    if not rows and before is None:
        ui.empty("There has been no long work yet.", "Run a scorer on the page Scores: it then appears here.")
        ui.link("Scores", "scores", key="jobs-scores", primary=True, project=project.project_id)
        return
    job_bar.running(project.project_id)
    _ended([row for row in rows if not row.is_unfinished])
    pager.buttons("jobs", rows[-1].job_id if len(rows) == PAGE else None)


def _ended(rows: list[JobRow]) -> None:
    if not rows:
        return
    blocks.table(
        "Jobs that have ended",
        ("Job", "What", "State", "Done", "Took", "Ended", "By"),
        [
            (
                row.job_id,
                job_bar.title(row),
                job_bar.state(row),
                f"{row.done:,} of {row.total:,}" if row.total else f"{row.done:,}",
                _took(row),
                ui.when(row.ended_at),
                row.who,
            )
            for row in rows
        ],
    )
    for row in rows:
        if row.state in (JobState.FAILED, JobState.CANCELLED):
            _stopped(row)


def _took(job: JobRow) -> str:
    if job.started_at is None or job.ended_at is None:
        return ""
    return duration((job.ended_at - job.started_at).total_seconds())


def _stopped(job: JobRow) -> None:
    """A job that did not come to its end: why, and the way on."""
    why = job.message or "It was cancelled."
    with st.container(key=f"job-stopped-{job.job_id}"):
        left, right = st.columns([6, 1], vertical_alignment="center")
        with left:
            st.html(blocks.panel(f"Job {job.job_id}: {job_bar.title(job)}", f"<p>{escape(why)}</p>"))
            details = (job.result or {}).get("details")
            if details:
                with st.expander("What the program says"):
                    st.code(details, language=None)
        with right:
            job_bar.actions(job)
