"""Gold items, repeats and qualification in the form that makes a study."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from annotators.asking.planting import BELOW, Planting
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, KnownItems, Qualification, Repeats, RightLabel
from annotators.items.pairs import in_words, names_either_way, pair_name
from annotators.protocols import Protocol
from app import ui, wording
from app.uploads import chosen_file, read_by_others
from app.widgets import forms, previewing
from db.items.read import list_items
from db.projects import ProjectRow
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
    "Columns item, criterion, value, and perhaps target, explanation, other_item; criteria and labels as the screen "
    "names them, or as the protocol does. The items are not drawn for the study's sample."
)


def draw(project: ProjectRow, protocol: Protocol) -> dict[str, Any]:
    """Draws the part of the form; the fields of the design that it says."""
    there: dict[str, KnownItems] = st.session_state.get(READ, {})
    percents: dict[str, Any] = {"step": 1.0, "format": "%g"}
    with st.expander("Gold, repeats, qualification", expanded=bool(there)):
        found: dict[str, Any] = {}
        gold = _labels(project, protocol, "gold", empty=Gold())
        left, middle, right = st.columns(3, vertical_alignment="bottom")
        if gold is not None:
            usual = Gold()
            rate = left.number_input(
                "Gold items, percent", 0.0, 50.0, forms.percent_of(usual.rate), key="study-gold-rate", **percents
            )
            mark = middle.number_input(
                "Mark, percent right", 0.0, 100.0, forms.percent_of(usual.mark), key="study-gold-mark", **percents
            )
            after = right.number_input("Looked at after", 1, None, usual.mark_after, key="study-gold-after")
            below = st.selectbox("Below the mark", BELOW, format_func=BELOW_WORDS.__getitem__, key="study-gold-below")
            shares = {"rate": _share("study-gold-rate", rate), "mark": _share("study-gold-mark", mark)}
            found["gold"] = gold.model_copy(update={**shares, "mark_after": int(after), "below": below})
        left, right = st.columns(2, vertical_alignment="bottom")
        again = left.number_input(
            "Repeats, percent",
            min_value=0.0,
            max_value=50.0,
            key="study-repeats-rate",
            help="So many of what annotators are given come to them a second time, to see whether they say the same.",
            **percents,
        )
        distance = right.number_input(
            "Items before a repeat", 1, None, Planting.repeat_after, key="study-repeats-after", disabled=not again
        )
        repeats = Repeats(rate=_share("study-repeats-rate", again), after=int(distance)) if again else None
        repeats = forms.exactly("study", "study-repeats", (again, int(distance)), repeats)
        if repeats is not None:
            found["repeats"] = repeats
        asked = _labels(project, protocol, "qualification", empty=Qualification())
        if asked is not None:
            left, right = st.columns(2, vertical_alignment="bottom")
            passes = forms.percent_of(Qualification().mark)
            mark = left.number_input("Percent right to pass", 0.0, 100.0, passes, key="study-qualify-mark", **percents)
            tries = right.number_input("Tries", 1, 20, Qualification().tries, key="study-qualify-tries")
            asked_for = {"mark": _share("study-qualify-mark", mark), "tries": int(tries)}
            found["qualification"] = asked.model_copy(update=asked_for)
    return found


def values_of(design: StudyDesign) -> dict[str, Any]:
    """What the widgets begin with for a design."""
    values: dict[str, Any] = {}
    if (gold := design.gold) is not None:
        values |= {"study-gold-after": gold.mark_after, "study-gold-below": gold.below}
    if (repeats := design.repeats) is not None:
        values |= {"study-repeats-after": repeats.after}
    if (asked := design.qualification) is not None:
        values |= {"study-qualify-tries": asked.tries}
    return values


def exact_values_of(design: StudyDesign) -> dict[str, tuple[Any, Any]]:
    """By widget what is shown of a value, and the value: a share has more digits than percents on a page."""
    shares: dict[str, float] = {}
    found: dict[str, tuple[Any, Any]] = {}
    if (gold := design.gold) is not None:
        shares |= {"study-gold-rate": gold.rate, "study-gold-mark": gold.mark}
    if (repeats := design.repeats) is not None:
        shares["study-repeats-rate"] = repeats.rate
        found["study-repeats"] = ((forms.percent_of(repeats.rate), repeats.after), repeats)
    if (asked := design.qualification) is not None:
        shares["study-qualify-mark"] = asked.mark
    return found | {key: (forms.percent_of(share), share) for key, share in shares.items()}


def _share(key: str, percent: float) -> float:
    return forms.share("study", key, percent)


def keep(design: StudyDesign) -> None:
    """The form begins with the labels of a design."""
    parts = {"gold": design.gold, "qualification": design.qualification}
    st.session_state[READ] = {name: part for name, part in parts.items() if part is not None}


_WORDS = {"gold": "Right labels of gold items", "qualification": "Right labels of items to qualify with"}
_OFFERED = 50


def _labels(project: ProjectRow, protocol: Protocol, name: str, *, empty: KnownItems) -> Any:
    """The part of the design with the labels that were uploaded last or given here; None while there are none."""
    read: dict[str, KnownItems] = st.session_state.setdefault(READ, {})
    file = chosen_file(f"{_WORDS[name]} (CSV)", ["csv", "tsv", "xlsx"], key=f"study-{name}-file", help=_COLUMNS)
    taken = f"study-{name}-file-taken"  # labels that were given since are not to be lost to the same file
    if file is not None and st.session_state.get(taken) != file.file_id:
        read.pop(name, None)
        with ui.problems(), read_by_others(file) as path:
            asked = StudyDesign.model_validate({name: empty.model_copy(update={"file": path.name})})
            read[name] = getattr(with_labels(asked, path.parent), name)
            st.session_state[taken] = file.file_id
    label_one(project, name)
    take_labels(project, protocol, name, read, empty=empty)
    part = read.get(name)
    if part is None:
        return None
    of = f" of {ui.plain(part.file)}" if part.file else ""
    other = part.settled_in if isinstance(part, Gold) else None
    also = f", and what study {ui.plain(other)} has settled" if other else ""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.caption(f"{wording.count(len(part.labels), 'label')}{of}{also}")
        if st.button("Leave them out", type="tertiary", key=f"study-{name}-out"):
            del read[name]
            st.rerun()
    listed(protocol, name, read)
    return part


def label_one(project: ProjectRow, name: str) -> None:
    """Look for an item, and open it to give it its right labels as an annotator would (`take_labels`)."""
    left, middle, right = st.columns([4, 5, 2], vertical_alignment="bottom")
    wanted = left.text_input("Or label here: search", key=f"study-{name}-search", placeholder="Id or question")
    rows = list_items(ui.db(), ui.actor(), project.project_id, search=wanted.strip(), limit=_OFFERED)
    questions = {row.external_id: row.question for row in rows}
    item = middle.selectbox(
        "Item",
        list(questions),
        format_func=lambda item: f"{item}: {questions[item]}" if questions.get(item) else str(item),
        key=f"study-{name}-item",
        placeholder="Nothing is found",
    )
    if right.button("Label…", key=f"study-{name}-label", disabled=item is None, help=_HOW):
        previewing.show(f"study-{name}", item)


def take_labels(
    project: ProjectRow, protocol: Protocol, name: str, parts: dict[str, KnownItems], *, empty: KnownItems
) -> None:
    """The annotator's page of the item that was opened, and what was said there, which goes to the part `name`."""
    if given := previewing.draw(project, protocol, key=f"study-{name}", labelling=True):
        parts[name] = _with(parts.get(name, empty), given)
        st.rerun()


_HOW = "Opens it as annotators get it. A comment on a label is its explanation; an item that has labels gets new ones."


def _with(part: KnownItems, given: Sequence[RightLabel]) -> KnownItems:
    """The part with these labels of an item, in place of what it had of it; they are those of a file no more."""
    names = names_either_way(given[0].item, given[0].other_item)
    kept = [label for label in part.labels if pair_name(label.item, label.other_item) not in names]
    labels = tuple(label.model_copy(update={"line": None}) for label in (*kept, *given))
    return part.model_copy(update={"labels": labels, "file": None})


_MOST_LISTED = 20


def listed(protocol: Protocol, name: str, parts: dict[str, KnownItems]) -> None:
    """The items of a part with their right labels in words, each of which can be left out."""
    part = parts[name]
    of: dict[str, list[RightLabel]] = {}
    for label in part.labels:
        of.setdefault(pair_name(label.item, label.other_item), []).append(label)
    for number, (item, labels) in enumerate(list(of.items())[:_MOST_LISTED]):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(f"**{ui.plain(in_words(item))}** {ui.plain('; '.join(_said(protocol, one) for one in labels))}")
            if st.button("Leave out", type="tertiary", key=f"study-{name}-out-{number}"):
                left = tuple(label for label in part.labels if label not in labels)
                parts[name] = part.model_copy(update={"labels": left, "file": None})
                if parts[name].has_none:
                    del parts[name]
                st.rerun()
    if len(of) > _MOST_LISTED:
        st.caption(f"and {wording.count(len(of) - _MOST_LISTED, 'more item')}")


def _said(protocol: Protocol, label: RightLabel) -> str:
    """`Right: Yes (It says so.)`, as the screen shows them."""
    known = {criterion.name: criterion for criterion in protocol.criteria}
    criterion = known.get(protocol.name_of(label.criterion))
    about = f" of {label.target}" if label.target else ""
    why = f" ({label.explanation})" if label.explanation else ""
    if criterion is None:
        return f"{label.criterion}{about}: {label.value}{why}"
    return f"{criterion.title}{about}: {criterion.said(label.value)}{why}"
