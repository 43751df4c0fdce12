"""What is stored of a judged item: made while nothing is locked, and written with no more than its numbers added."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session

from annotators.judges.judging import JudgedStep, Outcome
from db.engine import dumps, insert_many
from db.models import AnnotationKind, AssignmentState, now
from db.query import database_time, fresh_ids


@dataclass(frozen=True)
class StepRows:
    """A step as it is stored: its number, what was shown (as JSON), and its labels without their submission."""

    step: int
    shown: str
    seconds: float
    labels: tuple[tuple[Any, ...], ...]


@dataclass(frozen=True)
class ItemRows:
    """A judged item as it is stored, the numbers of its rows aside; JSON is written already.

    Without steps it has no annotation: a judge left all of it unscored, or its labels are none of the study's.
    """

    study_item_id: int
    steps: tuple[StepRows, ...]
    unscored: str
    shares: str | None
    chances: str | None


def rows_of(study_item_id: int, outcome: Outcome) -> ItemRows:
    """An item with its labels, where there are any, and with what was left unscored."""
    has_labels = any(step.labels for step in outcome.steps)
    return ItemRows(
        study_item_id,
        tuple(_step(step) for step in outcome.steps) if has_labels else (),
        dumps([one.to_json() for one in outcome.unscored]),
        dumps(outcome.shares) if outcome.shares else None,
        dumps(outcome.chances) if outcome.chances else None,
    )


def _step(step: JudgedStep) -> StepRows:
    labels = [
        (
            label.criterion, label.target, None if label.value is None else dumps(label.value), label.cannot_judge,
            label.reason, label.comment,
        )
        for label in step.labels
    ]  # fmt: skip
    return StepRows(step.step, dumps(step.shown), step.seconds, tuple(labels))


def write_judged(
    session: Session, run_id: int, done: Sequence[ItemRows], *, study_id: int | None, person_id: int, n_steps: int
) -> int:
    """Append the items of a run; how many. Annotations use no slot, and their submissions bear the run's number.

    Others wait while this transaction is open: everything that can be made before is in the rows.
    """
    when = database_time(session, now())
    labelled = [item for item in done if item.steps]
    assignment_ids = fresh_ids(session, "assignment", len(labelled))
    annotation_ids = fresh_ids(session, "annotation", len(labelled))
    submission_ids = iter(fresh_ids(session, "submission", sum(len(item.steps) for item in labelled)))
    model, submitted = AnnotationKind.MODEL.value, AssignmentState.SUBMITTED.value
    assignments, annotations, submissions, labels = [], [], [], []
    annotation_of: dict[int, int] = {}
    for item, assignment, annotation in zip(labelled, assignment_ids, annotation_ids, strict=True):
        of, seconds = item.study_item_id, sum(step.seconds for step in item.steps)
        annotation_of[of] = annotation
        assignments.append((assignment, study_id, of, person_id, model, submitted, 0, 1, n_steps, when))
        annotations.append((annotation, study_id, of, assignment, 1, person_id, model, run_id, seconds, when))
        for step, submission in zip(item.steps, submission_ids, strict=False):
            uid = f"judge-{run_id}-{of}-{step.step}"
            submissions.append((submission, uid, assignment, 1, step.step, person_id, step.shown, step.seconds, when))
            labels += [(submission, assignment, 1, *label) for label in step.labels]
    connection = session.connection()
    insert_many(connection, "assignment", _ASSIGNMENT, assignments)
    insert_many(connection, "submission", _SUBMISSION, submissions)
    insert_many(connection, "annotation", _ANNOTATION, annotations)
    insert_many(connection, "label", _LABEL, labels)
    judged = [
        (run_id, item.study_item_id, annotation_of.get(item.study_item_id), item.unscored, item.shares, item.chances)
        for item in done
    ]
    insert_many(connection, "judged_item", _JUDGED, judged)
    return len(judged)


_ASSIGNMENT = (
    "id",
    "study_id",
    "study_item_id",
    "person_id",
    "kind",
    "state",
    "queue",
    "sitting",
    "steps_done",
    "ended_at",
)
_SUBMISSION = ("id", "uid", "assignment_id", "sitting", "step", "person_id", "shown", "seconds", "created_at")
_ANNOTATION = (
    *("id", "study_id", "study_item_id", "assignment_id", "sitting", "person_id", "kind", "run_id", "seconds"),
    "created_at",
)
_LABEL = (
    *("submission_id", "assignment_id", "sitting", "criterion", "target", "value", "cannot_judge", "reason"),
    "comment",
)
_JUDGED = ("run_id", "study_item_id", "annotation_id", "unscored", "shares", "chances")
