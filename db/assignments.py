"""Who gets which item next: slots, leases, and what happens to a slot that is given up.

Open slots of a study stand in a queue. Each annotator has a cursor: every slot up to it has been offered. A slot that
is freed (skipped, expired) goes to the end of the queue with a new number, so that those who have passed its item meet
it again. Finding the next slot is therefore one look-up in an index, at a thousand items as at a million, and for an
annotator far ahead of the others as well.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Select, bindparam, delete, func, update
from sqlalchemy import select as sql_select
from sqlmodel import Session, col, select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from db import tallies
from db.engine import Database
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Draft,
    Settlement,
    SettlementState,
    Study,
    StudyMember,
    Tally,
    now,
)
from db.permissions import ADJUDICATORS, ANNOTATORS, Actor, On, operation, record
from db.query import table_of
from db.tallies import Tallies

AHEAD = 3
"""How many items after the present one are leased and sent ahead by default, while enough are left for everybody."""

_LOOKED_AT_ONCE = 16
_REVIVED_AT_ONCE = 8


@dataclass(frozen=True)
class Slot:
    """A study item for which a slot is to be taken."""

    assignment_id: int
    study_item_id: int
    queue: int


def member_of(session: Session, study_id: int, person_id: int, *, alone: bool = False) -> StudyMember:
    """The person's place in the study; NotAllowed for somebody who is no annotator of it.

    `alone` locks it until the transaction ends: two windows of one person take turns. Otherwise both would pass over
    the slots that the other one is taking, and lease two slots of one item.
    """
    member = session.get(StudyMember, (study_id, person_id), with_for_update=alone)
    if member is None:
        raise NotAllowed("You are not an annotator of this study. Ask its researcher to add you.")
    return member


def lease(
    session: Session, study: Study, member: StudyMember, counts: Tallies, *, ahead: int = AHEAD
) -> list[Assignment]:
    """The assignments this person works on now, first to last, with new slots leased to fill up the look-ahead.

    Inside the caller's writing transaction. An item whose first step is committed comes first, then those leased, in
    the order of the queue, then what was returned.
    """
    assert study.id is not None
    moment = now()
    length = timedelta(minutes=study.lease_minutes)
    mine = _mine(session, study.id, member.person_id)
    left = _left(session, study.id, member.person_id)
    wanted = left.wanted(ahead)
    if len(mine) < wanted and left.expired:
        mine += _revive(
            session, study, member.person_id, until=moment + length, counts=counts, wanted=wanted - len(mine)
        )
    if len(mine) < wanted:
        mine += _take(session, study, member, until=moment + length, counts=counts, wanted=wanted - len(mine))
    if len(mine) <= ahead and (freed := _expire(session, study, member.person_id, moment, counts)):
        wanted = replace(left, open=left.open + freed).wanted(ahead)
        mine += _take(session, study, member, until=moment + length, counts=counts, wanted=wanted - len(mine))
    for row in mine:
        # Renewed when a quarter of it has passed, so that not every submission rewrites every row at hand.
        if row.state == AssignmentState.LEASED and (row.lease_until or moment) < moment + 0.75 * length:
            row.lease_until = moment + length
            session.add(row)
    return mine


@dataclass(frozen=True)
class Left:
    """What is left of a study: open slots, annotators to share them, and slots that this person lost by time."""

    open: int
    members: int
    expired: int

    def wanted(self, ahead: int) -> int:
        """How many items to have at hand: fewer ahead when few slots are left, so that nobody hoards the last ones."""
        return 1 + min(ahead, self.open // max(1, self.members))


def _tally(person_id: Any, state: AssignmentState) -> Any:
    mine = (col(Tally.study_id) == bindparam("study"), col(Tally.person_id) == person_id, Tally.state == state)
    return func.coalesce(select(Tally.n).where(*mine).scalar_subquery(), 0)


_LEFT = select(
    _tally(tallies.EVERYBODY, AssignmentState.OPEN),
    select(func.count()).where(col(StudyMember.study_id) == bindparam("study")).scalar_subquery(),
    _tally(bindparam("person"), AssignmentState.EXPIRED),
)


def _left(session: Session, study_id: int, person_id: int) -> Left:
    return Left(*session.execute(_LEFT, {"study": study_id, "person": person_id}).one())


_MINE = select(Assignment).where(
    Assignment.person_id == bindparam("person"),
    col(Assignment.state).in_((AssignmentState.LEASED, AssignmentState.RETURNED)),
    Assignment.study_id == bindparam("study"),
)


def _mine(session: Session, study_id: int, person_id: int) -> list[Assignment]:
    rows = session.scalars(_MINE, {"study": study_id, "person": person_id}).all()

    def order(row: Assignment) -> tuple[bool, bool, datetime, int]:
        begun = row.state == AssignmentState.LEASED and row.steps_done > 0
        return (not begun, row.state == AssignmentState.RETURNED, row.leased_at or now(), row.queue)

    return sorted(rows, key=order)


def _expire(session: Session, study: Study, person_id: int, moment: datetime, counts: Tallies) -> int:
    """End the leases of others that have run out: the row stays as expired, and a new open slot joins the queue.

    Nobody needs them while open slots are left; this is asked when there are not enough. How many there were.
    """
    query = (
        select(Assignment)
        .where(
            Assignment.study_id == study.id,
            Assignment.state == AssignmentState.LEASED,
            col(Assignment.lease_until) < moment,
            Assignment.person_id != person_id,
        )
        .limit(100)
        .with_for_update(skip_locked=True)
    )
    rows = session.exec(query).all()
    for row in rows:
        row.state = AssignmentState.EXPIRED
        row.ended_at = moment
        counts.move(AssignmentState.LEASED, AssignmentState.EXPIRED, row.person_id)
        reopen_slot(session, study, row.study_item_id, counts)
        session.add(row)
    session.flush()
    return len(rows)


def reopen_slot(session: Session, study: Study, study_item_id: int, counts: Tallies) -> None:
    """Put a new open slot for the item at the end of the study's queue."""
    assert study.id is not None
    number = session.execute(
        update(Study)
        .where(col(Study.id) == study.id)
        .values(next_queue=Study.next_queue + 1)
        .returning(col(Study.next_queue))
    ).scalar_one()
    study.next_queue = number
    session.add(Assignment(study_id=study.id, study_item_id=study_item_id, queue=number - 1))
    counts.move(None, AssignmentState.OPEN)


def take_open_slot(session: Session, study_item_id: int) -> bool:
    """Use up one open slot of the item for an assignment that already has a row of its own; False if none is free."""
    free = session.exec(
        select(Assignment.id)
        .where(
            Assignment.study_item_id == study_item_id,
            Assignment.state == AssignmentState.OPEN,
            Assignment.kind == "slot",
        )
        .limit(1)
        .with_for_update(skip_locked=True)
    ).first()
    if free is None:
        return False
    session.execute(delete(Assignment).where(col(Assignment.id) == free))
    return True


def _revive(
    session: Session, study: Study, person_id: int, *, until: datetime, counts: Tallies, wanted: int
) -> list[Assignment]:
    """Give back what this person had when the lease ran out, if a slot of that item is still free."""
    rows = session.exec(
        select(Assignment)
        .where(
            Assignment.person_id == person_id,
            Assignment.state == AssignmentState.EXPIRED,
            Assignment.study_id == study.id,
        )
        .order_by(col(Assignment.id).desc())
        .limit(_REVIVED_AT_ONCE)
        .with_for_update()
    ).all()
    revived: list[Assignment] = []
    for row in rows:
        if len(revived) == wanted:
            break
        if take_open_slot(session, row.study_item_id):
            row.state = AssignmentState.LEASED
            row.lease_until = until
            row.ended_at = None
            counts.move(AssignmentState.OPEN, None)
            counts.move(AssignmentState.EXPIRED, AssignmentState.LEASED, person_id)
            session.add(row)
            revived.append(row)
    if revived:
        session.flush()
    return revived


def _take(
    session: Session, study: Study, member: StudyMember, *, until: datetime, counts: Tallies, wanted: int
) -> list[Assignment]:
    taken: list[Assignment] = []
    while len(taken) < wanted:
        found = _offers(session, study, member, member.cursor)
        if not found:
            break
        for slot in found:
            if len(taken) == wanted:
                break
            member.cursor = max(member.cursor, slot.queue)
            if all(slot.study_item_id != one.study_item_id for one in taken):
                taken += _claim(session, slot, member.person_id, until, wait=False)
    if not taken and member.exhausted_at != study.next_queue:
        # Slots that another transaction held when the cursor passed, and then gave back, are found by one full search.
        for slot in _offers(session, study, member, -1)[:1]:
            taken += _claim(session, slot, member.person_id, until, wait=True)
        if not taken:
            member.exhausted_at = study.next_queue
    for _ in taken:
        counts.move(AssignmentState.OPEN, None)
        counts.move(None, AssignmentState.LEASED, member.person_id)
    session.add(member)
    return taken


def _offers_query() -> Select[Any]:
    slot = table_of(Assignment)
    other = slot.alias("other")
    had = sql_select(other.c.id).where(
        other.c.study_item_id == slot.c.study_item_id, other.c.person_id == bindparam("person")
    )
    return (
        sql_select(slot.c.id, slot.c.study_item_id, slot.c.queue)
        .where(
            slot.c.study_id == bindparam("study"),
            slot.c.state == AssignmentState.OPEN,
            slot.c.queue > bindparam("cursor"),
            ~had.exists(),
        )
        .order_by(slot.c.queue)
        .limit(_LOOKED_AT_ONCE)
    )


_OFFERS = _offers_query()


def _offers(session: Session, study: Study, member: StudyMember, cursor: int) -> list[Slot]:
    """The next open slots in the queue after the cursor whose item this person has no row for, one an item."""
    rows = session.connection().execute(_OFFERS, {"study": study.id, "person": member.person_id, "cursor": cursor})
    return [Slot(*row) for row in rows]


def _claim(session: Session, slot: Slot, person_id: int, until: datetime, *, wait: bool) -> list[Assignment]:
    """Lease the slot, unless another transaction has it or was faster."""
    row = session.scalars(_FREE_WAITING if wait else _FREE, {"id": slot.assignment_id}).first()
    if row is None:
        return []
    row.person_id = person_id
    row.state = AssignmentState.LEASED
    row.leased_at = now()
    row.lease_until = until
    session.add(row)
    session.flush()
    return [row]


_OPEN = select(Assignment).where(Assignment.id == bindparam("id"), Assignment.state == AssignmentState.OPEN)
_FREE, _FREE_WAITING = _OPEN.with_for_update(skip_locked=True), _OPEN.with_for_update()
_LOCKED = select(Assignment).where(Assignment.id == bindparam("id")).with_for_update()


def locked(session: Session, assignment_id: int) -> Assignment:
    """The assignment's row, locked against other writers until the transaction ends."""
    row = session.scalars(_LOCKED, {"id": assignment_id}).first()
    if row is None:
        raise NotFound(f"There is no assignment with id {assignment_id}.")
    return row


@operation(On.STUDY, ANNOTATORS)
def skip(db: Database, actor: Actor, study_id: int, *, assignment_id: int, reason: str) -> None:
    """Give the item's slot to somebody else. A reason is required; the row stays as skipped."""
    with db.write() as session:
        member = member_of(session, study_id, actor.person_id, alone=True)
        if not reason.strip():
            raise InvalidInput("Skipping needs a reason, so that the researcher can see what is wrong with the item.")
        study = session.get_one(Study, study_id)
        row = locked(session, assignment_id)
        if row.study_id != study_id or row.person_id != member.person_id:
            raise NotAllowed(f"Assignment {assignment_id} is not yours in this study.")
        if row.state == AssignmentState.SKIPPED:
            return
        if row.state != AssignmentState.LEASED:
            raise Conflict(f"An item that is {row.state} cannot be skipped. Only an item at hand can.")
        counts = Tallies(study_id)
        row.state, row.reason, row.ended_at = AssignmentState.SKIPPED, reason.strip()[:2000], now()
        session.add(row)
        counts.move(AssignmentState.LEASED, AssignmentState.SKIPPED, actor.person_id)
        reopen_slot(session, study, row.study_item_id, counts)
        session.execute(delete(Draft).where(col(Draft.assignment_id) == assignment_id))
        counts.write(session)
        record(
            session,
            actor,
            "item skipped",
            "assignment",
            assignment_id,
            project_id=study.project_id,
            details={"reason": row.reason},
        )


@operation(On.ASSIGNMENT, ADJUDICATORS)
def return_to_annotator(db: Database, actor: Actor, assignment_id: int, *, reason: str) -> None:
    """Send a submitted item back to its annotator with a reason; the annotation stands until it is superseded."""
    if not reason.strip():
        raise InvalidInput("Returning an item needs a reason for the annotator to read.")
    with db.write() as session:
        row = locked(session, assignment_id)
        if row.state != AssignmentState.SUBMITTED or row.kind != "slot":
            raise Conflict(f"Assignment {assignment_id} is {row.state}; only a submitted item can be returned.")
        if row.person_id == actor.person_id:
            raise NotAllowed("This is your own annotation. Open it under My work to correct it.")
        study = session.get_one(Study, row.study_id)
        row.state, row.reason = AssignmentState.RETURNED, reason.strip()[:2000]
        row.sitting, row.steps_done = row.sitting + 1, 0
        session.add(row)
        counts = Tallies(row.study_id)
        counts.move(AssignmentState.SUBMITTED, AssignmentState.RETURNED, row.person_id)
        counts.write(session)
        settlement = session.get(Settlement, row.study_item_id)
        if settlement is not None and settlement.state != SettlementState.ADJUDICATED:
            settlement.state = SettlementState.PENDING
            session.add(settlement)
        record(
            session,
            actor,
            "item returned",
            "assignment",
            assignment_id,
            project_id=study.project_id,
            details={"reason": row.reason},
        )


def last_submitted(session: Session, study_id: int, person_id: int) -> int | None:
    """The assignment that this person completed last in the study."""
    query = (
        select(Annotation.assignment_id)
        .where(Annotation.study_id == study_id, Annotation.person_id == person_id)
        .order_by(col(Annotation.id).desc())
        .limit(1)
    )
    return session.exec(query).first()
