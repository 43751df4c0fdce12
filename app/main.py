"""The one Streamlit script: who are you, in which project, and which pages do you see."""

from __future__ import annotations

import streamlit as st

from app import navigation, shell, ui
from db.projects import my_projects


def run() -> None:
    """One run of the script, for one person's browser."""
    st.set_page_config(page_title="Assay", layout="wide")
    with ui.problems():
        actor = ui.actor()
        projects = my_projects(ui.db(), actor)
        chosen = ui.choose_project(projects)
        role = chosen.role if chosen else None
        page = st.navigation(
            [navigation.find(entry.name) for entry in navigation.entries_for(actor, role)], position="top"
        )
        shell.draw(actor, projects, chosen)
        with ui.problems():
            page.run()


run()
