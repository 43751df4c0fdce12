"""Documents that never leave this machine, on the page Data: which they are, and others beside them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from annotators.figures import some
from app import ui
from app.copies import forget_exports
from app.state import app_state
from db.items.documents import keep_documents, list_kept_documents
from db.projects import ProjectRow


def kept(project: ProjectRow) -> dict[str, tuple[str, ...]]:
    """The documents that stay, as of `db.items.documents.kept_documents`."""
    return list_kept_documents(ui.db(), ui.actor(), project.project_id)


def draw(project: ProjectRow, listed: Sequence[str], kept: Mapping[str, Sequence[str]]) -> None:
    """A form for those that stay and those that are `listed` above it, by key."""
    staying = {key for key, others in kept.items() if not others}
    same = [f"{key} (the bytes of {some(others, 3)})" for key, others in kept.items() if others]
    with st.expander("Documents that stay here"):
        st.caption(
            "Items that are about one of these, or cite one, are never sent to a judge on another machine. Search "
            "above for documents that are not offered."
        )
        if same:
            st.caption(ui.plain(f"These stay for the bytes that they have: {some(same, 20)}."))
        with st.form("staying", border=False):
            chosen = st.multiselect(
                "Documents", sorted({*listed, *staying}), sorted(staying), key=f"staying-{len(staying)}"
            )
            if st.form_submit_button("Save", type="primary"):
                with ui.problems():
                    for keys, stay in ((set(chosen) - staying, True), (staying - set(chosen), False)):
                        if keys:
                            keep_documents(ui.db(), ui.actor(), project.project_id, keys=sorted(keys), kept=stay)
                    if set(chosen) - staying:
                        forget_exports(app_state().settings)
                    st.rerun()
