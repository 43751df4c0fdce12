"""Waiting for what is measured in a process of its own: what there is already, and how long it has taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from app import ui, wording
from app.worker.reports import NotMeasured, Task

AT_ONCE_SECONDS = 0.15
"""What comes within this time is drawn without a word about waiting."""


def measured(key: Hashable, task: Task, shown: Callable[[list[Any]], bool] | None = None) -> list[Any]:
    """All parts of a piece of work, once they are there; made once for everybody who asks by the same key.

    Meanwhile `shown` draws the parts that there are, without widgets, and says whether there was anything to draw: the
    page draws all of it in the end. A run that
    is stopped or begun anew (another choice, a closed tab) looks away, and work that nobody looks at is ended. When the
    process died, the page says so, offers to begin again, and ends here.
    """
    try:
        with ui.reports().look(key, task) as look:
            if not look.wait(AT_ONCE_SECONDS):
                _wait(look, shown)
            return look.parts
    except NotMeasured as error:
        st.error(ui.lines(str(error)))
        st.button(wording.MEASURE_AGAIN, key="measure-again")
        st.stop()


def _wait(look: Any, shown: Callable[[list[Any]], bool] | None) -> None:
    began, drawn, seen = time.monotonic(), 0, False
    parts_place, words_place = st.empty(), st.empty()
    while True:
        parts = look.parts
        if shown is not None and len(parts) > drawn:
            with parts_place.container():
                seen = shown(parts)
        drawn = len(parts)
        # Each of these calls is also where Streamlit ends a run that is not wanted any more.
        words_place.html(wording.measuring(time.monotonic() - began, more=seen))
        if look.wait(1.0, beyond=drawn):
            break
    parts_place.empty()
    words_place.empty()
