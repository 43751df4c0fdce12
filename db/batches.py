"""Batches: one for each import. A wrong one is withdrawn, never deleted, and the withdrawal can be taken back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotFound
from db.current import withdrawn_batches
from db.engine import Database
from db.models import Annotation, Batch, Study, Withdrawal
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.settlements import update_settlements
from db.studies import protocol_of


@dataclass(frozen=True)
class BatchRow:
    """One import of a project: when, what, from where, and whether it is withdrawn (with the reason)."""

    batch_id: int
    format: str
    source: str
    created_at: datetime
    person_id: int | None
    withdrawn: bool
    reason: str | None


@operation(On.PROJECT, READERS)
def list_batches(
    db: Database, _actor: Actor, project_id: int, *, before: int | None = None, limit: int = 100
) -> list[BatchRow]:
    """The project's imports, latest first, from the one before the id `before`."""
    with db.read() as session:
        query = pick(Batch).where(col(Batch.project_id) == project_id).order_by(col(Batch.id).desc()).limit(limit)
        if before is not None:
            query = query.where(col(Batch.id) < before)
        batches = list(session.execute(query).scalars())
        latest = pick(func.max(Withdrawal.id)).where(col(Withdrawal.batch_id).in_([batch.id for batch in batches]))
        rows = session.execute(
            pick(Withdrawal).where(col(Withdrawal.id).in_(latest.group_by(col(Withdrawal.batch_id))))
        ).scalars()
        withdrawn = {row.batch_id: row for row in rows if not row.reinstates}
        return [_batch_row(batch, withdrawn.get(batch.id or 0)) for batch in batches]


def _batch_row(batch: Batch, row: Withdrawal | None) -> BatchRow:
    assert batch.id is not None
    return BatchRow(
        batch.id,
        batch.format,
        batch.source,
        batch.created_at,
        batch.person_id,
        row is not None,
        row.reason if row else None,
    )


@operation(On.PROJECT, RESEARCHERS)
def withdraw_batch(
    db: Database, actor: Actor, project_id: int, batch_id: int, *, reason: str, reinstates: bool = False
) -> None:
    """Take a batch out of every current query, or (`reinstates`) put it back. Studies keep their frozen sample.

    Raises NotFound for a batch of another project, Conflict when it is so already, InvalidInput without a reason.
    """
    if not reason.strip():
        raise InvalidInput("A withdrawal needs a reason: it is what people read later. Give one.")
    with db.write() as session:
        batch = session.get(Batch, batch_id)
        if batch is None or batch.project_id != project_id:
            raise NotFound(f"The project has no batch {batch_id}.")
        query = withdrawn_batches().where(col(Withdrawal.batch_id) == batch_id)
        is_withdrawn = session.execute(query).first() is not None
        if is_withdrawn is not reinstates:
            state = "withdrawn already" if is_withdrawn else "not withdrawn"
            raise Conflict(f"Batch {batch_id} ({batch.source}) is {state}. Nothing was changed.")
        person = actor.person_id
        session.add(Withdrawal(batch_id=batch_id, reinstates=reinstates, reason=reason.strip(), person_id=person))
        kind = "batch reinstated" if reinstates else "batch withdrawn"
        details = {"reason": reason.strip()}
        session.flush()
        _settle_again(session, batch_id)
        record(session, actor, kind, "batch", batch_id, project_id=project_id, details=details)


def _settle_again(session: Session, batch_id: int) -> None:
    """Work out again where the items stand whose labels the batch brought."""
    rows = session.execute(
        pick(Annotation.study_id, Annotation.study_item_id).where(col(Annotation.batch_id) == batch_id).distinct()
    )
    touched: dict[int, list[int]] = defaultdict(list)
    for study_id, study_item_id in rows:
        touched[study_id].append(study_item_id)
    for study_id, study_item_ids in touched.items():
        study = session.get_one(Study, study_id)
        update_settlements(session, study, protocol_of(study), study_item_ids)
