"""Agreement: all criteria first, then one with all its statistics, the units behind, parts, people, plans."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import streamlit as st

from annotators.agreement.tables.own_weights import OwnWeights
from annotators.errors import AssayError, InvalidInput
from app import ui, wording
from app.pages.agreement import annotators, coefficients, compare, parts, planning, units
from app.pages.agreement.shared import View, note
from app.uploads import chosen_file, read_by_others
from app.widgets import blocks, choices
from app.widgets.measuring import measured
from app.worker.report_tasks import Agreement
from db.studies.design import StudyRow, list_studies, studies_to_compare
from db.studies.ratings import may_see_names, ratings_stamp
from exports.agreement.own_weights import read_weights
from exports.agreement.report import Report, summary
from exports.agreement.study import AgreementReport, CriterionReport
from exports.checks import EVERY

RESAMPLES = 1000

TABS: dict[str, Callable[[View], None]] = {
    "All criteria": coefficients.all_criteria,
    "One criterion": coefficients.one_criterion,
    "Units": units.draw,
    "Parts and time": parts.draw,
    "Annotators": annotators.draw,
    "Compare": compare.draw,
    "Planning": planning.draw,
}
"""What the page draws; only the tab that is open is computed."""


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    if not studies:
        choices.no_study(project, "Agreement", "agreement is measured on its labels.")
        return
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-choice"):
        comparable = studies_to_compare(ui.db(), ui.actor(), project.project_id)
        study = choices.study_with_labels(studies, "agreement", best=comparable)
        choice = st.container()
        asked = _how()
    # An adjudicator decides on labels without knowing whose they are.
    named = may_see_names(ui.db(), ui.actor(), study.study_id)
    report, key, task = _report(study, asked, named=named)
    with top:
        ui.heading("Agreement", _about(study, report))
    if not any(criterion.n_ratings for criterion in report.criteria):
        ui.empty("Nobody has labelled anything in this study yet.", "Agreement appears with the first shared item.")
        return
    with choice:
        chosen = _criterion(report, study)
    _tabs(View(study, report, chosen, key, task, hidden=study.is_annotator and study.done < study.of))


def _how() -> dict[str, Any]:
    """How it is measured, as arguments of `agreement_report`."""
    with st.popover("How it is measured"):
        seed = int(st.number_input("Seed", min_value=0, value=0, step=1, key="agreement-seed"))
        resamples = int(
            st.number_input(
                "Resamples", min_value=0, max_value=20_000, value=RESAMPLES, step=100, key="agreement-resamples"
            )
        )
        whole = st.checkbox("Every statistic, whatever the scale", key="agreement-all")
        clustered = st.checkbox("Draw questions, not units", value=True, key="agreement-clustered")
        st.caption(
            "Units are drawn again with replacement; the same seed gives the same interval. Answers to one question "
            "are not independent: drawing questions keeps them together."
        )
        weights = _own_weights()
    statistics = "all" if whole else "default"
    return {
        "seed": seed,
        "resamples": resamples,
        "statistics": statistics,
        "clustered": clustered,
        "weights": weights,
    }


def _own_weights() -> dict[str, OwnWeights]:
    """Weights of one's own, from a file, for every criterion that they fit."""
    file = chosen_file(
        "Own weights for κ (CSV, TSV)",
        ["csv", "tsv"],
        key="agreement-weights",
        help="A row and a column for each label: 1 for full agreement, 0 for none. They are used for every criterion "
        "all of whose labels they have.",
    )
    if file is None:
        return {}
    try:
        with read_by_others(file) as path:
            return {EVERY: read_weights(path)}
    except AssayError as error:
        st.error(ui.plain(str(error)))
        return {}


def _report(
    study: StudyRow, asked: dict[str, Any], *, named: bool
) -> tuple[AgreementReport, tuple[Any, ...], Agreement]:
    """The report, measured once for everybody until the labels change, what identifies it, and what measured it."""
    db, actor = ui.db(), ui.actor()
    stamp = ratings_stamp(db, actor, study.study_id)
    key = (study.study_id, stamp, named, _hashable(asked))
    task = Agreement(actor, study.study_id, named, asked)
    try:
        return Agreement.report(measured(("agreement", key), task, _meanwhile)), key, task
    except InvalidInput as error:
        if not asked["weights"]:
            raise
        st.error(ui.plain(str(error)))
    return _report(study, {**asked, "weights": {}}, named=named)


def _hashable(asked: dict[str, Any]) -> tuple[Hashable, ...]:
    return tuple(tuple(value.items()) if isinstance(value, dict) else value for value in asked.values())


def _meanwhile(parts: list[Any]) -> bool:
    """The rows of the first table that are there, while the others are measured; whether there is one."""
    done = len(parts) - 1
    shown = summary(Report.of_study(Agreement.report(parts)).measured[:done])
    if done:
        note(f"{shown.caption} ({done} of {len(parts[0].criteria)})")
        blocks.table(shown.caption, shown.columns, shown.rows)
    return bool(done)


def _criterion(report: AgreementReport, study: StudyRow) -> CriterionReport | None:
    """The criterion of the address (`?criterion=NAME`), else the one picked, else the first with labels."""
    there = {criterion.criterion.name: criterion for criterion in report.criteria if criterion.n_ratings}
    names = list(there)
    asked = st.query_params.get("criterion", "")
    picked = st.selectbox(
        "Criterion",
        names,
        index=names.index(asked) if asked in there else 0,
        format_func=lambda name: there[name].title,
        key=f"agreement-criterion-{study.study_id}",
        help="What the tabs after the first are about.",
    )
    return there.get(picked)


def _about(study: StudyRow, report: AgreementReport) -> str:
    return (
        f'Study "{study.name}", {study.protocol}, {wording.count(study.n_items, "item")}, '
        f"{wording.count(len(report.raters), 'annotator')}, {wording.count(study.submitted, 'annotation')}"
    )


def _tabs(view: View) -> None:
    names = list(TABS)
    asked = st.query_params.get("show", "").lower()
    first = next((name for name in names if name.lower() == asked), names[0])
    tabs = st.tabs(names, default=first, key=f"agreement-tabs-{view.study.study_id}", on_change="rerun")
    for tab, name in zip(tabs, names, strict=True):
        if tab.open:
            with tab:
                TABS[name](view)
