"""Fewer labels: the criteria of a study at the left, one of them in the middle, what to label next at the right."""

from __future__ import annotations

from html import escape

import streamlit as st

from app import ui, wording
from app.pages.estimates import designs, pieces
from app.widgets import blocks, choices
from app.widgets.measuring import measured
from app.worker.report_tasks import Estimates, PlannedWidth
from db.designing.draws import draws_of, keep_draw
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.studies.design import StudyRow, list_studies
from db.studies.ratings import alignment_stamp
from exports.alignment.sections import number
from exports.estimates.report import name_in_words
from exports.estimates.view import FewerLabels, Shown

OF = {"items": "These items", "population": "What they stand for"}
BATCH = 20


def page() -> None:
    """Draw the page."""
    blocks.style()
    pieces.style()
    project = ui.project()
    studies = list_studies(ui.db(), ui.actor(), project.project_id)
    if not studies:
        choices.no_study(project, "Fewer labels", "few of its labels then speak for all items.")
        return
    left, middle, right = st.container(key="estimates").columns([1.02, 2.75, 1.3], gap="medium")
    with left:
        ui.heading("Fewer labels")
        study = choices.study_with_labels(studies, "estimates")
        of = st.selectbox("A figure is about", list(OF), format_func=OF.__getitem__, key="estimates-of")
        beside = st.container()
    task = _asked(study, of)
    with middle:
        [found] = measured(task.key, task)
    with beside:
        _criteria(project, study, found)
    if found.shown is None:
        with middle:
            ui.empty(
                "No criterion of this study has labels that are numbers.",
                "Two labels, ordered ones and numbers have means. Choose another study.",
            )
        return
    with middle:
        _shown(found, found.shown)
        designs.draw(project, study, found.shown, task)
    with right:
        _next(project, study, found, found.shown, task)


def _asked(study: StudyRow, of: str) -> Estimates:
    draws = draws_of(ui.db(), ui.actor(), study.study_id)
    stamp = (*alignment_stamp(ui.db(), ui.actor(), study.study_id), len(draws))
    given = st.query_params.get("criterion")
    return Estimates(ui.actor(), study.study_id, stamp, given, of, BATCH, len(draws))


# The criteria ---------------------------------------------------------------------------------------------------------


def _criteria(project: ProjectRow, study: StudyRow, found: FewerLabels) -> None:
    """Each criterion with how it stands, as a link to it."""
    # Of a criterion about claims or evidence more units are labelled than there are items.
    of = " of their units" if found.n_labelled > found.n_items else ""
    labelled = f"{wording.count(found.n_items, 'item')}, {found.n_labelled:,}{of} labelled by people"
    st.html(f'<p class="assay-soft assay-small">{labelled}</p>')
    current = None if found.shown is None else found.shown.standing.name
    rows = []
    for standing in found.standings:
        href = blocks.address("estimates", project=project.project_id, study=study.study_id, criterion=standing.name)
        rows.append(pieces.criterion(standing, href, found.stop, current=standing.name == current))
    st.html(f'<nav class="assay-criteria" aria-label="Criteria">{"".join(rows)}</nav>')
    words = "The study has no stop rule. It is part of a design: “May end when a mean is known to ±”."
    if found.stop is not None:
        words = f"The stop rule ±{found.stop:g} is part of the design, frozen with the study."
    st.html(f'<p class="assay-soft assay-small">{words}</p>')


# One criterion --------------------------------------------------------------------------------------------------------


def _shown(found: FewerLabels, shown: Shown) -> None:
    standing = shown.standing
    st.html(
        f'<h2 class="assay-section">{escape(standing.title)} '
        f'<span class="assay-soft assay-small">mean of {escape(shown.whom)}; {escape(shown.used)}</span></h2>'
    )
    if standing.reason is not None:
        ui.empty(f"There is no estimate yet: {standing.reason}.", "Figures appear with the labels.")
    else:
        st.html(pieces.tiles(shown, found.stop))
        pieces.charts(shown, found.stop)
    st.caption("What predictions and drawing bought")
    pieces.table(shown.strata, f"bought-{standing.name}")
    with st.expander("Every estimate"):
        pieces.table(shown.statistics, f"estimates-{standing.name}")
    for note in shown.notes:
        st.caption(ui.plain(note))


# What to label next ---------------------------------------------------------------------------------------------------


def _next(project: ProjectRow, study: StudyRow, found: FewerLabels, shown: Shown, task: Estimates) -> None:
    blocks.section("What to label next")
    words = "Drawn at random, more often where the predictions are likely to be wrong, never with probability zero. "
    words += "The probabilities are stored and become weights, so that the estimate stays unbiased."
    st.html(f'<p class="assay-soft assay-small">{words}</p>')
    if shown.next_items:
        st.html(pieces.next_table(shown))
        st.html(f'<p class="assay-soft assay-small">seed {task.seed}, draw {found.n_draws + 1} of this study</p>')
    elif shown.why_no_next:
        st.html(f'<p class="assay-soft assay-small">{escape(shown.why_no_next)}</p>')
    if shown.next_items and ui.may(project.role, RESEARCHERS):
        words = f"Label these {wording.count(len(shown.next_items), 'item')} next"
        if st.button(words, type="primary", key="estimates-draw"):
            first = keep_draw(
                ui.db(), ui.actor(), study.study_id,
                criterion=shown.standing.name, seed=task.seed, predictions=shown.predictions,
                chances={item.study_item: item.probability for item in shown.next_items},
            )  # fmt: skip
            st.session_state["estimates-drawn"] = (len(shown.next_items), first)
            st.rerun()
    if (drawn := st.session_state.pop("estimates-drawn", None)) is not None:
        n, first = drawn
        where = "They come before all others." if first else "Everybody has an order of their own, which stays."
        st.success(f"{wording.count(n, 'item')} drawn. {where}")
    st.html(f'<div class="assay-panel"><p class="assay-said" dir="auto">{escape(shown.sentence)}</p></div>')
    with st.popover("Copy the sentence"):
        st.code(shown.sentence, language=None, wrap_lines=True)
    with st.popover("Plan a width"):
        width = st.number_input(
            "Width of the interval, high less low", min_value=0.001, value=None, step=0.01, format="%.3f",
            key="estimates-width", help="0.1 is ±0.05.",
        )  # fmt: skip
        if width:
            _planned(task, float(width))


def _planned(task: Estimates, width: float) -> None:
    planned = PlannedWidth(task, width)
    [found] = measured(planned.key, planned)
    rows = [
        [
            name_in_words(entry.name).removeprefix("Labels needed").lstrip(",: ").strip() or "mean",
            entry.metric or "",
            "–" if entry.value is None else f"{entry.value:,.0f}",
            entry.reason or "",
        ]
        for entry in found
    ]
    blocks.table(f"Labels for an interval {number(width)} wide", ("Figure", "Metric", "Labels", "Why not"), rows)
