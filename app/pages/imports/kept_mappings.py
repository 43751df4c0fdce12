"""Mappings that a project keeps, on the pages where tables come in: one is chosen, and what was chosen is kept."""

from __future__ import annotations

from collections.abc import Collection

import streamlit as st

from annotators.errors import AssayError
from app import ui
from db.elsewhere.mappings import LONGEST_NAME, keep_mapping, kept_mappings
from db.projects import ProjectRow
from exports.columns.mapping import TableMapping


def choose(project: ProjectRow, fields: Collection[str], key: str) -> tuple[str, TableMapping] | None:
    """The mapping that somebody chooses, of those that say something of these fields alone; None while none is."""
    kept = {row.name: row.mapping for row in kept_mappings(ui.db(), ui.actor(), project.project_id)}
    read = {name: TableMapping.of_json(said) for name, said in kept.items()}
    there = {name: found for name, found in read.items() if set(found.fields) <= set(fields)}
    if not there:
        return None
    name = st.selectbox(
        "Kept mapping", list(there), index=None, placeholder="None: as guessed", key=f"{key}-kept",
        help="What was kept under a name: which column is what, and how values are read.",
    )  # fmt: skip
    return None if name is None else (name, there[name])


def keep(project: ProjectRow, mapping: TableMapping, key: str, named: str = "") -> None:
    """Where what was chosen is kept under a name; a name that is taken is changed."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        name = st.text_input(
            "Keep this mapping as", named, max_chars=LONGEST_NAME, key=f"{key}-keep-name", placeholder="a name"
        )
        if st.button("Keep", key=f"{key}-keep", disabled=not name.strip()):
            try:
                was = keep_mapping(ui.db(), ui.actor(), project.project_id, name=name, mapping=mapping.to_json())
            except AssayError as error:
                st.error(ui.lines(str(error)))
                return
            said = "was changed" if was else "is kept"
            st.session_state[f"{key}-kept-said"] = f"{name.strip()} {said}. In commands --map {name.strip()} takes it."
            st.rerun()  # it can be chosen above now
        if said := st.session_state.pop(f"{key}-kept-said", ""):
            st.caption(ui.plain(said))
