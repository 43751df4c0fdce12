"""One judge of a study: beside people, on what it errs, against itself, what it saves, and where it differs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import streamlit as st

from annotators.intervals.bootstrap import Resampling
from app import ui, wording
from app.pages.judges import again
from app.widgets import blocks, report_menu
from app.widgets.measuring import measured
from app.widgets.plots import plot
from app.worker.report_tasks import CheckedJudge, CheckFile, WhereJudgeDiffers
from db.projects import ProjectRow
from db.studies.design import StudyRow
from db.studies.ratings import alignment_stamp
from exports.agreement.plots import confusion
from exports.drawing.report_files import slug
from exports.judging.check import (
    EPSILON,
    CheckReport,
    Part,
    confusion_table,
    curve_table,
    data_sets_table,
    part_table,
    plans_table,
    prompts_table,
)
from exports.judging.data import PeopleBy
from exports.judging.figures import ASKED_ONCE, NOT_SURE, NOT_TRIED, ONE_PROMPT, CriterionCheck
from exports.judging.plots import Plot, length_plot, sureness_plot

_PEOPLE: dict[PeopleBy, str] = {"majority": "Majority (mean of numbers)", "settled": "Settled label"}
_RESAMPLES = 1000
_TO_DO = {
    NOT_TRIED: "it has not been tried: “Ask it once more” does it",
    ONE_PROMPT: "only one prompt was asked with: “Ask it once more” asks with others",
    ASKED_ONCE: "every call was made once: “Again” in “Ask it once more” asks for more replies, “Samples” of a "
    "run from the start",
    NOT_SURE: "its server was not asked for probabilities (“Probabilities” in the form of a run), or gave none, and "
    "every call was made once: “Again” in “Ask it once more” asks for more replies",
}
"""What the page says in place of reasons that name options of the command line."""


def draw(project: ProjectRow, study: StudyRow, judge: str) -> None:
    """Everything that the stored labels say of it; no server is asked."""
    ui.heading(judge, f'A judge in study "{study.name}", {study.protocol}')
    back = {"project": project.project_id, "study": study.study_id}
    blocks.links(blocks.to("All judges", "judges", **back), blocks.to("Agreement of people", "agreement", **back))
    choice = st.container(horizontal=True, vertical_alignment="bottom", key="judge-choice")
    with choice:
        of_criterion = st.container()
        task = _asked(study, judge)
    [found] = measured(task.key, task)
    with of_criterion:
        criterion = _criterion(found)
    _tabs(project, task, found, criterion)


def _asked(study: StudyRow, judge: str) -> CheckedJudge:
    by = st.selectbox("People’s label", list(_PEOPLE), format_func=_PEOPLE.__getitem__, key="judge-by", width=260)
    with st.popover("How it is measured"):
        epsilon = st.number_input(
            "ε of the alternative annotator test", 0.0, 0.9, EPSILON, step=0.05, key="judge-epsilon",
            help="What an annotator's cost is worth: 0.2 for experts, 0.15 for trained people, 0.1 for crowd "
            "workers.",
        )  # fmt: skip
        family = st.text_input(
            "Its own family", key="judge-family", placeholder="The first word of its model",
            help="Words in the names of systems of the judge’s own family, with commas between.",
        )  # fmt: skip
        seed = int(st.number_input("Seed", min_value=0, value=0, step=1, key="judge-seed"))
        resamples = int(st.number_input("Resamples", 100, 20_000, _RESAMPLES, step=100, key="judge-resamples"))
    return CheckedJudge(
        actor=ui.actor(),
        study_id=study.study_id,
        stamp=alignment_stamp(ui.db(), ui.actor(), study.study_id),
        judge=judge,
        by=by,
        epsilon=float(epsilon),
        family=tuple(word.strip() for word in family.split(",") if word.strip()),
        asked=Resampling(resamples, seed),
    )


def _criterion(found: CheckReport) -> CriterionCheck:
    by_name = {criterion.criterion: criterion for criterion in found.criteria}
    wanted = st.query_params.get("criterion")
    names = list(by_name)
    if len(names) == 1:
        return found.criteria[0]
    picked = st.selectbox(
        "Criterion", names, index=names.index(wanted) if wanted in names else 0,
        format_func=lambda name: by_name[name].title, key=f"judge-criterion-{found.study}",
    )  # fmt: skip
    return by_name[picked]


def _tabs(project: ProjectRow, task: CheckedJudge, found: CheckReport, criterion: CriterionCheck) -> None:
    """The tabs; only the one that is open is made. `?show=` in the address opens one at first."""
    parts: dict[str, Callable[[], None]] = {
        "Beside people": lambda: _beside(found, criterion),
        "Where they differ": lambda: _differing(project, task, criterion),
        "Errors": lambda: _errors(criterion),
        "Against itself": lambda: _itself(project, task, criterion),
        "Cost": lambda: _cost(criterion),
        "Report": lambda: _report(task, found),
    }
    asked = st.query_params.get("show", "").lower()
    first = next((name for name in parts if name.lower() == asked), "Beside people")
    tabs = st.tabs(list(parts), default=first, key=f"judge-tabs-{task.study_id}", on_change="rerun")
    for tab, draw_part in zip(tabs, parts.values(), strict=True):
        if tab.open:
            with tab:
                draw_part()


def _part(criterion: CriterionCheck, part: Part) -> bool:
    """The table of a part; whether there is one. What to do where a figure lacks is said in the words of the page."""
    said = [replace(entry, reason=_TO_DO.get(entry.reason or "", entry.reason)) for entry in criterion.statistics]
    table = part_table(replace(criterion, statistics=said), part)
    if table is None:
        return False
    name = f"judge-{part}-{slug(criterion.criterion)}"
    blocks.table(table.caption, table.columns, table.rows, name=name)
    return True


def _beside(found: CheckReport, criterion: CriterionCheck) -> None:
    left, right = st.columns([1.5, 1], gap="large")
    with left:
        _part(criterion, "people")
    with right:
        _heat_map(criterion, 0)
    for words in (*found.warnings, *found.notes):
        st.caption(ui.plain(words))


def _heat_map(criterion: CriterionCheck, place: int) -> None:
    """Which labels the judge takes for which, of all units or of a group."""
    table = criterion.confusions[place] if len(criterion.confusions) > place else None
    if table is None or not table.counts.sum():
        ui.empty("No unit has a label of the judge and one of people.", "The table appears with people’s labels.")
        return
    labels = [criterion.said(label) for label in table.labels]
    counts = {
        (first, second): int(table.counts[row, column])
        for row, first in enumerate(labels)
        for column, second in enumerate(labels)
    }
    of = "" if table.group is None else f", {table.by} {table.group}"
    caption = f"{criterion.title}{of}: people’s labels (rows) and the judge’s (columns); {table.held}."
    name = f"judge-confusion-{slug(criterion.criterion)}-{place}"
    plot(confusion(counts, ("people", "judge"), labels), name, caption, stretch=False)


def _drawn(found: Plot | None) -> None:
    """A plot as the report has it, where there is one."""
    if found is not None:
        name, caption, chart = found
        plot(chart, name, caption)


def _errors(criterion: CriterionCheck) -> None:
    _part(criterion, "errors")
    _drawn(length_plot(criterion))
    groups = [(place, table) for place, table in enumerate(criterion.confusions) if table.group is not None]
    if not groups:
        return
    names = {place: f"{table.by} {table.group} ({int(table.counts.sum()):,})" for place, table in groups}
    place = st.selectbox(
        "Confusion of", list(names), format_func=names.__getitem__, key=f"judge-group-{criterion.criterion}", width=420
    )
    left, right = st.columns([1, 1.3], gap="large")
    with left:
        _heat_map(criterion, place)
    with right:
        table = confusion_table(criterion, criterion.confusions[place])
        blocks.table(table.caption, table.columns, table.rows, name=f"judge-counts-{slug(criterion.criterion)}-{place}")


def _itself(project: ProjectRow, task: CheckedJudge, criterion: CriterionCheck) -> None:
    again.draw(project, task.study_id, task.judge)
    if not _part(criterion, "itself"):
        ui.empty("Nothing of it is measured yet.", "Ask for several samples of each request, or run its checks.")
    _part(criterion, "prompts")
    for place, of_prompts in enumerate((prompts_table(criterion), data_sets_table(criterion))):
        if of_prompts is not None:
            name = f"judge-prompts-{place}-{slug(criterion.criterion)}"
            blocks.table(of_prompts.caption, of_prompts.columns, of_prompts.rows, name=name)
    table = curve_table(criterion)
    if table is None:
        st.caption("How sure it is shows when its server gives probabilities, or several samples of each request.")
        return
    left, right = st.columns([1.2, 1], gap="large")
    with left:
        _drawn(sureness_plot(criterion))
    with right:
        blocks.table(table.caption, table.columns, table.rows, name=f"judge-curve-{slug(criterion.criterion)}")


def _cost(criterion: CriterionCheck) -> None:
    _part(criterion, "cost")
    table = plans_table(criterion)
    if table is not None:
        blocks.table(table.caption, table.columns, table.rows, name=f"judge-plans-{slug(criterion.criterion)}")


def _differing(project: ProjectRow, task: CheckedJudge, criterion: CriterionCheck) -> None:
    """The units where they differ most, each a link to its item."""
    wanted = WhereJudgeDiffers(task, criterion.criterion)
    [found] = measured(wanted.key, wanted)
    if not found.units:
        both = wording.count(found.n, "unit")
        ui.empty("They differ nowhere.", f"The judge says what people say on {both} that both labelled.")
        return
    about = f"{found.differing:,} of {wording.count(found.n, 'unit')} differ"
    if found.differing > len(found.units):
        about += f"; the {len(found.units):,} furthest apart are shown"
    st.caption(ui.plain(f"{about}."))
    rows = [
        (
            blocks.item(unit.item, unit.item_id, project.project_id),
            unit.target or "item",
            unit.system,
            ", ".join(f"{label} × {n}" if n > 1 else label for label, n in unit.people.items()),
            unit.judge,
            f"{unit.error:.2f}",
            blocks.clip(unit.why),
        )
        for unit in found.units
    ]
    columns = ("Item", "About", "System", "People", "Judge", "Apart", "The judge’s reason")
    blocks.table(f"{found.title}: where judge and people differ", columns, rows, name=f"differing-{task.study_id}")


def _report(task: CheckedJudge, found: CheckReport) -> None:
    st.html(
        "<p>All tables of all criteria, as <code>assay judge check</code> prints them. People are A1, A2 … there, as "
        "in exports.</p>"
    )
    report_menu.offer(found.title, partial(CheckFile, task), ui.reports(), task.key, name="judge-report")
