"""What stands around every page: the project and the person's menu, in Streamlit's top bar."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from app import navigation, ui
from app.style import style
from db.permissions import Actor
from db.projects import ProjectRow


def draw(actor: Actor, projects: Sequence[ProjectRow], chosen: ProjectRow | None) -> None:
    """The project at the left and the person's menu at the right of the top bar."""
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
        if "account" in navigation.load_pages():
            st.page_link(navigation.find("account"), label="Password and sessions")
        st.html('<div class="assay-menu"><a href="/sign-out" target="_self">Sign out</a></div>')


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
