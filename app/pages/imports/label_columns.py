"""Which column of an uploaded table of labels is what: as it is guessed, beside three rows, and as somebody says."""

from __future__ import annotations

from dataclasses import dataclass, replace

import streamlit as st

from annotators.errors import AssayError
from app import ui, wording
from app.pages.imports import kept_mappings, opening_form
from app.uploads import Upload, read_by_others
from db.projects import ProjectRow
from exports.columns.columns import Columns, read_columns
from exports.columns.guessing import LOOKED_AT, Guess, guess, is_whole
from exports.columns.mapping import AS_IT_IS, MANY, OF_RATINGS, TableMapping, check_fits, columns_named
from exports.columns.preview import SHOWN_ROWS, rows_of
from exports.columns.values import ValueRule
from exports.reading.tables import USUAL, Opening

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
    """The beginning of a table, the columns and paths that it has, and what is guessed of it."""

    columns: Columns
    names: list[str]
    guess: Guess


def _beginning(file: Upload, opening: Opening) -> _Beginning | AssayError:
    """The beginning of the table, kept while the file is there; or why there is none."""
    about = (str(getattr(file, "file_id", file.name)), opening)
    kept: tuple[object, _Beginning | AssayError] | None = st.session_state.get("label-import-beginning")
    if kept is None or kept[0] != about:
        found: _Beginning | AssayError
        try:
            with read_by_others(file) as path:
                table = read_columns(path, opening=opening, bad=[])
            names = [name for name in table.names() if name]
            guessed = guess({name: cells[:LOOKED_AT] for name, cells in table.cells.items()})
            begun = {name: cells[:LOOKED_AT] for name, cells in table.cells.items()}
            found = _Beginning(replace(table, cells=begun, lines=table.lines[:LOOKED_AT]), names, guessed)
        except AssayError as error:
            found = error
        kept = st.session_state["label-import-beginning"] = (about, found)
    return kept[1]


def draw(project: ProjectRow, file: Upload) -> TableMapping | None:
    """The form with three rows of the table, and the mapping that it says; None where the table cannot be opened."""
    about = f"label-import-{getattr(file, 'file_id', file.name)}"
    chosen = kept_mappings.choose(project, (*OF_RATINGS, *MANY), about)
    name, kept = chosen or ("", AS_IT_IS)
    key = f"{about}-{name}"
    opens = key if kept.opening != USUAL else about  # what was typed stays beside a mapping that says nothing of it
    with st.expander("How the table is opened", expanded=kept.opening != USUAL, key=f"{opens}-opened"):
        opening = opening_form.draw([file.name], opens, kept.opening)
    begun = _beginning(file, opening)
    if isinstance(begun, AssayError):
        st.error(ui.lines(wording.on_page(str(begun))))
        return None
    found = begun.guess
    if chosen is not None:
        try:
            check_fits(name, kept, file.name, begun.names)
            found = _as_kept(kept, begun.names)
        except AssayError as error:
            st.error(ui.lines(wording.on_page(str(error))))
            chosen, name = None, ""
    with st.expander("Columns", expanded=chosen is None and not _is_plain(found), key=f"{key}-columns"):
        _first_rows(begun)
        fields = _fields(found, begun.names, key)
        if chosen is None and found.said():
            st.caption(ui.plain(f"Guessed: {'; '.join(found.said())}."))
        mapping = replace(_values(kept, key), fields=fields, opening=opening)
        _as_read(begun, mapping)
        kept_mappings.keep(project, mapping, key, name)
    return mapping


def _is_plain(found: Guess) -> bool:
    """Whether all that is needed was known by the names of columns."""
    return is_whole(found) and all("name" in why or "called" in why for why in found.why.values())


def _as_kept(kept: TableMapping, names: list[str]) -> Guess:
    """What a kept mapping says, with patterns as the columns that they are."""
    shape = next((name for name in kept.fields if name in MANY), "rows")
    fields = dict(kept.fields)
    if shape in MANY:
        fields[shape] = tuple(dict.fromkeys(n for text in fields[shape] for n in columns_named(names, text, many=True)))
    return Guess(shape, fields, dict.fromkeys(fields, "as kept"))


def _first_rows(begun: _Beginning) -> None:
    shown = {name: cells[:SHOWN_ROWS] for name, cells in begun.columns.cells.items() if name}
    ui.table(
        f"The first {min(SHOWN_ROWS, len(begun.columns.lines))} rows",
        list(shown),
        [tuple("" if cell is None else str(cell)[:80] for cell in row) for row in zip(*shown.values(), strict=True)],
        name="label-rows",
    )


def _fields(found: Guess, names: list[str], key: str) -> dict[str, tuple[str, ...]]:
    """The columns as they are chosen; what is known otherwise (time, comment) stays as it is found."""
    shapes = list(_SHAPES)
    shape = st.selectbox(
        "A row is", shapes, index=shapes.index(found.shape), format_func=_SHAPES.__getitem__, key=f"{key}-shape"
    )
    fields: dict[str, tuple[str, ...]] = {}
    if shape in MANY:
        there = [column for column in found.fields.get(shape, ()) if column in names]
        fields[shape] = tuple(st.multiselect(_SEVERAL[shape], names, default=there, key=f"{key}-{shape}"))
    singles = [name for name in _SINGLE if name != MANY.get(shape) and not (shape in MANY and name == "value")]
    for name, cell in zip(singles, st.columns(len(singles)), strict=True):
        there = [column for column in found.fields.get(name, ()) if column in names]
        if name == "item":
            given = cell.multiselect(_SINGLE[name], names, default=there, key=f"{key}-{name}-{shape}")
            fields[name] = tuple(given)
            continue
        one = cell.selectbox(
            _SINGLE[name], names, index=names.index(there[0]) if there else None, key=f"{key}-{name}-{shape}",
            placeholder="None",
        )  # fmt: skip
        fields[name] = () if one is None else (one,)
    return fields


def _values(kept: TableMapping, key: str) -> TableMapping:
    """How values are read, and which rows are left out."""
    rule = kept.rule
    first, second, third = st.columns(3)
    delimiter = first.text_input(
        "Between the parts of a set", rule.delimiter or "", key=f"{key}-delimiter", max_chars=8, placeholder="none"
    )
    missing = second.text_input(
        "Words for a missing value", "" if rule.missing is None else ", ".join(rule.missing), key=f"{key}-missing",
        placeholder="NA, N/A, None, - and their like",
    )  # fmt: skip
    empty = third.text_input(
        "What an empty cell says", rule.empty or "", key=f"{key}-empty", max_chars=80, placeholder="nothing"
    )
    fold = st.checkbox("Labels that differ only in case are one", rule.fold_case, key=f"{key}-fold")
    out = st.text_input(
        "Rows left out", "; ".join(f"{name}={v}" for name, of in kept.left_out.items() for v in of or ("",)),
        key=f"{key}-left-out", placeholder="COLUMN=VALUE; COLUMN=VALUE",
    )  # fmt: skip
    said = [text.strip() for text in out.split(";") if "=" in text]
    return TableMapping.of(
        (), left_out=said,
        rule=ValueRule.of(missing.strip() or None, fold_case=fold, delimiter=delimiter.strip() or None, empty=empty),
    )  # fmt: skip


def _as_read(begun: _Beginning, mapping: TableMapping) -> None:
    """Three rows as the mapping reads them; why not, where it does not fit."""
    try:
        shown = rows_of(replace(begun.columns, cells=dict(begun.columns.cells), rule=mapping.rule), mapping)
    except AssayError as error:
        st.caption(ui.plain(wording.on_page(str(error))))
        return
    if shown.rows:
        st.caption("As it is read:")
        ui.table("As it is read", shown.columns, [tuple(row) for row in shown.rows], name="label-read")
