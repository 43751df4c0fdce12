"""Asking a judge once more about what it has judged: in other orders, with injected evidence, by other prompts."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators.judges.budget import read_prices
from annotators.judges.prompts import PROMPTS, Prompt
from annotators.judges.trust.trials import FLIPS, Trial
from app import ui
from app.pages.judges import sending
from app.state import app_state
from app.widgets import job_bar
from app.worker import jobs
from app.worker.kinds.judge_check import JUDGE_CHECK, JudgeCheckParameters
from db.judging.judges import JudgeRow, list_judges
from db.judging.library import list_prompts
from db.judging.run import Sample
from db.judging.trying import plan_trials
from db.projects import ProjectRow
from db.studies.design import protocol_of, study_facts

_TITLES = {
    "order": "Answers the other way round",
    "evidence": "Evidence the other way round",
    "labels": "Labels the other way round",
    "injection": "Orders in the evidence",
    "harmless": "A harmless sentence in the evidence",
}


def draw(project: ProjectRow, study_id: int, judge: str) -> None:
    """What runs, and the form; nothing for a judge whose labels came from elsewhere, or that may not be asked here."""
    job_bar.running(project.project_id, JUDGE_CHECK.name)
    found = next((row for row in list_judges(ui.db(), ui.actor(), project.project_id) if row.name == judge), None)
    if found is None:
        st.caption("Its labels were imported, so that it cannot be asked again.")
        return
    if found.server not in app_state().settings.judges:
        st.caption(ui.plain(f"It cannot be asked again here: {found.server} is none of the servers that are allowed."))
        return
    with st.expander("Ask it once more"), ui.problems():
        _form(project, study_id, found)


def _form(project: ProjectRow, study_id: int, judge: JudgeRow) -> None:
    left, right = st.columns([1.15, 1], gap="large")
    with left:
        flips = st.multiselect(
            "Otherwise shown", FLIPS, format_func=lambda name: _TITLES.get(name, name), key="judge-again-flips",
            help="What a label may not hang on. Trials count for nothing in the study.",
        )  # fmt: skip
        prompts = _prompts(project, study_id, judge)
        others = st.multiselect("By other prompts", list(prompts), key="judge-again-prompts")
        first, second, third = st.columns(3)
        repeats = first.number_input("Again", 2, 100, None, key="judge-again-repeats", help="Replies to each request.")
        n = second.number_input("Items", 1, None, None, key="judge-again-n", placeholder="All")
        most = third.number_input("Requests at most", 1, None, None, key="judge-again-most", placeholder="No limit")
    trials = [Trial(name) for name in flips]
    trials += [Trial("repeats", samples=int(repeats))] if repeats else []
    trials += [Trial("prompt", prompts[name]) for name in others]
    with right:
        if not trials:
            ui.empty("What it would send stands here.", "Choose what is to be tried.")
            return
        price = read_prices(app_state().settings.prices_file).get(judge.model)
        sample = Sample(None if n is None else int(n))
        plan = plan_trials(ui.db(), ui.actor(), study_id, judge=judge.name, trials=trials, sample=sample, price=price)
        budget = None if most is None else f"{int(most)}requests"
        sending.shown(plan, judge.server, price, budget)
        key = f"judge-again-confirmed-{hash((repr(trials), sample, budget))}"
        if st.button(
            "Ask", type="primary", key="judge-again-start", disabled=not sending.confirmed(plan, judge.server, key)
        ):
            given = JudgeCheckParameters(
                study_id=study_id,
                judge=judge.name,
                trials=[trial.to_json() for trial in trials],
                sample=sample.n,
                budget=budget,
            )
            jobs.queue(ui.db(), ui.actor(), project.project_id, JUDGE_CHECK, given)
            st.rerun()


def _prompts(project: ProjectRow, study_id: int, judge: JudgeRow) -> dict[str, Prompt]:
    """The prompts that fit the study's protocol, but for the judge's own."""
    protocol = protocol_of(study_facts(ui.db(), ui.actor(), study_id))
    own: Sequence[object] = [entry.kept for entry in list_prompts(ui.db(), ui.actor(), project.project_id)]
    mine = judge.settings["prompt"]["hash"]
    return {
        f"{prompt.name}@{prompt.version}": prompt
        for prompt in (*own, *PROMPTS)
        if isinstance(prompt, Prompt) and prompt.hash != mine and not prompt.faults(protocol)
    }
