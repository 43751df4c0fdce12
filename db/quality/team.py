"""The annotators of a study as a page about them begins: where each stands, and what there was to read of each item."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func
from sqlmodel import col, select

from db.engine import Database
from db.models import AssignmentState, ItemVersion, Purpose, StudyItem, StudyMember, Tally
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation
from db.query import pick
from db.studies import tallies


@dataclass(frozen=True)
class TeamMember:
    """One annotator: how many items they submitted and the mean seconds of each (None without times), and their state.

    `state` is `active`, `left` (no annotator of the study any more), `left_out` (their labels since `left_out_from`
    are), or `paused` (too many of their gold labels were wrong; they get nothing until they are let go on).
    """

    person_id: int
    name: str
    submitted: int
    seconds_per_item: float | None
    state: str
    left_out_from: datetime | None


@operation(On.STUDY, RESEARCHERS)
def team_of(db: Database, _actor: Actor, study_id: int) -> list[TeamMember]:
    """Everybody who is or was an annotator of the study, in the order of their ids. Only kept counts are read."""
    with db.read() as session:
        query = select(StudyMember).where(StudyMember.study_id == study_id).order_by(col(StudyMember.person_id))
        members = session.exec(query).all()
        names = names_of(session, [member.person_id for member in members])
        found = []
        for member in members:
            submitted = tallies.count(session, study_id, member.person_id, AssignmentState.SUBMITTED)
            spent = session.get(Tally, (study_id, member.person_id, AssignmentState.SUBMITTED))
            seconds = spent.seconds if spent else 0  # labels made elsewhere have none
            state = "left_out" if member.left_out_from else "left" if member.left_at else "active"
            state = "paused" if state == "active" and member.paused_at else state
            found.append(
                TeamMember(
                    member.person_id,
                    names[member.person_id],
                    submitted,
                    round(seconds / submitted, 1) if seconds > 0 and submitted else None,
                    state,
                    member.left_out_from,
                )
            )
        return found


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
