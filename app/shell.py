"""What stands around every page: the project, the groups of pages, and the person's menu, in the top bar."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from html import escape

import streamlit as st
from streamlit.navigation.page import Page

from app import navigation, ui
from app.navigation import Entry, Group
from app.style import style
from app.widgets.bar import BarPlace, bar
from app.widgets.blocks import address
from db.adjudicating.adjudications import count_disputed
from db.permissions import ADJUDICATORS, REVISERS, Actor, Role
from db.projects import ProjectRow
from db.releasing.revising import count_to_revise


def draw(
    actor: Actor,
    projects: Sequence[ProjectRow],
    chosen: ProjectRow | None,
    entries: Sequence[Entry],
    current: str,
) -> None:
    """The project at the left, the groups and the pages of the open one, and the person's menu at the right.

    `entries` are the pages that this person sees, `current` is the name of the open one. Where another page was
    pressed, this run ends and that page is drawn.
    """
    st.html(style(st.context.theme.type))
    with st.container(key="assay-project"):
        if len(projects) > 1 and chosen is not None:
            _choose(projects, chosen)
        else:
            name = escape(chosen.name if chosen else "Assay")
            st.html(f'<a class="assay-project" href="/" target="_self" title="Home">{name}</a>')
    with st.container(key="assay-person"), st.popover(actor.name, type="tertiary"):
        role = "administrator" if actor.is_admin else str(chosen.role) if chosen else "no project"
        where = f" in {chosen.name}" if chosen and not actor.is_admin else ""
        st.caption(ui.plain(role + where))
        st.page_link(navigation.find("account"), label="Password and sessions")
        st.html('<div class="assay-menu"><a href="/sign-out" target="_self">Sign out</a></div>')
    about = {"project": str(chosen.project_id)} if chosen else {}
    with st.container(key="assay-bar"):
        pressed = bar(*_places(actor, chosen, entries, current))
    if pressed in {entry.name for entry in entries}:
        st.switch_page(navigation.find(str(pressed)), query_params=about)


def closed_to(entries: Sequence[Entry], project: ProjectRow | None) -> list[Page]:
    """The addresses of the pages besides these, where a person who was sent one is told whose page it is."""
    return [
        st.Page(partial(_closed, entry, project), title=entry.title, url_path=entry.name)
        for entry in navigation.ENTRIES
        if entry not in entries
    ]


def _closed(entry: Entry, project: ProjectRow | None) -> None:
    *others, last = [f"{role}s" for role in Role if role in entry.roles] or ["administrators"]
    whose = f"{', '.join(others)} and {last}" if others else last
    ui.heading(entry.title)
    if project is None:
        ui.empty("This page is about a project, and you have none yet.", "A researcher gives you a role in theirs.")
    else:
        ui.empty(
            f"In {project.name} this page is for {whose}; you are {project.role} there.",
            "Choose another project at the top left, or ask a researcher of this one for another role.",
        )
    ui.link("Home", "home", key="closed-home")


def _places(
    actor: Actor, chosen: ProjectRow | None, entries: Sequence[Entry], current: str
) -> tuple[list[BarPlace], list[BarPlace], list[BarPlace]]:
    """The groups that have a page for this person, the pages of the open one, and those beside them."""
    by_name = {entry.name: entry for entry in entries}
    here = by_name.get(current)
    group = here.group if here else Group.WORK
    waiting = _waiting(actor, chosen, by_name)
    about = {"project": chosen.project_id} if chosen else {}

    def place(entry: Entry, title: str, now: str) -> BarPlace:
        n = waiting.get(entry.name, 0) if title == entry.title else 0
        path = "" if entry.name == "home" else entry.name
        return BarPlace(entry.name, title, address(path, **about), now, n, f"{n:,} wait for you" if n else "")

    def now(entry: Entry) -> str:
        return "page" if entry.name == current else "true" if here and here.from_ == entry.name else ""

    listed = [entry for entry in entries if entry.listed]
    groups = []
    for shown in Group:
        first = next((entry for entry in listed if entry.group is shown), None)
        if first is not None:
            groups.append(place(first, shown.value, "true" if shown is group else ""))
    pages = [place(entry, entry.title, now(entry)) for entry in listed if group and entry.group is group]
    aside = [place(entry, entry.title, now(entry)) for entry in listed if entry.group is None]
    return groups, pages, aside


def _waiting(actor: Actor, chosen: ProjectRow | None, by_name: Mapping[str, Entry]) -> dict[str, int]:
    """How much waits on which page, in the chosen project."""
    if chosen is None:
        return {}
    counts = {"adjudicate": (ADJUDICATORS, count_disputed), "revise": (REVISERS, count_to_revise)}
    return {
        name: count(ui.db(), actor, chosen.project_id)
        for name, (roles, count) in counts.items()
        if name in by_name and (actor.is_admin or chosen.role in roles)
    }


def _choose(projects: Sequence[ProjectRow], chosen: ProjectRow) -> None:
    names = {row.project_id: row.name for row in projects}
    ids = list(names)
    picked = st.selectbox(
        "Project",
        ids,
        index=ids.index(chosen.project_id),
        format_func=names.__getitem__,
        label_visibility="collapsed",
        key=f"assay-project-{chosen.project_id}",
    )
    if picked != chosen.project_id:
        st.query_params["project"] = str(picked)
        st.session_state["assay_project"] = picked
        st.rerun()
