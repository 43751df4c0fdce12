"""What fell with revisions of a study's items: listed, and sent back to be asked again of people with fresh eyes."""

from __future__ import annotations

import streamlit as st

from app import ui, wording
from app.widgets import blocks
from app.widgets.doing import acts
from db.models import Study
from db.releasing.recheck import ItemRecheck, send_to_recheck, to_recheck


def draw(study: Study, *, may_send: bool) -> None:
    """The items whose labels fell, and the button that sends them back; nothing where none fell."""
    found = to_recheck(ui.db(), ui.actor(), study.id or 0)
    if not found:
        return
    st.subheader("Labels that fell with revisions")
    titles = {criterion["name"]: criterion["title"] for criterion in study.protocol["criteria"]}
    blocks.table(
        "Labels that fell with revisions",
        ("Item", "From version", "To", "Asked again", "Annotators who do not know it", "Waits"),
        [
            (
                blocks.short(row.name),
                _version(row.before, row.other and row.other[1]),
                _version(row.after, row.other and row.other[2]),
                ", ".join(titles.get(name, name) for name in row.criteria),
                str(row.fresh),
                row.waits or "",
            )
            for row in found
        ],
        name=f"rechecks-{study.id}",
    )
    ready = [row for row in found if row.waits is None]
    if ready and may_send:
        label = f"Send back {wording.count(len(ready), 'pair' if ready[0].other else 'item')}…"
        with acts.popover(label, key="study-recheck"):
            _form(study, ready)


def _version(number: int, other: int | None) -> str:
    """The number of a version, of a pair those of both."""
    return str(number) if other is None else f"{number} ⇄ {other}"


def _form(study: Study, ready: list[ItemRecheck]) -> None:
    with st.form("study-recheck-form", border=False):
        st.write(
            "Each comes back in its later version, to so many annotators who were given no "
            "earlier version of it and wrote none. Only what fell is asked again, with what cannot be asked apart "
            "from it."
        )
        if ready[0].other is not None:
            st.write(
                "The pairs of an item that was revised come back together. Nobody gets one who was given an earlier "
                "version of either item, in whichever pair; the sides stay as they were drawn."
            )
        names = [row.name for row in ready]
        chosen = st.multiselect(acts.required("Items"), names, default=names, key="recheck-items")
        overlap = st.number_input("Annotators an item", 1, 50, study.overlap, key="recheck-overlap")
        reason = acts.reason("recheck-reason")
        pressed = st.form_submit_button("Send back", type="primary", key="recheck-save")
    if pressed:
        with ui.problems():
            sent = send_to_recheck(
                ui.db(), ui.actor(), study.id or 0, items=chosen, overlap=int(overlap), reason=reason
            )
            acts.done(f"{wording.count(len(sent), 'pair' if ready[0].other else 'item')} sent back.")
