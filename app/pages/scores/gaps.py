"""Gaps between the values of one scorer: what a system loses when distractors stand beside the gold evidence."""

from __future__ import annotations

import streamlit as st

from annotators.scorers.base import value_kind
from app import ui, wording
from app.pages.scores.tables import short_parameters
from app.widgets import blocks
from db.projects import ProjectRow
from db.scores.gaps import score_gaps
from db.scores.summaries import ScorerInUse


def draw(project: ProjectRow, used: ScorerInUse) -> None:
    """A table for each difference that the scorer defines; nothing for a scorer without one."""
    found = score_gaps(ui.db(), ui.actor(), project.project_id, scorer=used.scorer, parameters=used.parameters)
    for difference in dict.fromkeys(gap.difference for gap in found):
        rows = [gap for gap in found if gap.difference == difference]
        titles = [value_kind(used.scorer, name).title for name in (difference.of, difference.minus)]
        settings = ", ".join(short_parameters(used.parameters))
        st.subheader(ui.plain(f"{difference.title} ({settings})"), anchor=False)
        blocks.table(
            f"{difference.title} by system",
            ("System", *titles, difference.title, "Questions with both", "With one only"),
            [
                (
                    row.system or "All systems",
                    *(wording.number(mean, 3, reason="no such question") for mean in row.means),
                    wording.interval(row.gap.value, row.gap.low, row.gap.high, 3, reason=row.gap.reason),
                    f"{row.gap.n:,}",
                    f"{row.n_one_only:,}",
                )
                for row in rows
            ],
            name=f"gap-{difference.name}-{used.scorer}",
        )
        method = next((row.gap.method for row in rows if row.gap.method), None)
        said = "Over the questions that have both: the first less the second, with its interval in brackets"
        st.caption(ui.plain(f"{said} ({method})." if method else f"{said}."))
