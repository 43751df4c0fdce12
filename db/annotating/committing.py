"""What committing a step does: labels checked and stored, the annotation completed, the slot and the item settled."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, String, bindparam, delete, func
from sqlmodel import Session, col, select

from annotators.asking.asides import asked_by
from annotators.asking.submissions import GivenLabel, check_step
from annotators.criteria.material import PAIR_MARKS
from annotators.errors import Conflict, InvalidInput
from annotators.items.targets import Units
from annotators.protocols import Protocol
from db.allotting.ledger import HOLDING, has_counting_labels, take_open_slot
from db.allotting.settling import fill, has_room, note_surplus, reopen_slot, update_settlements
from db.annotating.assignments import Held, Member, knows_earlier, save
from db.annotating.planting import hold_to_mark
from db.annotating.presentations import Wire, next_step, shown_in, units_at
from db.annotating.qualifying import judge_try
from db.engine import dumps, insert_many
from db.models import (
    PLANTED_KINDS,
    SLOTLESS_KINDS,
    Annotation,
    AnnotationKind,
    AssignmentState,
    Draft,
    Purpose,
    SetAside,
    Study,
    StudyState,
    Submission,
    now,
)
from db.models import StoredLabel as LabelRow
from db.query import pick, table_of
from db.studies.design import asks_of
from db.studies.tallies import PLANTED, Tallies

MAX_SECONDS = 24 * 3600


@dataclass(frozen=True)
class StepSubmission:
    """What the browser sends when a step is committed. `uid` is its own id: the same twice is stored once.

    `aids` are those among what annotators can switch off (`PAIR_MARKS`) that were on.
    """

    uid: str
    assignment_id: int
    sitting: int
    step: int
    labels: tuple[GivenLabel, ...]
    comment: str | None = None
    flag: str | None = None
    seconds: float | None = None
    aids: tuple[str, ...] = ()


def within_a_day(seconds: float | None) -> float | None:
    """Seconds as they are stored: from 0 to a day."""
    return None if seconds is None else min(max(float(seconds), 0.0), MAX_SECONDS)


_SUBMISSIONS = table_of(Submission)
_LABEL_COLUMNS = (
    *("submission_id", "assignment_id", "sitting"),
    *("criterion", "target", "value", "cannot_judge", "reason", "comment", "rationale", "confidence", "same"),
)
_ANNOTATIONS, _DRAFTS = table_of(Annotation), table_of(Draft)
_ADD_SUBMISSION = _SUBMISSIONS.insert().returning(_SUBMISSIONS.c.id)
_DROP_DRAFT = delete(_DRAFTS).where(
    _DRAFTS.c.assignment_id == bindparam("assignment"), _DRAFTS.c.step == bindparam("at")
)


def commit(
    session: Session, member: Member, protocol: Protocol, *, row: Held, step: StepSubmission, counts: Tallies
) -> tuple[str, datetime]:
    """Store a step in the caller's transaction; what became of it ("step", "done", "surplus") and when.

    What comes from somebody whose labels are left out is kept as they are, and acknowledged as what does not count.

    Raises Conflict for a step that is not the next one, InvalidInput for labels that do not fit the protocol.
    """
    study = member.study
    if row.state in (AssignmentState.OPEN, AssignmentState.SKIPPED):
        how = "skipped" if row.state == AssignmentState.SKIPPED else "gave up"
        raise Conflict(
            f"You {how} this item, so that it goes to somebody else. What you sent now is not stored. Go on with "
            "the next item."
        )
    if row.kind == AnnotationKind.QUALIFICATION and row.state == AssignmentState.SUBMITTED:
        raise Conflict("This item of the qualification is submitted, and stays as it is. Go on with the next one.")
    asks = asks_of(session.connection(), study, row.study_item_id)
    expected = next_step(row, protocol, asks)
    if (step.sitting, step.step) != expected:
        raise Conflict(_why_not_next(protocol, sent=(step.sitting, step.step), expected=expected))
    labels = _validated(session, study, protocol, row, step)
    moment = now()
    connection = session.connection()
    submission = {
        "uid": step.uid,
        "assignment_id": row.id,
        "sitting": step.sitting,
        "step": step.step,
        "person_id": row.person_id,
        "shown": sorted({*shown_in(study, step.step, step.sitting), *_aids(protocol, step)}),
        "comment": step.comment or None,
        "flag": step.flag or None,
        "seconds": within_a_day(step.seconds),
        "created_at": moment,
    }
    submission_id = connection.execute(_ADD_SUBMISSION, submission).scalar_one()
    stored = [(submission_id, row.id, step.sitting, *_stored(label)) for label in labels]
    insert_many(connection, "label", _LABEL_COLUMNS, stored)
    connection.execute(_DROP_DRAFT, {"assignment": row.id, "at": step.step})
    row.sitting = step.sitting
    row.steps_done = next((asking for asking in protocol.steps_asking(asks) if asking > step.step), len(protocol.steps))
    if row.steps_done < len(protocol.steps):
        save(connection, row)
        return "step", moment
    seconds = within_a_day(step.seconds)
    return _complete(connection, member, protocol, row=row, seconds=seconds, counts=counts), moment


def _why_not_next(protocol: Protocol, *, sent: tuple[int, int], expected: tuple[int, int]) -> str:
    """Why a step is refused that is not the one to be answered next, (sitting, step) each, and what to do about it."""
    if sent > expected:
        title = protocol.steps[expected[1]].title
        return f"The step “{title}” of this item comes first. Open the item again, and answer that."
    step = f"The step “{protocol.steps[sent[1]].title}” of this" if sent[0] == expected[0] else "This"
    return (
        f"{step} item was submitted already, probably in another window. What you sent now is not stored. Return to "
        "the item: it shows what is stored, and you can correct it there."
    )


def _aids(protocol: Protocol, step: StepSubmission) -> set[str]:
    """What was on of what the page can show at this step besides its materials."""
    known = {PAIR_MARKS} if protocol.about_pairs else set()
    if unknown := sorted(set(step.aids) - known):
        raise InvalidInput(f"'aids' has {unknown[0]!r}, which this page has none of. Reload the page and try again.")
    return known & set(step.aids)


def _stored(label: GivenLabel) -> tuple[Any, ...]:
    """A label in the order of the last nine of `_LABEL_COLUMNS`: a step can have hundreds."""
    value, rationale = (None if part is None else dumps(part) for part in (label.value, label.rationale))
    said = label.cannot_judge, label.reason, label.comment, rationale, label.confidence, label.same
    return label.criterion, label.target, value, *said


def _validated(session: Session, study: Study, protocol: Protocol, row: Held, step: StepSubmission) -> list[GivenLabel]:
    """The labels with targets and values as they are stored, checked against the protocol."""
    earlier = [
        GivenLabel(label.criterion, label.target, label.value, label.cannot_judge, label.reason)
        for label in (session.exec(_earlier(row, step.sitting)) if step.step else ())
    ]
    known, asks = units_at(session, study, row.study_item_id, step.step), asked_by(study.settings)
    try:
        return checked_labels(protocol, known, step, earlier, asks)
    except InvalidInput:
        # A document whose pages were counted meanwhile has targets that were not kept.
        known = units_at(session, study, row.study_item_id, step.step, fresh=True)
        return checked_labels(protocol, known, step, earlier, asks)


def _earlier(row: Held, sitting: int) -> Any:
    return select(LabelRow).where(LabelRow.assignment_id == row.id, LabelRow.sitting == sitting)


def checked_labels(
    protocol: Protocol,
    known: tuple[Wire, Units],
    step: StepSubmission,
    earlier: Sequence[GivenLabel],
    asks: Sequence[str] = (),
) -> list[GivenLabel]:
    """The labels of a step as they are stored, by the neutral names and the units `known` of its item at that step.

    Raises what `check_step` raises.
    """
    wire, units = known
    criteria = {criterion.name: criterion for criterion in protocol.criteria}
    given = []
    for label in step.labels:
        criterion = criteria.get(str(label.criterion))
        value = label.value if criterion is None else wire.value_back(label.value, criterion)
        target = wire.back(str(label.target))
        same = target == label.target and value is label.value
        given.append(label if same else replace(label, target=target, value=value))
    return check_step(protocol, step.step, units, given, earlier, asks=asks)


_SPENT = select(func.sum(Submission.seconds)).where(
    Submission.assignment_id == bindparam("assignment"), Submission.sitting == bindparam("of")
)
_LATEST = (
    select(Annotation.id, Annotation.kind)
    .where(Annotation.assignment_id == bindparam("assignment"))
    .order_by(col(Annotation.id).desc())
    .limit(1)
)

_SET_ASIDE = (
    table_of(SetAside)
    .insert()
    .from_select(
        ["annotation_id", "study_id", "kind"],
        pick(_ANNOTATIONS.c.id, _ANNOTATIONS.c.study_id, bindparam("kind", type_=String())).where(
            _ANNOTATIONS.c.assignment_id == bindparam("assignment"), _ANNOTATIONS.c.sitting == bindparam("of")
        ),
    )
    .returning(table_of(SetAside).c.annotation_id)
)


def _becomes(
    connection: Connection, study: Study, row: Held, earlier: str | None, counts: Tallies, *, left_out: bool
) -> str:
    """The kind of an annotation that was just completed, by what its assignment is, which goes to its new state.

    `earlier`: the kind of the one that it corrects.
    """
    before = row.state
    if row.kind in SLOTLESS_KINDS:
        row.state = AssignmentState.SUBMITTED
        return row.kind
    if left_out and row.kind == "slot" and before != AssignmentState.SURPLUS:
        # It holds no slot any more, and gets one, where one is free, when it is restored.
        row.state, row.left_out_as = AssignmentState.LEFT_OUT, AssignmentState.SUBMITTED
        return earlier or AnnotationKind.REGULAR
    if earlier is not None:
        if before == AssignmentState.RETURNED:
            late = earlier == AnnotationKind.SURPLUS  # given back, as the study that had been closed goes on
            if late and study.state == StudyState.CLOSED:
                row.state = AssignmentState.SURPLUS
                return AnnotationKind.SURPLUS
            row.state = AssignmentState.SUBMITTED
            return AnnotationKind.REGULAR if late else earlier
        return earlier
    if study.state != StudyState.CLOSED:
        if before == AssignmentState.LEASED:
            row.state = AssignmentState.SUBMITTED
            return AnnotationKind.REGULAR
        # Who met the earlier version of a recheck since their lease ran out is heard, but not counted; nor is anybody
        # counted twice whose labels came in from elsewhere meanwhile.
        known = knows_earlier(connection, study, row.study_item_id, row.person_id)
        known = known or has_counting_labels(connection, row.study_item_id, row.person_id, beside=row.id)
        if not known:
            # What finds no slot counts as soon as its item has room for it.
            row.state = AssignmentState.SURPLUS
            if take_open_slot(connection, row.study_item_id, row.person_id):
                counts.move(AssignmentState.OPEN, None)
                row.state = AssignmentState.SUBMITTED
            elif has_room(connection, study, row.study_item_id):
                row.state = AssignmentState.SUBMITTED
            return AnnotationKind.REGULAR
    row.state = AssignmentState.SURPLUS
    return AnnotationKind.SURPLUS


def _complete(
    connection: Connection, member: Member, protocol: Protocol, *, row: Held, seconds: float | None, counts: Tallies
) -> str:
    """Make the annotation of the sitting that was just committed, and settle what it means for the slot.

    `seconds` are those of its last step, which are all there are where a protocol has one.
    """
    study, spent = member.study, seconds
    if len(protocol.steps) > 1:
        spent = connection.execute(_SPENT, {"assignment": row.id, "of": row.sitting}).scalar_one()
    # Nothing was completed before in the first sitting.
    earlier = connection.execute(_LATEST, {"assignment": row.id}).first() if row.sitting > 1 else None
    before, row.ended_at = row.state, now()
    left_out = member.left_out_from is not None and row.ended_at >= member.left_out_from
    kind = _becomes(connection, study, row, earlier.kind if earlier else None, counts, left_out=left_out)
    save(connection, row)
    if row.state == AssignmentState.LEFT_OUT and before in HOLDING:
        reopen_slot(connection, study, row.study_item_id, counts)
    if row.state != before and row.kind != AnnotationKind.QUALIFICATION:
        time = 0 if earlier else (spent or 0)
        planted = row.kind in PLANTED_KINDS
        counts.move(None if planted else before, PLANTED if planted else row.state, row.person_id, seconds=time)
    annotation = {
        "study_id": row.study_id,
        "study_item_id": row.study_item_id,
        "assignment_id": row.id,
        "sitting": row.sitting,
        "person_id": row.person_id,
        "kind": kind,
        "supersedes_id": earlier.id if earlier else None,
        "seconds": spent,
        "created_at": row.ended_at,
    }
    connection.execute(_ANNOTATIONS.insert(), annotation)
    if row.kind == Purpose.QUALIFICATION:
        judge_try(connection, member)
    if row.kind == Purpose.GOLD and not left_out:
        hold_to_mark(connection, member, counts)
    is_surplus = row.state == AssignmentState.SURPLUS
    if left_out or (is_surplus and kind == AnnotationKind.REGULAR):
        aside = AssignmentState.LEFT_OUT if left_out else AssignmentState.SURPLUS
        of = connection.execute(_SET_ASIDE, {"assignment": row.id, "of": row.sitting, "kind": aside}).scalars().all()
        note_surplus(connection, study, [] if left_out else of, counts=False)
    if kind == AnnotationKind.REGULAR:
        update_settlements(connection, study, protocol, [row.study_item_id], counts)
        # Elsewhere an item that is settled has no open slot, but one of somebody else's where this came late.
        if "most_overlap" in study.settings or before not in HOLDING:
            fill(connection, study, [row.study_item_id], counts)
    return "surplus" if left_out or is_surplus else "done"
