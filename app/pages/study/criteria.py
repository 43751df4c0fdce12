"""How far each criterion of a study is."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.widgets import blocks
from db.annotating.status import progress_by_criterion
from db.studies.design import StudyRow

MOST = 100_000
"""Annotations up to which labels are counted by criterion; the page Agreement has the figures of larger studies."""


def draw(row: StudyRow) -> None:
    """Draw the tab. It is its own, as all labels are counted: the page never waits for it."""
    if not row.submitted:
        ui.empty("Nobody has labelled anything in this study yet.", "They are counted from the first labels on.")
        return
    if row.submitted > MOST:
        st.caption(f"Labels are counted by criterion in studies of up to {MOST:,} annotations.")
        return
    blocks.table(
        "Labels by criterion",
        ("Criterion", "Labels", "Cannot judge", "Agreement"),
        [
            (
                each.title,
                f"{each.labels:,}",
                f"{each.cannot_judge:,}",
                blocks.to("so far", "agreement", study=row.study_id, project=row.project_id) if each.labels else "",
            )
            for each in progress_by_criterion(ui.db(), ui.actor(), row.study_id)
        ],
        name=f"by-criterion-{row.study_id}",
    )
