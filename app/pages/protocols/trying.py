"""A protocol tried on a real item of the project: the annotator's page as it would be, of which nothing is kept."""

from __future__ import annotations

import streamlit as st

from annotators.protocols import Protocol
from app import ui
from app.widgets.annotate import preview as draw_preview
from app.widgets.choices import item_choice
from db.annotating.previews import preview
from db.projects import ProjectRow

_SHOWN = "protocol-tried"
_ITEM = "protocol-item"


def choice(project: ProjectRow, protocol: Protocol | None) -> None:
    """The item to try it on, and the button that does; without a protocol the button waits for one."""
    item = item_choice(project, "Item to preview on", key=_ITEM)
    if st.button("Preview", key="protocol-preview", disabled=protocol is None or item is None):
        st.session_state[_SHOWN] = item


def draw(project: ProjectRow, protocol: Protocol | None) -> None:
    """The preview, once it was asked for and until it is closed."""
    item = st.session_state.get(_SHOWN)
    if item is None or protocol is None:
        return
    with ui.problems():
        try:
            steps = preview(ui.db(), ui.actor(), project.project_id, protocol=protocol, external_id=item)
        except Exception:
            _close()
            raise
        draw_preview(protocol, steps, item=item, close=_close)


def _close() -> None:
    st.session_state.pop(_SHOWN, None)
