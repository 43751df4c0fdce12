"""What one does to something from a page: popovers that close when it is done, reasons, and saying what was done.

A popover stays open by itself whatever is pressed in it. One of `popover` is another one once `done` was called in it,
so that it is closed, and its reason is empty again.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NoReturn

import streamlit as st

from app import wording

_DONE, _SAID, _EMPTY, _ASKED = "assay-acts-done", "assay-acts-said", "assay-acts-empty", "assay-acts-asked"
_here: ContextVar[str | None] = ContextVar("popover", default=None)

STAYS = 10
"""Seconds for which it is said what was done."""


@contextmanager
def popover(label: str, *, key: str, **options: Any) -> Iterator[None]:
    """A popover for something that one does, which is closed by `done`; `options` are those of `st.popover`."""
    times = _store(_DONE).get(key, 0)
    token = _here.set(key)
    try:
        with st.popover(label, key=f"{key}-{times}", **options):
            yield
    finally:
        _here.reset(token)


def reason(
    key: str, *, label: str = "Reason", note: str = "It is kept, and exports say it.", blocks: bool = True
) -> str:
    """The field for a reason, which has to be given; `note` says what becomes of it.

    While it is empty the browser sends nothing of its form. Where that has another button as well, such as one that
    says what would follow, it `blocks` none, and the act itself is refused.
    """
    if key in _store(_EMPTY):
        del _store(_EMPTY)[key]
        st.session_state[key] = ""
    shown = label if blocks else required(label)
    found = st.text_input(shown, max_chars=2000, key=key, help=note or None, required=blocks)
    _store(_DONE).setdefault(f"reasons of {_here.get()}", {})[key] = True
    return found


def required(label: str) -> str:
    """The label of a field that has to be filled in, marked as Streamlit marks those that know `required`."""
    return f"{label} :small[(required)]"


def ask(where: str, what: Any) -> NoReturn:
    """Have the page `where` open its dialog about something, and draw it anew."""
    st.session_state[_ASKED] = (where, what)
    st.rerun()


def asked(where: str) -> Any:
    """What the dialog of the page `where` is about; None while it is closed."""
    place, what = st.session_state.get(_ASKED, (None, None))
    if place != where:
        close()  # that of a page that was left
        return None
    return what


def close() -> None:
    """Close the dialog that is open."""
    st.session_state.pop(_ASKED, None)


def done(words: str) -> NoReturn:
    """Say what was done, on the page as it is then; close the popover in which it was done, or the dialog."""
    key = _here.get()
    if key is None:
        close()
    store = _store(_DONE)
    if key is not None:
        store[key] = store.get(key, 0) + 1
    for field in store.pop(f"reasons of {key}", {}):
        _store(_EMPTY)[field] = True
    say_next(words)
    st.rerun()


def say_next(words: str) -> None:
    """Have it said on the page that is drawn next."""
    st.session_state.setdefault(_SAID, []).append(words)


def say() -> None:
    """Say what was done in the run before; once on every page."""
    for words in st.session_state.pop(_SAID, []):
        st.toast(wording.markdown(words), icon=":material/check:", duration=STAYS)


def _store(name: str) -> dict[str, Any]:
    found: dict[str, Any] = st.session_state.setdefault(name, {})
    return found
