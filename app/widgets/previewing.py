"""An item of the project as annotators would get it, on the annotator's page: to look at, or to give right labels.

Nothing of it is kept. A page names the place from which it is opened by a key of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.designing.known import RightLabel
from annotators.items.pairs import BETWEEN, in_words
from annotators.pages.words.index import WordIndex
from annotators.protocols import Protocol
from app import ui
from app.on_pages import OnPages
from app.state import app_state
from app.widgets.annotate import preview as draw_preview
from app.widgets.choices import item_choice
from db.annotating.previews import StepPreview, preview, right_labels
from db.projects import ProjectRow

_SECONDS = 10.0


def choice(project: ProjectRow, protocol: Protocol | None, *, key: str) -> None:
    """The item to try it on, and the button that does; without a protocol the button waits for one."""
    item = item_choice(project, "Item to preview on", key=f"{key}-item")
    if st.button("Preview", key=f"{key}-preview", disabled=protocol is None or item is None):
        show(key, item)


def show(key: str, item: str | None) -> None:
    """Open the preview of an item, or of a pair by its name."""
    st.session_state[_shown(key)] = item


def draw(
    project: ProjectRow,
    protocol: Protocol | None,
    *,
    key: str,
    design: StudyDesign | None = None,
    labelling: bool = False,
) -> tuple[RightLabel, ...]:
    """The preview, once it was asked for and until it is closed; the right labels that were given in it.

    With a `design` what its study shows of models is there.
    """
    item = st.session_state.get(_shown(key))
    if item is None or protocol is None:
        return ()
    first, _, other = item.partition(BETWEEN)
    about: dict[str, Any] = {"protocol": protocol, "external_id": first, "other": other}
    found: tuple[RightLabel, ...] = ()
    with ui.problems():
        try:
            steps = preview(ui.db(), ui.actor(), project.project_id, **about, design=design)
            marks = _marks_of(steps)
        except Exception:
            show(key, None)
            raise
        said = draw_preview(
            protocol, steps, marks=marks, item=in_words(item), labelling=labelling, close=lambda: show(key, None)
        )
        if said is not None:
            given = {int(step["step"]): [_given(label) for label in step["labels"]] for step in said}
            found = right_labels(ui.db(), ui.actor(), project.project_id, **about, steps=given)
            show(key, None)
    return found


def _given(label: dict[str, Any]) -> GivenLabel:
    names = ("criterion", "target", "value", "cannot_judge", "reason", "comment")
    return GivenLabel(**{name: label[name] for name in names if label.get(name) is not None})


def _shown(key: str) -> str:
    return f"{key}-previewed"


def _marks_of(steps: Sequence[StepPreview]) -> list[dict[str, Any]]:
    """What is marked on the pages at each step, as far as they can be read in the time that one waits for a page."""
    state = app_state()
    index = WordIndex(state.settings.pages_folder, state.settings.recognised_folder, state.renderer)
    pages = OnPages(index, state.settings.documents_folder)
    return [pages.of_step(step, seconds=_SECONDS) for step in steps]
