"""The one Streamlit script: who are you, in which project, and which pages do you see."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import streamlit as st

from annotators.errors import NotSignedIn
from app import navigation, shell, ui
from app.widgets.doing import acts
from db.projects import my_projects


def run() -> None:
    """One run of the script, for one person's browser."""
    st.set_page_config(page_title="Assay", layout="wide")
    with ui.problems():
        try:
            actor = ui.actor()
        except NotSignedIn:
            st.navigation(navigation.places(), position="hidden")  # under whatever address, and without a menu
            raise
        projects = my_projects(ui.db(), actor)
        chosen = ui.choose_project(projects)
        role = chosen.role if chosen else None
        entries = list(navigation.entries_for(actor, role))
        pages = [navigation.find(entry.name) for entry in entries]
        page = st.navigation(pages + shell.closed_to(entries, chosen), position="hidden")
        ui.go_on()
        shell.draw(actor, projects, chosen, entries, navigation.name_of(page))
        acts.say()
        with ui.problems(partial(_way_back, navigation.name_of(page), entries)):
            page.run()


def _way_back(name: str, entries: Sequence[navigation.Entry]) -> None:
    """From a page that another one leads to and that shows nothing: a link to that one."""
    before = {entry.name: entry.from_ for entry in entries}.get(name)
    for entry in entries:
        if entry.name == before:
            ui.link(entry.title, entry.name, key="way-back", primary=True)


run()
