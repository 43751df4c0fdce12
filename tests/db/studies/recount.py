"""What the kept counts of assignments are checked against."""

from __future__ import annotations

from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from db.items.current import withdrawn_batches
from db.models import PLANTED_KINDS, SLOTLESS_KINDS, Annotation, Assignment, AssignmentState
from db.studies.tallies import PLANTED


def recount(session: Session, study_id: int) -> dict[str, int]:
    """Assignments by state, counted from the rows themselves; gold items and repeats stand beside the others.

    What was submitted with an import that is withdrawn does not count.
    """
    newer = aliased(Annotation)
    withdrawn = select(Annotation.assignment_id).where(
        Annotation.study_id == study_id,
        col(Annotation.batch_id).in_(withdrawn_batches()),
        ~select(newer.id).where(newer.supersedes_id == Annotation.id).exists(),
    )
    counts = (col(Assignment.state) != AssignmentState.SUBMITTED) | col(Assignment.id).not_in(withdrawn)
    query = select(Assignment.state, func.count()).where(
        Assignment.study_id == study_id, col(Assignment.kind).not_in(SLOTLESS_KINDS), counts
    )
    found = dict(session.execute(query.group_by(col(Assignment.state))).all())
    planted = select(func.count()).where(
        Assignment.study_id == study_id,
        col(Assignment.kind).in_(PLANTED_KINDS),
        Assignment.state == AssignmentState.SUBMITTED,
    )
    if n := session.execute(planted).scalar_one():
        found[PLANTED] = n
    return found
