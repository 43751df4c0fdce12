"""Studies: how far each is, with what is disputed and agreed one click away; and a new one."""

from __future__ import annotations

import streamlit as st

from app import ui, wording
from app.widgets import blocks, study_form
from db.designing.drafts import DraftOfStudy, drafts_of
from db.items.read import ItemCounts, item_counts
from db.models import StudyState
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.studies.design import StudyRow, list_studies


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    drafts = drafts_of(ui.db(), ui.actor(), project.project_id)
    counts = item_counts(ui.db(), ui.actor(), project.project_id)
    about = f"{wording.count(len(studies), 'study', 'studies')}, {wording.count(counts.total, 'item')} in the project"
    ui.heading("Studies", about)
    if not ui.may(project.role, RESEARCHERS):
        _listed(studies, drafts, project)
        return
    if not studies and not drafts:
        _first(project, counts)
        return
    if (
        study_form.ITEMS in st.session_state or study_form.DRAFT in st.session_state
    ):  # chosen on another page: the form comes first
        _new(project, counts)
        return
    wanted = "New study" if st.query_params.get("new") else "Studies"
    tabs = st.tabs(["Studies", "New study"], default=wanted, key=f"studies-tabs-{wanted}", on_change="rerun")
    all_of_them, new = tabs
    # Only what is open is made: the form looks at every item that could be drawn.
    if all_of_them.open:
        with all_of_them:
            _listed(studies, drafts, project)
    if new.open:
        with new:
            _new(project, counts)


def _first(project: ProjectRow, counts: ItemCounts) -> None:
    if counts.total:
        ui.empty("There is no study yet.", "Design the first one: a protocol, a sample of the items, annotators.")
    _new(project, counts)


def _new(project: ProjectRow, counts: ItemCounts) -> None:
    if not counts.total:
        ui.empty("The project has no items.", "A study asks people about items. Import some first.")
        ui.link("Import items", "imports", key="studies-import", primary=True)
        return
    study_form.draw(project, counts)


def _listed(studies: list[StudyRow], drafts: list[DraftOfStudy], project: ProjectRow) -> None:
    if not studies and not drafts:
        ui.empty("There is no study yet.", "A researcher of the project designs one; it then appears here.")
        return
    rows = [_draft(draft, project) for draft in reversed(drafts)]
    rows += [_row(study, project) for study in reversed(studies)]
    blocks.table(
        f"Studies of {project.name}",
        ("Study", "Protocol", "Items", "Overlap", "Annotations", "Disputed", "Agreement"),
        rows,
    )


def _name(study: StudyRow, project: ProjectRow) -> blocks.Html:
    """The name, which leads to the study, and its state where it is not running."""
    name = blocks.to(study.name, "study", study=study.study_id, project=project.project_id)
    if study.state == StudyState.RUNNING:
        return name
    state = blocks.tag(study.state, quiet=True)
    return blocks.Html(f"{name.html} {state.html}", f"{name.text} ({state.text})")


def _draft(draft: DraftOfStudy, project: ProjectRow) -> tuple[object, ...]:
    """A draft among the studies: nothing of it is frozen, so that there is nothing to count."""
    name = blocks.to(draft.design.name, "study", draft=draft.draft_id, project=project.project_id)
    state = blocks.tag("draft", quiet=True)
    named = blocks.Html(f"{name.html} {state.html}", f"{name.text} (draft)")
    return named, draft.protocol.title, "", draft.design.overlap_of(draft.protocol), "", "", ""


def _row(study: StudyRow, project: ProjectRow) -> tuple[object, ...]:
    words = f"{study.submitted:,} of {study.slots:,}"
    disputed: object = f"{study.disputed:,}" if study.disputed else ""
    if study.disputed and study.may_adjudicate:
        disputed = blocks.to(f"{study.disputed:,}", "adjudicate", study=study.study_id, project=project.project_id)
    return (
        _name(study, project),
        study.protocol,
        f"{study.n_items:,}",
        study.overlap,
        blocks.bar(study.submitted / max(1, study.slots), words),
        disputed,
        blocks.to("so far", "agreement", study=study.study_id, project=project.project_id) if study.submitted else "",
    )
