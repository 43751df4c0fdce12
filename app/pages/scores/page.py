"""Scores: run a scorer, compare systems and categories, and look at the items behind every figure."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators.scorers.base import value_kind
from annotators.scorers.shared.group_means import METHOD, SHARES_METHOD
from app import ui, wording
from app.pages.scores import compare, gaps, plots, run, tables, training_sets
from app.pages.scores.tables import Column
from app.widgets import blocks, choices
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.scores.items import score_distribution
from db.scores.summaries import ScoreSummary, list_scorers_in, score_summary
from exports.drawing.radar import MOST_LINES, radar

BESIDE = 4
"""Values that are set beside each other to begin with."""

_TABS = ["Tables", "Radar", "Distributions", "Items", "Two scorers", "Abstention examples"]


def page() -> None:
    """Draw the page."""
    blocks.style()
    project = ui.project()
    used = list_scorers_in(ui.db(), ui.actor(), project.project_id)
    ui.heading("Scores", "Automatic metrics over the current items. A score that could not be given has a reason.")
    may_run = ui.may(project.role, RESEARCHERS)
    if may_run:
        run.draw(project, first=not used)
    columns = {column.name: column for scorer in used for value in scorer.values for column in [Column(scorer, value)]}
    if not columns:
        ui.empty("The project has no scores yet.", "A researcher runs a scorer, or imports items with scores.")
        return
    shown = st.query_params.get("show")
    tabs = st.tabs(
        _TABS if may_run else _TABS[:-1],
        key=f"scores-tabs-{project.project_id}-{shown}",
        default=shown if shown in _TABS else None,
        on_change="rerun",
    )
    for tab, name in zip(tabs, _TABS, strict=False):
        if tab.open:
            with tab, ui.problems():
                _tab(name, project, columns)


def _tab(name: str, project: ProjectRow, columns: dict[str, Column]) -> None:
    match name:
        case "Tables":
            _tables(project, columns)
        case "Radar":
            _radar(project, _one(columns, "radar"))
        case "Distributions":
            _distribution(project, _one(columns, "distribution"))
        case "Items":
            column = _one(columns, "items")
            tables.items(project, column, _summary(project, column))
        case "Two scorers":
            compare.draw(project, columns)
        case _:
            training_sets.draw(project)


def _summary(project: ProjectRow, column: Column) -> ScoreSummary:
    return score_summary(
        ui.db(),
        ui.actor(),
        project.project_id,
        scorer=column.used.scorer,
        parameters=column.used.parameters,
        value=column.value,
    )


def _one(columns: dict[str, Column], where: str) -> Column:
    """The scorer that a tab is about: that of the address (`?of=NAME`), else the one picked, else the first."""
    names = list(columns)
    wanted = st.query_params.get("of")
    place = names.index(wanted) if wanted in names else 0
    key = f"scores-{where}-{wanted}"
    return columns[st.selectbox("Scorer", names, index=place, format_func=lambda name: columns[name].shown, key=key)]


# Tables ---------------------------------------------------------------------------------------------------------------


def _tables(project: ProjectRow, columns: dict[str, Column]) -> None:
    names = list(columns)
    newest = [name for name in names if columns[name].used.newest]
    chosen = st.multiselect(
        "Beside each other", names, default=newest[:BESIDE], format_func=lambda name: columns[name].shown,
        key=f"scores-beside-{project.project_id}",
    )  # fmt: skip
    if not chosen:
        ui.empty("No scorer is chosen.", "Choose at least one above.")
        return
    summaries: list[tuple[Column, ScoreSummary]] = []
    for column in (columns[name] for name in chosen):
        with ui.problems():
            summaries.append((column, _summary(project, column)))
    tables.overview(project, summaries)
    st.caption(
        "The mean is over items; the macro mean gives every category the same weight. In brackets: its interval "
        f"({METHOD}, of shares in percent {SHARES_METHOD}; the categories are strata of the macro mean)."
    )
    for column, summary in summaries:
        st.subheader(ui.plain(column.shown), anchor=False)
        tables.by_category(project, column, summary)
    runs = {
        (column.used.scorer, column.used.version, repr(column.used.parameters)): column.used for column, _ in summaries
    }
    for used in runs.values():
        gaps.draw(project, used)


# Plots ----------------------------------------------------------------------------------------------------------------


def _radar(project: ProjectRow, column: Column) -> None:
    summary = _summary(project, column)
    systems = _systems(summary, column)
    values = {system: {name: sums.mean for name, sums in tables.sums_of(summary, system).items()} for system in systems}
    categories = sorted({cell.category or choices.NO_CATEGORY for cell in summary.cells})
    high = value_kind(summary.scorer, summary.value).high or 1.0
    drawn = plots.draw(
        lambda ink: radar(values, categories, ink, high=high, on_page=True),
        f"radar-{column.used.scorer}-{column.value}",
        "The mean of each category on its axis, from 0 at the centre; a line for each system."
        + _undrawn(summary, systems),
        stretch=False,
    )
    if not drawn:
        ui.empty("There is no radar of this.", "It takes scores in at least three categories, and a system.")


def _systems(summary: ScoreSummary, column: Column) -> list[str]:
    """Which systems are drawn: all, as long as each has a line of its own, unless others are picked."""
    systems = _systems_of(summary)
    if len(systems) < 2:
        return systems
    return st.multiselect(
        "Systems", systems, default=systems[:MOST_LINES], max_selections=MOST_LINES,
        key=f"radar-systems-{column.name}",
    )  # fmt: skip


def _systems_of(summary: ScoreSummary) -> list[str]:
    return sorted({cell.system for cell in summary.cells})


def _undrawn(summary: ScoreSummary, drawn: Sequence[str]) -> str:
    """How many systems have no line; nothing where all have one."""
    n = len(_systems_of(summary))
    return "" if len(drawn) == n else f" {len(drawn):,} of {n:,} systems are drawn; choose them above."


def _distribution(project: ProjectRow, column: Column) -> None:
    found = score_distribution(ui.db(), ui.actor(), project.project_id, of=column.of)
    kind = value_kind(column.used.scorer, column.value)
    drawn = plots.draw(
        lambda _ink: plots.distribution(found, kind),
        f"distribution-{column.used.scorer}-{column.value}",
        f"{kind.title}: how many items of each system it says yes of."
        if kind.kind == "flag"
        else f"{kind.title}: how many items have which score, a row for each system; all rows have one scale.",
        stretch=False,
    )
    if not drawn:
        ui.empty("No item has a value.", "The reasons stand below.")
    if found.reasons:
        _reasons(found.reasons)


def _reasons(reasons: Sequence[tuple[str, int]]) -> None:
    st.subheader("Unscored", anchor=False)
    rows = [(reason, wording.count(n, "item")) for reason, n in reasons]
    ui.table("Why items are unscored", ("Reason", "Items"), rows, name="unscored")
