"""What waits for a study's researcher, each with the button that ends it: for Home, the study's page and Annotators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from html import escape

import streamlit as st

from annotators.errors import InvalidInput
from app import ui, wording
from app.widgets.doing import acts
from app.widgets.doing.following import follows
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.models import StudyState
from db.needs.base import Act, Need
from db.quality.omissions import restore
from db.quality.qualification import let_in
from db.releasing.consequences import if_restored

_STYLE = """<style>
[class*="st-key-needed-"] { border-left: 3px solid var(--assay-warn); padding: 2px 0 2px 12px; }
.assay-need-row { display: grid; grid-template-columns: minmax(2.2ch, max-content) minmax(0, 1fr); gap: 12px;
  align-items: baseline; }
.assay-need-row b { font-size: 1.15rem; font-weight: 600; text-align: right; font-variant-numeric: tabular-nums;
  color: var(--assay-warn); }
.assay-need-row span { overflow-wrap: anywhere; }
</style>"""


@dataclass(frozen=True)
class StudyPlace:
    """Which study something is about."""

    study_id: int
    project_id: int
    name: str


def draw(needs: Sequence[Need], study: StudyPlace, *, where: str, named: bool = False) -> None:
    """A row for each need with its button; `where` keeps the keys of pages apart, `named` tells the study as well.

    The page has to call `dialog` with the same words, outside of every fragment that is drawn anew by itself.
    """
    if needs:
        st.html(_STYLE)
    for need in needs:
        key = f"{where}-{study.study_id}-{need.kind}"
        with st.container(
            horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key=f"needed-{key}"
        ):
            number, words = _apart(need)
            of = f'<br><span class="assay-soft">{escape(study.name)}</span>' if named else ""
            st.html(f'<div class="assay-need-row"><b>{escape(number)}</b><span>{escape(words)}{of}</span></div>')
            if st.button(need.act.value, key=f"needs-{key}", width=128):
                _press(need, study, where)


def _apart(need: Need) -> tuple[str, str]:
    """The number that a need begins with, and the rest of its words."""
    number, _, words = need.words.partition(" ")
    return (f"≥ {number}" if need.at_least else number), words


def _press(need: Need, study: StudyPlace, where: str) -> None:
    if need.act in _FORMS:
        acts.ask(where, (need, study))
    about = {"project": study.project_id}
    if need.act is Act.ADD_PEOPLE:
        ui.go("people", **about)
    if need.act is Act.REVISE:
        ui.go("revise", **about, queue=1)
    ui.go("study", **about, study=study.study_id, show="design")


def dialog(where: str) -> None:
    """The dialog of the need whose button was pressed, as long as it is open; once on every page that draws needs."""
    if (pressed := acts.asked(where)) is not None:
        need, study = pressed
        st.dialog(need.act.value.rstrip("…"), on_dismiss=acts.close)(partial(_dialog, need, study))()


def _dialog(need: Need, study: StudyPlace) -> None:
    st.caption(ui.plain(f"{study.name}: {need.words}."))
    _FORMS[need.act](study.study_id, need.people, "need")


# What ends them -------------------------------------------------------------------------------------------------------


def let_in_form(study_id: int, people: Sequence[str], at: str) -> None:
    """The form that lets people have a study's items who did not pass its qualification; `at` begins its keys."""
    with st.form(f"{at}-let-in", border=False):
        st.write("They get the study's items from now on, without passing the qualification.")
        chosen = _whom(people, f"{at}-let-in")
        why = acts.reason(f"{at}-let-in-reason", note="The audit log keeps it, and the page Annotators says it.")
        pressed = st.form_submit_button("Let in", type="primary", key=f"{at}-let-in-save")
    if pressed:
        with ui.problems():
            _check_chosen(chosen)
            for name in chosen:
                let_in(ui.db(), ui.actor(), study_id, annotator=name, reason=why)
            acts.done(f"{_and(chosen)} {_get(chosen)} the study's items now.")


def let_go_on_form(study_id: int, people: Sequence[str], at: str) -> None:
    """The form that lets people go on who were paused, as too many of their labels of gold items were wrong."""
    with st.form(f"{at}-let-go-on", border=False):
        st.write("They get items again. What they submitted stands.")
        chosen = _whom(people, f"{at}-let-go-on")
        why = acts.reason(f"{at}-let-go-on-reason")
        pressed = st.form_submit_button("Let go on", type="primary", key=f"{at}-let-go-on-save")
    if pressed:
        with ui.problems():
            amend_study(ui.db(), ui.actor(), study_id, change=StudyChange(add=tuple(chosen)), reason=why)
            acts.done(f"{_and(chosen)} {_get(chosen)} items again.")


def restore_form(study_id: int, people: Sequence[str], at: str) -> None:
    """The form that puts back what of some people's labels was left out."""
    with st.form(f"{at}-restore", border=False):
        st.write("All of it counts again; what others have taken the slot of meanwhile is surplus.")
        chosen = _whom(people, f"{at}-restore")
        why = acts.reason(f"{at}-restore-reason", blocks=False)
        with st.container(horizontal=True):
            pressed = st.form_submit_button("Restore", type="primary", key=f"{at}-restore-save")
            asked = st.form_submit_button("What would follow?", key=f"{at}-restore-look")
    if not (pressed or asked):
        return
    with ui.problems():
        _check_chosen(chosen)
        words = []
        for name in chosen:
            if asked:
                follows(if_restored(ui.db(), ui.actor(), study_id, annotator=name))
            else:
                decided = restore(ui.db(), ui.actor(), study_id, annotator=name, reason=why)
                words.append(f"{name}: {wording.decided(decided, 'put back')}")
        if pressed:
            acts.done(" ".join(words))


def hand_on_form(study_id: int, people: Sequence[str], at: str) -> None:
    """The form that gives the slots that are allotted to some people to the others."""
    with st.form(f"{at}-hand-on", border=False):
        st.write("What is allotted to them, and not submitted, goes to the annotators who get items.")
        chosen = _whom(people, f"{at}-hand-on")
        why = acts.reason(f"{at}-hand-on-reason")
        pressed = st.form_submit_button("Give them to the others", type="primary", key=f"{at}-hand-on-save")
    if pressed:
        with ui.problems():
            words = amend_study(ui.db(), ui.actor(), study_id, change=StudyChange(hand_on=tuple(chosen)), reason=why)
            acts.done(f"{'; '.join(words)}.".capitalize())


def start_form(study_id: int, _people: Sequence[str], at: str) -> None:
    """The form that starts a study again."""
    with st.form(f"{at}-start", border=False):
        st.write("Annotators get items again.")
        why = acts.reason(f"{at}-start-reason")
        pressed = st.form_submit_button("Start again", type="primary", key=f"{at}-start-save")
    if pressed:
        with ui.problems():
            set_state(ui.db(), ui.actor(), study_id, state=StudyState.RUNNING, reason=why)
            acts.done("The study is running again.")


def _whom(people: Sequence[str], key: str) -> list[str]:
    """Those of several people whom it is about: all, unless some are taken away."""
    if len(people) == 1:
        return list(people)
    return st.multiselect(acts.required("Annotators"), people, default=list(people), key=f"{key}-people")


def _check_chosen(chosen: Sequence[str]) -> None:
    if not chosen:
        raise InvalidInput("Nobody is chosen. Choose whom it is about.")


def _and(names: Sequence[str]) -> str:
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last


def _get(names: Sequence[str]) -> str:
    return "get" if len(names) > 1 else "gets"


_FORMS: dict[Act, Callable[[int, Sequence[str], str], None]] = {
    Act.LET_IN: let_in_form,
    Act.LET_GO_ON: let_go_on_form,
    Act.RESTORE: restore_form,
    Act.HAND_ON: hand_on_form,
    Act.START: start_form,
}
"""What is done where the button stands; the other acts have a place of their own."""
