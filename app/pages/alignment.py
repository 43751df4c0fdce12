"""Alignment: metrics and judges against people; tables first, then plots, then the items behind the figures."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from annotators.alignment import Resampling
from app import downloads, navigation, ui, wording
from app.widgets import alignment_views as views
from app.widgets import blocks, choices
from app.widgets.study_form import DRAWN, ITEMS
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.ratings import ratings_stamp
from db.score_summaries import list_scorers_in
from db.studies import StudyRow, list_studies
from exports.alignment import AlignmentReport, Labels, alignment_report
from exports.alignment_data import Human
from exports.alignment_report import Report, packed
from exports.alignment_scores import Metric
from exports.report_files import report_html

RESAMPLES = 1000
LABELS: dict[Labels, str] = {
    "item": "One value a unit (mean or majority)",
    "each": "Every label",
    "settled": "Settled labels",
}


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    if not studies:
        ui.heading("Alignment")
        ui.empty("There is no study yet.", "Make one on the page Studies; its labels are set against scores here.")
        return
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", key="alignment-choice"):
        study = choices.study_with_labels(studies, "alignment")
        report = _report(study, len(list_scorers_in(ui.db(), ui.actor(), project.project_id)))
    with top:
        ui.heading("Alignment", _about(study, report))
    if not any(human.people for human in report.data.humans):
        ui.empty("Nobody has labelled anything in this study yet.", "Figures appear with the first labels.")
        return
    if not report.data.metrics:
        ui.empty("No item of this study has a score.", "Run a scorer on the page Scores, or import items with scores.")
        return
    human = _criterion(report)
    metrics = views.choices(report, human)
    tables, plots, apart, following, files = st.tabs(
        ["Coefficients", "Plots", "Where they differ", "What to label next", "Report"]
    )
    with tables:
        views.coefficients(report, human)
        _notes(report)
    with plots:
        _plots(report, human, metrics)
    with apart:
        if (metric := _metric(metrics, "differences")) is not None:
            _new_study(project, views.draw_differences(report, human, metric), "differences")
    with following:
        if (metric := _metric(metrics, "next")) is not None:
            advised = views.draw_next(ui.db(), report, human, metric)
            if advised is not None:
                items = [str(one.unit) for one in advised.candidates]
                _new_study(project, items, "next", partial(advised.draw, seed=report.asked.seed))
    with files:
        _files(report)


# Choices --------------------------------------------------------------------------------------------------------------


def _report(study: StudyRow, n_scorers: int) -> AlignmentReport:
    """The report, kept in this browser's session until the study has more labels, or something is chosen otherwise."""
    labels: Labels = st.selectbox("Labels", list(LABELS), format_func=LABELS.__getitem__, key="alignment-labels")
    with st.popover("How it is measured"):
        by = st.text_input(
            "Also group by", key="alignment-by", help="A field of the items' metadata, besides system and category."
        )
        seed = int(st.number_input("Seed", min_value=0, value=0, step=1, key="alignment-seed"))
        resamples = int(st.number_input("Resamples", 100, 20_000, RESAMPLES, step=100, key="alignment-resamples"))
        epsilon = st.number_input(
            "ε of the alternative annotator test", 0.0, 0.9, 0.2, step=0.05, key="alignment-epsilon",
            help="What an annotator's cost is worth: 0.2 for experts, 0.15 for trained people, 0.1 for crowd workers.",
        )  # fmt: skip
        st.caption("Questions are drawn again with replacement; the same seed gives the same interval.")
    stamp = ratings_stamp(ui.db(), ui.actor(), study.study_id)  # a correction changes no count
    key = (study.study_id, stamp, n_scorers, labels, by.strip(), seed, resamples, epsilon)
    kept = st.session_state.get("alignment-report")
    if kept is None or kept[0] != key or st.button("Measure again", key="alignment-again", type="tertiary"):
        with st.spinner("Measuring"):
            made = alignment_report(
                ui.db(),
                ui.actor(),
                study.study_id,
                labels=labels,
                by=by.strip() or None,
                asked=Resampling(resamples, seed),
                epsilon=float(epsilon),
            )
        kept = (key, made)
        st.session_state["alignment-report"] = kept
    report: AlignmentReport = kept[1]
    return report


def _criterion(report: AlignmentReport) -> Human:
    """The criterion that the parts below the first tables are about."""
    humans = {one.criterion.name: one for one in report.data.humans}
    usable = [name for name, one in humans.items() if one.people] or list(humans)
    picked = st.selectbox(
        "Criterion",
        usable,
        format_func=lambda name: humans[name].criterion.title,
        key=f"alignment-criterion-{report.data.study.id}",
    )
    return humans[picked]


def _metric(metrics: list[Metric], where: str) -> Metric | None:
    """The metric that a tab is about; None (and why, on the page) when there is none."""
    if not metrics:
        ui.empty("No metric has values that this criterion could be set against.", "Choose another criterion above.")
        return None
    by_name = {one.name: one for one in metrics}
    return by_name[st.selectbox("Metric", list(by_name), key=f"alignment-metric-{where}")]


# Parts ----------------------------------------------------------------------------------------------------------------


def _about(study: StudyRow, report: AlignmentReport) -> str:
    metrics = wording.count(len(report.data.metrics), "metric")
    return f'Study "{study.name}", {study.protocol}, {wording.count(study.submitted, "annotation")}, {metrics}'


def _plots(report: AlignmentReport, human: Human, metrics: list[Metric]) -> None:
    if human.about_score is not None:
        views.draw_grades(report, human)
        return
    if (metric := _metric(metrics, "plots")) is not None:
        views.draw_plots(report, human, metric, metrics)


def _new_study(
    project: ProjectRow,
    items: list[str],
    where: str,
    draw: Callable[[int], tuple[tuple[str, ...], dict[str, Any]]] | None = None,
) -> None:
    """Takes the first of these items to the form of a new study, or so many that `draw` draws among them."""
    if not items or not ui.may(project.role, RESEARCHERS):
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"alignment-study-of-{where}"):
        label = "Items from the top" if draw is None else "Items to draw"
        n = st.number_input(label, 1, len(items), min(20, len(items)), key=f"alignment-n-{where}", width=160)
        if st.button("New study of these items", key=f"alignment-new-{where}"):
            chosen, drawn = (tuple(items[: int(n)]), {}) if draw is None else draw(int(n))
            st.session_state[ITEMS], st.session_state[DRAWN] = chosen, drawn
            st.switch_page(navigation.find("studies"), query_params={"project": str(project.project_id)})


def _notes(report: AlignmentReport) -> None:
    for note in [*report.notes, *report.warnings]:
        st.caption(ui.plain(note))


def _files(report: AlignmentReport) -> None:
    """The report with its tables and plots: one HTML file, or Markdown and LaTeX with pictures in a ZIP."""
    st.html(
        "<p>All tables and plots, and how they were made. HTML is one file; Markdown and LaTeX come with their plots "
        "in a ZIP.</p>"
    )
    made = Report.of_study(report)
    files = [downloads.File("HTML", "alignment.html", "text/html", lambda: report_html(made).encode())]
    for label, ending in (("Markdown", ".md"), ("LaTeX", ".tex")):
        pack = partial(packed, made, f"alignment{ending}")
        files.append(downloads.File(label, f"alignment-{label.lower()}.zip", "application/zip", pack))
    downloads.menu("alignment-report", files, made.title, label="Download the report")
