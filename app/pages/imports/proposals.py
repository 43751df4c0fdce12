"""The tab Proposed revisions: what imports say otherwise of items that are there, accepted or declined one by one."""

from __future__ import annotations

import streamlit as st

from annotators.errors import AssayError
from app import ui, wording
from app.widgets import blocks, pager, revision_view
from app.widgets.doing import acts
from db.projects import ProjectRow
from db.releasing.proposals import ProposalRow, answer_proposal, count_proposals, list_proposals, plan_proposal

PAGE = 50


def draw(project: ProjectRow) -> None:
    """Draw the tab."""
    after = pager.start("proposals", project.project_id)
    rows = list_proposals(ui.db(), ui.actor(), project.project_id, after=after or 0, limit=PAGE)
    if not rows:
        ui.empty("No revision is proposed.", "An import that has an item with other content proposes it here.")
        return
    waiting = count_proposals(ui.db(), ui.actor(), project.project_id)
    st.caption(f"{wording.count(waiting, 'revision')} waiting for an answer.")
    blocks.table(
        "Proposed revisions that wait for an answer",
        ("Item", "What differs", "From", "Line", "When"),
        [
            (
                blocks.item(row.external_id, row.item_id, project.project_id),
                ", ".join(row.fields),
                row.source,
                row.line,
                ui.when(row.at),
            )
            for row in rows
        ],
    )
    pager.buttons("proposals", rows[-1].proposal_id if len(rows) == PAGE else None)
    by_id = {row.proposal_id: row for row in rows}
    chosen = st.selectbox("Look at", list(by_id), format_func=lambda one: _name(by_id[one]), key="proposal")
    _one(project, by_id[chosen])


def _name(row: ProposalRow) -> str:
    return f"{row.external_id}: {', '.join(row.fields)}"


def _one(project: ProjectRow, row: ProposalRow) -> None:
    """What accepting would do, and the answer."""
    left, right = st.columns([3, 2], gap="large")
    plan = None
    with left:
        try:
            plan = plan_proposal(ui.db(), ui.actor(), project.project_id, proposal_id=row.proposal_id)
        except AssayError as error:  # an item's identity, or a document that is not there: it can only be declined
            st.warning(f"It cannot be accepted: {ui.lines(str(error))}")
        else:
            st.subheader(f"Version {plan.from_version} to {plan.version}")
            revision_view.difference(plan)
    with right:
        if plan is not None:
            st.subheader("Labels")
            revision_view.effects(plan)
        reason = acts.reason(
            f"proposal-reason-{row.proposal_id}", label="Why", note="It is kept, whether accepted or declined."
        )
        with st.container(horizontal=True):
            accepted = st.button("Accept", type="primary", disabled=plan is None, key=f"accept-{row.proposal_id}")
            declined = st.button("Decline", key=f"decline-{row.proposal_id}")
        if accepted or declined:
            with ui.problems():
                answer_proposal(
                    ui.db(), ui.actor(), project.project_id,
                    proposal_id=row.proposal_id, accept=accepted, reason=reason,
                )  # fmt: skip
                acts.done(f"{row.external_id} is revised." if accepted else "The proposal is declined.")
