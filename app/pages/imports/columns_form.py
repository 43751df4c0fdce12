"""Which column of an uploaded table is which field of an item: as it was guessed, and as somebody says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from annotators.items.item import ItemContent, fields_of
from app.pages.imports import kept_mappings, opening_form
from db.items.imports import ImportReport
from db.projects import ProjectRow
from exports.columns.mapping import AS_IT_IS, TableMapping
from exports.formats._page_columns import PAGES
from exports.reading.tables import USUAL, Opening

_MAPPING = "imports-columns"
_KEPT = "imports-columns-kept"
_TABLES = (".csv", ".tsv", ".txt", ".xlsx", ".json", ".jsonl")
_ACROSS = 4
_FIELDS = (*((field.name, field.many) for field in fields_of(ItemContent)), (PAGES, False))
_LABELS = {
    "id": "Item's id", "question_key": "Question's key", "references": "Reference answers", PAGES: "Pages of evidence",
}  # fmt: skip

Columns = Mapping[str, Sequence[str]]
"""Field → its columns."""


def chosen(files: tuple[str, ...]) -> dict[str, Sequence[str]] | None:
    """What was chosen for these files: every field with its columns; None where nothing was."""
    about, mapping = st.session_state.get(_MAPPING, (None, None))
    return {name: mapping.get(name, []) for name, _ in _FIELDS} if about == files and mapping is not None else None


def opened(project: ProjectRow, names: Sequence[str], files: tuple[str, ...]) -> Opening:
    """How the tables among the files are opened, and the kept mapping whose columns are taken; usual where none is."""
    if not any(name.lower().endswith(_TABLES) for name in names):
        return USUAL
    key = f"imports-{files[0]}"
    found = kept_mappings.choose(project, [name for name, _ in _FIELDS], key)
    name, kept = found or ("", AS_IT_IS)
    if st.session_state.get(_KEPT) != (files, name):
        if found is not None:
            st.session_state[_MAPPING] = (files, {field: list(columns) for field, columns in kept.fields.items()})
        elif st.session_state.get(_KEPT, (None, ""))[0] == files:
            st.session_state.pop(_MAPPING, None)
        st.session_state[_KEPT] = (files, name)
    key = f"{key}-{name}" if kept.opening != USUAL else key  # what was typed stays beside a mapping that says nothing
    with st.expander("How the tables are opened", expanded=kept.opening != USUAL, key=f"{key}-opened"):
        return opening_form.draw(names, key, kept.opening)


def draw(project: ProjectRow, files: tuple[str, ...], report: ImportReport, opening: Opening = USUAL) -> None:
    """The fields with their columns; what is changed is looked through anew at once."""
    if not report.headings:
        return
    asked = chosen(files)
    now: Columns = report.columns if asked is None else {name: given for name, given in asked.items() if given}
    with st.expander("Columns and fields", expanded="question" not in now, key="imports-columns-form"):
        st.caption("Columns that are no field are kept in the items' metadata under their own names.")
        cells = [cell for _ in range(0, len(_FIELDS), _ACROSS) for cell in st.columns(_ACROSS)]
        found = {}
        kept = st.session_state.get(_KEPT, (None, ""))[1]
        for (name, many), cell in zip(_FIELDS, cells, strict=False):
            label, key = _LABELS.get(name, name.capitalize()), f"imports-column-{name}-{files[0]}{kept}"
            there = [column for column in now.get(name, ()) if column in report.headings]
            if many:
                given = cell.multiselect(label, report.headings, default=there, key=key, placeholder="None")
            else:
                place = report.headings.index(there[0]) if there else None
                heading = cell.selectbox(label, report.headings, index=place, key=key, placeholder="None")
                given = [heading] if heading is not None else []
            if given:
                found[name] = given
        named = {name: tuple(columns) for name, columns in found.items()}
        kept_mappings.keep(project, TableMapping(named, opening), f"imports-{files[0]}-{kept}", kept)
    here = {name: [column for column in given if column in report.headings] for name, given in now.items()}
    if found != {name: given for name, given in here.items() if given}:
        st.session_state[_MAPPING] = (files, found)
        st.rerun()
