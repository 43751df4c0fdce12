"""Gold items, repeats and qualification in the form that makes a study."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotators.asking.planting import BELOW, Planting
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, KnownItems, Qualification, Repeats
from app import ui, wording
from app.uploads import stored
from exports.importing.decisions import with_labels

KEPT = (
    *("study-gold-rate", "study-gold-mark", "study-gold-after", "study-gold-below"),
    *("study-repeats-*", "study-qualify-mark", "study-qualify-tries"),
)
"""The widgets whose values are kept; not those of files, which Streamlit does not let anybody fill in."""

READ = "study-known-labels"
"""The parts of the design whose labels were uploaded, by name: an uploader forgets its file with the page."""

BELOW_WORDS = {
    "warn": "warn the researcher",
    "pause": "pause the annotator",
    "stop": "take the annotator out",
}
_COLUMNS = (
    "Columns item, criterion, value, and perhaps target, explanation, other_item. The items are items of the project "
    "that are not in the study's sample."
)


def draw() -> dict[str, Any]:
    """Draws the part of the form; the fields of the design that it says."""
    there: dict[str, KnownItems] = st.session_state.get(READ, {})
    with st.expander("Gold, repeats, qualification", expanded=bool(there)):
        found: dict[str, Any] = {}
        gold = _labels("gold", "Right labels of gold items", Gold())
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        if gold is not None:
            rate = left.number_input("Gold items, percent", 1, 50, 10, key="study-gold-rate")
            mark = middle.number_input("Mark, percent right", 1, 100, round(100 * Planting.mark), key="study-gold-mark")
            after = right.number_input("Looked at after", 1, None, Planting.mark_after, key="study-gold-after")
            below = st.selectbox("Below the mark", BELOW, format_func=BELOW_WORDS.__getitem__, key="study-gold-below")
            found["gold"] = gold.model_copy(
                update={"rate": rate / 100, "mark": mark / 100, "mark_after": int(after), "below": below}
            )
        left, right = st.columns(2, vertical_alignment="bottom")
        again = left.number_input(
            "Repeats, percent",
            min_value=0,
            max_value=50,
            key="study-repeats-rate",
            help="So many of what annotators are given come to them a second time, to see whether they say the same.",
        )
        distance = right.number_input(
            "Items before a repeat", 1, None, Planting.repeat_after, key="study-repeats-after", disabled=not again
        )
        if again:
            found["repeats"] = Repeats(rate=again / 100, after=int(distance))
        asked = _labels("qualification", "Right labels of items to qualify with", Qualification())
        if asked is not None:
            left, right = st.columns(2, vertical_alignment="bottom")
            mark = left.number_input("Percent right to pass", 0, 100, 80, key="study-qualify-mark")
            tries = right.number_input("Tries", 1, 20, Qualification().tries, key="study-qualify-tries")
            found["qualification"] = asked.model_copy(update={"mark": mark / 100, "tries": int(tries)})
    return found


def values_of(design: StudyDesign) -> dict[str, Any]:
    """What the widgets begin with for a design."""
    values: dict[str, Any] = {}
    if (gold := design.gold) is not None:
        values |= {
            "study-gold-rate": round(100 * gold.rate),
            "study-gold-mark": round(100 * gold.mark),
            "study-gold-after": gold.mark_after,
            "study-gold-below": gold.below,
        }
    if (repeats := design.repeats) is not None:
        values |= {"study-repeats-rate": round(100 * repeats.rate), "study-repeats-after": repeats.after}
    if (asked := design.qualification) is not None:
        values |= {"study-qualify-mark": round(100 * asked.mark), "study-qualify-tries": asked.tries}
    return values


def keep(design: StudyDesign) -> None:
    """The form begins with the labels of a design."""
    parts = {"gold": design.gold, "qualification": design.qualification}
    st.session_state[READ] = {name: part for name, part in parts.items() if part is not None}


def _labels(name: str, words: str, empty: KnownItems) -> Any:
    """The part of the design with the labels that were uploaded last; None while there are none."""
    file = st.file_uploader(f"{words} (CSV)", type=["csv", "tsv", "xlsx"], key=f"study-{name}-file", help=_COLUMNS)
    read: dict[str, KnownItems] = st.session_state.setdefault(READ, {})
    if file is not None:
        read.pop(name, None)
        with ui.problems(), stored([file]) as [path]:
            asked = StudyDesign.model_validate({name: empty.model_copy(update={"file": path.name})})
            read[name] = getattr(with_labels(asked, path.parent), name)
    part = read.get(name)
    if part is None:
        return None
    of = f" of {ui.plain(part.file)}" if part.file else ""
    other = part.settled_in if isinstance(part, Gold) else None
    also = f", and what study {ui.plain(other)} has settled" if other else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{wording.count(len(part.labels), 'label')}{of}{also}")
        if file is None and st.button("Leave them out", type="tertiary", key=f"study-{name}-out"):
            del read[name]
            st.rerun()
    return part
