"""Judges: language models that fill in a study's protocol, what each has labelled and cost, and what went wrong."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import streamlit as st

from annotators.figures import money
from app import ui
from app.pages.judges import one, panel, run
from app.widgets import blocks, choices, job_bar
from app.worker.kinds.judge import JUDGE
from app.worker.kinds.judge_check import JUDGE_CHECK
from db.jobs import JobRow, list_jobs
from db.judging.judged import JudgeInStudy, judges_in_study
from db.projects import ProjectRow
from db.studies.design import StudyRow, list_studies

RUN = "run"
_JOBS = 200


def page() -> None:
    """Draw the list of a study's judges; `?judge=NAME` one of them, `?panel=` several; `?run=new` (or JOB) the form."""
    blocks.style()
    project = ui.project()
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    if RUN in st.query_params:
        run.draw(project, studies)
        return
    here = next((row for row in studies if row.study_id == ui.integer_parameter("study")), None)
    if here is not None and (judge := st.query_params.get("judge")):
        one.draw(project, here, judge)
        return
    if here is not None and "panel" in st.query_params:
        panel.draw(project, here)
        return
    ui.heading("Judges", "Language models that fill in a study’s protocol, as raters of kind model.")
    if not studies:
        ui.empty("There is no study yet.", "A judge labels the items of a study, or all items by a protocol.")
        _new(project, None)
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="judges-choice"):
        study = choices.study_with_labels(studies, "judges")
        _new(project, study)
    _of_study(project, study)


def _new(project: ProjectRow, study: StudyRow | None) -> None:
    if st.button("Run a judge", type="primary", key="judges-run"):
        ui.go("judges", run="new", project=project.project_id, **({} if study is None else {"study": study.study_id}))


def _of_study(project: ProjectRow, study: StudyRow) -> None:
    run.said()
    job_bar.running(project.project_id, JUDGE.name)
    job_bar.running(project.project_id, JUDGE_CHECK.name)
    found = judges_in_study(ui.db(), ui.actor(), study.study_id)
    if not found:
        if job_bar.unfinished(project.project_id, JUDGE.name):
            return
        ui.empty(
            "No judge has labelled this study.",
            "Run one: what it would send and cost is shown first. Annotators never see its labels, unless the study’s "
            "suggestions say so.",
        )
        return
    if sum(bool(row.judged.labels) for row in found) > 1:
        blocks.links(blocks.to("Combine them in a panel", "judges", **_here(study), panel="all"))
    jobs = {job.job_id: job for job in list_jobs(ui.db(), ui.actor(), project.project_id, kind=JUDGE.name, limit=_JOBS)}
    last = {row.name: jobs[row.jobs[-1]] for row in found if row.jobs and row.jobs[-1] in jobs}
    blocks.table(
        f"Judges of {study.name}",
        ("Judge", "Items", "Labels", "Cannot judge", "Unscored", "Requests", "Tokens sent", "received", "Cost", "Run"),
        [_row(study, row, last.get(row.name)) for row in found],
        name=f"judges-{study.study_id}",
    )
    _unscored(found)
    _went_wrong(found, last)


def _here(study: StudyRow) -> dict[str, int]:
    return {"project": study.project_id, "study": study.study_id}


def _row(study: StudyRow, row: JudgeInStudy, job: JobRow | None) -> tuple[object, ...]:
    judged, spent = row.judged, row.spent
    asked = row.jobs != ()
    return (
        blocks.to(row.name, "judges", **_here(study), judge=row.name) if judged.labels else row.name,
        f"{judged.items:,}",
        f"{judged.labels:,}",
        f"{judged.cannot_judge:,}",
        f"{sum(judged.unscored.values()):,}",
        f"{spent.requests:,}" if asked else "",
        f"{spent.tokens_in:,}" if asked else "",
        f"{spent.tokens_out:,}" if asked else "",
        money(spent.cost) if asked else "",
        "labels imported" if row.judge is None else "" if job is None else _state(job),
    )


def _state(job: JobRow) -> object:
    stopped = (job.result or {}).get("stopped")
    return blocks.tag(f"stopped: {stopped}") if stopped else job_bar.state(job)


def _unscored(found: Sequence[JudgeInStudy]) -> None:
    """Why labels are missing, judge by judge; nothing where none is."""
    rows = [(row.name, reason, f"{n:,}") for row in found for reason, n in row.judged.unscored.items()]
    if rows:
        blocks.table("Unscored, by reason", ("Judge", "Reason", "Targets"), rows, name="judges-unscored")


def _went_wrong(found: Sequence[JudgeInStudy], last: Mapping[str, JobRow]) -> None:
    """The last run of each judge that did not come to its end: why, and the way on."""
    for row in found:
        job = last.get(row.name)
        if job is None or job.is_unfinished or not (words := run.why_not_done(job)):
            continue
        with st.container(key=f"judge-stopped-{job.job_id}"):
            left, right = st.columns([6, 1], vertical_alignment="center")
            with left:
                body = "".join(f"<p>{escape(line)}</p>" for line in words.splitlines())
                st.html(blocks.panel(f"{row.name}: run {job.job_id}", body))
            with right:
                job_bar.actions(job)
                if run.left_over(job) and st.button("Go on…", key=f"judge-again-{job.job_id}"):
                    ui.go("judges", run=job.job_id, study=job.parameters["study_id"], project=job.project_id)
