"""What was typed into a form, kept while its page is away: Streamlit forgets a widget that a run does not draw.

A widget cannot always show exactly what a form begins with: a day has no seconds, percents have few digits. What it
begins with is kept beside it, and taken again as long as nobody has changed the widget (`exactly`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from fnmatch import fnmatchcase
from typing import Any, TypeVar

import streamlit as st

_KEPT = "assay-form"
_EXACT = "exact"

_T = TypeVar("_T")


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
    keys: tuple[tuple[str, Any], ...] = ((form, about), (form, "about"), (form, (_EXACT, about)))
    for key in keys:
        store.pop(key, None)


def fill(
    form: str,
    about: int,
    names: Sequence[str],
    values: Mapping[str, Any],
    exact: Mapping[str, tuple[Any, Any]] | None = None,
) -> None:
    """The form about this thing is to begin with these values, by key; every other widget as if it were new.

    `exact`: by key what is shown of a value that cannot be shown as it is, and that value (`exactly`).
    """
    forget(form, about)
    for key in _present(names):
        del st.session_state[key]
    _store()[form, "about"] = about
    _store()[form, about] = dict(values)
    _store()[form, (_EXACT, about)] = dict(exact or {})


def exactly(form: str, key: str, shown: Any, made: _T) -> _T:
    """What the form began with at this key, while that is still what is shown; else what is made of what is shown."""
    store = _store()
    begun: Mapping[str, tuple[Any, _T]] = store.get((form, (_EXACT, store.get((form, "about")))), {})
    return begun[key][1] if key in begun and begun[key][0] == shown else made


def options_with(known: Sequence[str], key: str) -> list[str]:
    """The options of a choice: what is known, and what the form has at this key that is not known any more."""
    chosen = st.session_state.get(key) or []
    return list(dict.fromkeys([*known, *([chosen] if isinstance(chosen, str) else chosen)]))


def percent_of(share: float) -> float:
    """A share (0..1) as percents that a widget shows."""
    return float(f"{100 * share:.10g}")


def share(form: str, key: str, percent: float) -> float:
    """The share (0..1) that a widget for percents says."""
    return exactly(form, key, percent, float(f"{percent / 100:.12g}"))


def _store() -> dict[tuple[str, Any], Any]:
    found: dict[tuple[str, Any], Any] = st.session_state.setdefault(_KEPT, {})
    return found


def _present(names: Sequence[str]) -> list[str]:
    return [str(key) for key in list(st.session_state) if any(fnmatchcase(str(key), name) for name in names)]
