"""Adjudicate: the disputes of one study over the whole window, or how they stand in every study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from annotators.asking.rounds import BLIND
from annotators.errors import NotFound
from app import ui, wording
from app.widgets import blocks
from app.widgets.adjudicate import adjudicate
from db.adjudicating.adjudications import (
    MOST_COUNTED,
    Decision,
    StudyDisputes,
    disputes_for_me,
    latest_decisions,
    study_disputes,
)
from db.adjudicating.causes import CAUSES, cause_counts, guideline_notes
from db.adjudicating.uncertainty import order_by_disagreement, order_by_uncertainty
from db.people.preferences import my_preferences
from db.permissions import Actor
from db.projects import ProjectRow
from db.studies.design import StudyRow, my_studies

_ORDERS = {
    "disagreement": "What annotators disagree on most",
    "uncertainty": "What a model of the annotators is least certain of",
}
LATELY = 8
"""Decisions that are shown."""


def page() -> None:
    """Mount the component for `?study=ID`; without it, list the studies and what was decided in them lately."""
    actor = ui.actor()
    studies = [row for row in my_studies(ui.db(), actor) if row.may_adjudicate]
    wanted = ui.integer_parameter("study")
    if wanted is not None:
        found = next((row for row in studies if row.study_id == wanted), None)
        if found is None:
            raise NotFound(f"There is no study with id {wanted} that {actor.name!r} can adjudicate.")
        _mount(found, actor)
        return
    blocks.style()
    project = ui.project()
    mine = disputes_for_me(ui.db(), actor)
    here = [row for row in studies if row.project_id == project.project_id]
    elsewhere = [row for row in studies if row.project_id != project.project_id and row.study_id in mine]
    ui.heading("Adjudicate", _about(project, here, elsewhere, mine))
    if not any(row.study_id in mine for row in (*here, *elsewhere)):
        _nothing(here)
    shown = sorted(here, key=lambda row: -row.disputed) + elsewhere
    if not shown:
        return
    _studies(shown, actor, mine, several=bool(elsewhere))
    _order([row for row in here if row.disputed], actor)
    _causes(here, actor)
    _notes(here, actor)
    _lately(here, actor)


def _mount(row: StudyRow, actor: Actor) -> None:
    back = f"/sign-in?next=/adjudicate%3Fstudy%3D{row.study_id}"
    own = my_preferences(ui.db(), actor)
    adjudicate(row.study_id, str(actor.person_id), row.project, preferences=own, sign_in=back)


def _about(
    project: ProjectRow, here: Sequence[StudyRow], elsewhere: Sequence[StudyRow], mine: Mapping[int, int]
) -> str:
    waiting = wording.at_least([mine.get(row.study_id, 0) for row in here], "disputed item", most=MOST_COUNTED)
    others = wording.at_least([mine[row.study_id] for row in elsewhere], most=MOST_COUNTED)
    more = f"; {others} in other projects" if elsewhere else ""
    return f"{waiting[0].upper()}{waiting[1:]} in {project.name}{more}"


def _nothing(studies: Sequence[StudyRow]) -> None:
    if not studies:
        ui.empty("There is no study to adjudicate yet.", "A researcher makes one on the page Studies.")
        return
    if others := sum(row.disputed for row in studies):
        more = "You annotated them, have decided them, or somebody has them before them now."
        ui.empty(f"{wording.count(others, 'disputed item')} {'waits' if others == 1 else 'wait'} for others.", more)
        return
    left = sum(max(0, row.slots - row.submitted) for row in studies)
    more = "Items on which annotators disagree appear here once they have all their annotations"
    ui.empty("Nothing is disputed.", f"{more}; {wording.count(left, 'annotation')} to come." if left else f"{more}.")


# Tables ---------------------------------------------------------------------------------------------------------------


def _studies(rows: Sequence[StudyRow], actor: Actor, mine: Mapping[int, int], *, several: bool) -> None:
    """A row a study: each leads to its desk."""
    columns = ["Study", *(["Project"] if several else []), "Protocol", "For you", "Disputed", "Oldest", "Decided"]
    columns += ["Last", ""]
    cells = []
    for row in rows:
        found = study_disputes(ui.db(), actor, row.study_id)
        about = {"study": row.study_id, "project": row.project_id}
        cells.append(
            [
                blocks.to(row.name, "adjudicate", **about) if row.study_id in mine else row.name,
                *([row.project] if several else []),
                row.protocol,
                wording.at_least([mine.get(row.study_id, 0)], most=MOST_COUNTED),
                f"{row.disputed:,}",
                wording.ago(found.oldest),
                f"{found.decided:,}",
                _last(found),
                blocks.button("Adjudicate", "adjudicate", **about) if row.study_id in mine else "",
            ]
        )
    blocks.table("Studies by how many items are disputed", columns, cells)


def _order(studies: Sequence[StudyRow], actor: Actor) -> None:
    """In which order adjudicators get the disputes of a study."""
    if not studies:
        return
    with st.popover("Order of disputes…"):
        chosen = st.selectbox("Study", studies, format_func=lambda row: row.name, key="order-study")
        by = st.radio("What comes first", list(_ORDERS), format_func=_ORDERS.__getitem__, key="order-by")
        st.caption(
            "The model (Dawid and Skene's) weighs each annotator by how often the others bear them out. It is fitted "
            "now to the labels there are; what is disputed later comes behind, by disagreement."
        )
        if st.button("Order them so", key="order-apply"):
            with ui.problems():
                if by == "uncertainty":
                    done = order_by_uncertainty(ui.db(), actor, chosen.study_id)
                    left_out = "".join(f" It says nothing of {name}: {why}." for name, why in done.left_out.items())
                    st.success(f"{wording.count(done.items, 'disputed item')} of {chosen.name} ordered.{left_out}")
                else:
                    order_by_disagreement(ui.db(), actor, chosen.study_id)
                    st.success(f"The disputes of {chosen.name} are ordered by disagreement.")


def _last(found: StudyDisputes) -> str:
    return f"{wording.ago(found.last_at)}, by {found.last_by}" if found.last_at else ""


def _causes(studies: Sequence[StudyRow], actor: Actor) -> None:
    """What disagreements came from in this project's studies, where adjudicators have said so."""
    rows = [
        (study.name, row.title, f"{row.units:,}", *(f"{n:,}" for n in row.causes.values()))
        for study in studies
        for row in cause_counts(ui.db(), actor, study.study_id)
        if row.by_item
    ]
    if rows:
        blocks.section("Causes of disagreement")
        blocks.table("Causes of disagreement", ("Study", "Criterion", "Decided", *CAUSES.values()), rows)


def _notes(studies: Sequence[StudyRow], actor: Actor) -> None:
    """What adjudicators would have the guidelines say."""
    rows = [
        (note.title, note.note, study.name, blocks.identifier(note.item), note.by, ui.when(note.at))
        for study in studies
        for note in guideline_notes(ui.db(), actor, study.study_id)
    ]
    if rows:
        blocks.section("For the guidelines")
        blocks.table("For the guidelines", ("Criterion", "Note", "Study", "Item", "By", "When"), rows)


def _lately(studies: Sequence[StudyRow], actor: Actor) -> None:
    """What was decided last in this project's studies."""
    names = {row.study_id: row.name for row in studies}
    decided = [decision for study_id in names for decision in latest_decisions(ui.db(), actor, study_id, limit=LATELY)]
    rows = sorted(decided, key=lambda decision: decision.at, reverse=True)[:LATELY]
    if not rows:
        return
    blocks.section("Decided lately")
    blocks.table(
        "Decided lately",
        ("Item", "Study", "Decision", "By", "When", "Reason"),
        [
            (blocks.identifier(row.item), names[row.study_id], _decision(row), row.by, ui.when(row.at), row.reason)
            for row in rows
        ],
    )


def _decision(decision: Decision) -> str:
    said = [f"{title}{'' if target == 'item' else f' ({target})'}: {value}" for title, target, value in decision.units]
    overruled = f"; {decision.overruled:,} against a majority" if decision.overruled else ""
    blind = f"; {decision.stage} of two" if decision.stage in BLIND else ""
    return blocks.clip("; ".join(said), 140) + overruled + blind
