"""Items that still want annotations which nobody of the study's team can give."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from sqlalchemy import BindParameter, bindparam, text
from sqlmodel import Session, col

from db.allotting.ledger import WAS_ASKED
from db.models import AssignmentState, Invitation, Study, StudyState, now
from db.query import pick
from db.studies.design import has_rechecks

_AT_ONCE = 10_000
"""Open slots that are looked at, the first ones of the queue: everybody has passed those."""

# An open slot of an item that somebody has skipped, or whose labels of it are left out or surplus, or that goes to one
# more as people disagreed, and that everybody who is left in the study has had.
_MAY_BE = (
    "SELECT s.study_item_id FROM assignment s WHERE s.study_id = :study "
    "AND s.state IN ('skipped', 'left_out', 'barred', 'surplus') UNION "
    "SELECT z.study_item_id FROM settlement z WHERE z.study_id = :study AND z.state = 'pending' "
    "AND z.wanted IS NOT NULL"
)
# Where somebody gets nothing more any open slot may be one that nobody is left for.
_FIRST = (
    "SELECT DISTINCT l.study_item_id FROM (SELECT study_item_id FROM assignment WHERE study_id = :study "
    f"AND state = 'open' ORDER BY queue LIMIT {_AT_ONCE}) AS l"
)
_NOBODY = (
    "SELECT count(*) FROM ({items}) AS item WHERE EXISTS (SELECT 1 FROM assignment o "
    "WHERE o.study_item_id = item.study_item_id AND o.state = 'open') AND NOT EXISTS (SELECT 1 "
    "FROM study_member m WHERE m.study_id = :study AND m.person_id NOT IN :idle AND NOT EXISTS "
    "(SELECT 1 FROM assignment h WHERE h.study_item_id = item.study_item_id AND h.person_id = m.person_id "
    f"AND {WAS_ASKED.format(row='h')}))"
)
_IDLE: BindParameter[Collection[int]] = bindparam("idle", expanding=True)
_OF_SOME, _OF_THE_FIRST = (text(_NOBODY.format(items=items)).bindparams(_IDLE) for items in (_MAY_BE, _FIRST))


def n_of_nobody(
    session: Session, study: Study, counts: Mapping[str, int], *, team: Collection[int], idle: Collection[int]
) -> int:
    """How many items still want an annotation that nobody of the team can give; at most as many as are looked at.

    Each of the `team` (all who are or were annotators) has had or skipped them, or is barred from them, or is `idle`:
    gets nothing more, as they left, failed, are paused or left out, or have reached their quota. Whoever may still come
    by an invitation could give any. `counts` are the study's assignments by state. Of a closed study none wants any.
    """
    over = study.state == StudyState.CLOSED or study.settings.get("foreign")
    if over or not counts.get(AssignmentState.OPEN):
        return 0
    query = _OF_SOME
    if idle or not team:
        query = _OF_THE_FIRST
    elif not (
        counts.get(AssignmentState.SKIPPED)
        or counts.get(AssignmentState.LEFT_OUT)
        or counts.get(AssignmentState.SURPLUS)
        or "most_overlap" in study.settings
        or has_rechecks(study)
    ):
        return 0
    if somebody_may_come(session, study):
        return 0
    return int(session.execute(query, {"study": study.id, "idle": [*idle, 0]}).scalar_one())


def somebody_may_come(session: Session, study: Study) -> bool:
    """Whether an invitation to the study still lets somebody in."""
    usable = pick(Invitation.id).where(
        col(Invitation.study_id) == study.id,
        col(Invitation.revoked_at).is_(None),
        col(Invitation.expires_at) > now(),
        col(Invitation.used) < col(Invitation.uses),
    )
    return session.execute(usable.limit(1)).first() is not None
