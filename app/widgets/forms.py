"""What was typed into a form, kept while its page is away: Streamlit forgets a widget that a run does not draw."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any

import streamlit as st

_KEPT = "assay-form"


@contextmanager
def kept(form: str, about: int, names: Sequence[str]) -> Iterator[None]:
    """Around the widgets of a form: they begin with what they had when the form about this thing was last drawn.

    `names` are the keys of the widgets, in which a star stands for anything. What the form about another thing (the
    form of another project) had is put away and comes back with it.
    """
    store = _store()
    if store.get((form, "about")) != about:
        for key in _present(names):
            del st.session_state[key]
        store[form, "about"] = about
    for key, value in store.setdefault((form, about), {}).items():
        if key not in st.session_state:
            st.session_state[key] = value
    try:
        yield
    finally:
        if (form, about) in store:
            store[form, about].update({key: st.session_state[key] for key in _present(names)})


def forget(form: str, about: int) -> None:
    """The form has done its work: the next one begins afresh."""
    store = _store()
    store.pop((form, about), None)
    store.pop((form, "about"), None)


def fill(form: str, about: int, names: Sequence[str], values: Mapping[str, Any]) -> None:
    """The form about this thing is to begin with these values, by key; every other widget as if it were new."""
    forget(form, about)
    for key in _present(names):
        del st.session_state[key]
    _store()[form, "about"] = about
    _store()[form, about] = dict(values)


def _store() -> dict[tuple[str, Any], Any]:
    found: dict[tuple[str, Any], Any] = st.session_state.setdefault(_KEPT, {})
    return found


def _present(names: Sequence[str]) -> list[str]:
    return [str(key) for key in list(st.session_state) if any(fnmatchcase(str(key), name) for name in names)]
