"""The annotators of a study as a page about them begins: where each stands, and what there was to read of each item."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func
from sqlmodel import Session, col, select

from db.engine import Database
from db.models import AssignmentState, ItemVersion, Person, PersonKind, Purpose, StudyItem, StudyMember, Tally
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation
from db.query import pick
from db.studies import tallies
from db.studies.ratings import ratings_stamp


@dataclass(frozen=True)
class TeamMember:
    """One annotator: how many items they submitted and the mean seconds of each (None without times), and their state.

    `state` is `active`, `left` (no annotator of the study any more), `left_out` (their labels since `left_out_from`
    are), `failed` (the qualification; they get nothing unless they are let in), `paused` (too many of their gold labels
    were wrong; they get nothing until they are let go on), or `imported` (never an annotator of the study: their labels
    came in from elsewhere).
    """

    person_id: int
    name: str
    submitted: int
    seconds_per_item: float | None
    state: str
    left_out_from: datetime | None


@operation(On.STUDY, RESEARCHERS)
def team_of(db: Database, _actor: Actor, study_id: int) -> list[TeamMember]:
    """Everybody who is or was an annotator of the study, or whose labels came in, in the order of their ids.

    Only kept counts are read.
    """
    with db.read() as session:
        query = select(StudyMember).where(StudyMember.study_id == study_id)
        members = {member.person_id: member for member in session.exec(query).all()}
        people = sorted({*members, *_labelled(session, study_id)})
        names = names_of(session, people)
        found = []
        for person_id in people:
            member = members.get(person_id)
            submitted = tallies.count(session, study_id, person_id, AssignmentState.SUBMITTED)
            spent = session.get(Tally, (study_id, person_id, AssignmentState.SUBMITTED))
            seconds = spent.seconds if spent else 0  # labels made elsewhere may have none
            found.append(
                TeamMember(
                    person_id,
                    names[person_id],
                    submitted,
                    round(seconds / submitted, 1) if seconds > 0 and submitted else None,
                    "imported" if member is None else _state(member),
                    None if member is None else member.left_out_from,
                )
            )
        return found


@operation(On.STUDY, RESEARCHERS)
def team_stamp(db: Database, actor: Actor, study_id: int) -> tuple[int, ...]:
    """Numbers that change whenever what is said of the study's annotators does: those of `ratings_stamp`, and how each
    stands.
    """
    standing = pick(
        StudyMember.person_id,
        StudyMember.left_at,
        StudyMember.left_out_from,
        StudyMember.paused_at,
        StudyMember.qualified_at,
        StudyMember.failed_at,
    ).where(col(StudyMember.study_id) == study_id)
    with db.read() as session:
        rows = [tuple(row) for row in session.execute(standing.order_by(col(StudyMember.person_id)))]
    return (*ratings_stamp(db, actor, study_id), zlib.crc32(repr(rows).encode()))


def _labelled(session: Session, study_id: int) -> list[int]:
    """The people who have submitted something."""
    return list(
        session.exec(
            select(Tally.person_id)
            .join(Person, col(Person.id) == col(Tally.person_id))
            .where(
                Tally.study_id == study_id,
                Tally.state == AssignmentState.SUBMITTED,
                Tally.n > 0,
                Person.kind == PersonKind.HUMAN,
            )
        )
    )


def _state(member: StudyMember) -> str:
    if member.left_out_from:
        return "left_out"
    if member.left_at:
        return "left"
    return "failed" if member.failed_at else "paused" if member.paused_at else "active"


@operation(On.STUDY, READERS)
def reading_lengths(db: Database, _actor: Actor, study_id: int) -> list[int]:
    """How many characters question and answer of each item of the sample have, in the order of `StudyItem.id`."""
    with db.read() as session:
        length = func.length(ItemVersion.question) + func.length(ItemVersion.answer)
        rows = session.execute(
            pick(length)
            .join(StudyItem, col(StudyItem.item_version_id) == ItemVersion.id)
            .where(col(StudyItem.study_id) == study_id, col(StudyItem.purpose) == Purpose.SAMPLE)
            .order_by(col(StudyItem.id))
        )
        return [int(row[0]) for row in rows]
