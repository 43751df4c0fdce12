"""Choices that several pages offer: a study, an item, a system, a category."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from app import ui
from db.items.read import list_items
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.studies.design import StudyRow

NO_CATEGORY = "(none)"


def no_study(project: ProjectRow, title: str, what: str) -> None:
    """A page about studies of a project that has none: what one would show here, and the way to make it."""
    ui.heading(title)
    if ui.may(project.role, RESEARCHERS):
        ui.empty("There is no study yet.", f"Make one; {what}")
        ui.link("New study…", "studies", key="no-study", primary=True, new=1, project=project.project_id)
    else:
        ui.empty("There is no study yet.", f"A researcher makes one; {what}")


def study_with_labels(studies: Sequence[StudyRow], page: str, *, best: Collection[int] = ()) -> StudyRow:
    """The study of the address (`?study=ID`), else the one picked, else the newest of the `best`, or with labels."""
    by_id = {row.study_id: row for row in studies}
    wanted = ui.integer_parameter("study")
    labelled = [row.study_id for row in studies if row.submitted]
    newest = next((study_id for study_id in reversed(list(by_id)) if study_id in best), [*by_id, *labelled][-1])
    ids = list(by_id)
    picked = st.selectbox(
        "Study",
        ids,
        index=ids.index(wanted if wanted in by_id else newest),
        format_func=lambda study_id: f"{by_id[study_id].name} ({by_id[study_id].protocol})",
        key=f"{page}-study-{studies[0].project_id}",
    )
    return by_id[picked]


_OFFERED = 50


def item_choice(project: ProjectRow, label: str, *, key: str) -> str | None:
    """An item of the project by its id: one of the first, or one that is typed."""
    rows = list_items(ui.db(), ui.actor(), project.project_id, limit=_OFFERED)
    questions = {row.external_id: row.question for row in rows}
    item: str | None = st.selectbox(
        label,
        list(questions),
        format_func=lambda item: f"{item}: {questions[item]}" if questions.get(item) else str(item),
        key=key,
        accept_new_options=True,
        placeholder="An item’s id" if questions else "The project has no items",
        help=f"One of the first {_OFFERED}, or type an item’s id.",
        width=330,
    )
    return item


def system(where: DeltaGenerator, systems: Sequence[str], key: str) -> str | None:
    """A system, the one of the address (`?system=`) first; None is all of them."""
    return _one_of(where, "System", systems, "All systems", key)


def category(where: DeltaGenerator, categories: Sequence[str], key: str) -> str | None:
    """A category, the one of the address (`?category=`) first; None is all of them, "" is without one."""
    return _one_of(where, "Category", categories, "All categories", key)


def _one_of(where: DeltaGenerator, title: str, values: Sequence[str], every: str, key: str) -> str | None:
    given = st.query_params.get(title.lower())
    picked: str | None = where.selectbox(
        title,
        [None, *values],
        index=values.index(given) + 1 if given in values else 0,
        format_func=lambda value: every if value is None else value or NO_CATEGORY,
        # Another address is another choice, not the one picked before.
        key=f"{key}-{title.lower()}-{given}",
    )
    return picked
