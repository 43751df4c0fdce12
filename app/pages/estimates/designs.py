"""Designs at equal labels on the page Fewer labels: what one rater an item buys, and a study of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import streamlit as st

from annotators.estimates.designs import DesignPlan, PlannedDesign
from app import ui, wording
from app.widgets import blocks, study_form
from app.widgets.measuring import measured
from app.worker.report_tasks import Estimates, PlannedDesigns
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.studies.design import StudyRow
from exports.drawing.figures import number
from exports.estimates.raters import designs_in_words, designs_table
from exports.estimates.view import Shown


def draw(project: ProjectRow, study: StudyRow, shown: Shown, task: Estimates) -> None:
    """How wide the interval is in each design of as many labels, how many a width takes, and a study of one of them."""
    blocks.section("One rater or several")
    words = "What so many labels buy: more items, or more raters of the same items. This study is the pilot. Half the "
    words += "width of intervals is shown: of the mean, and of agreement (ICC of single labels, which α is close to)."
    st.html(f'<p class="assay-soft assay-small">{words}</p>')
    of = replace(task, criterion=shown.standing.name)
    with st.container(horizontal=True, vertical_alignment="bottom", key="estimates-designs-choice"):
        labels = st.number_input(
            "Labels to spend", min_value=2, value=None, step=10, key="estimates-designs-labels",
            placeholder="as the pilot has",
        )  # fmt: skip
        width = st.number_input(
            "Wanted width of the interval", min_value=0.001, value=None, step=0.01, format="%.3f",
            key="estimates-designs-width", help="High less low: 0.1 is ±0.05.", placeholder="such as 0.100",
        )  # fmt: skip
    asked = PlannedDesigns(of, None if labels is None else int(labels), None if width is None else float(width))
    [plan] = measured(asked.key, asked)
    if plan.rows:
        table = designs_table(plan, shown.standing.title)
        seen = table.caption, *_seen(plan)
        blocks.table(table.caption, table.columns, table.rows, name=f"designs-{shown.standing.name}", seen=seen)
    for line in designs_in_words(plan):
        st.html(f'<p class="assay-soft assay-small">{line}</p>')
    if plan.rows and ui.may(project.role, RESEARCHERS):
        _new_study(project, study, plan)


def _seen(plan: DesignPlan) -> tuple[Sequence[str], Sequence[Sequence[str]]]:
    """What of the table fits into the column: the labels are said above it."""
    columns = ["Design", "Items", "Labels", "Alone, ±", "Predicted, ±", "Agreement, ±"]
    if plan.width is not None:
        columns.append(f"Labels for {plan.width:g}")
    rows = []
    for row in plan.rows:
        agreement = "–" if row.agreement_width is None else number(row.agreement_width / 2, 2)
        cells = [row.design.in_words, f"{row.items:,}", f"{row.labels:,}"]
        cells += [_half(row.width), _half(row.width_predicted), agreement]
        if plan.width is not None:
            cells.append("–" if row.fewest is None else f"{row.fewest:,}")
        rows.append(cells)
    return columns, rows


def _half(width: float | None) -> str:
    return "–" if width is None else number(width / 2)


def _new_study(project: ProjectRow, study: StudyRow, plan: DesignPlan) -> None:
    """A button that opens the form for a study of the chosen design, which has what agreement needs at first."""
    first = plan.cheapest_with_agreement if plan.width is not None else plan.best_with_agreement
    rows = [row for row in plan.rows if _items(plan, row) is not None]
    if not rows:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="estimates-designs-new"):
        place = st.selectbox(
            "Design", range(len(rows)), index=rows.index(first) if first in rows else 0,
            key=f"estimates-design-{plan.labels}-{plan.width}",
            format_func=lambda place: f"{rows[place].design.in_words}, {_items(plan, rows[place]):,} items",
        )  # fmt: skip
        chosen = rows[place]
        if st.button("Make this study", key="estimates-designs-make", help="With this study's protocol and people."):
            study_form.begin_planned(
                project,
                study.study_id,
                items=_items(plan, chosen) or chosen.items,
                overlap=chosen.design.raters,
                part=chosen.design.part or None,
                part_overlap=chosen.design.several or None,
            )
    people = chosen.design.several or chosen.design.raters
    st.caption(f"It takes {wording.count(people, 'annotator')} or more.")


def _items(plan: DesignPlan, row: PlannedDesign) -> int | None:
    """How many items a study of this design has: those of the wanted width, or what the labels buy."""
    return row.items if plan.width is None else row.items_of_fewest
