"""Which column of an uploaded table is which field of an item: as it was guessed, and as somebody says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from annotators.items.item import ItemContent, fields_of
from db.items.imports import ImportReport
from exports.formats._page_columns import PAGES

_MAPPING = "imports-columns"
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


def draw(files: tuple[str, ...], report: ImportReport) -> None:
    """The fields with their columns; what is changed is looked through anew at once."""
    if not report.headings:
        return
    asked = chosen(files)
    now: Columns = report.columns if asked is None else {name: given for name, given in asked.items() if given}
    with st.expander("Columns and fields", expanded="question" not in now, key="imports-columns-form"):
        st.caption("Columns that are no field are kept in the items' metadata under their own names.")
        cells = [cell for _ in range(0, len(_FIELDS), _ACROSS) for cell in st.columns(_ACROSS)]
        found = {}
        for (name, many), cell in zip(_FIELDS, cells, strict=False):
            label, key = _LABELS.get(name, name.capitalize()), f"imports-column-{name}-{files[0]}"
            there = [column for column in now.get(name, ()) if column in report.headings]
            if many:
                given = cell.multiselect(label, report.headings, default=there, key=key, placeholder="None")
            else:
                place = report.headings.index(there[0]) if there else None
                heading = cell.selectbox(label, report.headings, index=place, key=key, placeholder="None")
                given = [heading] if heading is not None else []
            if given:
                found[name] = given
    if found != {name: list(given) for name, given in now.items()}:
        st.session_state[_MAPPING] = (files, found)
        st.rerun()
