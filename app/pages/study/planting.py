"""Gold items and repeats of a study: how many, at which rates, and the form for more."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

import streamlit as st

from annotators.asking.planting import BELOW, Planting
from annotators.designing.known import Gold, KnownItems
from app import ui, wording
from app.uploads import chosen_file, read_by_others
from app.widgets.designing import known_items
from app.widgets.designing.known_items import BELOW_WORDS
from app.widgets.doing import acts
from db.models import Study
from db.studies.design import protocol_of
from exports.importing.decisions import import_gold


def take_labels(study: Study) -> None:
    """The item that the form has opened to be labelled: beside the form, which a popover may close meanwhile."""
    parts = _labelled(study)
    known_items.take_labels(ui.project(), protocol_of(study), "gold", parts, empty=Gold())
    if parts:
        n = len({label.item for label in parts["gold"].labels})
        st.info(f"Right labels of {wording.count(n, 'item')} are not saved yet. Save them under *Gold items…*.")


def _labelled(study: Study) -> dict[str, KnownItems]:
    """What was labelled here and is not saved yet."""
    parts: dict[str, KnownItems] = st.session_state.setdefault(f"study-planted-{study.id}", {})
    return parts


def form(study: Study) -> None:
    """The form that adds gold items from a table, or that are labelled here, and sets the rates."""
    planting, there = Planting.of(study.settings), study.settings.get("gold_items", 0)
    parts = _labelled(study)
    with st.container(width=620):
        known_items.label_one(ui.project(), "gold")
        if parts:
            known_items.listed(protocol_of(study), "gold", parts)
    labels = parts["gold"].labels if parts else ()
    with st.container(width=620), st.form("study-gold-form", border=False):
        st.write(
            f"The study has {wording.count(there, 'gold item')}. They and repeats look like any item; what is said of "
            "them counts nowhere else."
        )
        file = chosen_file(
            "Right labels (CSV, optional)",
            ["csv", "tsv", "xlsx"],
            key="gold-file",
            help="Columns item, criterion, value, and perhaps target, explanation, other_item; criteria and labels as "
            "the screen names them, or as the protocol does. The items are items of the project that are not in the "
            "study's sample.",
        )
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        first = 0.1 if not there else planting.gold_rate
        gold_rate = left.number_input("Share of gold items", 0.0, 0.5, first, 0.05, key="gold-rate")
        repeat_rate = middle.number_input("Share of repeats", 0.0, 0.5, planting.repeat_rate, 0.05, key="gold-repeats")
        after = right.number_input("Items before a repeat", 1, None, planting.repeat_after, key="gold-repeat-after")
        mark = left.number_input("Mark (share right)", 0.0, 1.0, planting.mark, 0.05, key="gold-mark")
        least = middle.number_input("Gold items before it", 1, None, planting.mark_after, key="gold-mark-after")
        now = BELOW.index(planting.below)
        below = right.selectbox("Below the mark", BELOW, now, BELOW_WORDS.__getitem__, key="gold-below")
        reason = acts.reason("gold-reason")
        pressed = st.form_submit_button("Save", type="primary", key="gold-save")
    if not pressed:
        return
    rates = {
        "gold_rate": float(gold_rate) if there or labels or file is not None else 0.0,
        "repeat_rate": float(repeat_rate),
        "repeat_after": int(after),
        "mark": float(mark),
        "mark_after": int(least),
        "below": below,
    }
    with ui.problems(), nullcontext() if file is None else read_by_others(file) as path:
        about: dict[str, Any] = {"path": path, "labels": labels, "rates": rates, "reason": reason}
        import_gold(ui.db(), ui.actor(), study.id or 0, **about)
        parts.clear()
        acts.done("Gold items and repeats are planted as you said.")
