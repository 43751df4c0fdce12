"""Who gets which item next: slots, leases, and what happens to a slot that is given up.

Open slots of a study stand in a queue. Each annotator has a cursor: every slot up to it has been offered. A slot that
is freed (skipped, expired) goes to the end of the queue with a new number, so that those who have passed its item meet
it again. Finding the next slot is therefore one look-up in an index, at a thousand items as at a million, and for an
annotator far ahead of the others as well.

In a study in which everybody has an order of their own, the cursor counts turns. Each turn has a place in the queue
that is drawn for the person (`own_place` in annotators/items/sampling.py), and gives the first open slot from there on:
that of the item there, as long as it has one.

Rechecks come before all others. In a study ordered by a score so does a freed slot, and leases that have run out are
ended as soon as somebody wants an item: what its figures are made of ends at the first item that is not judged.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from functools import reduce
from operator import add
from typing import Any

from sqlalchemy import Connection, Select, bindparam, delete, func, text, update
from sqlalchemy import select as sql_select
from sqlalchemy.sql.dml import ReturningUpdate
from sqlmodel import Session, col, select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from annotators.items.sampling import BY_SCORE, OWN
from db.allotting.ledger import WAS_ASKED, first_step, take_open_slot
from db.allotting.settling import reopen_slot, update_settlements
from db.allotting.slots import is_balanced
from db.engine import Database
from db.models import (
    BARRED,
    IMPORTED,
    PLANTED_KINDS,
    SLOTLESS_KINDS,
    Amendment,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Draft,
    Purpose,
    Study,
    StudyMember,
    StudyState,
    Submission,
    Tally,
    UtcTime,
    now,
)
from db.permissions import ADJUDICATORS, ANNOTATORS, Actor, On, operation, record
from db.phases.answers import check_items_are_open
from db.query import table_of
from db.studies import tallies
from db.studies.design import frozen_study, has_rechecks, protocol_of, turns_begin
from db.studies.places import GETS_ITEMS, is_gone
from db.studies.tallies import Tallies

AHEAD = 3
"""How many items after the present one are leased and sent ahead by default, while enough are left for everybody."""

LOWEST, HIGHEST = -(2**62), 2**62
"""Below and above every number of a slot in the queue."""

_REVIVED_AT_ONCE = 8
_TURNS_AT_ONCE = 200
"""Turns of somebody's own order that are looked at for an item allotted to them; then the next one behind comes."""

_EXPIRED_AT_ONCE = 100


_ASSIGNMENT, _MEMBER, _TALLY = table_of(Assignment), table_of(StudyMember), table_of(Tally).c
_SLOT, _STUDY, _SUBMISSION = _ASSIGNMENT.c, table_of(Study), table_of(Submission).c


@dataclass
class Member:
    """A person's place in a study, as `StudyMember` keeps it, and the number that the next freed slot gets."""

    study: Study
    person_id: int
    left_at: datetime | None
    left_out_from: datetime | None
    paused_at: datetime | None
    qualified_at: datetime | None
    failed_at: datetime | None
    given: int
    cursor: int
    exhausted_at: int | None
    next_queue: int
    quota: int | None


@dataclass
class Held:
    """An assignment that the transaction has locked, or is the only one to work with; `save` writes it back."""

    id: int
    study_id: int
    study_item_id: int
    person_id: int | None
    state: str
    queue: int
    sitting: int
    steps_done: int
    leased_at: datetime | None
    lease_until: datetime | None
    ended_at: datetime | None
    reason: str | None
    kind: str
    left_out_as: str | None


@dataclass(frozen=True)
class StoredSubmission:
    """A submission that is stored already: whose it is, of which assignment, and when it came."""

    person_id: int
    assignment_id: int
    created_at: datetime


@dataclass(frozen=True)
class Hand:
    """What somebody has to do now, first to last; how much they have done, and how many people share the study.

    `fresh` are those of the items that they were given just now.
    """

    items: list[Held]
    done: int
    members: int
    fresh: list[Held] = field(default_factory=list)


def _member_query() -> Select[Any]:
    mine = (_MEMBER.c.study_id == bindparam("study"), _MEMBER.c.person_id == bindparam("person"))
    columns = (
        _MEMBER.c.cursor,
        _MEMBER.c.exhausted_at,
        _MEMBER.c.left_at,
        _MEMBER.c.left_out_from,
        _MEMBER.c.paused_at,
        _MEMBER.c.qualified_at,
        _MEMBER.c.failed_at,
        _MEMBER.c.given,
        _STUDY.c.amended,
        _STUDY.c.next_queue,
        _MEMBER.c.quota,
        _STUDY.c.created_at,
        _STUDY.c.protocol_hash,
        _STUDY.c.sample_hash,
    )
    return sql_select(*columns).join_from(_MEMBER, _STUDY).where(*mine)


# Every submission runs these and those below, so they are made once.
_OF_MEMBER = _member_query()
_LOCK_MEMBER = (
    sql_select(_MEMBER.c.cursor)
    .where(_MEMBER.c.study_id == bindparam("study"), _MEMBER.c.person_id == bindparam("person"))
    .with_for_update()
)


def member_of(session: Session, study_id: int, person_id: int, *, alone: bool = False) -> Member:
    """The person's place in the study; NotAllowed for somebody who is no annotator of it.

    `alone` locks it until the transaction ends: two windows of one person take turns. Otherwise both would pass over
    the slots that the other one is taking, and lease two slots of one item.
    """
    asked = {"study": study_id, "person": person_id}
    connection = session.connection()
    if alone and connection.dialect.name != "sqlite":
        # Who waited for the lock would see the study as it was before an amendment that held it: so ask again below.
        connection.execute(_LOCK_MEMBER, asked)
    row = connection.execute(_OF_MEMBER, asked).first()
    if row is None:
        raise NotAllowed("You are not an annotator of this study. Ask its researcher to add you.")
    frozen = (row.protocol_hash, row.sample_hash)
    study = frozen_study(session, study_id, row.created_at, frozen=frozen, amended=row.amended)
    place = (row.left_at, row.left_out_from, row.paused_at, row.qualified_at, row.failed_at)
    return Member(study, person_id, *place, row.given, row.cursor, row.exhausted_at, row.next_queue, row.quota)


def lease(
    connection: Connection, member: Member, counts: Tallies, *, ahead: int = AHEAD, nothing_new: bool = False
) -> Hand:
    """The assignments this person works on now, first to last, with new slots leased to fill up the look-ahead.

    Inside the caller's writing transaction, in which `member_of` has locked the person's place. An item whose first
    step is committed comes first, then what was returned, then those leased, in the order of the queue. Nobody has
    anything to do while the study gives no items (`is_halted`), nor, by this, who is to get no new ones. Where slots
    are allotted to people no lease ends by time: nobody else is to have them.
    """
    moment = now()
    length = timedelta(minutes=member.study.lease_minutes)
    left = _left(connection, member)
    done = left.done + sum(counts.change(member.person_id, state) for state in tallies.DONE)
    if nothing_new or is_halted(member):
        return Hand([], done, left.members)
    mine, fresh = _mine(connection, member), list[Held]()
    wanted = within_quota(member, left.wanted(ahead), done)
    if len(mine) < wanted and left.expired:
        mine += _revive(connection, member, until=moment + length, counts=counts, wanted=wanted - len(mine))
    if len(mine) < wanted and member.study.item_order == BY_SCORE:
        _expire(connection, member, moment, counts)
    if len(mine) < wanted:
        fresh += _take(connection, member, until=moment + length, counts=counts, wanted=wanted - len(mine))
    at_hand = len(mine) + len(fresh)
    if at_hand <= ahead and not is_balanced(member.study) and (freed := _expire(connection, member, moment, counts)):
        wanted = within_quota(member, replace(left, open=left.open + freed).wanted(ahead), done)
        fresh += _take(connection, member, until=moment + length, counts=counts, wanted=wanted - at_hand)
    mine += fresh
    # Renewed when a quarter of it has passed, so that not every submission rewrites every row at hand. What somebody
    # else has expired since it was read is not this person's any more.
    mine = [
        row
        for row in mine
        if row.state != AssignmentState.LEASED
        or (row.lease_until or moment) >= moment + 0.75 * length
        or _renew(connection, row, moment + length)
    ]
    return Hand(mine, done, left.members, fresh)


def _renew(connection: Connection, row: Held, until: datetime) -> bool:
    """Whether the lease goes on: it had not been ended meanwhile."""
    row.lease_until = until
    return connection.execute(_RENEW, {"of": row.id, "until": until}).rowcount == 1


def within_quota(member: Member, wanted: int, done: int) -> int:
    """As many of the items that are wanted at hand as the person may still be given."""
    return wanted if member.quota is None else max(0, min(wanted, member.quota - done))


def is_halted(member: Member) -> bool:
    """Whether the person gets no items: they left the study, it is paused or closed, or its deadline has passed.

    Nor does somebody whose labels are left out now, as what they would give would be as well; nor who was paused, as
    too many of their labels of gold items were wrong, or who has failed the qualification.
    """
    study = member.study
    late = study.deadline is not None and study.deadline <= now()
    return is_gone(member) or study.state != StudyState.RUNNING or late


def why_halted(session: Session, member: Member) -> str:
    """Why the person gets no items, in words for them; the reason of a pause is its researcher's."""
    study = member.study
    if member.left_at is not None:
        return "You are no annotator of this study any more. What you submitted stands."
    if member.left_out_from is not None:
        since = f"{member.left_out_from:%Y-%m-%d %H:%M}"
        return f"What you submitted since {since} UTC is kept, but left out for now. Ask the study's researcher."
    if member.paused_at is not None:
        return "Your part of the study is paused. What you submitted is saved. Ask the study's researcher."
    if study.state == StudyState.RUNNING:
        assert study.deadline is not None
        return f"Its deadline was {study.deadline:%Y-%m-%d %H:%M} UTC. What you submitted is saved."
    last = (
        select(Amendment.reason)
        .where(Amendment.study_id == study.id, Amendment.what == "state")
        .order_by(col(Amendment.id).desc())
    )
    return f"It is {study.state}: {session.exec(last.limit(1)).one()}"


@dataclass(frozen=True)
class Left:
    """What is left of a study: open slots, annotators to share them, slots that this person lost by time, and has done.

    As it was before the transaction.
    """

    open: int
    members: int
    expired: int
    done: int

    def wanted(self, ahead: int) -> int:
        """How many items to have at hand: fewer ahead when few slots are left, so that nobody hoards the last ones."""
        return 1 + min(ahead, self.open // max(1, self.members))


def _tally(person_id: Any, state: str) -> Any:
    mine = (_TALLY.study_id == bindparam("study"), _TALLY.person_id == person_id, _TALLY.state == state)
    return func.coalesce(sql_select(_TALLY.n).where(*mine).scalar_subquery(), 0)


_LEFT = sql_select(
    _tally(tallies.EVERYBODY, AssignmentState.OPEN),
    sql_select(func.count()).where(_MEMBER.c.study_id == bindparam("study"), GETS_ITEMS).scalar_subquery(),
    _tally(bindparam("person"), AssignmentState.EXPIRED),
    reduce(add, (_tally(bindparam("person"), state) for state in tallies.DONE)),
)


def _left(connection: Connection, member: Member) -> Left:
    return Left(*connection.execute(_LEFT, {"study": member.study.id, "person": member.person_id}).one())


_HELD = tuple(_SLOT[field.name] for field in fields(Held))
_CHANGES = ("state", "sitting", "steps_done", "lease_until", "ended_at", "reason", "left_out_as")
_SAVE = update(_ASSIGNMENT).where(_SLOT.id == bindparam("of")).values({name: bindparam(name) for name in _CHANGES})


_STILL_LEASED = (_SLOT.id == bindparam("of"), _SLOT.state == AssignmentState.LEASED)
_RENEW = update(_ASSIGNMENT).where(*_STILL_LEASED).values(lease_until=bindparam("until"))


def save(connection: Connection, row: Held) -> None:
    """Write an assignment back."""
    connection.execute(_SAVE, {"of": row.id} | {name: getattr(row, name) for name in _CHANGES})


_MINE = sql_select(*_HELD).where(
    _SLOT.person_id == bindparam("person"),
    _SLOT.state.in_((AssignmentState.LEASED, AssignmentState.RETURNED)),
    _SLOT.study_id == bindparam("study"),
)


def _mine(connection: Connection, member: Member) -> list[Held]:
    rows = connection.execute(_MINE, {"study": member.study.id, "person": member.person_id})

    def order(row: Held) -> tuple[bool, bool, datetime, int]:
        begun = row.state == AssignmentState.LEASED and row.steps_done > 0
        return (not begun, row.state != AssignmentState.RETURNED, row.leased_at or now(), row.queue)

    return sorted((Held(*row) for row in rows), key=order)


_LATE = (
    sql_select(*_HELD)
    .where(
        _SLOT.study_id == bindparam("study"),
        _SLOT.state == AssignmentState.LEASED,
        _SLOT.lease_until < bindparam("moment", type_=UtcTime()),
        _SLOT.person_id != bindparam("person"),
    )
    .limit(_EXPIRED_AT_ONCE)
    .with_for_update(skip_locked=True)
)


def _expire(connection: Connection, member: Member, moment: datetime, counts: Tallies) -> int:
    """End the leases of others that have run out: the row stays as expired, and a new open slot joins the queue.

    Nobody needs them while open slots are left; this is asked when there are not enough. How many there were.
    """
    study_id, asked = member.study.id or 0, {"person": member.person_id, "moment": moment}
    rows = [Held(*row) for row in connection.execute(_LATE, {"study": study_id, **asked})]
    slots = 0
    for row in rows:
        row.ended_at = moment
        freed = _give_up(connection, member.study, row, AssignmentState.EXPIRED, counts)
        member.next_queue = freed or member.next_queue
        slots += row.kind not in SLOTLESS_KINDS
    return slots


def _give_up(connection: Connection, study: Study, row: Held, after: AssignmentState, counts: Tallies) -> int | None:
    """End somebody's lease: a slot of the item is open again, as `reopen_slot` has it. What uses no slot frees none."""
    row.state = after
    save(connection, row)
    if row.kind in SLOTLESS_KINDS:
        return None
    counts.move(AssignmentState.LEASED, after, row.person_id)
    return reopen_slot(connection, study, row.study_item_id, counts)


_AT_HAND = sql_select(*_HELD).where(
    _SLOT.person_id == bindparam("person"),
    _SLOT.state == AssignmentState.LEASED,
    _SLOT.study_id == bindparam("study"),
)


def give_back(connection: Connection, study: Study, person_id: int, counts: Tallies) -> None:
    """End the leases of somebody who leaves the study: their slots are open again.

    Drafts stay, and so does what they were asked to judge again: a submission that is still on its way finds its row.
    """
    asked = {"study": study.id, "person": person_id}
    for row in [Held(*found) for found in connection.execute(_AT_HAND.with_for_update(), asked)]:
        row.ended_at = now()
        _give_up(connection, study, row, AssignmentState.EXPIRED, counts)


def _knowing(item: str) -> str:
    """Whether somebody was given an earlier version of what a recheck is about, or decided on one: in SQL.

    In whichever study or pair; `item` is the recheck in SQL.
    """
    return " UNION ALL ".join(
        f"SELECT 1 FROM study_item x JOIN item_version v ON v.id = x.{asked} "
        "JOIN item_version e ON e.item_id = v.item_id AND e.number < v.number "
        f"JOIN study_item y ON y.{had} = e.id JOIN {table} k ON k.study_item_id = y.id "
        f"WHERE x.id = {item} AND x.purpose = '{Purpose.RECHECK}' AND k.person_id = :person{given}"
        for asked in ("item_version_id", "other_version_id")
        for had in ("item_version_id", "other_version_id")
        for table, given in (("assignment", f" AND k.kind <> '{BARRED}'"), ("adjudication", ""))
    )


_KNOWS_EARLIER = text(_knowing(":item"))

_ELSEWHERE = _ASSIGNMENT.alias("elsewhere")
_GIVEN_ELSEWHERE = sql_select(_ELSEWHERE.c.id).where(
    _ELSEWHERE.c.study_item_id == _SLOT.study_item_id,
    _ELSEWHERE.c.person_id == bindparam("person"),
    _ELSEWHERE.c.kind == IMPORTED,
)
_LOST = (
    sql_select(*_HELD)
    .where(
        _SLOT.person_id == bindparam("person"),
        _SLOT.state == AssignmentState.EXPIRED,
        _SLOT.study_id == bindparam("study"),
        _SLOT.kind != AnnotationKind.QUALIFICATION,
        ~_GIVEN_ELSEWHERE.exists(),
    )
    .order_by(_SLOT.id.desc())
    .limit(_REVIVED_AT_ONCE)
    .with_for_update()
)
_LOST_NOT_KNOWN = _LOST.where(text(f"NOT EXISTS ({_knowing('assignment.study_item_id')})"))


def _revive(connection: Connection, member: Member, *, until: datetime, counts: Tallies, wanted: int) -> list[Held]:
    """Give back what this person had when the lease ran out, if a slot of that item is still free.

    Not a recheck of which they were given an earlier version meanwhile, in another study.
    """
    revived: list[Held] = []
    lost = _LOST_NOT_KNOWN if has_rechecks(member.study) else _LOST
    for found in connection.execute(lost, {"study": member.study.id, "person": member.person_id}).all():
        row = Held(*found)
        if len(revived) == wanted:
            break
        if row.kind in PLANTED_KINDS or take_open_slot(connection, row.study_item_id, member.person_id):
            row.state = AssignmentState.LEASED
            row.lease_until = until
            row.ended_at = None
            save(connection, row)
            if row.kind not in PLANTED_KINDS:
                counts.move(AssignmentState.OPEN, None)
                counts.move(AssignmentState.EXPIRED, AssignmentState.LEASED, member.person_id)
            revived.append(row)
    return revived


_MOVE_ON = (
    update(_MEMBER)
    .where(_MEMBER.c.study_id == bindparam("study"), _MEMBER.c.person_id == bindparam("person"))
    .values(cursor=bindparam("queue"), exhausted_at=bindparam("exhausted"))
)


def _take(connection: Connection, member: Member, *, until: datetime, counts: Tallies, wanted: int) -> list[Held]:
    """Lease the next slots in the queue, and remember how far down it they are."""
    before, taken = (member.cursor, member.exhausted_at), list[Held]()
    if wanted < 1:
        return taken
    while len(taken) < wanted and (row := _claim_next(connection, member, until)) is not None:
        taken.append(row)
    if not taken and member.exhausted_at != member.next_queue:
        # Slots that another transaction held when the cursor passed, and then gave back, are found by one full search.
        row = _claim(connection, member, until, after=LOWEST, wait=True)
        if row is None:
            member.exhausted_at = member.next_queue
        else:
            taken.append(row)
    for _ in taken:
        counts.move(AssignmentState.OPEN, None)
        counts.move(None, AssignmentState.LEASED, member.person_id)
    if before != (member.cursor, member.exhausted_at):
        place = {"study": member.study.id, "person": member.person_id}
        connection.execute(_MOVE_ON, {**place, "queue": member.cursor, "exhausted": member.exhausted_at})
    return taken


def _claiming(*, wait: bool, allotted: bool | None = None) -> ReturningUpdate[Any]:
    """Lease the first open slot between two numbers whose item this person has no row for, in one statement.

    What another transaction holds is passed over, or waited for. Where slots are `allotted` to people it is one of
    theirs, or (False) of nobody's; None: nobody owns any.
    """
    slot, other = _ASSIGNMENT.alias("slot"), _ASSIGNMENT.alias("other")
    had = sql_select(other.c.id).where(
        other.c.study_item_id == slot.c.study_item_id,
        other.c.person_id == bindparam("person"),
        text(WAS_ASKED.format(row="other")),
    )
    first = (
        sql_select(slot.c.id)
        .where(
            slot.c.study_id == bindparam("study"),
            slot.c.state == AssignmentState.OPEN,
            slot.c.queue > bindparam("after"),
            slot.c.queue < bindparam("before"),
            ~had.exists(),
            *_whose(slot, allotted),
        )
        .order_by(slot.c.queue)
        .limit(1)
        .with_for_update(skip_locked=not wait, of=slot)
    )
    return (
        update(_ASSIGNMENT)
        .where(_SLOT.id == first.scalar_subquery())
        .values(
            person_id=bindparam("person"),
            state=AssignmentState.LEASED.value,
            leased_at=bindparam("moment"),
            lease_until=bindparam("until"),
        )
        .returning(*_HELD)
    )


def _whose(slot: Any, allotted: bool | None) -> list[Any]:
    if allotted is None:
        return []
    if allotted:
        return [slot.c.allotted_to == bindparam("person")]
    mine = _ASSIGNMENT.alias("mine")
    theirs = (mine.c.study_item_id == slot.c.study_item_id, mine.c.allotted_to == bindparam("person"))
    waits = sql_select(mine.c.id).where(*theirs, mine.c.state == AssignmentState.OPEN)
    return [slot.c.allotted_to.is_(None), ~waits.exists()]


_CLAIM, _CLAIM_WAITING = _claiming(wait=False), _claiming(wait=True)
_CLAIM_OWN, _CLAIM_OWN_WAITING = (_claiming(wait=wait, allotted=True) for wait in (False, True))
_CLAIM_FREE, _CLAIM_FREE_WAITING = (_claiming(wait=wait, allotted=False) for wait in (False, True))


def _claim_next(connection: Connection, member: Member, until: datetime) -> Held | None:
    """Lease the next slot for this person, if there is one, and move their cursor on."""
    study = member.study
    if study.item_order == OWN and member.exhausted_at == member.next_queue:
        return None
    before_all = study.item_order == BY_SCORE or has_rechecks(study)
    if before_all and (first := _claim(connection, member, until, after=LOWEST, before=0)):
        return first
    if study.item_order == OWN:
        if is_balanced(study) and (mine := _claim_in_turn(connection, member, until)):
            return mine
        member.cursor += 1
        begin = turns_begin(study, member.person_id, member.cursor)
        behind = _claim(connection, member, until, after=begin - 1)
        return behind or _claim(connection, member, until, after=LOWEST, before=begin)
    found = _claim(connection, member, until, after=member.cursor)
    if found is not None:
        member.cursor = found.queue
    return found


def _claim_in_turn(connection: Connection, member: Member, until: datetime) -> Held | None:
    """Lease the slot of the next item in somebody's own order that is allotted to them; None where it is far behind."""
    study = member.study
    last = min(member.cursor + _TURNS_AT_ONCE, study.n_items - 1)
    while member.cursor < last:
        member.cursor += 1
        begin = turns_begin(study, member.person_id, member.cursor)
        behind = begin + int(study.settings["queue_width"])
        asked = {"study": study.id, "person": member.person_id, "moment": now(), "until": until}
        row = connection.execute(_CLAIM_OWN, asked | {"after": begin - 1, "before": behind}).first()
        if row is not None:
            return Held(*row)
    return None


def _claim(
    connection: Connection, member: Member, until: datetime, *, after: int, before: int = HIGHEST, wait: bool = False
) -> Held | None:
    """Lease the first open slot between two numbers that this person may have, if there is one.

    Who knows an earlier version is barred from a recheck when it is sent. An item may have been given to somebody in
    another study since: then they are barred now, and the slot stays for others.
    """
    while (row := _claim_any(connection, member, until, after=after, before=before, wait=wait)) is not None:
        if not knows_earlier(connection, member.study, row.study_item_id, member.person_id):
            return row
        connection.execute(_OPEN_AGAIN, {"of": row.id})
        barred = {"study": member.study.id, "item": row.study_item_id, "person": member.person_id}
        connection.execute(_BAR, barred)
    return None


_OPEN_AGAIN = (
    update(_ASSIGNMENT)
    .where(_SLOT.id == bindparam("of"))
    .values(person_id=None, state=AssignmentState.OPEN.value, leased_at=None, lease_until=None)
)
_BAR = text(
    "INSERT INTO assignment (study_id, study_item_id, person_id, kind, state, queue, sitting, steps_done) "
    f"VALUES (:study, :item, :person, '{BARRED}', '{BARRED}', -1, 1, 0)"
)


def knows_earlier(connection: Connection, study: Study, study_item_id: int, person_id: int | None) -> bool:
    """Whether the item is a recheck, and the person was given an earlier version of it, or decided on one, anywhere."""
    asked = {"item": study_item_id, "person": person_id}
    return has_rechecks(study) and connection.execute(_KNOWS_EARLIER, asked).first() is not None


def _claim_any(
    connection: Connection, member: Member, until: datetime, *, after: int, before: int, wait: bool
) -> Held | None:
    asked = {"study": member.study.id, "person": member.person_id, "moment": now(), "until": until}
    asked |= {"after": after, "before": before}
    if is_balanced(member.study):
        own, free = (_CLAIM_OWN_WAITING, _CLAIM_FREE_WAITING) if wait else (_CLAIM_OWN, _CLAIM_FREE)
        row = connection.execute(own, asked).first() or connection.execute(free, asked).first()
    else:
        row = connection.execute(_CLAIM_WAITING if wait else _CLAIM, asked).first()
    return None if row is None else Held(*row)


_KNOWN = (_SUBMISSION.person_id, _SUBMISSION.assignment_id, _SUBMISSION.created_at)
_OWN = (
    sql_select(*_HELD, *(column.label(f"known_{column.name}") for column in _KNOWN))
    .select_from(_ASSIGNMENT.outerjoin(table_of(Submission), _SUBMISSION.uid == bindparam("uid")))
    .where(_SLOT.id == bindparam("of"))
    .with_for_update(of=_ASSIGNMENT)
)


def own(
    connection: Connection, actor: Actor, study_id: int, assignment_id: int, *, uid: str = ""
) -> tuple[Held, StoredSubmission | None]:
    """An assignment of the actor's, locked until the transaction ends, and the submission of that `uid` if it is there.

    Raises NotFound for an assignment that is not there, NotAllowed for somebody else's.
    """
    row = connection.execute(_OWN, {"of": assignment_id, "uid": uid}).first()
    if row is None:
        raise NotFound(f"There is no assignment with id {assignment_id}.")
    held, known = Held(*row[: len(_HELD)]), row[len(_HELD) :]
    if held.study_id != study_id or held.person_id != actor.person_id:
        raise NotAllowed(f"Assignment {assignment_id} is not yours in this study.")
    return held, None if known[0] is None else StoredSubmission(*known)


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
        check_items_are_open(session, member.study, actor.person_id)
        if not reason.strip():
            raise InvalidInput("Skipping needs a reason, so that the researcher can see what is wrong with the item.")
        connection = session.connection()
        row, _ = own(connection, actor, study_id, assignment_id)
        if row.state == AssignmentState.SKIPPED:
            return
        if row.kind == AnnotationKind.QUALIFICATION:
            raise Conflict("Items of the qualification cannot be skipped. Say that you cannot judge, and why.")
        if row.state != AssignmentState.LEASED:
            raise Conflict(f"An item that is {row.state} cannot be skipped. Only an item at hand can.")
        counts = Tallies(study_id)
        row.reason, row.ended_at = reason.strip()[:2000], now()
        _give_up(connection, member.study, row, AssignmentState.SKIPPED, counts)
        session.execute(delete(Draft).where(col(Draft.assignment_id) == assignment_id))
        counts.write(connection)
        record(
            session,
            actor,
            "item skipped",
            "assignment",
            assignment_id,
            project_id=member.study.project_id,
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
        row.sitting, row.steps_done = row.sitting + 1, first_step(session.connection(), study, row.study_item_id)
        session.add(row)
        counts = Tallies(row.study_id)
        counts.move(AssignmentState.SUBMITTED, AssignmentState.RETURNED, row.person_id)
        session.flush()
        update_settlements(session.connection(), study, protocol_of(study), [row.study_item_id], counts)
        counts.write(session.connection())
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
        .where(Annotation.kind != AnnotationKind.QUALIFICATION)
        .order_by(col(Annotation.id).desc())
        .limit(1)
    )
    return session.exec(query).first()
