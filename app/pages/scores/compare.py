"""Two scorers against each other: where they agree, by how much they differ, and the items on which they do."""

from __future__ import annotations

import streamlit as st

from annotators.figures import held_in_words
from annotators.scorers.base import value_kind
from annotators.scorers.shared.group_means import METHOD, JointSums
from app import ui, wording
from app.pages.scores import plots
from app.pages.scores.tables import Column
from app.widgets import blocks, pager
from db.projects import ProjectRow
from db.scores.items import ScoreComparison, compare_scores, list_differences

_PAGE = 30


def draw(project: ProjectRow, columns: dict[str, Column]) -> None:
    """The choice of two, their figures, the plot, and the items that differ most."""
    names = list(columns)
    if len(names) < 2:
        ui.empty("There is one value only.", "Run another scorer, or the same with other parameters, to compare.")
        return
    left, right = st.columns(2)

    def shown(name: str) -> str:
        return columns[name].shown

    first = columns[left.selectbox("First", names, format_func=shown, key=f"compare-first-{project.project_id}")]
    second = columns[
        right.selectbox("Second", names, index=1, format_func=shown, key=f"compare-second-{project.project_id}")
    ]
    if first == second:
        ui.empty("These are the same scores.", "Choose two different ones.")
        return
    found = compare_scores(ui.db(), ui.actor(), project.project_id, first=first.of, second=second.of)
    if not found.sums.n:
        ui.empty("No item has a score of both.", "Run the scorer that lacks scores.")
        return
    _figures(first, second, found)
    flags = all(value_kind(column.used.scorer, column.value).kind == "flag" for column in (first, second))
    held = held_in_words(found.sums.n, {"with a score of one only": found.n_one_only}, "item")
    plots.draw(
        lambda _ink: plots.joint(found, first.name, second.name, flags=flags),
        "two-scorers",
        f"How many items have which pair of scores: rows {second.name}, columns {first.name}; {held}."
        if flags
        else f"How many items have which pair of scores; on the dashed line both are the same; {held}.",
    )
    _items(project, first, second)


def _figures(first: Column, second: Column, found: ScoreComparison) -> None:
    sums = found.sums
    difference = sums.difference
    low, high = difference.interval or (None, None)
    rows = [
        ("Items with both", f"{sums.n:,}"),
        ("Items with one only", f"{found.n_one_only:,}"),
        (f"Mean of {first.name}", wording.number(sums.x / sums.n, 3)),
        (f"Mean of {second.name}", wording.number(sums.y / sums.n, 3)),
        ("Mean difference", wording.interval(difference.mean, low, high, 3)),
        ("Pearson's r", _pearson(sums)),
    ]
    blocks.table("Two scorers", ("", "Value"), rows, name="two-scorers")
    st.caption(
        f"Difference: first less second, paired by item, {METHOD}. Pearson's r with Fisher's interval, 95 %; items of "
        "one question count as independent here. The page Alignment compares metrics with people."
    )


def _pearson(sums: JointSums) -> str:
    reason = "one of the two does not vary" if sums.n > 1 else "there are too few items"
    low, high = sums.pearson_interval or (None, None)
    return wording.interval(sums.pearson, low, high, 3, reason=reason)


def _items(project: ProjectRow, first: Column, second: Column) -> None:
    st.subheader("Items that differ most", anchor=False)
    about = (project.project_id, first.name, second.name)
    after = pager.start("differences", about)
    rows = list_differences(
        ui.db(), ui.actor(), project.project_id, first=first.of, second=second.of, after=after, limit=_PAGE
    )

    def shown(column: Column, value: float) -> str:
        return value_kind(column.used.scorer, column.value).in_words(value)

    blocks.table(
        "Items that differ most",
        ("Item", "System", "Category", first.name, second.name, "Question", "Answer"),
        [
            (
                blocks.item(row.external_id, row.item_id, project.project_id),
                row.system,
                row.category,
                shown(first, row.first),
                shown(second, row.second),
                blocks.clip(row.question, 110),
                blocks.clip(row.answer, 160),
            )
            for row in rows
        ],
        name="differences",
    )
    pager.buttons("differences", rows[-1].key if len(rows) == _PAGE else None)
