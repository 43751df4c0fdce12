"""Who has which disputed item before them: nobody works unknowingly on an item that another is about to decide."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import case, func
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from annotators.asking.rounds import BLIND, Stage
from db.adjudicating.stages import is_double, open_decisions, waits_for
from db.engine import Database
from db.models import Account, AdjudicationLease, Settlement, SettlementState, Study, StudyItem, now
from db.permissions import ADJUDICATORS, Actor, On, operation
from db.query import pick, table_of

LEASE = timedelta(minutes=15)
"""How long an item stays with an adjudicator who does nothing. After it somebody else may take it over."""


@dataclass(frozen=True)
class Lease:
    """Who has an item, whether that is the one who asked, and until when without doing anything."""

    study_item_id: int
    by: str
    mine: bool
    until: datetime


@dataclass(frozen=True)
class Taken(Lease):
    """What became of an item that somebody wanted to take: whose it is now, and whether it is still disputed.

    A page fetches items ahead; one that somebody settled meanwhile is taken, too, and its `state` says so.
    """

    state: SettlementState


@operation(On.STUDY_ITEM, ADJUDICATORS)
def take_item(db: Database, actor: Actor, study_item_id: int) -> Taken:
    """Take an item to decide it, or keep it for longer; where others have it, that stays so and is told."""
    lease = table_of(AdjudicationLease)
    moment = now()
    with db.write() as session:
        study = session.get_one(Study, session.get_one(StudyItem, study_item_id).study_id)
        settlement = session.get(Settlement, study_item_id)
        stage = Stage(settlement.stage) if settlement else Stage.FIRST
        n = open_decisions(study, stage)
        query = pick(lease.c.stage, lease.c.person_id, lease.c.lease_until).where(
            lease.c.study_item_id == study_item_id
        )
        there = session.execute(query).all()
        mine = [place for place, person_id, _ in there if person_id == actor.person_id]
        live = [person_id for _, person_id, until in there if until > moment]
        places = mine or list(BLIND[:n] if n > 1 else (stage,))
        if len(live) >= n and actor.person_id not in live:
            places = []
        given: dict[str, Any] = {"person_id": actor.person_id, "lease_until": moment + LEASE}
        dialect = postgresql if session.connection().dialect.name == "postgresql" else sqlite
        free = (lease.c.person_id == actor.person_id) | (lease.c.lease_until <= moment)
        for place in places:
            taken = dialect.insert(lease).values(study_item_id=study_item_id, stage=place, study_id=study.id, **given)
            index = ["study_item_id", "stage"]
            put = taken.on_conflict_do_update(index_elements=index, set_=given, where=free)
            if session.execute(put.returning(lease.c.stage)).first() is not None:
                break
        found = _leases(session, actor, AdjudicationLease.study_item_id == study_item_id)
        whose = max(found, key=lambda row: (row.mine, row.until > moment))
        state = settlement.state if settlement else SettlementState.PENDING
        return Taken(whose.study_item_id, whose.by, whose.mine, whose.until, SettlementState(state))


@operation(On.STUDY_ITEM, ADJUDICATORS)
def leave_item(db: Database, actor: Actor, study_item_id: int) -> None:
    """Let somebody else have an item; of another's lease nothing changes."""
    with db.write() as session:
        end_lease(session, study_item_id, actor.person_id)


@operation(On.STUDY, ADJUDICATORS)
def held_by_others(db: Database, actor: Actor, study_id: int) -> list[Lease]:
    """Who has the items before them now that this person could decide otherwise."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        waiting = pick(Settlement.study_item_id).where(*waits_for(session, study, actor))
        held = col(AdjudicationLease.study_item_id).in_(held_items(study, actor))
        mine = col(AdjudicationLease.study_item_id).in_(waiting)
        return _leases(session, actor, *_theirs(study_id, actor), held, mine)


def held_items(study: Study, actor: Actor) -> Any:
    """A query for the items of a study that as many others have before them now as may."""
    assert study.id is not None
    held = pick(AdjudicationLease.study_item_id).where(*_theirs(study.id, actor))
    if not is_double(study):
        return held
    several = case((col(Settlement.stage) == Stage.FIRST, open_decisions(study, Stage.FIRST)), else_=1)
    return (
        held.join(Settlement, col(Settlement.study_item_id) == AdjudicationLease.study_item_id)
        .group_by(col(AdjudicationLease.study_item_id), col(Settlement.stage))
        .having(func.count() >= several)
    )


def _theirs(study_id: int, actor: Actor) -> tuple[Any, ...]:
    lease = AdjudicationLease
    return lease.study_id == study_id, lease.person_id != actor.person_id, col(lease.lease_until) > now()


def end_lease(session: Session, study_item_id: int, person_id: int | None = None) -> None:
    """Nobody has the item any more (or this person has not), in the caller's transaction."""
    query = select(AdjudicationLease).where(AdjudicationLease.study_item_id == study_item_id)
    for row in session.exec(query if person_id is None else query.where(AdjudicationLease.person_id == person_id)):
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
