"""What came out of the study: the sections of every report that its protocol has, and all of it as a file."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import streamlit as st

from annotators.intervals.bootstrap import Resampling
from app import ui
from app.widgets import report_menu
from app.widgets.measuring import measured
from app.widgets.plots import plot
from app.worker.report_tasks import StudyResults
from app.worker.reports import Plain
from db.judging.said import labelling_judges
from db.studies.design import StudyRow
from db.studies.ratings import alignment_stamp
from exports.drawing.report_files import Section, report_file, slug
from exports.results.document import Results


def draw(row: StudyRow) -> None:
    """Draw them; they are measured in a process of their own, once for everybody until labels change."""
    judges = labelling_judges(ui.db(), ui.actor(), row.study_id)
    if not row.submitted and not judges:
        ui.empty("Nobody has labelled anything in this study yet.", "Results appear with the first labels.")
        return
    by, against = _whose(row, judges) if judges else (None, None)
    stamp = alignment_stamp(ui.db(), ui.actor(), row.study_id)
    task = StudyResults(ui.actor(), row.study_id, stamp, Resampling(), by, against)
    results: Results = measured(task.key, task)[-1]
    stem = slug(results.title)
    report_menu.offer(
        results.title,
        lambda ending: Plain(report_file, (results, stem, ending)),
        ui.reports(),
        task.key,
        name="results-report",
    )
    for note in results.notes:
        st.caption(ui.plain(note))
    for place, section in enumerate(results.sections()):
        _section(section, f"results-{row.study_id}-{place}")


_PEOPLE = {"people": "People", "settled": "Settled labels"}


def _whose(row: StudyRow, judges: Sequence[str]) -> tuple[str, str | None]:
    """Of whose labels the results are, and whose stand beside them."""
    left, right = st.columns(2)
    people = ["people"] if row.submitted else []
    by = left.selectbox(
        "Labels of", [*people, *judges], format_func=lambda who: _PEOPLE.get(who, who),
        key=f"results-by-{row.study_id}",
    )  # fmt: skip
    if by == "people":
        return by, None
    beside = [*(_PEOPLE if row.submitted else ()), *(judge for judge in judges if judge != by)]
    against = right.selectbox(
        "Beside them", ["", *beside], format_func=lambda who: _PEOPLE.get(who, who) or "Nobody",
        key=f"results-against-{row.study_id}",
        help="Both values of each figure over the units that both have labelled, and their difference.",
    )  # fmt: skip
    return by, against or None


def _section(section: Section, name: str) -> None:
    st.subheader(ui.plain(section.title), anchor=False)
    for place, table in enumerate(section.tables):
        if table.caption != section.title:
            st.html(f'<p class="assay-soft">{escape(table.caption)}</p>')
        ui.table(table.caption, table.columns, table.rows, name=f"{name}-{place}-{slug(table.caption)[:60]}")
    for words in section.words:
        st.caption(ui.plain(words))
    for file, caption, chart in section.plots:
        plot(chart, f"{name}-{file}", caption, stretch=not isinstance(chart.width, int))
