"""What the kept counts of assignments are checked against."""

from __future__ import annotations

from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from db.items.current import withdrawn_batches
from db.models import BARRED, PLANTED_KINDS, SLOTLESS_KINDS, Annotation, Assignment, AssignmentState, Settlement
from db.studies.tallies import ITEMS, PLANTED


def recount(session: Session, study_id: int) -> dict[str, int]:
    """Assignments by state, and settled items, counted from the rows themselves; what is planted stands beside them.

    What came with an import that is withdrawn does not count.
    """
    newer = aliased(Annotation)
    withdrawn = select(Annotation.assignment_id).where(
        Annotation.study_id == study_id,
        col(Annotation.batch_id).in_(withdrawn_batches()),
        ~select(newer.id).where(newer.supersedes_id == Annotation.id).exists(),
    )
    query = select(Assignment.state, func.count()).where(
        Assignment.study_id == study_id,
        col(Assignment.kind).not_in((*SLOTLESS_KINDS, BARRED)),
        col(Assignment.id).not_in(withdrawn),
    )
    found = dict(session.execute(query.group_by(col(Assignment.state))).all())
    planted = select(func.count()).where(
        Assignment.study_id == study_id,
        col(Assignment.kind).in_(PLANTED_KINDS),
        Assignment.state == AssignmentState.SUBMITTED,
    )
    if n := session.execute(planted).scalar_one():
        found[PLANTED] = n
    settled = select(Settlement.state, func.count()).where(Settlement.study_id == study_id)
    for state, n in session.execute(settled.group_by(col(Settlement.state))):
        if state in ITEMS:
            found[ITEMS[state]] = n
    return found
