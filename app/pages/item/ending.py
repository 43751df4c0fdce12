"""Ending an item by hand, on its page: accepted, rejected or withdrawn with a reason, and taken back."""

from __future__ import annotations

import streamlit as st

from app import ui, wording
from app.widgets.doing import acts
from db.releasing.endings import BY_HAND, end_item
from db.releasing.states import Standing


def popover(external_id: str, project_id: int, item: Standing) -> None:
    """Draw the button and what opens below it."""
    choices = [state for state in BY_HAND if not (item.by_hand and state is item.state)]
    label = "End by hand…" if not item.by_hand else f"Ended by hand: {wording.state(item.state)}…"
    with acts.popover(label, key="item-end"):
        st.caption("Whatever its labels say. Nothing is deleted, and it can be taken back.")
        wanted = st.selectbox(
            "The item is",
            [None, *choices] if item.by_hand else choices,
            format_func=lambda state: "what its labels say" if state is None else wording.state(state),
            key=f"end-state-{external_id}-{item.state}",
        )
        reason = acts.reason(f"end-reason-{external_id}-{item.state}")
        if st.button("Save", type="primary", key=f"end-save-{external_id}"):
            with ui.problems():
                end_item(ui.db(), ui.actor(), project_id, external_id=external_id, state=wanted, reason=reason)
                acts.done(
                    f"{external_id} is what its labels say again."
                    if wanted is None
                    else f"{external_id} is {wording.state(wanted)} now, by hand."
                )
