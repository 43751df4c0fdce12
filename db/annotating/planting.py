"""Gold items and repeats among what annotators are given, and what their gold labels do to them.

A planted item takes the place of a slot that somebody was just given: the row of the slot becomes the planted item's,
and the slot goes back to the end of the queue. So nothing on the wire, no id and no order, says what is planted.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, bindparam, text, update
from sqlalchemy import select as sql_select

from annotators.asking.planting import Planting, drawn_number
from annotators.protocols import Protocol
from db.allotting.settling import reopen_slot
from db.annotating.assignments import Held, Member, give_back
from db.items.current import is_set_aside
from db.models import (
    BESIDE,
    Amendment,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    GoldLabel,
    Purpose,
    StoredLabel,
    Study,
    StudyItem,
    StudyMember,
    now,
)
from db.query import table_of
from db.studies.design import protocol_of
from db.studies.tallies import Tallies

_REPEATABLE = 60
"""How many of the last items that lie far enough back one is drawn from to come again."""

_ASSIGNMENTS, _MEMBERS, _ANNOTATIONS = table_of(Assignment), table_of(StudyMember), table_of(Annotation)
_SLOT, _ITEM, _GIVEN = _ASSIGNMENTS.c, table_of(StudyItem).c, _ANNOTATIONS.c
_MINE = (_MEMBERS.c.study_id == bindparam("study"), _MEMBERS.c.person_id == bindparam("person"))
_COUNT_GIVEN = update(_MEMBERS).where(*_MINE).values(given=bindparam("n"))
_BECOMES: dict[str, Any] = {"study_item_id": bindparam("item"), "kind": bindparam("to")}
_TURN_INTO = update(_ASSIGNMENTS).where(_SLOT.id == bindparam("of")).values(_BECOMES)


def _unseen_gold() -> Any:
    had = sql_select(_SLOT.id).where(_SLOT.study_item_id == _ITEM.id, _SLOT.person_id == bindparam("person"))
    return sql_select(_ITEM.id).where(
        _ITEM.study_id == bindparam("study"),
        text(f"study_item.{BESIDE}"),
        _ITEM.purpose == Purpose.GOLD.value,
        ~had.exists(),
    )


def _far_back() -> Any:
    """Items that the person judged so many annotations ago, latest first, and that have not come again."""
    again = _ASSIGNMENTS.alias()
    far = (
        sql_select(_GIVEN.id, _GIVEN.study_item_id, _GIVEN.kind, _GIVEN.assignment_id)
        .where(_GIVEN.study_id == bindparam("study"), _GIVEN.person_id == bindparam("person"))
        .where(_GIVEN.supersedes_id.is_(None))
        .order_by(_GIVEN.id.desc())
        .offset(bindparam("distance"))
        .limit(4 * _REPEATABLE)
        .subquery()
    )
    return (
        sql_select(far.c.study_item_id)
        .join(_ASSIGNMENTS, _SLOT.id == far.c.assignment_id)
        .where(
            far.c.kind == AnnotationKind.REGULAR.value,
            _SLOT.state == AssignmentState.SUBMITTED.value,
            ~sql_select(again.c.id)
            .where(
                again.c.study_item_id == far.c.study_item_id,
                again.c.person_id == bindparam("person"),
                again.c.kind == AnnotationKind.REPEAT.value,
            )
            .exists(),
        )
        .order_by(far.c.id.desc())
        .limit(_REPEATABLE)
    )


_UNSEEN_GOLD, _FAR_BACK = _unseen_gold(), _far_back()


def plant(connection: Connection, member: Member, fresh: Sequence[Held], counts: Tallies) -> None:
    """Turn some of the slots that the person was just given into gold items and repeats, at the study's rates.

    In the transaction in which they were given. Where there is no gold item that they have not had, and nothing far
    enough back to repeat, the slot stays what it is.
    """
    planting = Planting.of(member.study.settings)
    if not fresh or not planting.plants:
        return
    about = {"study": member.study.id, "person": member.person_id}
    for number, row in enumerate(fresh, member.given + 1):
        turn = planting.turn(member.study.seed, member.person_id, number)
        if turn is None:
            continue
        query = _UNSEEN_GOLD if turn == "gold" else _FAR_BACK
        asked = about if turn == "gold" else {**about, "distance": planting.repeat_after}
        found = connection.execute(query, asked).scalars().all()
        if found:
            of = min(found, key=lambda item: drawn_number(member.study.seed, member.person_id, -item))
            displaced, row.study_item_id, row.kind = row.study_item_id, of, turn
            connection.execute(_TURN_INTO, {"of": row.id, "item": of, "to": turn})
            counts.move(AssignmentState.LEASED, None, member.person_id)
            again = reopen_slot(connection, member.study, displaced, counts, whose=member.person_id)
            member.next_queue = again or member.next_queue
    connection.execute(_COUNT_GIVEN, {**about, "n": member.given + len(fresh)})


# Gold labels beside those that were given -----------------------------------------------------------------------------


@dataclass(frozen=True)
class GoldGiven:
    """What somebody said of one unit of a gold item beside its right label, and when; None for cannot judge."""

    person_id: int
    study_item_id: int
    annotation_id: int
    criterion: str
    target: str
    right: Any
    value: Any
    at: datetime

    def is_right(self, protocol: Protocol) -> bool:
        """Whether it is the right label, as votes are compared."""
        criterion = protocol.criterion(self.criterion)
        return self.value is not None and criterion.vote(self.value) == criterion.vote(self.right)


def _gold_query() -> Any:
    gold, label, newer = table_of(GoldLabel).c, table_of(StoredLabel), _ANNOTATIONS.alias()
    said = (
        (label.c.assignment_id == _GIVEN.assignment_id)
        & (label.c.sitting == _GIVEN.sitting)
        & (label.c.criterion == gold.criterion)
        & (label.c.target == gold.target)
    )
    return (
        sql_select(
            *(_GIVEN.person_id, _GIVEN.study_item_id, _GIVEN.id),
            *(gold.criterion, gold.target, gold.value, label.c.value, _GIVEN.created_at),
        )
        .select_from(
            _ANNOTATIONS.join(table_of(GoldLabel), gold.study_item_id == _GIVEN.study_item_id).outerjoin(label, said)
        )
        .where(
            _GIVEN.study_id == bindparam("study"),
            _GIVEN.kind == AnnotationKind.GOLD.value,
            ~sql_select(newer.c.id).where(newer.c.supersedes_id == _GIVEN.id).exists(),
            ~is_set_aside(_GIVEN.id),
        )
        .order_by(_GIVEN.id, gold.id)
    )


_GOLD = _gold_query()
_GOLD_OF_ONE = _GOLD.where(_GIVEN.person_id == bindparam("person"))


def gold_labels_given(connection: Connection, study_id: int, person_id: int | None = None) -> Iterator[GoldGiven]:
    """Every gold label of the gold items that people, or one of them, have judged, beside what they said of it.

    As their latest annotation has it. A unit that they were not asked, or left without a label, is said wrongly.
    """
    query = _GOLD if person_id is None else _GOLD_OF_ONE
    for row in connection.execute(query, {"study": study_id, "person": person_id}):
        yield GoldGiven(*row)


# Below the mark -------------------------------------------------------------------------------------------------------

_STUDY = table_of(Study)
_AMENDED = update(_STUDY).where(_STUDY.c.id == bindparam("study")).values(amended=_STUDY.c.amended + 1)
_PAUSE = update(_MEMBERS).where(*_MINE).values(paused_at=bindparam("at"))
_LEAVE = update(_MEMBERS).where(*_MINE).values(left_at=bindparam("at"))
_ACTIVE = (
    sql_select(_MEMBERS.c.person_id)
    .where(_MEMBERS.c.study_id == bindparam("study"), _MEMBERS.c.left_at.is_(None))
    .order_by(_MEMBERS.c.person_id)
)


def hold_to_mark(connection: Connection, member: Member, counts: Tallies) -> None:
    """Pause an annotator, or take them out of the study, if it says so and too many of their gold labels are wrong.

    In the transaction of a submission. That they left is an amendment, made by nobody, with the numbers as its reason.
    """
    planting, study = Planting.of(member.study.settings), member.study
    if planting.below == "warn" or member.paused_at is not None or member.left_at is not None:
        return
    assert study.id is not None
    given = list(gold_labels_given(connection, study.id, member.person_id))
    items = len({label.study_item_id for label in given})
    right = sum(label.is_right(protocol_of(study)) for label in given)
    if not planting.is_below(items, right, len(given)):
        return
    about, moment = {"study": study.id, "person": member.person_id}, now()
    if planting.below == "pause":
        member.paused_at = moment
        connection.execute(_PAUSE, {**about, "at": moment})
        return
    connection.execute(_AMENDED, about)  # first, so that of two who leave at once the second sees the first gone
    before = list(connection.execute(_ACTIVE, about).scalars())
    connection.execute(_LEAVE, {**about, "at": moment})
    member.left_at = moment
    give_back(connection, study, member.person_id, counts)
    left = {
        "study_id": study.id,
        "what": "annotators",
        "before": before,
        "after": [person for person in before if person != member.person_id],
        "reason": f"{right:,} of {len(given):,} gold labels right, below the mark of {planting.mark:g}",
        "created_at": moment,
    }
    connection.execute(table_of(Amendment).insert(), left)
