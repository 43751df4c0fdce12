"""Alignment: metrics and judges against people; tables first, then plots, then the items behind the figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from annotators.alignment import equivalences
from annotators.intervals.bootstrap import Resampling
from app import navigation, ui, wording
from app.pages.alignment import views
from app.widgets import blocks, choices, report_menu
from app.widgets.measuring import measured
from app.widgets.study_form import DRAWN, ITEMS
from app.worker.report_tasks import Alignment, ReportView, alignment_file, measured_alignment
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.studies.design import StudyRow, list_studies
from db.studies.ratings import alignment_stamp, may_see_names
from exports.alignment.study import Labels
from exports.alignment.views import CriterionOutline, MetricOutline

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
        choices.no_study(project, "Alignment", "its labels are set against scores here.")
        return
    top = st.container()
    with st.container(horizontal=True, vertical_alignment="bottom", key="alignment-choice"):
        study = choices.study_with_labels(studies, "alignment")
        task, margin = _asked(study)
    with top:
        title = st.empty()
        with title:
            ui.heading("Alignment", _about(study))
    report = _measured(task, margin)
    with title:
        ui.heading("Alignment", f"{_about(study)}, {wording.count(report.outline.n_metrics, 'metric')}")
    if not any(human.labelled for human in report.outline.criteria):
        ui.empty("Nobody has labelled anything in this study yet.", "Figures appear with the first labels.")
        return
    if not report.outline.n_metrics:
        ui.empty("No item of this study has a score.", "Run a scorer on the page Scores, or import items with scores.")
        return
    human = _criterion(report)
    metrics = views.choices(report, human)
    _tabs(project, report, human, metrics)


def _tabs(
    project: ProjectRow, report: views.ShownReport, human: CriterionOutline, metrics: list[MetricOutline]
) -> None:
    """The tabs; only the one that is open is made. `?show=` in the address opens one at first."""
    parts: dict[str, Callable[[], None]] = {
        "Coefficients": lambda: _coefficients(report, human),
        "Plots": lambda: _plots(report, human, metrics),
        "Where they differ": lambda: _differences(project, report, human, metrics),
        "What to label next": lambda: _next(project, report, human, metrics),
        "Report": lambda: _files(report),
    }
    asked = st.query_params.get("show", "").lower()
    first = next((name for name in parts if name.lower() == asked), "Coefficients")
    tabs = st.tabs(list(parts), default=first, key=f"alignment-tabs-{report.outline.study_id}", on_change="rerun")
    for tab, draw in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                draw()


# Choices --------------------------------------------------------------------------------------------------------------


def _asked(study: StudyRow) -> tuple[Alignment, float | None]:
    """What is to be measured: how, and of which labels and scores (by their stamp); and the margin of equivalence."""
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
        margin = st.number_input(
            "Margin of equivalence", 0.001, 2.0, None, step=0.01, key="alignment-margin", placeholder="none",
            help="The largest difference of two metrics' coefficients that would not matter, such as 0.05. Each two "
            "metrics are then tested for being equivalent within it.",
        )  # fmt: skip
        st.caption("Questions are drawn again with replacement; the same seed gives the same interval.")
    task = Alignment(
        actor=ui.actor(),
        study_id=study.study_id,
        stamp=alignment_stamp(ui.db(), ui.actor(), study.study_id),
        named=may_see_names(ui.db(), ui.actor(), study.study_id),
        labels=labels,
        by=by.strip() or None,
        asked=Resampling(resamples, seed),
        epsilon=float(epsilon),
    )
    return task, margin


def _measured(task: Alignment, margin: float | None) -> views.ShownReport:
    """The report, measured once for everybody until labels or scores change."""

    def meanwhile(parts: list[Any]) -> bool:
        return views.meanwhile(parts[0], measured_alignment(parts)[0])

    parts = measured(task.key, task, meanwhile)
    statistics, notes = measured_alignment(parts)
    if margin is not None:
        statistics = [*statistics, *equivalences(statistics, margin)]
    return views.ShownReport(task, parts[0], statistics, notes, margin)


def _criterion(report: views.ShownReport) -> CriterionOutline:
    """The criterion that the parts below the first tables are about."""
    there = {criterion.name: criterion for criterion in report.outline.criteria}
    usable = [name for name, criterion in there.items() if criterion.labelled] or list(there)
    picked = st.selectbox(
        "Criterion",
        usable,
        format_func=lambda name: there[name].title,
        key=f"alignment-criterion-{report.outline.study_id}",
    )
    return there[picked]


def _metric(metrics: list[MetricOutline], where: str) -> MetricOutline | None:
    """The metric that a tab is about; None (and why, on the page) when there is none."""
    if not metrics:
        ui.empty("No metric has values that this criterion could be set against.", "Choose another criterion above.")
        return None
    by_name = {metric.name: metric for metric in metrics}
    return by_name[st.selectbox("Metric", list(by_name), key=f"alignment-metric-{where}")]


# Parts ----------------------------------------------------------------------------------------------------------------


def _about(study: StudyRow) -> str:
    return f'Study "{study.name}", {study.protocol}, {wording.count(study.submitted, "annotation")}'


def _coefficients(report: views.ShownReport, human: CriterionOutline) -> None:
    views.coefficients(report, human)
    for note in report.notes:
        st.caption(ui.plain(note))


def _plots(report: views.ShownReport, human: CriterionOutline, metrics: list[MetricOutline]) -> None:
    if human.about_score is not None:
        views.draw_grades(report, human)
        return
    if (metric := _metric(metrics, "plots")) is not None:
        views.draw_plots(report, human, metric)


def _differences(
    project: ProjectRow, report: views.ShownReport, human: CriterionOutline, metrics: list[MetricOutline]
) -> None:
    if (metric := _metric(metrics, "differences")) is not None:
        items = views.draw_differences(report, human, metric)
        if human.about_pairs:
            return  # a study of single items of the pairs would have none of these pairs
        _new_study(project, len(items), "differences", "Items from the top", lambda n: (tuple(items[:n]), {}))


def _next(
    project: ProjectRow, report: views.ShownReport, human: CriterionOutline, metrics: list[MetricOutline]
) -> None:
    if human.about_pairs:
        ui.empty("What to label next is about single answers.", "Choose a study that judges answer by answer.")
        return
    if (metric := _metric(metrics, "next")) is not None:
        there = views.draw_next(report, human, metric)
        draw = partial(views.drawn_next, report, human, metric)
        _new_study(project, there, "next", "Items to draw", draw)


def _new_study(
    project: ProjectRow,
    there: int,
    where: str,
    label: str,
    choose: Callable[[int], tuple[Sequence[str], dict[str, Any]]],
) -> None:
    """Takes so many items of those that are `there` to the form of a new study, as `choose` chooses them."""
    if not there or not ui.may(project.role, RESEARCHERS):
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key=f"alignment-study-of-{where}"):
        n = st.number_input(label, 1, there, min(20, there), key=f"alignment-n-{where}", width=160)
        if st.button("New study of these items", key=f"alignment-new-{where}"):
            st.session_state[ITEMS], st.session_state[DRAWN] = choose(int(n))
            st.switch_page(navigation.find("studies"), query_params={"project": str(project.project_id)})


def _files(report: views.ShownReport) -> None:
    """The report with its tables and plots: one HTML file, or Markdown and LaTeX with pictures in a ZIP."""
    st.html(
        "<p>All tables and plots, and how they were made. HTML is one file; Markdown and LaTeX come with their plots "
        "in a ZIP. People are A1, A2 … there, as in exports.</p>"
    )
    statistics, notes = list(report.statistics), list(report.notes)
    report_menu.offer(
        "the alignment report",
        lambda ending: ReportView(report.task, alignment_file, (ending, statistics, notes), with_db=True),
        ui.reports(),
        (report.task.key, report.margin),
        name="alignment-report",
        stem="alignment",
    )
