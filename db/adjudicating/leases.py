"""Who has which disputed item before them: two adjudicators never work on one item unknowingly."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from db.engine import Database
from db.models import Account, AdjudicationLease, StudyItem, now
from db.permissions import ADJUDICATORS, Actor, On, operation
from db.query import table_of

FIRST = "first"
"""The stage of an item that waits for its first decision."""

LEASE = timedelta(minutes=15)
"""How long an item stays with an adjudicator who does nothing. After it somebody else may take it over."""


@dataclass(frozen=True)
class Lease:
    """Who has an item, whether that is the one who asked, and until when without doing anything."""

    study_item_id: int
    by: str
    mine: bool
    until: datetime


@operation(On.STUDY_ITEM, ADJUDICATORS)
def take_item(db: Database, actor: Actor, study_item_id: int) -> Lease:
    """Take an item to decide it, or keep it for longer; where somebody else has it, that stays so and is told."""
    lease = table_of(AdjudicationLease)
    moment = now()
    with db.write() as session:
        study_id = session.get_one(StudyItem, study_item_id).study_id
        given: dict[str, Any] = {"person_id": actor.person_id, "lease_until": moment + LEASE}
        dialect = postgresql if session.connection().dialect.name == "postgresql" else sqlite
        taken = dialect.insert(lease).values(study_item_id=study_item_id, stage=FIRST, study_id=study_id, **given)
        free = (lease.c.person_id == actor.person_id) | (lease.c.lease_until <= moment)
        session.execute(
            taken.on_conflict_do_update(index_elements=["study_item_id", "stage"], set_=given, where=free)
        )  # fmt: skip
        return _leases(session, actor, AdjudicationLease.study_item_id == study_item_id)[0]


@operation(On.STUDY_ITEM, ADJUDICATORS)
def leave_item(db: Database, actor: Actor, study_item_id: int) -> None:
    """Let somebody else have an item; of another's lease nothing changes."""
    with db.write() as session:
        row = session.get(AdjudicationLease, (study_item_id, FIRST))
        if row is not None and row.person_id == actor.person_id:
            session.delete(row)


@operation(On.STUDY, ADJUDICATORS)
def held_by_others(db: Database, actor: Actor, study_id: int) -> list[Lease]:
    """The items of a study that other adjudicators have before them now."""
    with db.read() as session:
        return _leases(session, actor, *_theirs(study_id, actor))


def held_items(study_id: int, actor: Actor) -> Any:
    """A query for the items of a study that others have before them now."""
    return select(AdjudicationLease.study_item_id).where(*_theirs(study_id, actor))


def _theirs(study_id: int, actor: Actor) -> tuple[Any, ...]:
    lease = AdjudicationLease
    return lease.study_id == study_id, lease.person_id != actor.person_id, col(lease.lease_until) > now()


def end_lease(session: Session, study_item_id: int) -> None:
    """Nobody has the item any more: it is decided. In the caller's transaction."""
    for row in session.exec(select(AdjudicationLease).where(AdjudicationLease.study_item_id == study_item_id)):
        session.delete(row)


def _leases(session: Session, actor: Actor, *conditions: Any) -> list[Lease]:
    rows = session.execute(
        select(AdjudicationLease, Account.name)
        .outerjoin(Account, col(Account.person_id) == AdjudicationLease.person_id)
        .where(*conditions)
        .order_by(col(AdjudicationLease.study_item_id))
    )
    return [
        Lease(row.study_item_id, name or f"person {row.person_id}", row.person_id == actor.person_id, row.lease_until)
        for row, name in rows
    ]
