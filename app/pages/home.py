"""Home: what waits for me, each one click away; for researchers, their projects and how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import navigation, ui, wording
from db.permissions import Actor, Role
from db.projects import ProjectRow, create_project, my_projects
from db.studies import StudyRow, my_studies


def page() -> None:
    """Draw the page."""
    actor = ui.actor()
    projects = my_projects(ui.db(), actor)
    studies = my_studies(ui.db(), actor)
    ui.heading("Home", _greeting(actor, studies))
    waiting = _waiting(studies)
    if not waiting:
        _nothing(actor, projects, studies)
    if any(row.role is Role.RESEARCHER for row in projects):
        _projects(projects, studies)
    if actor.is_admin or actor.default_role == Role.RESEARCHER:
        _new_project(first=not projects)


def _greeting(actor: Actor, studies: Sequence[StudyRow]) -> str:
    left = sum(max(0, row.of - row.done) for row in studies if row.is_annotator)
    disputed = sum(row.disputed for row in studies if row.may_adjudicate)
    parts = [wording.count(left, "item") + " to annotate"] if left else []
    parts += [wording.count(disputed, "disputed item") + " to adjudicate"] if disputed else []
    return f"{actor.name}: {', '.join(parts)}" if parts else actor.name


def _waiting(studies: Sequence[StudyRow]) -> bool:
    """One row a study in which something waits for me; whether there was any."""
    found = False
    for row in studies:
        if row.is_annotator and (row.returned or row.done < row.of):
            found = True
            _annotate(row)
    for row in studies:
        if row.may_adjudicate and row.disputed:
            found = True
            _adjudicate(row)
    return found


def _annotate(row: StudyRow) -> None:
    returned = f'<span class="assay-tag">{row.returned} returned to you</span>' if row.returned else ""
    with _row(f"annotate-{row.study_id}"):
        _about(row, f"{row.done} of about {row.of} done", row.done / max(1, row.of), returned)
        label = "Continue" if row.done else "Start"
        ui.link(f"{label} annotating", "annotate", key="annotate", primary=True, study=row.study_id)


def _adjudicate(row: StudyRow) -> None:
    with _row(f"adjudicate-{row.study_id}"):
        _about(row, f"{wording.count(row.disputed, 'disputed item')} of {row.n_items:,}", None)
        if "adjudicate" in navigation.load_pages():
            ui.link("Adjudicate", "adjudicate", primary=True, study=row.study_id, project=row.project_id)


def _row(key: str) -> DeltaGenerator:
    return st.container(
        horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", border=True, key=f"row-{key}"
    )


def _about(row: StudyRow, progress: str, share: float | None, tag: str = "") -> None:
    bar = "" if share is None else f'<div class="assay-bar"><i style="width:{min(100, round(100 * share))}%"></i></div>'
    st.html(
        f'<div class="assay-row"><div><strong>{escape(row.name)}</strong> {tag}<br>'
        f'<span class="assay-soft">{escape(row.project)} · {escape(row.protocol)}</span></div>'
        f'<div class="assay-progress">{bar}<span class="assay-soft">{escape(progress)}</span></div></div>'
    )


def _nothing(actor: Actor, projects: Sequence[ProjectRow], studies: Sequence[StudyRow]) -> None:
    if any(row.is_annotator for row in studies):
        ui.empty("Nothing waits for you.", "Everything that was yours to do is done. New items appear here.")
    elif actor.is_admin or any(row.role is Role.RESEARCHER for row in projects):
        if not projects:
            ui.empty("There is no project yet.", "Create one below; then import documents and items into it.")
        elif not studies:
            ui.empty("There is no study yet.", "Import items, then design a study: a protocol, a sample, annotators.")
    else:
        ui.empty("Nothing waits for you.", "A researcher adds you to a study; it then appears here.")


def _projects(projects: Sequence[ProjectRow], studies: Sequence[StudyRow]) -> None:
    st.subheader("Projects")
    for project in projects:
        if project.role is not Role.RESEARCHER:
            continue
        own = [row for row in studies if row.project_id == project.project_id]
        with _row(f"project-{project.project_id}"):
            done, of = sum(row.submitted for row in own), sum(row.slots for row in own)
            progress = f"{done:,} of {of:,} annotations" if of else ""
            bar = f'<div class="assay-bar"><i style="width:{round(100 * done / of)}%"></i></div>' if of else ""
            st.html(
                f'<div class="assay-row"><div><strong>{escape(project.name)}</strong><br>'
                f'<span class="assay-soft">{wording.count(len(own), "study", "studies")}</span></div>'
                f'<div class="assay-progress">{bar}<span class="assay-soft">{progress}</span></div></div>'
            )
            for name in ("data", "studies"):
                if name in navigation.load_pages():
                    ui.link(name.capitalize(), name, key=f"home-{name}", project=project.project_id)


def _new_project(*, first: bool) -> None:
    with st.expander("New project", expanded=first), st.form("new-project", border=False):
        name = st.text_input("Name of the project", max_chars=100)
        if st.form_submit_button("Create project", type="primary"):
            with ui.problems():
                project_id = create_project(ui.db(), ui.actor(), name)
                st.query_params["project"] = str(project_id)
                st.rerun()
