"""How far a study is: assignments by state and by annotator, from the kept counts, and counted again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import case, func, select
from sqlmodel import Session, col

from annotators.asking.qualifying import Qualifying
from annotators.designing.finish import finish
from annotators.designing.phases import AFTER, DECLINED, phases_of
from db.allotting.slots import is_balanced, waiting_by_person
from db.annotating.guidelines import readers
from db.annotating.nobody_left import n_of_nobody
from db.engine import Database
from db.models import (
    Account,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    StoredLabel,
    Study,
    StudyMember,
    StudyState,
    Tally,
    now,
)
from db.people.pseudonyms import sees_names
from db.permissions import Actor, On, Role, operation
from db.phases.answers import Standing, standings
from db.query import pick, table_of
from db.studies import tallies
from db.studies.design import disputed_items, protocol_of
from db.studies.places import who_gets_items

DAYS = 14
"""Days that are looked back on to say when a study will be finished."""

_LATEST = 20_000


def _daily(session: Session, study_id: int, moment: datetime) -> list[int]:
    """Annotations of a study on each of the last `DAYS` days of 24 hours, oldest first, from the first with any.

    Only the latest `_LATEST` of the whole installation are looked at, so that it takes no longer in large studies; days
    that begin before those are left out.
    """
    given = table_of(Annotation).c
    newest = session.execute(select(func.max(given.id))).scalar_one() or 0
    among = [given.id > newest - _LATEST, given.study_id == study_id, given.supersedes_id.is_(None)]
    begins = [moment - timedelta(days=day) for day in range(1, DAYS + 1)]
    day = case(*((given.created_at > begin, place) for place, begin in enumerate(begins, 1)), else_=0).label("day")
    rows = select(day, func.count().label("n")).where(*among, given.kind == AnnotationKind.REGULAR).group_by("day")
    found = {row.day: row.n for row in session.execute(rows)}
    oldest = session.execute(select(given.created_at).where(given.id == newest - _LATEST)).scalar()
    counted = [found.get(place, 0) for place, begin in enumerate(begins, 1) if oldest is None or begin > oldest][::-1]
    first = next((place for place, n in enumerate(counted) if n), len(counted))
    return counted[first:]


def _finish(session: Session, study: Study, left: int) -> dict[str, str | None] | None:
    """When so many annotations that are left may be there, by the last days; None where nothing can be said."""
    assert study.id is not None
    moment = now()
    if study.state != StudyState.RUNNING or not left:
        return None
    found = finish(left, _daily(session, study.id, moment))
    if found is None:
        return None
    days = {"at": found.days, "low": found.low, "high": found.high}
    return {
        name: None if n is None or n > _FAR else (moment + timedelta(days=n)).isoformat() for name, n in days.items()
    }


_FAR = 3650
"""Days beyond which an end is none that is in sight."""


@operation(On.STUDY, frozenset({Role.RESEARCHER, Role.ADJUDICATOR, Role.VIEWER}))
def study_status(db: Database, actor: Actor, study_id: int) -> dict[str, Any]:
    """Progress, as the `status` JSON of docs/json.md: by state and by annotator.

    Whose labels are left out is told to who is told names beside labels (`db.quality.omissions.omissions_of`).
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        told = sees_names(session, actor, study)
        everybody = tallies.counts(session, study_id)
        members = session.execute(
            pick(
                StudyMember.person_id,
                Account.name,
                StudyMember.left_at,
                StudyMember.left_out_from,
                StudyMember.paused_at,
                StudyMember.qualified_at,
                StudyMember.quota,
                StudyMember.failed_at,
            )
            .join(Account, col(Account.person_id) == StudyMember.person_id, isouter=True)
            .where(col(StudyMember.study_id) == study_id)
            .order_by(col(StudyMember.person_id))
        ).all()
        read, standing = readers(session, study), standings(session, study)
        is_over = not any(everybody.get(state, 0) for state in _UNFINISHED)
        waiting = waiting_by_person(session.connection(), study_id) if is_balanced(study) else None
        annotators, idle, getting = [], list[int](), who_gets_items(session, study_id)
        for person_id, name, left_at, left_out_from, paused_at, qualified_at, quota, failed_at in members:
            own = tallies.counts(session, study_id, person_id)
            spent = session.get(Tally, (study_id, person_id, AssignmentState.SUBMITTED))
            submitted = own.get(AssignmentState.SUBMITTED, 0)
            gone = person_id not in getting
            if gone or (quota is not None and tallies.done(own) >= quota):
                idle.append(person_id)
            seconds = spent.seconds if spent else 0  # labels made elsewhere have none
            annotators.append(
                {
                    "annotator": name or f"erased person {person_id}",
                    "submitted": submitted,
                    "open": own.get(AssignmentState.LEASED, 0) + own.get(AssignmentState.RETURNED, 0),
                    "skipped": own.get(AssignmentState.SKIPPED, 0),
                    "surplus": own.get(AssignmentState.SURPLUS, 0),
                    "seconds_per_item": round(seconds / submitted, 1) if seconds and submitted else None,
                    "guidelines_read": read[person_id].isoformat() if person_id in read else None,
                    "left": left_at.isoformat() if left_at else None,
                    "left_out_from": left_out_from.isoformat() if told and left_out_from else None,
                    "paused": paused_at.isoformat() if paused_at else None,
                    "failed": failed_at.isoformat() if failed_at else None,
                    "phase": _phase_of(study, standing.get(person_id), qualified_at, submitted, is_over=is_over),
                    "quota": quota,
                    "gets_items": not gone,
                    "allotted": None if waiting is None else waiting.get(person_id, 0),
                }
            )
        states = {state.value: everybody.get(state, 0) for state in AssignmentState}
        return {
            "study": study.name,
            "protocol": study.protocol_name,
            "state": study.state,
            "deadline": study.deadline.isoformat() if study.deadline else None,
            "items": study.n_items,
            "pairs": protocol_of(study).about_pairs,
            "states": states,
            "disputed": disputed_items(session, study_id),
            "stuck": n_of_nobody(session, study, everybody, team=[row.person_id for row in members], idle=idle),
            "annotators": annotators,
            "made_elsewhere": states["submitted"] - sum(annotator["submitted"] for annotator in annotators),
            "finish": _finish(session, study, sum(states[state] for state in _UNFINISHED)),
            "finished": is_over,
        }


_UNFINISHED = (AssignmentState.OPEN, AssignmentState.LEASED, AssignmentState.RETURNED)


def _phase_of(
    study: Study, standing: Standing | None, qualified_at: datetime | None, submitted: int, *, is_over: bool
) -> str | None:
    """In which phase of the study somebody is; None where it has none around its items.

    `declined`, one of annotators/designing/phases.py, `qualification`, `items`, or `done`.
    """
    if "phases" not in study.settings:
        return None
    standing = standing or Standing(phases_of(study.settings), frozenset(), declined=False)
    if standing.declined:
        return DECLINED
    if standing.before_items is not None:
        return standing.before_items
    if Qualifying.of(study.settings).items and qualified_at is None:
        return "qualification"
    if AFTER in standing.answered:
        return "done"
    return AFTER if is_over and submitted and standing.after_items else "items"


@dataclass(frozen=True)
class CriterionProgress:
    """How far one criterion is: labels that annotators have submitted, and how many of them cannot judge."""

    criterion: str
    title: str
    labels: int
    cannot_judge: int


@operation(On.STUDY, frozenset({Role.RESEARCHER, Role.ADJUDICATOR, Role.VIEWER}))
def progress_by_criterion(db: Database, _actor: Actor, study_id: int) -> list[CriterionProgress]:
    """The labels of each criterion that stand in submitted slots, in the protocol's order; it reads all of them."""
    with db.read() as session:
        protocol = protocol_of(session.get_one(Study, study_id))
        rows = session.execute(
            pick(StoredLabel.criterion, col(StoredLabel.cannot_judge), func.count())
            .join(Assignment, col(Assignment.id) == StoredLabel.assignment_id)
            .where(
                col(Assignment.study_id) == study_id,
                col(Assignment.state) == AssignmentState.SUBMITTED,
                col(Assignment.kind) == "slot",
                col(StoredLabel.sitting) == col(Assignment.sitting),
            )
            .group_by(col(StoredLabel.criterion), col(StoredLabel.cannot_judge))
        ).all()
        counts = {(criterion, bool(cannot)): n for criterion, cannot, n in rows}
        return [
            CriterionProgress(
                criterion.name,
                criterion.title,
                counts.get((criterion.name, False), 0) + counts.get((criterion.name, True), 0),
                counts.get((criterion.name, True), 0),
            )
            for criterion in protocol.criteria
        ]
