"""The form that imports a table of labels made elsewhere, into a study that is there or one made from the table."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from annotators.errors import AssayError
from app import ui, wording
from app.uploads import stored
from db.projects import ProjectRow
from db.studies import list_studies
from exports.label_import import SCALES, LabelTableImport, import_label_table

_DONE = "label-import-done"
_UPLOADER = "label-import-uploader"


@dataclass(frozen=True)
class _Into:
    """The study that the labels go into; with `infer` it is made, its criteria on this scale."""

    study: str
    infer: bool
    scale: str | None


def draw(project: ProjectRow) -> None:
    """The form, and what the last import did."""
    done: tuple[str, LabelTableImport] | None = st.session_state.pop(_DONE, None)
    if done is not None:
        _imported(project, *done)
    number = st.session_state.setdefault(_UPLOADER, 0)
    left, right = st.columns([3, 2], gap="large")
    file = left.file_uploader(
        "Table of labels (CSV, TSV)",
        type=["csv", "tsv", "txt"],
        key=f"label-import-file-{number}",
        help="Columns item, annotator, criterion, value, and perhaps target, time and comment.",
    )
    left.caption("All labels are imported, or none: a bad row is named with its line.")
    with right:
        into = _into(project)
    if file is None or not into.study or not st.button("Import labels", type="primary", key="label-import-go"):
        return
    try:
        with st.spinner("Importing"), stored([file]) as [path]:
            made = import_label_table(
                ui.db(),
                ui.actor(),
                project.project_id,
                study=into.study,
                path=path,
                infer=into.infer,
                scales=[into.scale] if into.scale else [],
            )
    except AssayError as error:
        st.error("\n\n".join(ui.plain(line) for line in str(error).splitlines()))
        return
    st.session_state[_DONE] = (into.study, made)
    st.session_state[_UPLOADER] += 1
    st.rerun()


def _into(project: ProjectRow) -> _Into:
    studies = [one.name for one in list_studies(ui.db(), ui.actor(), project.project_id)]
    chosen = st.selectbox(
        "Into",
        [None, *studies],
        format_func=lambda name: "A new study, made from the table" if name is None else f"Study {name}",
        key="label-import-study",
    )
    if chosen is not None:
        return _Into(chosen, infer=False, scale=None)
    name = st.text_input("Name of the study", max_chars=100, key="label-import-name").strip()
    scale = st.selectbox(
        "Scale of its labels",
        SCALES,
        key="label-import-scale",
        help="Criteria and labels are taken from the table. Items that the project lacks are added as bare ones.",
    )
    return _Into(name, infer=True, scale=scale)


def _imported(project: ProjectRow, study: str, done: LabelTableImport) -> None:
    made = done.labels
    parts = [
        f"{wording.count(made.labels, 'label')} by {wording.count(len(made.annotators), 'annotator')} in {study}",
        *([f"{wording.count(done.items_added, 'bare item')} added"] if done.items_added else []),
        *(f"left out: {wording.count(n, 'row')} ({reason})" for reason, n in done.left_out.items()),
    ]
    st.success(ui.plain(f"Imported as batch {made.batch}: {'; '.join(parts)}."))
    ui.link("Look at the agreement", "agreement", key="labels", study=done.study_id, project=project.project_id)
