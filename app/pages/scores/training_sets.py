"""The examples of abstention: the versions there are, what people's labels would add, and the review before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from app import ui, wording
from app.widgets import blocks, job_bar, pager
from app.widgets.doing import acts
from app.worker import jobs
from app.worker.kinds.review import REVIEW, ReviewParameters
from db.jobs import JobRow, latest_job
from db.models import JobState
from db.projects import ProjectRow
from db.scores.training_sets import (
    LABELS,
    ProposedExample,
    TrainingSetRow,
    accept_training_set,
    list_training_sets,
    proposed_examples,
)

_SAID = "training-said"
_SHOWN = 100


def draw(project: ProjectRow) -> None:
    """The section of the page."""
    versions = list_training_sets(ui.db(), ui.actor(), project.project_id)
    st.subheader("Examples of abstention", anchor=False)
    st.caption(
        "The scorers abstention and hallucination label an answer as its nearest example is labelled. What people "
        "label in studies with the protocol abstention can extend the examples."
    )
    said = st.session_state.pop(_SAID, None)
    if said:
        st.success(ui.plain(said))
    _versions(versions)
    job = latest_job(ui.db(), ui.actor(), project.project_id, kind=REVIEW.name)
    if job is not None and job.is_unfinished:
        job_bar.running(project.project_id, REVIEW.name, seen=[job.job_id])
        return
    if job is not None and job.state == JobState.DONE and job.result and job.result["base"] == versions[0].content_hash:
        _review(project, job, job.result)
    elif job is not None and job.state == JobState.FAILED:
        st.error(ui.plain(f"The comparison failed: {job.message}"))
    _proposed(project)


def _versions(versions: Sequence[TrainingSetRow]) -> None:
    ui.table(
        "Versions of the examples",
        ("Version", "Statements", "Abstentions", "Leave-one-out accuracy", "Accepted", "By", "Why"),
        [
            (
                version.number or "shipped",
                *(f"{version.counts[label]:,}" for label in LABELS),
                _accuracy(version.report["after"]) if version.report else "",
                ui.when(version.created_at),
                version.who,
                version.reason,
            )
            for version in versions
        ],
    )


def _accuracy(found: dict[str, Any]) -> str:
    return wording.interval(found["accuracy"], found["low"], found["high"], 3)


# Proposing ------------------------------------------------------------------------------------------------------------


def _proposed(project: ProjectRow) -> None:
    found = proposed_examples(ui.db(), ui.actor(), project.project_id)
    if not found:
        ui.empty(
            "No label waits to extend the examples.",
            "Make a study with the protocol abstention; its settled labels appear here.",
        )
        return
    st.html("<b>What people have labelled</b>")
    frame = pd.DataFrame(
        {
            "Take": [True] * len(found),
            "Answer": [example.answer for example in found],
            "Compared": [example.text for example in found],
            "Label": [example.label for example in found],
            "Now": [example.present or "" for example in found],
            "Item": [example.external_id for example in found],
            "Study": [example.study for example in found],
            "Settled": [example.state for example in found],
        }
    )
    edited = st.data_editor(
        frame,
        hide_index=True,
        disabled=[name for name in frame.columns if name != "Take"],
        column_config={"Answer": st.column_config.TextColumn(width="large")},
        key=f"training-proposed-{project.project_id}-{len(found)}",
    )
    taken = [example for example, take in zip(found, edited["Take"], strict=True) if take]
    label = f"Compare with {wording.count(len(taken), 'new example')}"
    if st.button(label, type="primary", key="training-compare", disabled=not taken):
        with ui.problems():
            _queue(project, taken)
            st.rerun()
    st.caption("Nothing changes yet: you see what the new examples would change, and then accept them or not.")


def _queue(project: ProjectRow, taken: Sequence[ProposedExample]) -> None:
    examples = [
        {
            "text": example.text,
            "label": example.label,
            "origin": example.origin,
            "item_version_id": example.item_version_id,
        }
        for example in taken
    ]
    jobs.queue(ui.db(), ui.actor(), project.project_id, REVIEW, ReviewParameters(examples=examples))


# Reviewing ------------------------------------------------------------------------------------------------------------


def _review(project: ProjectRow, job: JobRow, result: dict[str, Any]) -> None:
    """What the proposed examples would change, and the button that accepts them."""
    st.html(f"<b>With {wording.count(result['n_new'], 'new example')}</b>")
    blocks.table(
        "Before and after",
        ("", "Examples", "Leave-one-out accuracy", *(f"{a} taken for {b}" for a, b in _CONFUSED)),
        [_row("Present", result["before"]), _row("Proposed", result["after"])],
    )
    st.caption("Each example is labelled by its nearest other example. Interval: Wilson, 95 %.")
    blocks.figures(
        [
            ("answers looked at", f"{result['n_answers']:,}"),
            ("other label", f"{result['n_labels']:,}"),
            ("other hallucination flag", f"{result['n_flags']:,}"),
        ]
    )
    if result["changes"]:
        _changes(job.job_id, result["changes"], result["n_labels"])
    with st.container(horizontal=True, vertical_alignment="bottom"):
        reason = acts.reason(f"training-reason-{job.job_id}", label="Why", note="It is kept with the version.")
        if st.button("Accept", type="primary", key=f"training-accept-{job.job_id}"):
            with ui.problems():
                row = accept_training_set(ui.db(), ui.actor(), project.project_id, job_id=job.job_id, reason=reason)
                st.session_state[_SAID] = (
                    f"Version {row.number} is accepted. Run abstention and hallucination again: their scores with the "
                    "earlier examples stay beside the new ones."
                )
                st.rerun()


_CONFUSED = (("statement", "abstention"), ("abstention", "statement"))


def _row(name: str, found: dict[str, Any]) -> tuple[object, ...]:
    confused = [f"{found['confusion'][label][given]:,}" for label, given in _CONFUSED]
    return name, f"{found['n']:,}", _accuracy(found), *confused


def _changes(job_id: int, changes: Sequence[dict[str, Any]], of: int) -> None:
    """The answers that change, those whose hallucination flag does first, a page at a time."""

    def flag(value: bool | None) -> str:
        return "unscored" if value is None else "yes" if value else "no"

    first = pager.start("training-changes", job_id) or 0
    shown = changes[first : first + _SHOWN]
    blocks.table(
        "Answers that change",
        ("Item", "Label", "Hallucination", "Answer", "Nearest example then"),
        [
            (
                change["item"],
                f"{change['old']} → {change['new']}",
                f"{flag(change['old_flag'])} → {flag(change['new_flag'])}"
                if change["old_flag"] != change["new_flag"]
                else flag(change["new_flag"]),
                blocks.clip(change["answer"], 150),
                blocks.clip(change["new_nearest"], 110),
            )
            for change in shown
        ],
        name=f"training-changes-{job_id}",
    )
    last = first + len(shown)
    st.caption(f"{first + 1:,} to {last:,} of {of:,}; changed flags come first.")
    pager.buttons("training-changes", last if last < len(changes) else None)
