"""A panel: several judges of a study combined, and what that is worth against the best of them."""

from __future__ import annotations

import streamlit as st

from annotators.judges.trust.panel import RULES, Rule
from app import ui
from app.widgets import blocks
from app.widgets.measuring import measured
from app.worker.report_tasks import Panel
from db.judging.judged import judges_in_study
from db.projects import ProjectRow
from db.studies.design import StudyRow
from db.studies.ratings import alignment_stamp
from exports.judging.panel import panel_table

_RULES: dict[str, str] = {"majority": "Majority", "mean": "Mean", "dawid_skene": "Dawid–Skene"}


def draw(project: ProjectRow, study: StudyRow) -> None:
    """Who is in the panel, by which rule, and its figures."""
    ui.heading("Panel of judges", f'Their labels combined, in study "{study.name}"')
    blocks.links(blocks.to("All judges", "judges", project=project.project_id, study=study.study_id))
    names = [row.name for row in judges_in_study(ui.db(), ui.actor(), study.study_id) if row.judged.labels]
    if len(names) < 2:
        ui.empty("A panel takes two judges or more.", "Run another one over this study: another model, or prompt.")
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="panel-choice"):
        judges = st.multiselect("Judges", names, default=names, key=f"panel-judges-{study.study_id}")
        of_two = len(judges) == 2  # they have no majority that says more than either
        rule: Rule = st.selectbox(
            "Combined by", RULES, index=RULES.index("mean" if of_two else "majority"), width=220,
            format_func=lambda rule: _RULES.get(rule, rule), key=f"panel-rule-{'two' if of_two else 'more'}",
            help="The label that most of them gave; the one nearest to the mean of ordered labels; or each weighed by "
            "the confusions that their labels show.",
        )  # fmt: skip
    if len(judges) < 2:
        ui.empty("A panel takes two judges or more.", "Choose another one above.")
        return
    stamp = alignment_stamp(ui.db(), ui.actor(), study.study_id)
    task = Panel(ui.actor(), study.study_id, stamp, tuple(judges), rule)
    [found] = measured(task.key, task)
    table = panel_table(found)
    if table.rows:
        blocks.table(table.caption, table.columns, table.rows, name=f"panel-{study.study_id}")
    else:
        ui.empty("Nothing is combined.", "Below stands why, and what can be done.")
    for note in found.notes:
        st.caption(ui.plain(note))
