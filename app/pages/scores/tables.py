"""Tables of scores: scorers beside each other, systems by category, and the items behind a cell."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

import streamlit as st

from annotators.scorers.base import SCORERS, readable, value_kind
from annotators.scorers.shared.group_means import Sums
from app import ui, wording
from app.widgets import blocks, choices, pager
from db.projects import ProjectRow
from db.scores.items import ScoredItem, ScoresOf, list_scored
from db.scores.label_states import labels_state_now
from db.scores.summaries import ScorerInUse, ScoreSummary

_PAGE = 40


@dataclass(frozen=True)
class Column:
    """One value of one scorer in use, and what it is called."""

    used: ScorerInUse
    value: str

    @property
    def name(self) -> str:
        """`phrase_recall (mode=paper)`, with the value's name where a scorer gives several."""
        settings = ", ".join(short_parameters(self.used.parameters))
        name = f"{self.used.scorer} ({settings})" if settings else self.used.scorer
        only = self.used.scorer in SCORERS.names() and len(SCORERS.get(self.used.scorer).values) == 1
        return name if only else f"{name}: {self.value}"

    @property
    def shown(self) -> str:
        """The name as it is chosen by: it says where a later run took a newer state of the same labels."""
        return self.name if self.used.newest else f"{self.name} · older labels"

    @property
    def of(self) -> ScoresOf:
        """Which scores these are."""
        return ScoresOf(self.used.scorer, self.used.parameters, self.value)


def short_parameters(parameters: Mapping[str, Any]) -> list[str]:
    """Parameters as texts, without the tails of long hashes."""
    return readable(parameters, digits=10)


def mean_in_words(summary: ScoreSummary, value: float | None) -> str:
    """A mean as papers print it: flags as a share in percent."""
    reason = "no item has a score" if value is None else None
    if value_kind(summary.scorer, summary.value).kind == "flag":
        return wording.percent(value, reason=reason)
    return wording.number(value, 3, reason=reason)


def _with_interval(summary: ScoreSummary, value: float | None, ends: tuple[float, float] | None) -> str:
    shown = mean_in_words(summary, value)
    if value is None or ends is None:
        return shown
    scale, digits = (100, 1) if value_kind(summary.scorer, summary.value).kind == "flag" else (1, 3)
    low, high = (wording.number(scale * end, digits) for end in ends)
    return f"{shown} [{low}, {high}]"


# Tables ---------------------------------------------------------------------------------------------------------------


UP_TO_DATE, CHANGED = "up to date", "labels changed since"
NEWER_RUN = "out of date: a later run took newer labels"


def _labels_in_words(project: ProjectRow, column: Column) -> str:
    """How the labels that scores were made of stand today; nothing of scores that took none."""
    used = column.used
    now = labels_state_now(
        ui.db(), ui.actor(), project.project_id, scorer=used.scorer, parameters=used.parameters
    )  # fmt: skip
    if now is None:
        return ""
    if now == used.parameters.get("labels_state"):
        return UP_TO_DATE
    return f"newest run, {CHANGED}" if used.newest else NEWER_RUN


def overview(project: ProjectRow, chosen: Sequence[tuple[Column, ScoreSummary]]) -> None:
    """The chosen scorers beside each other, over all items; with how their labels stand, where some took labels."""
    labels = [_labels_in_words(project, column) for column, _ in chosen]
    ui.table(
        f"Scores of {project.name}",
        ("Scorer", "Parameters", *(["Labels"] * any(labels)), "Value", "Scored", "Unscored", "Mean", "Macro mean"),
        [
            (
                f"{summary.scorer} {summary.version}",
                ", ".join(short_parameters(summary.parameters)) or "none",
                *([standing] * any(labels)),
                value_kind(summary.scorer, summary.value).title,
                f"{summary.n_scored:,}",
                f"{summary.n_unscored:,}",
                _with_interval(summary, summary.mean, summary.interval),
                _with_interval(summary, summary.macro_mean, summary.macro_interval),
            )
            for (_, summary), standing in zip(chosen, labels, strict=True)
        ],
        name=f"scores-{project.project_id}",
    )


def by_category(project: ProjectRow, column: Column, summary: ScoreSummary) -> None:
    """A row for each system, a column for each category, then the mean and the macro mean; cells lead to items."""
    cells = {(cell.system, cell.category): cell for cell in summary.cells}
    systems = sorted({system for system, _ in cells})
    categories = sorted({category for _, category in cells}, key=lambda category: category or "")
    groups = {group.group: group for group in summary.groups if group.by == "system"}

    def link(label: str, **about: Any) -> blocks.Html:
        return blocks.to(label, "scores", project=project.project_id, of=column.name, show="Items", **about)

    rows: list[list[object]] = []
    for system in systems:
        row: list[object] = [blocks.short(link(system, system=system))]
        for category in categories:
            cell = cells.get((system, category))
            if cell is None:
                row.append("")
            else:
                shown = mean_in_words(summary, cell.sums.mean) if cell.sums.n else "unscored"
                row.append(blocks.short(link(shown, system=system, category=category or "")))
        group = groups[system]
        n_unscored = sum(cells[place].n_unscored for place in cells if place[0] == system)
        row += [
            f"{group.n:,}",
            f"{n_unscored:,}",
            _with_interval(summary, group.mean, group.interval),
            _with_interval(summary, group.macro_mean, group.macro_interval),
        ]
        rows.append(row)
    if len(systems) > 1:
        rows.append(_totals(summary, categories))
    blocks.table(
        f"{column.name} by system and category",
        (
            "System",
            *(category or choices.NO_CATEGORY for category in categories),
            "Scored",
            "Unscored",
            "Mean",
            "Macro mean",
        ),
        rows,
        name=f"scores-by-category-{column.used.scorer}-{column.value}",
    )


def _totals(summary: ScoreSummary, categories: Sequence[str | None]) -> list[object]:
    means = {group.group: group.mean for group in summary.groups if group.by == "category"}
    shown = [mean_in_words(summary, means.get(category)) for category in categories]
    counts = [f"{summary.n_scored:,}", f"{summary.n_unscored:,}"]
    mean = _with_interval(summary, summary.mean, summary.interval)
    return ["All", *shown, *counts, mean, _with_interval(summary, summary.macro_mean, summary.macro_interval)]


def sums_of(summary: ScoreSummary, system: str) -> dict[str, Sums]:
    """Category → the sums of a system's scores there."""
    return {cell.category or choices.NO_CATEGORY: cell.sums for cell in summary.cells if cell.system == system}


# Items ----------------------------------------------------------------------------------------------------------------


def items(project: ProjectRow, column: Column, summary: ScoreSummary) -> None:
    """The items behind a cell of the table, the lowest scores first."""
    system, category, unscored = _filters(column, summary)
    about = (project.project_id, column.name, system, category, unscored)
    rows = list_scored(
        ui.db(),
        ui.actor(),
        project.project_id,
        of=column.of,
        system=system,
        category=category,
        unscored=unscored,
        after=pager.start("scored", about),
        limit=_PAGE,
    )
    if not rows:
        ui.empty("No item fits.", "Choose another system or category.")
    else:
        blocks.table(
            f"Items of {column.name}",
            ("Item", "System", "Category", "Score", "Question", "Answer", "Why"),
            [
                (
                    blocks.item(row.external_id, row.item_id, project.project_id),
                    row.system,
                    blocks.short(row.category, 24),
                    blocks.short(value_kind(summary.scorer, summary.value).in_words(row.value)),
                    blocks.clip(row.question, 110),
                    blocks.clip(row.answer, 160),
                    _why(row),
                )
                for row in rows
            ],
            name="scored-items",
        )
    pager.buttons("scored", rows[-1].key if len(rows) == _PAGE else None)


def _filters(column: Column, summary: ScoreSummary) -> tuple[str | None, str | None, bool]:
    """(system, category, unscored): of the address, else as picked. None is any, category "" is without one."""
    systems = sorted({cell.system for cell in summary.cells})
    categories = sorted({cell.category or "" for cell in summary.cells})
    left, middle, right = st.columns([2, 2, 1], vertical_alignment="bottom")
    system = choices.system(left, systems, f"scored-{column.name}")
    category = choices.category(middle, categories, f"scored-{column.name}")
    unscored = right.checkbox("Unscored only", key=f"scored-unscored-{column.name}")
    return system, category, unscored


def _why(item: ScoredItem) -> object:
    """The reason of an unscored item, or what the scorer says about its score."""
    if item.value is None:
        return item.reason
    details = item.details or {}
    if details.get("nearest"):
        return f"nearest example ({details.get('label')}): {blocks.clip(str(details['nearest']), 90)}"
    if "missing" in details:
        found, missing = (", ".join(map(str, details.get(name) or ())) for name in ("found", "missing"))
        words = [f"found: {found}"] if found else []
        words += [f"missing: {missing}"] if missing else []
        return blocks.clip("; ".join(words), 120)
    shown = "; ".join(f"{name} {value}" for name, value in details.items() if isinstance(value, int | float | str))
    return blocks.clip(escape(shown, quote=False), 120) if shown else ""
