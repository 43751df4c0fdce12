"""Lists that are read by key, a page at a time: where to read from, and the buttons back and on."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st


def start(name: str, about: object) -> Any | None:
    """The key to read after (None: from the beginning) for the list called `name`, filtered by `about`."""
    state = st.session_state.get(f"pager-{name}")
    if state is None or state["about"] != about:
        state = st.session_state[f"pager-{name}"] = {"about": about, "after": []}
    return state["after"][-1] if state["after"] else None


def buttons(name: str, following: object | None) -> None:
    """Buttons back and on through a list that is read by key; `following` is the last row's key if there may be more.

    Goes with `start`, which says from where to read.
    """
    state = st.session_state[f"pager-{name}"]
    if not state["after"] and following is None:
        return
    with st.container(horizontal=True, gap="small", key=f"pager-row-{name}"):
        disabled = not state["after"]
        st.button("Back", key=f"pager-back-{name}", on_click=partial(_back, name), disabled=disabled)
        if following is not None:
            st.button("Next", key=f"pager-next-{name}", on_click=partial(_next, name, following))


def _next(name: str, following: Any) -> None:
    st.session_state[f"pager-{name}"]["after"].append(following)


def _back(name: str) -> None:
    st.session_state[f"pager-{name}"]["after"].pop()
