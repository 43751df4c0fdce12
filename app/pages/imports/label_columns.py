"""Which column of an uploaded table of labels is what: as it is guessed, beside three rows, and as somebody says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import streamlit as st

from annotators.errors import AssayError
from app import ui
from app.uploads import Upload, read_by_others
from exports.columns.columns import read_columns
from exports.columns.mapping import AS_IT_IS, MANY, TableMapping, found_columns
from exports.columns.values import ValueRule

SHOWN_ROWS = 3
_SINGLE = {"item": "Item", "annotator": "Annotator", "criterion": "Criterion", "value": "Value", "target": "Target"}
_SEVERAL = {
    "criteria": "Columns that are a criterion each",
    "annotators": "Columns that are an annotator each",
    "items": "Columns that are an item each",
}
_SHAPES = {
    "rows": "One label",
    "criteria": "One rating, a column a criterion",
    "annotators": "One unit, a column an annotator",
    "items": "One person, a column an item",
}
"""What a row of the table is → in words."""


@dataclass(frozen=True)
class _Beginning:
    """The columns of a table and its first rows."""

    columns: list[str]
    rows: list[list[Any]]


def _beginning(file: Upload) -> _Beginning | None:
    """The beginning of the table, kept while the file is there; None for what is no table, which the plan says."""
    about = str(getattr(file, "file_id", file.name))
    kept: tuple[str, _Beginning | None] | None = st.session_state.get("label-import-beginning")
    if kept is None or kept[0] != about:
        found = None
        try:
            with read_by_others(file) as path:
                table = read_columns(path, bad=[])
            columns = {name: cells[:SHOWN_ROWS] for name, cells in table.cells.items() if name}
            found = _Beginning(list(columns), [list(row) for row in zip(*columns.values(), strict=True)])
        except AssayError:
            pass
        kept = st.session_state["label-import-beginning"] = (about, found)
    return kept[1]


def draw(file: Upload) -> TableMapping:
    """The form with three rows of the table; the mapping that it says, which is none while it says what is guessed."""
    begun = _beginning(file)
    if begun is None:
        return AS_IT_IS
    try:
        guessed = found_columns(begun.columns, AS_IT_IS).columns
    except AssayError:
        guessed = {}
    known = {"item", "annotator", "value"} <= set(guessed)
    about = str(getattr(file, "file_id", file.name))
    with st.expander("Columns", expanded=not known, key="label-import-columns"):
        ui.table(
            f"The first {len(begun.rows)} rows",
            begun.columns,
            [tuple("" if cell is None else str(cell)[:80] for cell in row) for row in begun.rows],
            name="label-rows",
        )
        shape = st.selectbox(
            "A row is", list(_SHAPES), format_func=_SHAPES.__getitem__, key=f"label-import-shape-{about}"
        )
        fields: dict[str, tuple[str, ...]] = {}
        if shape in MANY:
            several = st.multiselect(_SEVERAL[shape], begun.columns, key=f"label-import-{shape}-{about}")
            fields[shape] = tuple(several)
        singles = [name for name in _SINGLE if name != MANY.get(shape) and not (shape in MANY and name == "value")]
        for name, cell in zip(singles, st.columns(len(singles)), strict=True):
            there = guessed.get(name, ())
            given = cell.selectbox(
                _SINGLE[name],
                begun.columns,
                index=begun.columns.index(there[0]) if there else None,
                key=f"label-import-{name}-{shape}-{about}",
                placeholder="None",
            )
            if given is not None or there:
                fields[name] = (given,) if given is not None else ()
        fold = st.checkbox("Labels that differ only in case are one", key=f"label-import-fold-{about}")
        delimiter = st.text_input(
            "Between the parts of a set (optional)",
            key=f"label-import-delimiter-{about}",
            max_chars=8,
            placeholder="none",
        )
    named = {name: columns for name, columns in fields.items() if columns != tuple(guessed.get(name, ()))}
    return TableMapping(named, rule=ValueRule.of(fold_case=fold, delimiter=delimiter.strip() or None))
