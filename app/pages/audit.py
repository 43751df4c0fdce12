"""Audit: who did what to which thing, when; newest first."""

from __future__ import annotations

import streamlit as st

from app import ui
from app.widgets import blocks
from db.events import PAGE, EventRow, list_events, project_events
from db.permissions import Actor
from db.projects import my_projects

_BEFORE = "audit-before"
"""Session state: the project (None for all) whose events are looked through, and the id that they are below."""


def page() -> None:
    """Draw the page: all events for administrators, the chosen project's for its researchers."""
    actor = ui.actor()
    ui.heading("Audit", "Every change, by whom and when. Nothing here can be changed or deleted.")
    projects = my_projects(ui.db(), actor)
    chosen = ui.choose_project(projects)
    names = {row.project_id: row.name for row in projects}
    with st.container(horizontal=True, vertical_alignment="bottom"):
        where = _where(actor, names, chosen.project_id if chosen else None)
        kind = st.text_input("Kind begins with", placeholder="study created", on_change=_to_newest)
    if where is None and not actor.is_admin:
        ui.empty("You have no project.", "A researcher of a project, or an administrator, gives you a role.")
        return
    of, before = st.session_state.get(_BEFORE, (where, None))
    if of != where:  # another project was chosen, in whichever place: from its newest on
        _to_newest()
        before = None
    # One more than is shown tells whether there are older ones.
    if where is None:
        events = list_events(ui.db(), actor, before=before, kind=kind or None, limit=PAGE + 1)
    else:
        events = project_events(ui.db(), actor, where, before=before, kind=kind or None, limit=PAGE + 1)
    _draw(events, where, before)


def _where(actor: Actor, names: dict[int, str], chosen: int | None) -> int | None:
    if not actor.is_admin:
        return chosen
    return st.selectbox(
        "Project",
        [None, *names],
        format_func=lambda project_id: "All, and the installation" if project_id is None else names[project_id],
        on_change=_to_newest,
    )


def _draw(events: list[EventRow], where: int | None, before: int | None) -> None:
    there, events = events, events[:PAGE]
    if not events:
        ui.empty("There is no such event.", "Choose another project or kind, or go back to the newest.")
    else:
        ui.table(
            "Events, newest first",
            ("Event", "When", "Who", "From", "Project", "What", "To", "Details"),
            [
                (
                    row.event_id,
                    blocks.short(ui.when(row.at)),
                    row.who or "",
                    row.via,
                    row.project or "",
                    blocks.short(row.kind),
                    row.about,
                    _in_words(row.details),
                )
                for row in events
            ],
            name="events",
        )
    with st.container(horizontal=True):
        if before is not None and st.button("Newest"):
            _to_newest()
            st.rerun()
        if len(there) > PAGE and st.button("Older"):
            st.session_state[_BEFORE] = (where, events[-1].event_id)
            st.rerun()


def _to_newest() -> None:
    st.session_state.pop(_BEFORE, None)


def _in_words(value: object, *, inside: bool = False) -> str:
    """Details as people read them; what is of one detail, in brackets where it has names, after semicolons else."""
    match value:
        case dict():
            words = ", ".join(f"{name}: {_in_words(part, inside=True)}" for name, part in value.items())
            return f"({words})" if inside and words else words
        case list():
            return "; ".join(_in_words(part, inside=True) for part in value)
        case bool():
            return "yes" if value else "no"
        case None:
            return "none"
        case _:
            return str(value)
