"""The form that imports a table of labels made elsewhere, into a study that is there or one made from the table."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from pathlib import PurePath

import streamlit as st

from annotators.errors import AssayError
from app import ui, wording
from app.pages.imports import label_columns
from app.uploads import Upload, chosen_file, read_by_others
from app.widgets import blocks
from db.projects import ProjectRow
from db.studies.design import list_studies
from exports.checks import INFERABLE
from exports.columns.mapping import TableMapping
from exports.importing.labels import (
    LabelTableImport,
    LabelTablePlan,
    import_label_table,
    plan_label_table,
    shortened,
)

SHOWN = 20
_DONE = "label-import-done"
_UPLOADER = "label-import-uploader"
_NAMED = "label-import-named"
_UNNAMED = "\N{ZERO WIDTH SPACE}labels"
"""What a study that does not exist yet is called while the plan is made; no study of the project can have this name."""


@dataclass(frozen=True)
class _Into:
    """The study that the labels go into; with `infer` it is made, its criteria on this scale.

    `overlap`: so many annotations settle an item of it (None: as many as most items of the table have).
    """

    study: str
    infer: bool
    scale: str | None
    taken: bool = False
    overlap: int | None = None


def draw(project: ProjectRow) -> None:
    """The form, what the import would do, and what the last one did."""
    done: tuple[str, LabelTableImport] | None = st.session_state.pop(_DONE, None)
    if done is not None:
        _imported(project, *done)
    number = st.session_state.setdefault(_UPLOADER, 0)
    left, right = st.columns([3, 2], gap="large")
    with left:
        file = chosen_file(
            "Table of labels (CSV, TSV, JSON, Parquet, XLSX)",
            ["csv", "tsv", "txt", "json", "jsonl", "parquet", "xlsx"],
            key=f"label-import-file-{number}",
            help="Columns item, annotator, criterion, value, and perhaps target, time, comment, seconds and rationale; "
            "others are named below.",
        )
    left.caption("It is looked through first. All labels are imported, or none.")
    if file is not None:
        _name_after(file)
    with right:
        into = _into(project)
    if file is None:
        return
    mapping = label_columns.draw(project, file)
    if mapping is None:
        return
    plan = _planned(project, file, into, mapping, bare_items=False)
    if plan is None:
        return
    _plan_drawn(plan, into)
    bare_items = False
    if plan.inferred and plan.plan.unmatched:
        n = len(plan.plan.unmatched)
        bare_items = st.checkbox(
            f"Add the {wording.count(n, 'item')} that the project lacks as bare ones, with their id as the question",
            key="label-import-bare",
        )
        plan = _planned(project, file, into, mapping, bare_items=bare_items) or plan
    _choice(project, file, into, plan, mapping, bare_items=bare_items)


def _name_after(file: Upload) -> None:
    """A new study is called after the file until somebody calls it otherwise."""
    stem = PurePath(file.name).stem[:100]
    if st.session_state.get(_NAMED) != stem and not st.session_state.get("label-import-name"):
        st.session_state["label-import-name"] = stem
    st.session_state[_NAMED] = stem


def _planned(
    project: ProjectRow, file: Upload, into: _Into, mapping: TableMapping, *, bare_items: bool
) -> LabelTablePlan | None:
    """What the import would do; None (and why, on the page) where there is no telling."""
    try:
        with st.spinner("Looking through the table"), read_by_others(file) as path:
            return plan_label_table(
                ui.db(),
                ui.actor(),
                project.project_id,
                study=_UNNAMED if into.infer else into.study,
                path=path,
                infer=into.infer,
                bare_items=bare_items,
                scales=[into.scale] if into.scale else [],
                overlap=into.overlap,
                mapping=mapping,
            )
    except AssayError as error:
        st.error(ui.lines(wording.on_page(str(error))))
        return None


def _plan_drawn(found: LabelTablePlan, into: _Into) -> None:
    plan = found.plan
    st.subheader("What the import would do")
    amiss = {"items not there": len(plan.unmatched), "rows that do not fit": len(plan.problems)}
    blocks.figures(
        [
            ("labels", f"{plan.labels:,}"),
            ("annotations", f"{plan.annotations:,}"),
            ("annotators", f"{len(plan.annotators):,}"),
            ("items matched", f"{len(plan.matched):,}"),
            *((words, f"{n:,}") for words, n in amiss.items() if n),
        ]
    )
    left_out = "; ".join(f"{wording.count(n, 'row')} ({reason})" for reason, n in found.left_out.items())
    blocks.facts(
        [
            ("Columns read", ", ".join(found.columns)),
            ("Columns ignored", ", ".join(found.ignored)),
            ("Annotators", shortened(plan.annotators, SHOWN)),
            ("New people, without a login", shortened(plan.new_people, SHOWN)),
            ("Items matched", shortened(plan.matched, SHOWN)),
            ("Items not there", shortened(plan.unmatched, SHOWN)),
            ("Rows left out", left_out),
            ("Not counted", " ".join(plan.not_counted.notes())),
            ("Seconds and times", " ".join(found.notes)),
            ("What was read", wording.on_page(" ".join(found.read))),
        ]
    )
    if found.cautions:
        st.warning("\n\n".join(ui.plain(wording.on_page(caution)) for caution in found.cautions))
    blocks.table(
        "Criteria of the table",
        ("Criterion", "About each", "Scale", "Values and how often"),
        [
            (
                criterion.name,
                criterion.target,
                criterion.scale,
                shortened([f"{value} ({n:,})" for value, n in criterion.values], SHOWN),
            )
            for criterion in found.criteria
        ],
    )
    numeric = [criterion.name for criterion in found.criteria if criterion.numeric and len(criterion.values) > 2]
    if found.inferred and into.scale == "nominal" and numeric:
        st.caption(ui.plain(f"All values of {shortened(numeric)} are numbers: the scale may be ordinal or interval."))


def _choice(
    project: ProjectRow, file: Upload, into: _Into, plan: LabelTablePlan, mapping: TableMapping, *, bare_items: bool
) -> None:
    obstacles = [wording.on_page(obstacle) for obstacle in plan.obstacles]
    if not into.study:
        obstacles.append("A new study needs a name.")
    if into.taken:
        obstacles.append(f"The project has a study named {into.study!r} already: choose it above, or another name.")
    with st.container(horizontal=True, vertical_alignment="center"):
        label = f"Import {wording.count(plan.plan.labels, 'label')}"
        pressed = st.button(label, type="primary", key="label-import-go", disabled=bool(obstacles))
        if obstacles:
            more = f" … and {len(obstacles) - 1:,} more, below." if len(obstacles) > 1 else ""
            st.html(f'<span class="assay-need">{escape(obstacles[0])}{more}</span>')
    if len(obstacles) > 1:
        ui.table(
            "Why it cannot be imported", ("Why it cannot be imported",), [(obstacle,) for obstacle in obstacles[:SHOWN]]
        )
        if len(obstacles) > SHOWN:
            st.caption(f"The first {SHOWN} of {len(obstacles):,} are shown.")
    if not pressed:
        return
    try:
        with st.spinner("Importing"), read_by_others(file) as path:
            made = import_label_table(
                ui.db(),
                ui.actor(),
                project.project_id,
                study=into.study,
                path=path,
                infer=into.infer,
                bare_items=bare_items,
                scales=[into.scale] if into.scale else [],
                overlap=into.overlap,
                mapping=mapping,
            )
    except AssayError as error:
        st.error(ui.lines(str(error)))
        return
    st.session_state[_DONE] = (into.study, made)
    st.session_state[_UPLOADER] += 1
    st.session_state.pop("label-import-name", None)
    st.rerun()


def _into(project: ProjectRow) -> _Into:
    studies = [study.name for study in list_studies(ui.db(), ui.actor(), project.project_id)]
    chosen = st.selectbox(
        "Into",
        [None, *studies],
        format_func=lambda name: "A new study, made from the table" if name is None else f"Study {name}",
        key="label-import-study",
    )
    if chosen is not None:
        return _Into(chosen, infer=False, scale=None)
    name = st.text_input("Name of the study", max_chars=100, key="label-import-name", required=True).strip()
    scale = st.selectbox(
        "Scale of its labels", INFERABLE, key="label-import-scale", help="Criteria and labels are taken from the table."
    )
    overlap = st.number_input(
        "Annotations that settle an item (optional)",
        min_value=1,
        value=None,
        key="label-import-overlap",
        placeholder="as many as most items have",
    )
    return _Into(name, infer=True, scale=scale, taken=name in studies, overlap=overlap)


def _imported(project: ProjectRow, study: str, done: LabelTableImport) -> None:
    made = done.labels
    parts = [
        f"{wording.count(made.labels, 'label')} in {wording.count(made.annotations, 'annotation')} by "
        f"{wording.count(len(made.annotators), 'annotator')} in {study}",
        *([f"{wording.count(done.items_added, 'bare item')} added"] if done.items_added else []),
        *(f"left out: {wording.count(n, 'row')} ({reason})" for reason, n in done.left_out.items()),
    ]
    said = [f"Imported as batch {made.batch}: {'; '.join(parts)}.", *done.notes, *made.not_counted.notes()]
    st.success(ui.plain(" ".join(said)))
    ui.link("Look at the agreement", "agreement", key="labels", study=done.study_id, project=project.project_id)
