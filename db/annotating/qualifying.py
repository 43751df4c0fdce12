"""Qualification: items with known labels that somebody judges before they get a study's own, with an answer to each.

A try is an assignment for each qualification item, of the kind `qualification`; `queue` is its number, from 1. They use
no slot, stand in no count, and wait as long as it takes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sqlalchemy import Connection, bindparam, text, update
from sqlalchemy import select as sql_select
from sqlmodel import Session

from annotators.asking.qualifying import Qualifying, reaches
from annotators.criteria import Criterion
from annotators.criteria.base import written
from db.annotating.assignments import AHEAD, Held, Member
from db.annotating.presentations import units_at
from db.models import (
    BESIDE,
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
from db.query import pick, table_of
from db.studies.design import protocol_of

_ASSIGNMENTS, _MEMBERS = table_of(Assignment), table_of(StudyMember)
_SLOT, _ITEM = _ASSIGNMENTS.c, table_of(StudyItem).c
_HELD = tuple(_SLOT[name] for name in Held.__dataclass_fields__)
_OF_PERSON = (
    _SLOT.study_id == bindparam("study"),
    _SLOT.person_id == bindparam("person"),
    _SLOT.kind == AnnotationKind.QUALIFICATION.value,
)
_TRIES = sql_select(*_HELD).where(*_OF_PERSON).order_by(_SLOT.queue, _SLOT.id)
_ITEMS = (
    sql_select(_ITEM.id)
    .where(
        _ITEM.study_id == bindparam("study"),
        text(f"study_item.{BESIDE}"),
        _ITEM.purpose == Purpose.QUALIFICATION.value,
    )
    .order_by(_ITEM.position)
)
_TAKEN_UP = update(_ASSIGNMENTS).where(_SLOT.id == bindparam("of")).values(state=AssignmentState.LEASED.value)
_MINE = (_MEMBERS.c.study_id == bindparam("study"), _MEMBERS.c.person_id == bindparam("person"))
_PASSED = update(_MEMBERS).where(*_MINE).values(qualified_at=bindparam("at"))
_FAILED = update(_MEMBERS).where(*_MINE).values(failed_at=bindparam("at"))


def must_qualify(member: Member) -> bool:
    """Whether the person has yet to pass the study's qualification, if it has one."""
    return member.qualified_at is None and Qualifying.of(member.study.settings).items > 0


def items_to_qualify(connection: Connection, member: Member, *, ahead: int = AHEAD) -> list[Held]:
    """The qualification items that the person has to do now, first to last; a new try where none is under way."""
    about = {"study": member.study.id, "person": member.person_id}
    rows = _latest(connection, about)
    if rows and any(row.state != AssignmentState.SUBMITTED for row in rows):
        for row in rows:
            if row.state == AssignmentState.EXPIRED:  # they had left the study, and are back
                connection.execute(_TAKEN_UP, {"of": row.id})
    else:
        number, moment = rows[0].queue + 1 if rows else 1, now()
        fresh = [
            {
                "study_id": member.study.id,
                "study_item_id": item,
                "person_id": member.person_id,
                "kind": AnnotationKind.QUALIFICATION.value,
                "state": AssignmentState.LEASED.value,
                "queue": number,
                "sitting": 1,
                "steps_done": 0,
                "leased_at": moment,
            }
            for item in connection.execute(_ITEMS, about).scalars()
        ]
        connection.execute(_ASSIGNMENTS.insert(), fresh)
    return [row for row in _latest(connection, about) if row.state == AssignmentState.LEASED][: 1 + ahead]


def _latest(connection: Connection, about: Mapping[str, Any], number: int | None = None) -> list[Held]:
    """The assignments of the person's latest try, or of that of this number."""
    rows = [Held(*row) for row in connection.execute(_TRIES, about)]
    return [row for row in rows if row.queue == (rows[-1].queue if number is None else number)]


def judge_try(connection: Connection, member: Member) -> None:
    """Let the person pass, or fail, once every item of their try is submitted; in the transaction of a submission."""
    about = {"study": member.study.id, "person": member.person_id}
    rows = _latest(connection, about)
    if member.qualified_at is not None or any(row.state != AssignmentState.SUBMITTED for row in rows):
        return
    qualifying = Qualifying.of(member.study.settings)
    right, n = _right(connection, member.study, rows)
    if reaches(qualifying.mark, right, n):
        member.qualified_at = now()
        connection.execute(_PASSED, {**about, "at": member.qualified_at})
    elif rows[0].queue >= qualifying.tries:
        member.failed_at = now()
        connection.execute(_FAILED, {**about, "at": member.failed_at})


def _known_labels() -> Any:
    """The right labels of assignments' items beside what was said of them, in the order of criteria and targets."""
    gold, label = table_of(GoldLabel).c, table_of(StoredLabel)
    said = (
        (label.c.assignment_id == _SLOT.id)
        & (label.c.sitting == 1)
        & (label.c.criterion == gold.criterion)
        & (label.c.target == gold.target)
    )
    columns = (_SLOT.id, gold.criterion, gold.target, gold.value, gold.explanation, label.c.value)
    return (
        sql_select(*columns)
        .select_from(
            _ASSIGNMENTS.join(table_of(GoldLabel), gold.study_item_id == _SLOT.study_item_id).outerjoin(label, said)
        )
        .where(_SLOT.id.in_(bindparam("of", expanding=True)))
        .order_by(_SLOT.id, gold.id)
    )


_KNOWN = _known_labels()


def is_right(criterion: Criterion, right: Any, given: Any) -> bool:
    """Whether a label counts as the same vote as the right one; None was not given, and is not right."""
    return given is not None and criterion.vote(given) == criterion.vote(right)


def _right(connection: Connection, study: Study, rows: Sequence[Held]) -> tuple[int, int]:
    """How many labels of these assignments are right, of how many that have a right one."""
    protocol = protocol_of(study)
    known = connection.execute(_KNOWN, {"of": [row.id for row in rows]}).all()
    hits = [is_right(protocol.criterion(name), right, given) for _, name, _, right, _, given in known]
    return sum(hits), len(hits)


# What the annotator is told -------------------------------------------------------------------------------------------


def progress_of_try(session: Session, member: Member, row: Held) -> dict[str, int]:
    """Which item of the try this is, from 1, of how many; which try of how many."""
    rows = _latest(session.connection(), {"study": member.study.id, "person": member.person_id}, row.queue)
    place = next((place for place, other in enumerate(rows, 1) if other.id == row.id), 1)
    return {"number": place, "of": len(rows), "try": row.queue, "tries": Qualifying.of(member.study.settings).tries}


def feedback_on(session: Session, member: Member, row: Held) -> dict[str, Any]:
    """What was right and wrong of an item that is submitted, with explanations; at the end of a try how it ended.

    `units`: title of the criterion, target by its neutral name, what was given and what is right in words, whether it
    is right, and why. `result`: `passed`, `again` or `failed`, with `right` of `labels` and the `mark`; None before.
    """
    connection, study, protocol = session.connection(), member.study, protocol_of(member.study)
    wire, _ = units_at(session, study, row.study_item_id, len(protocol.steps) - 1)
    units = []
    for _, name, target, right, explanation, given in connection.execute(_KNOWN, {"of": [row.id]}):
        criterion = protocol.criterion(name)
        shown = wire.out(target)
        units.append(
            {
                "title": criterion.title,
                "target": "" if shown in {"item", "pair"} else shown.partition(":")[2] or shown,
                "given": None if given is None else _words(criterion, wire.value_out(given, criterion)),
                "right": _words(criterion, wire.value_out(right, criterion)),
                "is_right": is_right(criterion, right, given),
                "explanation": explanation,
            }
        )
    rows = _latest(connection, {"study": study.id, "person": member.person_id}, row.queue)
    result = None
    if all(other.state == AssignmentState.SUBMITTED for other in rows):
        right_labels, n = _right(connection, study, rows)
        ended = "passed" if member.qualified_at else "failed" if member.failed_at else "again"
        mark = Qualifying.of(study.settings).mark
        result = {"ended": ended, "right": right_labels, "labels": n, "mark": mark}
    return {"units": units, "result": result}


def _words(criterion: Criterion, value: Any) -> str:
    """A value as people read it: titles of labels."""
    titles = {written(label.value): label.title for label in criterion.label_list()}
    parts = value if isinstance(value, list) else [value]
    return ", ".join(titles.get(written(part), written(part)) for part in parts) or "none"


def why_failed(session: Session, member: Member) -> str:
    """Why somebody who failed gets no items, in words for them."""
    rows = _latest(session.connection(), {"study": member.study.id, "person": member.person_id})
    right, n = _right(session.connection(), member.study, rows)
    mark = Qualifying.of(member.study.settings).mark
    return (
        f"Thank you for trying. In your last try {right:,} of {n:,} labels were right; the study asks for "
        f"{100 * mark:g} %. You get none of its items, unless its researcher lets you in."
    )


def tries_by_person(session: Session, study: Study) -> dict[int, tuple[int, int, int]]:
    """Person → how many tries they began, and of the latest how many labels are right, of how many so far."""
    query = pick(Assignment).where(_SLOT.study_id == study.id, _SLOT.kind == AnnotationKind.QUALIFICATION.value)
    by_person: dict[int, list[Any]] = {}
    for row in session.execute(query.order_by(_SLOT.queue)).scalars():
        by_person.setdefault(row.person_id or 0, []).append(row)
    found = {}
    for person, rows in by_person.items():
        latest = [row for row in rows if row.queue == rows[-1].queue and row.state == AssignmentState.SUBMITTED]
        found[person] = (rows[-1].queue, *_right(session.connection(), study, latest))
    return found
