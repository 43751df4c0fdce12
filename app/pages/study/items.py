"""The items of a study: how many are in each state, each number leading to its list, and how far each criterion is."""

from __future__ import annotations

import streamlit as st

from app import ui, wording
from app.widgets import blocks
from db.annotating.status import progress_by_criterion
from db.releasing.states import study_stages
from db.studies.design import StudyRow

MOST = 100_000
"""Annotations up to which labels are counted by criterion; the page Agreement has the figures of larger studies."""
_STAGES = {
    "labels": "waiting for annotations",
    "adjudication": "disputed",
    "revision": "in revision",
    "recheck": "in recheck",
}


def draw(row: StudyRow) -> None:
    """Draw the tab. Everything is counted now: the tab is its own, so that the page never waits for it."""
    found = study_stages(ui.db(), ui.actor(), row.study_id)
    if not found.items:
        ui.empty("A study of pairs says nothing of single items.", "Its comparisons are on the page Agreement.")
    else:
        blocks.table(
            "Items by state",
            ("State", "Items", "Share"),
            [
                (
                    blocks.to(wording.state(state), "data", project=row.project_id, study=row.study_id, state=state),
                    f"{n:,}",
                    blocks.bar(n / found.items, wording.percent(n / found.items)),
                )
                for state, n in found.states.items()
            ],
            name=f"items-by-state-{row.study_id}",
        )
        st.subheader("So far")
        blocks.table(
            "How far items have come",
            ("Stage", "Reached it", "Share of items", "Went on", "Share of those"),
            [
                (
                    _STAGES[stage.stage],
                    f"{stage.reached:,}",
                    wording.percent(stage.reached / found.items),
                    f"{stage.moved:,}",
                    wording.percent(stage.moved / stage.reached) if stage.reached else "",
                )
                for stage in found.stages
                if stage.stage in _STAGES
            ],
            name=f"stages-{row.study_id}",
        )
    st.subheader("By criterion")
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
                blocks.to("so far", "agreement", study=row.study_id, project=row.project_id, criterion=each.criterion)
                if each.labels
                else "",
            )
            for each in progress_by_criterion(ui.db(), ui.actor(), row.study_id)
        ],
        name=f"by-criterion-{row.study_id}",
    )
