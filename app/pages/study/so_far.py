"""Agreement so far on the page of a study: measured in a process of its own, on a bounded number of items."""

from __future__ import annotations

import streamlit as st

from app import ui, wording
from app.widgets import blocks
from app.widgets.measuring import measured
from app.worker.report_tasks import AgreementSoFar
from db.permissions import READERS
from db.projects import my_projects
from db.studies.design import StudyRow
from db.studies.ratings import set_aside_stamp
from exports.agreement.so_far import CriterionSoFar, SoFar, changes_with
from exports.drawing.figures import figure


@st.fragment
def draw(row: StudyRow, noun: str) -> None:
    """Draw it, for who may know it; nothing while nobody has submitted anything."""
    role = next((entry.role for entry in my_projects(ui.db(), ui.actor()) if entry.project_id == row.project_id), None)
    if not row.submitted or role is None or not ui.may(role, READERS):
        return
    aside = set_aside_stamp(ui.db(), ui.actor(), row.study_id)
    key = ("agreement so far", row.study_id, changes_with(row.submitted), aside)
    blocks.section("Agreement so far")
    with ui.problems():
        found: SoFar = measured(key, AgreementSoFar(ui.actor(), row.study_id))[-1]
        _table(row, found, noun)


def _table(row: StudyRow, found: SoFar, noun: str) -> None:
    if not found.shared:
        st.caption(f"No {noun} has the labels of two people yet.")
        return
    items = wording.count(found.shared, noun)
    st.caption(
        f"On all {items} that two or more have labelled."
        if found.looked_at == found.shared
        else f"On {found.looked_at:,} of the {items} that two or more have labelled, drawn by their ids; the page "
        "Agreement measures all of them."
    )
    blocks.table(
        "Agreement so far",
        ("Criterion", "Coefficient", "Agreement, 95 % interval", "Units"),
        [
            (
                blocks.to(each.title, "agreement", study=row.study_id, project=row.project_id, criterion=each.name),
                each.called,
                _value(each),
                f"{each.found.n_units:,}" if each.found else "",
            )
            for each in found.criteria
        ],
        name=f"agreement-so-far-{row.study_id}",
    )


def _value(each: CriterionSoFar) -> object:
    """The coefficient with its interval, or why there is none."""
    if each.found is None:
        return "not measured"
    return figure(each.found)
