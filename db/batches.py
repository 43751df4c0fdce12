"""Batches: one for each import. A wrong one is withdrawn, never deleted, and the withdrawal can be taken back."""

from __future__ import annotations

from collections import defaultdict
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotFound
from db.allotting.ledger import end_leases_of
from db.allotting.settling import fill, update_settlements
from db.engine import Database
from db.items.current import is_published, unpublished_batches, withdrawn_batches
from db.items.unpublished import clear_broken_off, only_import
from db.models import IMPORTED, Annotation, Assignment, AssignmentState, Batch, Study, UnpublishedBatch, Withdrawal
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.studies.design import protocol_of
from db.studies.tallies import Tallies


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
        query = pick(Batch).where(col(Batch.project_id) == project_id, is_published(Batch.id))
        query = query.order_by(col(Batch.id).desc()).limit(limit)
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

    Imported skips that came in place of its labels meanwhile end when these are put back.

    Raises NotFound for a batch of another project, Conflict when it is so already (and for putting back while an
    import into the project is under way), InvalidInput without a reason.
    """
    if not reason.strip():
        raise InvalidInput("A withdrawal needs a reason: it is what people read later. Give one.")
    with ExitStack() as stack:
        if reinstates:  # an import meanwhile may be about to bring the same items again
            stack.enter_context(only_import(db, project_id, wait=0))
            clear_broken_off(db, project_id, actor=actor, data_folder=None)
        session = stack.enter_context(db.write())
        withdraw_in(session, actor, project_id, batch_id, reason=reason, reinstates=reinstates)


def withdraw_in(
    session: Session, actor: Actor, project_id: int, batch_id: int, *, reason: str, reinstates: bool = False
) -> None:
    """As `withdraw_batch`, in the caller's transaction; nobody imports into the project meanwhile."""
    batch = session.get(Batch, batch_id)
    hidden = session.execute(unpublished_batches().where(col(UnpublishedBatch.batch_id) == batch_id)).first()
    if batch is None or batch.project_id != project_id or hidden is not None:
        raise NotFound(f"The project has no batch {batch_id}.")
    query = withdrawn_batches().where(col(Withdrawal.batch_id) == batch_id)
    is_withdrawn = session.execute(query).first() is not None
    if is_withdrawn is not reinstates:
        state = "withdrawn already" if is_withdrawn else "not withdrawn"
        raise Conflict(f"Batch {batch_id} ({batch.source}) is {state}. Nothing was changed.")
    if reinstates:
        _refuse_second_labels(session, batch)
    person = actor.person_id
    session.add(Withdrawal(batch_id=batch_id, reinstates=reinstates, reason=reason.strip(), person_id=person))
    kind = "batch reinstated" if reinstates else "batch withdrawn"
    session.flush()
    ended = _count_again(session, batch_id, reinstates=reinstates)
    details = {"reason": reason.strip(), **({"skips ended": ended} if ended else {})}
    record(session, actor, kind, "batch", batch_id, project_id=project_id, details=details)


def _refuse_second_labels(session: Session, batch: Batch) -> None:
    """Labels by the same people for the same items that came meanwhile stand; both would count."""
    other = aliased(Annotation)
    same = (
        (col(other.study_id) == Annotation.study_id)
        & (col(other.study_item_id) == Annotation.study_item_id)
        & (col(other.person_id) == Annotation.person_id)
    )
    elsewhere = col(other.assignment_id) != Annotation.assignment_id
    standing = col(other.batch_id).is_(None) | col(other.batch_id).not_in(withdrawn_batches())
    query = pick(Annotation.id).join(other, same & elsewhere & standing).where(col(Annotation.batch_id) == batch.id)
    if session.execute(query.limit(1)).first() is not None:
        raise Conflict(
            f"Batch {batch.id} ({batch.source}) has labels by people for items that they have labelled again since. "
            "Withdraw the import that brought those first. Nothing was changed."
        )


def _count_again(session: Session, batch_id: int, *, reinstates: bool) -> int:
    """Take the labels that the batch brought out of the studies' counts, or put them back, and settle their items.

    How many skips end by that is returned.
    """
    newer = aliased(Annotation)
    superseded = pick(newer.id).where(col(newer.supersedes_id) == Annotation.id).exists()
    rows = session.execute(
        pick(Annotation.study_id, Annotation.study_item_id, Annotation.person_id, Assignment.state, ~superseded)
        .join(Assignment, col(Assignment.id) == Annotation.assignment_id)
        .where(col(Annotation.batch_id) == batch_id)
    )
    counts: dict[int, Tallies] = {}
    touched: dict[int, set[int]] = defaultdict(set)
    given: dict[int, set[tuple[int, int]]] = defaultdict(set)
    for study_id, study_item_id, person_id, state, counted in rows:
        touched[study_id].add(study_item_id)
        if counted:
            given[study_id].add((study_item_id, person_id))
            before, after = (None, state) if reinstates else (state, None)
            counts.setdefault(study_id, Tallies(study_id)).move(before, after, person_id)
    skips = _skips_beside(session, batch_id) if reinstates else []
    for skip in skips:
        session.delete(skip)
        counts.setdefault(skip.study_id, Tallies(skip.study_id)).move(AssignmentState.SKIPPED, None, skip.person_id)
    if reinstates:
        for study_id, of_study in counts.items():
            end_leases_of(session.connection(), session.get_one(Study, study_id), given[study_id], of_study)
    for study_id, study_item_ids in touched.items():
        study, of_study = session.get_one(Study, study_id), counts.setdefault(study_id, Tallies(study_id))
        update_settlements(session.connection(), study, protocol_of(study), sorted(study_item_ids), of_study)
        fill(session.connection(), study, sorted(study_item_ids), of_study)
    for _, tallies in sorted(counts.items()):
        tallies.write(session.connection())
    return len(skips)


def _skips_beside(session: Session, batch_id: int) -> list[Assignment]:
    """Skips of what the batch has labels of, by the same people: they came in while it was withdrawn, and end."""
    newer, skip = aliased(Annotation), aliased(Assignment)
    same = (
        (col(skip.study_id) == Annotation.study_id)
        & (col(skip.study_item_id) == Annotation.study_item_id)
        & (col(skip.person_id) == Annotation.person_id)
    )
    query = (
        pick(skip)
        .join(Annotation, same)
        .where(
            col(Annotation.batch_id) == batch_id,
            ~pick(newer.id).where(col(newer.supersedes_id) == Annotation.id).exists(),
            col(skip.state) == AssignmentState.SKIPPED,
            col(skip.kind) == IMPORTED,
        )
    )
    return list(session.execute(query).scalars())
