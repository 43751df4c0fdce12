"""Revisions that imports propose: listed, accepted by the very operation that revises an item, or declined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func
from sqlmodel import Session, col

from annotators.errors import AssayError, Conflict, InvalidInput, NotFound
from db.engine import Database
from db.items.current import item_is_current
from db.items.proposing import Differing
from db.models import Item, ProposalAnswer, ProposedRevision, now
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.studies.revisions import ItemRevision, planned_in, revise_in

_AT_ONCE = 100
"""Items that are revised in one transaction, for others to go on between."""


@dataclass(frozen=True)
class ProposalRow:
    """A proposal that nobody has answered: the item, where it comes from, the fields with their values."""

    proposal_id: int
    item_id: int
    external_id: str
    source: str
    line: int
    fields: dict[str, Any]
    at: datetime


@operation(On.PROJECT, RESEARCHERS)
def count_proposals(db: Database, _actor: Actor, project_id: int) -> int:
    """How many proposals of current items wait for an answer."""
    with db.read() as session:
        return int(session.execute(_open(project_id).with_only_columns(func.count())).scalar_one())


@operation(On.PROJECT, RESEARCHERS)
def list_proposals(
    db: Database, _actor: Actor, project_id: int, *, after: int = 0, limit: int = 50
) -> list[ProposalRow]:
    """The proposals of current items that nobody has answered, oldest first, from the one after the id `after`."""
    with db.read() as session:
        query = _open(project_id).where(col(ProposedRevision.id) > after).order_by(col(ProposedRevision.id))
        rows = session.execute(query.limit(limit)).all()
        return [
            ProposalRow(row.id, item.id, item.external_id, row.source, row.line, row.fields, row.created_at)
            for row, item in rows
        ]


@operation(On.PROJECT, RESEARCHERS)
def plan_proposal(db: Database, actor: Actor, project_id: int, *, proposal_id: int) -> ItemRevision:
    """What accepting a proposal would do to the item as it is now; it raises what that would raise."""
    with db.read() as session:
        row, item = _found(session, project_id, proposal_id)
        return planned_in(
            session, actor, project_id, external_id=item.external_id, fields=row.fields, own_verdicts=True
        )


@operation(On.PROJECT, RESEARCHERS)
def answer_proposal(
    db: Database, actor: Actor, project_id: int, *, proposal_id: int, accept: bool, reason: str
) -> ItemRevision | None:
    """Accept a proposal (the item is revised, as `revise_item` does it), or decline it, with a reason.

    Raises NotFound for one that is not there, Conflict for one that is answered, InvalidInput without a reason, and
    what `revise_item` raises.
    """
    with db.write() as session:
        return _answer(session, actor, project_id, proposal_id, accept=accept, reason=reason)


@operation(On.PROJECT, RESEARCHERS)
def accept_imported(
    db: Database, actor: Actor, project_id: int, *, differing: Sequence[Differing], reason: str
) -> tuple[int, list[tuple[str, str]]]:
    """Accept the proposals that an import has just made: how many items were revised, and (item, why) which were not.

    A few items in one transaction; what cannot be revised keeps its proposal, and the others do not wait for it.
    """
    revised, left = 0, list[tuple[str, str]]()
    for start in range(0, len(differing), _AT_ONCE):
        with db.write() as session:
            for row in differing[start : start + _AT_ONCE]:
                proposal_id = session.execute(
                    _open(project_id)
                    .with_only_columns(col(ProposedRevision.id))
                    .where(col(Item.external_id) == row.external_id, col(ProposedRevision.content_hash) == row.digest)
                ).scalar_one_or_none()
                if proposal_id is None:
                    left.append((row.external_id, "the same content was proposed before, and has been answered"))
                    continue
                try:
                    with session.begin_nested():
                        _answer(session, actor, project_id, proposal_id, accept=True, reason=reason)
                except AssayError as error:
                    left.append((row.external_id, str(error)))
                else:
                    revised += 1
    return revised, left


def _open(project_id: int) -> Select[Any]:
    answered = pick(ProposalAnswer.proposal_id).where(col(ProposalAnswer.proposal_id) == ProposedRevision.id)
    return (
        pick(ProposedRevision, Item)
        .join(Item, col(Item.id) == ProposedRevision.item_id)
        .where(col(ProposedRevision.project_id) == project_id, item_is_current(), ~answered.exists())
    )


def _found(session: Session, project_id: int, proposal_id: int) -> tuple[ProposedRevision, Item]:
    found = session.execute(_open(project_id).where(col(ProposedRevision.id) == proposal_id)).first()
    if found is not None:
        return found[0], found[1]
    row = session.get(ProposedRevision, proposal_id)
    if row is None or row.project_id != project_id:
        raise NotFound(f"The project has no proposed revision {proposal_id}. Look at the list of them.")
    raise Conflict(
        "Somebody has answered this proposal meanwhile, or the item's import is withdrawn. Look at the list."
    )


def _answer(
    session: Session, actor: Actor, project_id: int, proposal_id: int, *, accept: bool, reason: str
) -> ItemRevision | None:
    why = reason.strip()
    if not why:
        raise InvalidInput("Say why: the reason is kept, whether the proposal is accepted or declined.")
    session.execute(pick(ProposedRevision.id).where(col(ProposedRevision.id) == proposal_id).with_for_update())
    row, item = _found(session, project_id, proposal_id)
    plan, revision_id = None, None
    if accept:
        plan, revision_id = revise_in(
            session, actor, project_id, external_id=item.external_id, fields=row.fields, reason=why, own_verdicts=True
        )
    answer = ProposalAnswer(
        proposal_id=proposal_id, revision_id=revision_id, reason=why, person_id=actor.person_id, created_at=now()
    )
    session.add(answer)
    kind = "proposal accepted" if accept else "proposal declined"
    details = {"proposal": proposal_id, "fields": list(row.fields), "source": row.source, "reason": why}
    record(session, actor, kind, "item", item.id, project_id=project_id, details=details)
    session.flush()
    return plan
