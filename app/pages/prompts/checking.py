"""A judge's decisions checked by people: a sample of them made a study, what was right, and the next prompt from it."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators import figures
from annotators.asking.versioned import VersionedName
from annotators.designing.design import StudyDesign
from annotators.errors import NotFound
from annotators.judges.prompts import PROMPTS, AnyPrompt, Prompt
from app import ui
from app.widgets import blocks
from app.widgets.doing import acts
from db.judging.decisions import CheckedDecision, checked_decisions, study_of_decisions
from db.judging.examples import prompt_with_examples
from db.judging.judges import JudgeRow, list_judges
from db.judging.library import add_prompt
from db.libraries import Entry
from db.people.accounts import who_may_annotate
from db.projects import ProjectRow
from db.studies.design import StudyRow, list_studies

_PER, _MOST = 20, 1_000


def draw(project: ProjectRow, prompt: AnyPrompt, own: Sequence[Entry[AnyPrompt]], *, may_write: bool) -> None:
    """What people say of the decisions of judges with this prompt; nothing where there is no such judge."""
    if not isinstance(prompt, Prompt):
        return
    judges = [
        judge
        for judge in list_judges(ui.db(), ui.actor(), project.project_id)
        if judge.settings["prompt"]["hash"] == prompt.hash and judge.labelled
    ]
    if not judges:
        return
    studies = {row.study_id: row for row in list_studies(ui.db(), ui.actor(), project.project_id)}
    st.subheader("Checked by people")
    with st.container(horizontal=True, vertical_alignment="bottom", key="prompt-checking"):
        by_name = {judge.name: judge for judge in judges}
        judge = by_name[st.selectbox("Judge", list(by_name), key="prompt-judge", width=330)]
        judged = [studies[of] for of in judge.labelled if of in studies]
        names = {row.protocol for row in judged}
        people = {
            row.study_id: row
            for row in reversed(studies.values())
            if row.protocol in names and (row.submitted or row.study_id not in judge.labelled)
        }
        study = st.selectbox(
            "Study of people",
            list(people),
            format_func=lambda of: people[of].name,
            key="prompt-people",
            placeholder="None yet",
            width=330,
        )
        if may_write:
            with acts.popover("Have a sample checked…", key="prompt-sample"):
                _sample(project, judge, judged)
    if study is None:
        ui.empty("Nobody has checked it yet.", "A drawn sample of each decision says how many of them are right.")
        return
    try:
        found = checked_decisions(ui.db(), ui.actor(), study, judge=judge.name)
    except NotFound as nothing:
        st.info(ui.plain(str(nothing)))
        return
    _shares(found)
    if may_write:
        _learn(project, prompt, own, people[study], found)


def _shares(found: Sequence[CheckedDecision]) -> None:
    blocks.table(
        "Decisions checked by people",
        ("Decision", "Items", "Drawn", "Settled", "Right", "Share right", "95 % interval"),
        [
            (
                one.decision,
                one.decided,
                one.drawn,
                one.n,
                one.right,
                figures.percent(one.share),
                one.reason or f"{figures.percent(one.low)} to {figures.percent(one.high)}",
            )
            for one in found
        ],
    )
    wrong = [(item, one.decision, label) for one in found for item, label in one.wrong.items()]
    if wrong:
        blocks.table(
            "Not right",
            ("Item", "Judge", "Settled as"),
            [(blocks.identifier(item), decision, label) for item, decision, label in wrong],
        )


def _sample(project: ProjectRow, judge: JudgeRow, judged: Sequence[StudyRow]) -> None:
    with st.form("prompt-sample-form", border=False):
        by_id = {row.study_id: row for row in judged}
        of = st.selectbox("Judged in", list(by_id), format_func=lambda of: by_id[of].name, key="prompt-sample-of")
        n = st.number_input("Items of each decision", 1, _MOST, _PER, key="prompt-sample-n")
        names = [row.name for row in who_may_annotate(ui.db(), ui.actor(), project.project_id)]
        annotators = st.multiselect("Annotators", names, key="prompt-sample-people")
        overlap = st.number_input("Annotators an item", 1, 50, min(2, max(1, len(names))), key="prompt-sample-overlap")
        name = st.text_input("Name of the study", f"{judge.name}, checked", key="prompt-sample-name", required=True)
        seed = st.number_input("Seed of the draw", 0, 2**31, 0, key="prompt-sample-seed")
        pressed = st.form_submit_button("Make the study", type="primary", key="prompt-sample-save")
    if pressed:
        design = StudyDesign(name=name, annotators=tuple(annotators), overlap=int(overlap))
        with ui.problems():
            drawn = study_of_decisions(
                ui.db(), ui.actor(), of, judge=judge.name, criterion=None, per=int(n), seed=int(seed), design=design
            )
            ui.go("study", study=drawn.study.study_id)


def _learn(
    project: ProjectRow,
    prompt: Prompt,
    own: Sequence[Entry[AnyPrompt]],
    study: StudyRow,
    found: Sequence[CheckedDecision],
) -> None:
    """The items that become examples of the next version; those first of which the judge was wrong."""
    wrong = [item for one in found for item in one.wrong]
    if not wrong:
        return
    with st.container(horizontal=True, vertical_alignment="bottom", key="prompt-learning"):
        items = st.multiselect(
            "Examples of the next version",
            wrong,
            key=f"prompt-learn-{study.study_id}",
            help="Items that the judge got wrong, with what was settled. No judge with that version is asked about "
            "their questions.",
            width=560,
        )
        pressed = st.button("Make the next version", key="prompt-learn", disabled=not items)
    if pressed:
        built_in = prompt.name in PROMPTS.names() and not any(entry.kept.name == prompt.name for entry in own)
        with ui.problems():
            new = prompt_with_examples(
                ui.db(), ui.actor(), study.study_id, prompt=prompt, criterion=None, items=items
            ).model_copy(update={"name": f"my_{prompt.name}" if built_in else prompt.name})
            on = None if built_in else prompt.version
            added = add_prompt(ui.db(), ui.actor(), project.project_id, prompt=new, on=on)
            ui.go(
                "prompts",
                project=project.project_id,
                prompt=str(VersionedName(added.kept.name, added.kept.version)),
            )
