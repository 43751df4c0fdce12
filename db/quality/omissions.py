"""Leaving out what an annotator submitted since a moment: a decision that can be undone, never a deletion.

As an amendment does, a decision locks the places of all annotators first, so that it stands between two submissions.
What is left out is kept in `set_aside`, so that a query of what counts needs one step down an index more; it follows
from the decisions and the times of the annotations alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.errors import Conflict, InvalidInput, NotFound
from db.allotting.ledger import take_open_slot
from db.allotting.settling import fill, has_room, note_surplus, update_settlements
from db.annotating.assignments import give_back
from db.engine import Database, insert_many
from db.items.current import withdrawn_batches
from db.models import (
    IMPORTED,
    Account,
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Omission,
    SetAside,
    Study,
    StudyMember,
    Surplus,
    now,
)
from db.people.accounts import names_of
from db.people.pseudonyms import sees_names
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.studies.design import protocol_of
from db.studies.places import who_gets_items
from db.studies.settlements import COUNTING
from db.studies.tallies import Tallies


@dataclass(frozen=True)
class Decided:
    """What a decision did: annotations that it left out or restored, those of them that are surplus now, items.

    What a correction took the place of is not among them, nor what came with an import that is withdrawn.
    `short`: so many annotators more than those who are left are needed for the overlap.
    """

    annotator: str
    annotations: int
    surplus: int
    items: int
    short: int

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators drop|restore --json` print it."""
        return {
            "annotator": self.annotator,
            "annotations": self.annotations,
            "surplus": self.surplus,
            "items": self.items,
            "short": self.short,
        }


@dataclass(frozen=True)
class OmissionRow:
    """One decision: when, by whom, about whom, since when their labels are left out (None restores them), and why.

    `annotator` is None for who is not told.
    """

    at: datetime
    by: str | None
    annotator: str | None
    since: datetime | None
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As `assay study show --json` prints it."""
        return {
            "at": self.at.isoformat(),
            "by": self.by,
            "annotator": self.annotator,
            "from": None if self.since is None else self.since.isoformat(),
            "reason": self.reason,
        }


@operation(On.STUDY, READERS)
def omissions_of(db: Database, actor: Actor, study_id: int) -> list[OmissionRow]:
    """The decisions on annotators' labels in a study, oldest first.

    Who is not told who gave which label is not told whose were left out either: beside an item it says that R3's were.
    """
    with db.read() as session:
        told = sees_names(session, actor, session.get_one(Study, study_id))
        rows = omissions_by_study(session, [study_id])[study_id]
        people = {row.annotator_id for row in rows} | {row.person_id for row in rows if row.person_id is not None}
        names = names_of(session, people)
        return [
            OmissionRow(
                row.created_at,
                None if row.person_id is None else names[row.person_id],
                names[row.annotator_id] if told else None,
                row.since,
                row.reason,
            )
            for row in rows
        ]


def omissions_by_study(session: Session, study_ids: Sequence[int]) -> dict[int, list[Omission]]:
    """Study → the decisions in it, oldest first, as this session sees the database."""
    found: dict[int, list[Omission]] = {study_id: [] for study_id in study_ids}
    query = select(Omission).where(col(Omission.study_id).in_(study_ids)).order_by(col(Omission.id))
    for row in session.exec(query):
        found[row.study_id].append(row)
    return found


@operation(On.STUDY, RESEARCHERS)
def leave_out(db: Database, actor: Actor, study_id: int, *, annotator: str, since: datetime, reason: str) -> Decided:
    """Leave out what an annotator submitted since a moment; what they still submit is left out as well.

    A correction that is left out takes what it corrected with it: its author had taken that back. The slots are given
    out again, never to them, and items are settled, or wait, as they then stand; what was adjudicated stays so. They
    get no items until their labels are restored. A later moment than that of a decision before restores the rest.

    Raises InvalidInput without a reason or for a moment to come, NotFound for somebody who is no annotator of the
    study, Conflict where exactly that is left out already.
    """
    with db.write() as session:
        return leave_out_in(session, actor, study_id, annotator=annotator, since=since, reason=reason)


def leave_out_in(
    session: Session, actor: Actor, study_id: int, *, annotator: str, since: datetime, reason: str
) -> Decided:
    """As `leave_out`, in the caller's transaction."""
    moment = since.astimezone(UTC)
    if moment > now():
        raise InvalidInput(f"{since:%Y-%m-%d %H:%M} is still to come. Give the time of the first label to leave out.")
    return _decide(session, actor, study_id, annotator=annotator, since=moment, reason=reason)


@operation(On.STUDY, RESEARCHERS)
def restore(db: Database, actor: Actor, study_id: int, *, annotator: str, reason: str) -> Decided:
    """Put back what `leave_out` left out. What lost its slot to somebody else is surplus from then on.

    Raises InvalidInput without a reason, NotFound for somebody who is no annotator of the study, Conflict where
    nothing of theirs is left out.
    """
    with db.write() as session:
        return restore_in(session, actor, study_id, annotator=annotator, reason=reason)


def restore_in(session: Session, actor: Actor, study_id: int, *, annotator: str, reason: str) -> Decided:
    """As `restore`, in the caller's transaction."""
    return _decide(session, actor, study_id, annotator=annotator, since=None, reason=reason)


def _decide(
    session: Session, actor: Actor, study_id: int, *, annotator: str, since: datetime | None, reason: str
) -> Decided:
    if not (why := reason.strip()[:2000]):
        raise InvalidInput("Say why: the reason is kept, and stands in the exports of the study.")
    members = {member.person_id: member for member in session.exec(_members(study_id).with_for_update())}
    study = session.get_one(Study, study_id, with_for_update=True)
    member = members[_person(session, annotator, members)]
    _check_changes(member, annotator, since)
    before = _set_aside(session, member)
    member.left_out_from = since
    session.add(member)
    omission = Omission(
        study_id=study_id, annotator_id=member.person_id, since=since, reason=why, person_id=actor.person_id
    )
    session.add(omission)
    session.flush()
    counts = Tallies(study_id)
    if since is not None:
        give_back(session.connection(), study, member.person_id, counts)
        _free_slots(session, member, since, counts)
    _take_slots(session, study, member, since, counts)
    after = _write_set_aside(session, study, member, since)
    touched = {annotation for annotation in before.keys() | after.keys()
               if before.get(annotation) != after.get(annotation)}  # fmt: skip
    standing = _standing(session, member, touched)
    items = _items_of(session, member, standing)
    again = _items_of(session, member, touched)
    update_settlements(session.connection(), study, protocol_of(study), again, counts)
    fill(session.connection(), study, again, counts)
    counts.write(session.connection())
    session.flush()
    left = who_gets_items(session, study_id)
    details = {"person": member.person_id, "since": None if since is None else since.isoformat(),
               "annotations": len(standing), "items": len(items), "reason": why}  # fmt: skip
    kind = "labels restored" if since is None else "labels left out"
    record(session, actor, kind, "study", study_id, project_id=study.project_id, details=details)
    foreign = bool(study.settings.get("foreign"))
    most_wanted = max(study.overlap, study.settings.get("part_overlap", 0))
    return Decided(
        annotator,
        len(standing),
        sum(1 for annotation in standing if after.get(annotation) == AnnotationKind.SURPLUS),
        len(items),
        0 if foreign else max(0, most_wanted - len(left)),
    )


def _members(study_id: int) -> Any:
    return select(StudyMember).where(StudyMember.study_id == study_id).order_by(col(StudyMember.person_id))


def _person(session: Session, name: str, members: dict[int, StudyMember]) -> int:
    found = session.exec(select(Account.person_id).where(Account.name == name)).first()
    if found is None or found not in members:
        there = ", ".join(sorted(names_of(session, set(members)).values())) or "nobody"
        raise NotFound(f"{name!r} is no annotator of the study. Annotators: {there}.")
    return found


def _check_changes(member: StudyMember, name: str, since: datetime | None) -> None:
    if since is None and member.left_out_from is None:
        raise Conflict(f"Nothing of what {name!r} submitted is left out, so that there is nothing to restore.")
    if since is not None and since == member.left_out_from:
        raise Conflict(f"What {name!r} submitted since {since:%Y-%m-%d %H:%M} UTC is left out already.")


def _set_aside(session: Session, member: StudyMember) -> dict[int, str]:
    """Annotation of the person → how it is set aside."""
    rows = session.execute(
        pick(SetAside.annotation_id, SetAside.kind)
        .join(Annotation, col(Annotation.id) == SetAside.annotation_id)
        .where(*_theirs(member))
    )
    return {annotation_id: kind for annotation_id, kind in rows}  # noqa: C416 - rows are not plain tuples


def _theirs(member: StudyMember) -> tuple[ColumnElement[bool], ...]:
    return col(Annotation.study_id) == member.study_id, col(Annotation.person_id) == member.person_id


def _standing(session: Session, member: StudyMember, annotations: set[int]) -> set[int]:
    """Those of them that no correction took the place of, and whose import is not withdrawn."""
    newer = aliased(Annotation)
    stands = pick(Annotation.id).where(
        *_theirs(member),
        ~pick(newer.id).where(col(newer.supersedes_id) == Annotation.id).exists(),
        col(Annotation.batch_id).is_(None) | col(Annotation.batch_id).not_in(withdrawn_batches()),
    )
    return annotations & set(session.execute(stands).scalars())


def _items_of(session: Session, member: StudyMember, annotations: set[int]) -> list[int]:
    """The items that these annotations of the person are of, sorted; gold items and repeats settle nothing."""
    settling = (*_theirs(member), col(Annotation.kind).in_(COUNTING))
    rows = session.execute(pick(Annotation.id, Annotation.study_item_id).where(*settling))
    return sorted({study_item_id for annotation_id, study_item_id in rows if annotation_id in annotations})


# Slots ----------------------------------------------------------------------------------------------------------------


def _slots(session: Session, member: StudyMember, states: Sequence[AssignmentState]) -> list[Any]:
    """(assignment, time of its last annotation, seconds of its first, whether it is in the counts) of the person's
    slots in these states, and of what was imported of them, which is in no count while its import is withdrawn.
    """
    first, last = aliased(Annotation), aliased(Annotation)
    given = (
        pick(Annotation.assignment_id, func.max(col(Annotation.created_at)).label("at"),
             func.min(col(Annotation.id)).label("first"), func.max(col(Annotation.id)).label("last"))
        .where(*_theirs(member))
        .group_by(col(Annotation.assignment_id))
        .subquery()
    )  # fmt: skip
    is_counted = col(last.batch_id).is_(None) | col(last.batch_id).not_in(withdrawn_batches())
    query = (
        pick(Assignment, given.c.at, first.seconds, is_counted)
        .join(given, given.c.assignment_id == Assignment.id)
        .join(first, col(first.id) == given.c.first)
        .join(last, col(last.id) == given.c.last)
        .where(col(Assignment.kind).in_(("slot", IMPORTED)), col(Assignment.state).in_(states))
        .order_by(col(Assignment.id))
        .with_for_update(of=Assignment)
    )
    return list(session.execute(query).all())


def _move(row: Assignment, after: AssignmentState, seconds: float | None, counts: Tallies) -> None:
    """To another state in the counts, with the time that it took; what was returned is timed with what is submitted."""
    timed = AssignmentState.SUBMITTED if row.state == AssignmentState.RETURNED else row.state
    to = AssignmentState.SUBMITTED if after == AssignmentState.RETURNED else after
    counts.move(row.state, after, row.person_id)
    counts.move(None, timed, row.person_id, seconds=-(seconds or 0), n=0)
    counts.move(None, to, row.person_id, seconds=seconds or 0, n=0)


def _free_slots(session: Session, member: StudyMember, since: datetime, counts: Tallies) -> None:
    """Take their slots from what is left out; the ledger gives these out again, where the items still want them."""
    for row, last, seconds, counted in _slots(session, member, (AssignmentState.SUBMITTED, AssignmentState.RETURNED)):
        if last < since:
            continue
        if counted:
            _move(row, AssignmentState.LEFT_OUT, seconds, counts)
        row.left_out_as, row.state = row.state, AssignmentState.LEFT_OUT
        session.add(row)
    session.flush()


def _take_slots(session: Session, study: Study, member: StudyMember, since: datetime | None, counts: Tallies) -> None:
    """Give what is not left out any more a slot of its item again, or make it surplus where none is free.

    What was imported needs none.
    """
    for row, last, seconds, counted in _slots(session, member, (AssignmentState.LEFT_OUT,)):
        if since is not None and last >= since:
            continue
        after = AssignmentState(row.left_out_as or AssignmentState.SUBMITTED)
        if row.kind != IMPORTED:
            if take_open_slot(session.connection(), row.study_item_id, row.person_id):
                counts.move(AssignmentState.OPEN, None)
            elif not has_room(session.connection(), study, row.study_item_id):
                after = AssignmentState.SURPLUS
        if counted:
            _move(row, after, seconds, counts)
        row.left_out_as, row.state = None, after
        session.add(row)
        session.flush()


# What is set aside ----------------------------------------------------------------------------------------------------


def _write_set_aside(session: Session, study: Study, member: StudyMember, since: datetime | None) -> dict[int, str]:
    """Keep what does not count under the decision, and with it what is surplus; annotation → how it is set aside."""
    of_person = pick(Surplus.annotation_id, Surplus.counts).join(
        Annotation, col(Annotation.id) == Surplus.annotation_id
    )
    noted = {of: counts for of, counts in session.execute(of_person.where(*_theirs(member)).order_by(col(Surplus.id)))}  # noqa: C416 - rows are not plain tuples
    rows = session.execute(
        pick(Annotation.id, Annotation.kind, Annotation.created_at, Assignment.state)
        .join(Assignment, col(Assignment.id) == Annotation.assignment_id)
        .where(*_theirs(member))
    )
    found: dict[int, str] = {}
    for annotation_id, kind, at, state in rows:
        if since is not None and at >= since:
            found[annotation_id] = AssignmentState.LEFT_OUT.value
        elif kind == AnnotationKind.REGULAR and state == AssignmentState.SURPLUS:
            found[annotation_id] = AnnotationKind.SURPLUS.value
    mine = pick(col(Annotation.id)).where(*_theirs(member))
    session.execute(delete(SetAside).where(col(SetAside.annotation_id).in_(mine)))
    connection = session.connection()
    kept = [(annotation_id, member.study_id, kind) for annotation_id, kind in sorted(found.items())]
    insert_many(connection, "set_aside", ["annotation_id", "study_id", "kind"], kept)
    surplus = [of for of, kind in sorted(found.items()) if kind == AnnotationKind.SURPLUS]
    note_surplus(connection, study, [of for of in surplus if noted.get(of) is not False], counts=False)
    counting = [of for of, counts in sorted(noted.items()) if not counts and of not in found]
    note_surplus(connection, study, counting, counts=True)
    return found
