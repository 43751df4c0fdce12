"""The planner on the page Agreement: how many items and annotators give an interval of the wanted width."""

from __future__ import annotations

import re
from collections.abc import Mapping

import streamlit as st

from annotators.agreement.statistics.base import title_of
from annotators.errors import InvalidInput
from app import ui, wording
from app.pages.agreement.shared import View, ask, kept, nobody, note, table
from app.widgets import study_form
from app.widgets.plots import plot
from db.permissions import RESEARCHERS
from db.projects import my_projects
from exports.agreement.planning import (
    ITEMS,
    SIMULATIONS,
    plan_plot,
    plan_table,
    plan_words,
    planned_statistics,
    study_plan,
)


def draw(view: View) -> None:
    """The choices, and the plan once it was asked for."""
    criterion = view.criterion
    if criterion is None or criterion.ratings is None or not criterion.n_ratings:
        nobody(view)
        return
    names = planned_statistics(criterion.ratings)
    if not names:
        ui.empty(
            f"Labels of the scale {criterion.criterion.scale} cannot be planned with.", "Choose another criterion."
        )
        return
    note(
        "The labels of this criterion serve as the pilot: studies of each size are simulated from them, and the width "
        "of their intervals (upper end minus lower end) is measured."
    )
    name = criterion.criterion.name
    with st.container(horizontal=True, vertical_alignment="bottom", key="agreement-plan-choice"):
        statistic = st.selectbox("Coefficient", names, format_func=title_of, key=f"plan-statistic-{name}")
        width = float(
            st.number_input("Wanted width", min_value=0.01, max_value=2.0, value=0.2, step=0.05, key="plan-width")
        )
        sizes = st.text_input("Numbers of items", ", ".join(map(str, ITEMS)), key="plan-items")
        people = st.multiselect(
            "Annotators an item", list(range(2, 11)), [2, 3, 4], key="plan-annotators",
            help="Other numbers than the study's own come from a model of its annotators.",
        )  # fmt: skip
        ready = ask(view, "plan", (statistic, sizes, tuple(people)), "Plan")
    if not ready:
        return
    ratings, seed = criterion.ratings, view.report.seed
    with ui.problems():
        found = kept(
            view,
            "plan",
            (statistic, sizes, tuple(people)),
            study_plan,
            ratings,
            statistic,
            items=_numbers(sizes),
            annotators=sorted(people) or None,
            simulations=SIMULATIONS,
            seed=seed,
        )
        if found.studies:
            table(plan_table(found, criterion.title, width), f"plan-{view.slug}")
        for line in plan_words(found, width):
            note(line)
        caption = f"{criterion.title}: expected width by number of items; the bands hold 8 of 10 simulated studies."
        plot(
            plan_plot(found, width),
            f"plan-{view.slug}",
            caption,
            otherwise="There is no plot of the plan: no simulated study had an interval. Simulate more items.",
        )
        _new_study(view, found.items_needed(width))


def _new_study(view: View, needed: Mapping[int, int]) -> None:
    """Buttons that open the form for a study of the planned sizes, for who may make one."""
    project = next(row for row in my_projects(ui.db(), ui.actor()) if row.project_id == view.study.project_id)
    if not needed or not ui.may(project.role, RESEARCHERS):
        return
    note("Design the study with the pilot's protocol and annotators:")
    with st.container(horizontal=True, key="agreement-plan-new"):
        for overlap, items in needed.items():
            label = f"{wording.count(items, 'item')}, {wording.count(overlap, 'annotator')} each"
            if st.button(label, key=f"plan-new-{overlap}"):
                study_form.begin_planned(project, view.study.study_id, items=items, overlap=overlap)


def _numbers(text: str) -> list[int]:
    """The numbers of items that were typed."""
    words = [word for word in re.split(r"[,;\s]+", text.strip()) if word]
    if not words or not all(re.fullmatch(r"\d{1,6}", word) for word in words):
        raise InvalidInput(f"{text!r} is no list of numbers of items. Write them as 50, 100, 200.")
    return sorted({int(word) for word in words})
