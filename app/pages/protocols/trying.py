"""A protocol tried on a real item of the project: the annotator's page as it would be, of which nothing is kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotators.pages.words.index import WordIndex
from annotators.protocols import Protocol
from app import ui
from app.on_pages import OnPages
from app.state import app_state
from app.widgets.annotate import preview as draw_preview
from app.widgets.choices import item_choice
from db.annotating.previews import StepPreview, preview
from db.projects import ProjectRow

_SECONDS = 10.0
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
            marks = _marks_of(steps)
        except Exception:
            _close()
            raise
        draw_preview(protocol, steps, marks=marks, item=item, close=_close)


def _marks_of(steps: Sequence[StepPreview]) -> list[dict[str, Any]]:
    """What is marked on the pages at each step, as far as they can be read in the time that one waits for a page."""
    state = app_state()
    index = WordIndex(state.settings.pages_folder, state.settings.recognised_folder, state.renderer)
    pages = OnPages(index, state.settings.documents_folder)
    return [pages.of_step(step, seconds=_SECONDS) for step in steps]


def _close() -> None:
    st.session_state.pop(_SHOWN, None)
