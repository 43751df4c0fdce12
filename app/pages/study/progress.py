"""How far a study is: its items by state, when it may be finished, and its annotators; looked at again by itself."""

from __future__ import annotations

from datetime import datetime
from html import escape
from typing import Any

import streamlit as st

from annotators.figures import duration
from app import ui, wording
from app.widgets import blocks
from app.widgets.doing import needs
from db.annotating.status import study_status
from db.models import StudyState
from db.needs.of_studies import needs_of
from db.permissions import ADJUDICATORS
from db.projects import my_projects
from db.releasing.counts import StudyStages, study_stages
from db.studies.design import StudyRow

EVERY = 10
"""Seconds from one look to the next."""

_STYLE = """<style>
.assay-stages { display: flex; flex-wrap: wrap; gap: 10px 14px; align-items: center; margin: 4px 0; }
.assay-stage { background: var(--assay-panel); border: 1px solid var(--assay-line); border-radius: 9px;
  padding: 8px 14px; min-width: 132px; display: grid; position: relative; }
.assay-stage span { color: var(--assay-soft); font-size: 0.84rem; }
.assay-stage b { font-size: 1.3rem; font-weight: 600; line-height: 1.35; font-variant-numeric: tabular-nums; }
.assay-stage.wants b { color: var(--assay-warn); }
.assay-stage.end { background: color-mix(in srgb, var(--assay-ok) 12%, var(--assay-panel));
  border-color: color-mix(in srgb, var(--assay-ok) 40%, var(--assay-line)); }
.assay-stage.end b { color: var(--assay-ok); }
.assay-stages b a { color: inherit !important; }
.assay-stage b a::after { content: ""; position: absolute; inset: 0; border-radius: 9px; }
.assay-stages > i { color: var(--assay-soft); font-style: normal; }
</style>"""


@st.fragment(run_every=EVERY)
def draw(row: StudyRow) -> None:
    """Draw it."""
    with ui.problems():
        status = study_status(ui.db(), ui.actor(), row.study_id)
        waiting = needs_of(ui.db(), ui.actor(), row.study_id)
        needs.draw(waiting, needs.StudyPlace(row.study_id, row.project_id, row.name), where="progress")
        states: dict[str, int] = status["states"]
        noun = _noun(status)
        _items(row, noun)
        share = states["submitted"] / max(1, row.slots)
        words = f"{states['submitted']:,} of {row.slots:,} annotations, {wording.percent(share)}"
        st.html(blocks.bar(share, words).html)
        if left := time_left(status):
            st.caption(left)
        _annotators(row, status)
        if elsewhere := status["made_elsewhere"]:
            st.caption(f"{wording.count(elsewhere, 'annotation')} of people who are not in the study, made elsewhere.")
        others = [f"{n:,} {state.replace('_', ' ')}" for state, n in states.items() if n and state != "submitted"]
        st.caption(f"Slots besides those submitted: {', '.join(others) or 'none'}. Looked at every {EVERY} seconds.")


def _noun(status: dict[str, Any]) -> str:
    """What the study's people judge, in words."""
    return "pair" if status["pairs"] else "item"


# Items by state -------------------------------------------------------------------------------------------------------


def _items(row: StudyRow, noun: str) -> None:
    """The items by where they stand in the study, for those who may know."""
    role = next(
        (project.role for project in my_projects(ui.db(), ui.actor()) if project.project_id == row.project_id), None
    )
    if role is None or not ui.may(role, ADJUDICATORS):
        blocks.figures([(f"{noun}s disputed", f"{row.disputed:,}")])
        return
    found = study_stages(ui.db(), ui.actor(), row.study_id, most=_AT_ONCE)
    if found.items:
        st.html(_STYLE + _stages(row, found))
        if found.unread:
            st.caption(
                f"Of {wording.count(found.unread, f'settled {noun}')} it is not worked out yet whether they fail; they "
                "count as accepted until then. The next looks go on with it."
            )


_AT_ONCE = 2_000
"""Settled items of which one look works out at most whether they fail."""


def _stages(row: StudyRow, found: StudyStages) -> str:
    by_name = {stage.stage: stage for stage in found.stages}
    states = found.states

    def so_far(name: str) -> str:
        stage = by_name[name]
        share = wording.percent(stage.reached / found.items, 0)
        return f"{stage.reached:,} so far, {share}" if stage.reached else "none so far"

    def listed(state: str) -> str:
        if found.pairs:  # the page Data lists items
            return f"{states[state]:,}"
        return blocks.to(f"{states[state]:,}", "data", project=row.project_id, study=row.study_id, state=state).html

    accepted = wording.percent(states["accepted"] / found.items, 0)
    of = wording.count(found.items, "pair") if found.pairs else f"{found.items:,}"
    boxes = [
        _box(
            "In study",
            listed("in_study"),
            states["in_study"],
            f"of {of}",
        ),
        _box("Disputed", listed("disputed"), states["disputed"], so_far("adjudication"), wants=True),
        _box("In revision", listed("in_revision"), states["in_revision"], so_far("revision"), wants=True),
        _box("In recheck", listed("in_recheck"), states["in_recheck"], so_far("recheck")),
        _box("Accepted", listed("accepted"), states["accepted"], f"{accepted} of all", end=True),
    ]
    ends = [f"<b>{listed(name)}</b> {name}" for name in ("rejected", "withdrawn") if states[name]]
    rest = f'<span class="assay-soft">{", ".join(ends)}</span>' if ends else ""
    return f'<div class="assay-stages">{"<i aria-hidden=true>›</i>".join(boxes)}{rest}</div>'


def _box(name: str, listed: str, n: int, below: str, *, wants: bool = False, end: bool = False) -> str:
    kind = " wants" if wants and n else " end" if end else ""
    return f'<div class="assay-stage{kind}"><span>{name}</span><b>{listed}</b><span>{escape(below)}</span></div>'


# Time and people ------------------------------------------------------------------------------------------------------


def time_left(status: dict[str, Any]) -> str:
    """How much annotating is left at the pace so far, and when it may be finished, as the last days went."""
    if status["state"] == StudyState.CLOSED:
        return ""
    said = []
    timed = [annotator for annotator in status["annotators"] if annotator["seconds_per_item"] is not None]
    done = sum(annotator["submitted"] for annotator in timed)
    left = sum(status["states"][state] for state in ("open", "leased", "returned"))
    if done and left:
        pace = sum(annotator["seconds_per_item"] * annotator["submitted"] for annotator in timed) / done
        when = ", once it is started again" if status["state"] == StudyState.PAUSED else ""
        said.append(f"About {duration(left * pace)} of annotating left at this pace{when}.")
    if end := status["finish"]:
        high = f"{_day(end['high'])}" if end["high"] else "no end in sight"
        said.append(f"As the last days went, finished about {_day(end['at'])} (95 %: {_day(end['low'])} to {high}).")
    return " ".join(said)


def _day(at: str | None) -> str:
    return ui.when(datetime.fromisoformat(at)).rsplit(" ", 1)[0] if at else "later"


_PHASES = {
    "declined": "declined",
    "consent": "consent",
    "before": "questions before",
    "qualification": "qualification",
    "items": "items",
    "after": "questions after",
    "done": "done",
}


def _annotators(row: StudyRow, status: dict[str, Any]) -> None:
    phases = any(annotator["phase"] for annotator in status["annotators"])
    blocks.table(
        f"Annotators of {status['study']}",
        (
            *("Annotator", *(("Phase",) if phases else ()), "Guidelines"),
            *("Submitted", "At hand", "Skipped", "Surplus", f"Seconds per {_noun(status)}"),
        ),
        [
            (
                annotator["annotator"] + _standing(annotator),
                *((_PHASES[annotator["phase"]],) if phases else ()),
                _guidelines(annotator["guidelines_read"]),
                f"{annotator['submitted']:,}" + (f" of {quota:,}" if (quota := annotator["quota"]) else ""),
                f"{annotator['open']:,}",
                f"{annotator['skipped']:,}",
                f"{annotator['surplus']:,}",
                "" if annotator["seconds_per_item"] is None else wording.number(annotator["seconds_per_item"], 1),
            )
            for annotator in status["annotators"]
        ],
        name=f"progress-{row.study_id}",
    )


def _standing(annotator: dict[str, Any]) -> str:
    """What is to be known of somebody's place in the study, behind the name."""
    known = (("left", "left"), ("left out", "left_out_from"), ("failed", "failed"), ("paused", "paused"))
    words = [word for word, field in known if annotator[field]]
    return f" ({', '.join(words)})" if words else ""


def _guidelines(read: str | None) -> object:
    """When somebody said that they have read the guidelines, in words."""
    return blocks.short(f"read {ui.when(datetime.fromisoformat(read))}") if read else "not yet"
