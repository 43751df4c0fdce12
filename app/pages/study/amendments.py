"""What changes in a study under way: pause, start, close, and a form for annotators, overlap and deadline."""

from __future__ import annotations

from datetime import date, datetime, time

import streamlit as st

from annotators.designing.own_figures import OWN_FIGURES, PROGRESS
from app import ui
from app.pages.study import planting, rechecks
from app.widgets import blocks
from app.widgets.doing import acts
from app.widgets.doing.following import follows
from db.annotating.amendments import AmendmentRow, StudyChange, amend_study, amendments_of, set_state
from db.annotating.status import study_status
from db.models import Study, StudyState
from db.people.accounts import who_may_annotate
from db.permissions import READERS, RESEARCHERS
from db.projects import my_projects
from db.releasing.consequences import if_amended

_STEPS = {
    StudyState.RUNNING: (("Pause", StudyState.PAUSED), ("Close", StudyState.CLOSED)),
    StudyState.PAUSED: (("Start again", StudyState.RUNNING), ("Close", StudyState.CLOSED)),
    StudyState.CLOSED: (("Start again", StudyState.RUNNING),),
}
_MEANS = {
    StudyState.RUNNING: "Annotators get items again.",
    StudyState.PAUSED: "Nobody gets items until it is started again. What annotators still submit counts, and what "
    "they have begun is kept. They read the reason.",
    StudyState.CLOSED: "Nobody gets items any more, and what is still submitted is surplus. Adjudication goes on. It "
    "can be started again.",
}
_READ = {
    StudyState.RUNNING: "It is kept, and exports say it.",
    StudyState.PAUSED: "Annotators read it; it is kept, and exports say it.",
    StudyState.CLOSED: "Annotators read it; it is kept, and exports say it.",
}
_WHAT = {
    "state": "State",
    "overlap": "Overlap",
    "deadline": "Deadline",
    "annotators": "Annotators",
    "quota": "Quota",
    "own_figures": "Own figures",
    "slots": "Slots",
    "gold": "Gold items",
    "recheck": "Sent back",
    "qualification": "Qualification",
}


def tag(state: str) -> blocks.Html:
    """The state of a study that is not running, as a word beside its links."""
    return blocks.tag(state, quiet=state == StudyState.CLOSED)


def draw(study: Study) -> None:
    """The buttons for researchers, and for everybody who reads the study the list of what was changed."""
    rows = amendments_of(ui.db(), ui.actor(), study.id or 0)
    role = next((row.role for row in my_projects(ui.db(), ui.actor()) if row.project_id == study.project_id), None)
    may_amend = role is not None and ui.may(role, RESEARCHERS) and not study.settings.get("foreign")
    if may_amend:
        _buttons(study)
    if role is not None and ui.may(role, READERS):
        rechecks.draw(study, may_send=may_amend and study.state != StudyState.CLOSED)
    if rows:
        blocks.table(
            "Amendments",
            ("When", "By", "What", "Before", "After", "Reason"),
            [_row(row) for row in reversed(rows)],
            name=f"amendments-{study.id}",
        )


def _row(row: AmendmentRow) -> tuple[object, ...]:
    return (
        blocks.short(ui.when(row.at)),
        blocks.short(row.by or "nobody"),
        _WHAT[row.what],
        _value(row.what, row.before),
        _value(row.what, row.after),
        row.reason,
    )


def _value(what: str, value: object) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if value is None:
        return "none"
    if isinstance(value, dict):
        return "; ".join(f"{name.replace('_', ' ')} {part}" for name, part in value.items())
    return ui.when(datetime.fromisoformat(str(value))) if what == "deadline" else str(value)


def _buttons(study: Study) -> None:
    state = StudyState(study.state)
    with st.container(horizontal=True, vertical_alignment="center", key=f"study-state-{study.id}"):
        st.html(f"The study is <strong>{state.value}</strong>.", width="content")
        for label, to in _STEPS[state]:
            with acts.popover(f"{label}…", key=f"study-to-{to.value}"):
                _state_form(study, label, to)
        if state != StudyState.CLOSED:
            with acts.popover("Amend…", key="study-amend"):
                _amend_form(study)
            with acts.popover("Gold items…", key="study-gold"):
                planting.form(study)
    if state != StudyState.CLOSED:
        planting.take_labels(study)


def _state_form(study: Study, label: str, to: StudyState) -> None:
    with st.form(f"study-{to.value}", border=False):
        st.write(_MEANS[to])
        reason = acts.reason(f"study-{to.value}-reason", note=_READ[to])
        pressed = st.form_submit_button(label, type="primary", key=f"study-{to.value}-save")
    if pressed:
        with ui.problems():
            set_state(ui.db(), ui.actor(), study.id or 0, state=to, reason=reason)
            acts.done(f"The study is {to.value} now.")


def _amend_form(study: Study) -> None:
    present, others = _people(study)
    with st.container(width=560), st.form("study-amend-form", border=False):
        left, middle, right = st.columns([2, 3, 2])
        overlap = left.number_input(
            "Overlap",
            min_value=1,
            value=study.overlap,
            step=1,
            key="amend-overlap",
            help="More: each item gets another slot, and waits until it is labelled. Fewer: open slots go; what is at "
            "hand or submitted counts.",
        )
        now = None if study.deadline is None else study.deadline.astimezone(ui.zone())
        day = middle.date_input("Last day (optional)", value=None if now is None else now.date(), key="amend-day")
        at = right.time_input("until", value=time(23, 59) if now is None else now.time(), key="amend-time")
        left, right = st.columns([2, 5])  # in one line: what would follow is to be seen under the buttons on a laptop
        quota = left.number_input(
            "Quota",
            min_value=0,
            value=study.settings.get("quota") or 0,
            key="amend-quota",
            help="How many items one person judges at most, planted ones among them; 0: as many as there are.",
        )
        seen = right.selectbox(
            "Annotators see of their own figures",
            list(OWN_FIGURES),
            index=list(OWN_FIGURES).index(study.settings.get("own_figures", PROGRESS)),
            format_func=OWN_FIGURES.__getitem__,
            key="amend-own-figures",
        )
        left, right = st.columns(2)
        add = left.multiselect("Annotators who join", others, key="amend-add")
        remove = right.multiselect(
            "Annotators who leave",
            present,
            key="amend-remove",
            help="Who leaves gives back what is at hand. What they submitted stands.",
        )
        reason = acts.reason("amend-reason", blocks=False)
        with st.container(horizontal=True):
            pressed = st.form_submit_button("Amend the study", type="primary", key="study-amend-save")
            asked = st.form_submit_button("What would follow?", key="study-amend-look")
    if pressed or asked:
        deadline = datetime.combine(day, at or time(23, 59), ui.zone()) if isinstance(day, date) else None
        same = deadline is not None and study.deadline is not None and deadline == study.deadline.replace(second=0)
        change = StudyChange(
            overlap=int(overlap),
            add=tuple(add),
            remove=tuple(remove),
            deadline=None if same else deadline,
            no_deadline=deadline is None and study.deadline is not None,
            quota=int(quota) or None if quota != (study.settings.get("quota") or 0) else None,
            no_quota=not quota and "quota" in study.settings,
            own_figures=seen,
        )
        with ui.problems():
            if asked:
                follows(if_amended(ui.db(), ui.actor(), study.id or 0, change=change))
                return
            words = amend_study(ui.db(), ui.actor(), study.id or 0, change=change, reason=reason)
            acts.done(f"The study was amended: {'; '.join(words)}.")


def _people(study: Study) -> tuple[list[str], list[str]]:
    """Who annotates in the study, and who else might."""
    status = study_status(ui.db(), ui.actor(), study.id or 0)
    present = [row["annotator"] for row in status["annotators"] if row["left"] is None]
    may = [row.name for row in who_may_annotate(ui.db(), ui.actor(), study.project_id)]
    return present, [name for name in may if name not in present]
