"""What a prompt sends of a real item of the project: the requests of each step, as a judge gets them."""

from __future__ import annotations

from collections.abc import Iterator

import streamlit as st

from annotators.judges.base import Call, Picture
from annotators.judges.prompts import AnyPrompt, Prompt, calls
from app import ui
from app.widgets import blocks
from app.widgets.choices import item_choice
from db.annotating.previews import preview
from db.projects import ProjectRow
from db.studies.library import named_protocol

_SHOWN = "prompt-tried"
_MARK = "0000"
"""In place of the mark that nobody knows."""


def choice(project: ProjectRow, prompt: AnyPrompt) -> None:
    """The item of which it is shown, and the button that does; for prompts that say for which protocol they are."""
    if not isinstance(prompt, Prompt) or not prompt.protocol:
        return
    item = item_choice(project, "Item", key="prompt-item")
    if st.button("Show what is sent", key="prompt-send", disabled=item is None):
        st.session_state[_SHOWN] = item


def draw(project: ProjectRow, prompt: AnyPrompt) -> None:
    """The requests, once they were asked for and until they are closed."""
    item = st.session_state.get(_SHOWN)
    if item is None or not isinstance(prompt, Prompt) or not prompt.protocol:
        return
    with ui.problems():
        try:
            requests = list(_requests(project, prompt, item))
        except Exception:
            st.session_state.pop(_SHOWN, None)
            raise
        st.html("<style>.st-key-prompt-sent .assay-text { max-width: none; font-size: 0.9rem; }</style>")
        with st.container(border=True, key="prompt-sent"):
            st.caption(
                "Nothing is sent now. What is asked under a condition comes after the label that opens it; pictures "
                "are not shown."
            )
            for title, call in requests:
                with st.expander(title):
                    st.html("".join(_message(call)))
            if st.button("Close", key="prompt-close"):
                st.session_state.pop(_SHOWN, None)
                st.rerun()


def _requests(project: ProjectRow, prompt: Prompt, item: str) -> Iterator[tuple[str, Call]]:
    protocol = named_protocol(ui.db(), ui.actor(), project.project_id, name=prompt.protocol)
    steps = preview(ui.db(), ui.actor(), project.project_id, protocol=protocol, external_id=item)
    for number, step in enumerate(steps):
        for call in calls(protocol, prompt, step.presentation(number), number, given={}, mark=_MARK):
            yield f"{protocol.steps[number].title}: {protocol.criterion(call.name).title}", call


def _message(call: Call) -> Iterator[str]:
    for message in call.messages:
        text = "\n\n".join(part.text for part in message.parts if not isinstance(part, Picture))
        yield blocks.panel("Said first" if message.role == "system" else "Sent", blocks.text_html(text))
