"""What the kept counts of assignments are checked against."""

from __future__ import annotations

from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from db.items.current import withdrawn_batches
from db.models import Annotation, Assignment, AssignmentState


def recount(session: Session, study_id: int) -> dict[str, int]:
    """Assignments by state, counted from the rows themselves.

    What was submitted with an import that is withdrawn does not count.
    """
    newer = aliased(Annotation)
    withdrawn = select(Annotation.assignment_id).where(
        Annotation.study_id == study_id,
        col(Annotation.batch_id).in_(withdrawn_batches()),
        ~select(newer.id).where(newer.supersedes_id == Annotation.id).exists(),
    )
    counts = (col(Assignment.state) != AssignmentState.SUBMITTED) | col(Assignment.id).not_in(withdrawn)
    query = select(Assignment.state, func.count()).where(Assignment.study_id == study_id, counts)
    return dict(session.execute(query.group_by(col(Assignment.state))).all())
