"""Ending an item by hand: accepted, rejected or withdrawn with a reason, which can be taken back."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotFound
from db.allotting.settling import fill
from db.engine import Database
from db.items.current import item_is_current, version_is_latest
from db.models import Item, ItemEnding, ItemVersion, Study
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.releasing.states import DISCARDED_STATES, State, standings
from db.studies.tallies import Tallies

BY_HAND = (State.ACCEPTED, State.REJECTED, State.WITHDRAWN)


@dataclass(frozen=True)
class Ended:
    """An item that was ended by hand, or goes on: its state before and after."""

    item: str
    version: int
    before: State
    after: State

    def to_json(self) -> dict[str, object]:
        """As `assay end --json` prints it."""
        return {"item": self.item, "version": self.version, "before": self.before.value, "state": self.after.value}


@operation(On.PROJECT, RESEARCHERS)
def end_item(db: Database, actor: Actor, project_id: int, *, external_id: str, state: str | None, reason: str) -> Ended:
    """Accept, reject or withdraw an item whatever its labels say; with None take that back: its labels say it again.

    An acceptance is of the version that the item is in; a revision ends it. A rejected or withdrawn item is given to
    nobody any more: its open slots are taken out of the queues, and come back, at their ends, with the item. Who has it
    already, or labelled it, goes on as before.

    Raises NotFound for an item that is not there, InvalidInput for another state and without a reason, Conflict where
    the item stands so by hand already, or where there is nothing to take back.
    """
    why = reason.strip()
    if not why:
        raise InvalidInput("Say why: the reason is kept, and stands in the story of the item.")
    if state is not None and state not in BY_HAND:
        raise InvalidInput(f"{state!r} is no end of an item. Take one of {', '.join(BY_HAND)}.")
    with db.write() as session:
        item_id, version_id = _latest(session, project_id, external_id)
        before = standings(session, [item_id])[item_id]
        if state is None and not before.by_hand:
            raise Conflict(
                f"Nobody has ended {external_id!r} by hand: it is {_words(before.state)}, as its labels say."
            )
        if before.by_hand and before.state == state:
            raise Conflict(f"{external_id!r} is {_words(before.state)} already. Take that back first, or leave it.")
        session.add(
            ItemEnding(item_id=item_id, item_version_id=version_id, state=state, reason=why, person_id=actor.person_id)
        )
        session.flush()
        if state in DISCARDED_STATES or (before.by_hand and before.state in DISCARDED_STATES):
            _balance_slots(session, item_id)
        after = standings(session, [item_id])[item_id]
        details = {"from": before.state.value, "to": after.state.value, "version": before.number, "reason": why}
        kind = f"item {state}" if state else "item taken up again"
        record(session, actor, kind, "item", item_id, project_id=project_id, details=details)
        return Ended(external_id, before.number, before.state, after.state)


_OF_ITEM = " UNION ".join(
    f"SELECT x.id FROM study_item x JOIN item_version i ON i.id = x.{side} WHERE i.item_id = :item"
    for side in ("item_version_id", "other_version_id")
)
_PLACES = text(
    f"SELECT x.study_id, x.id FROM study_item x WHERE x.id IN ({_OF_ITEM}) AND x.purpose IN ('sample', 'recheck') "
    "ORDER BY x.study_id, x.position, x.id"
)


def _balance_slots(session: Session, item_id: int) -> None:
    """Take the open slots of an item, and of its pairs, out of the queues of all studies, or put them back."""
    connection, places = session.connection(), defaultdict[int, list[int]](list)
    for study_id, study_item_id in connection.execute(_PLACES, {"item": item_id}).all():
        places[study_id].append(study_item_id)
    for study_id, study_item_ids in places.items():
        counts = Tallies(study_id)
        fill(connection, session.get_one(Study, study_id), study_item_ids, counts)
        counts.write(connection)


def _latest(session: Session, project_id: int, external_id: str) -> tuple[int, int]:
    """The item's id, whose row is locked, and the id of its latest version."""
    query = pick(Item.id).where(
        col(Item.project_id) == project_id, col(Item.external_id) == external_id, item_is_current()
    )
    item_id = session.execute(query.with_for_update()).scalar_one_or_none()
    if item_id is None:
        raise NotFound(f"The project has no item {external_id!r}. Look the id up in the list of items.")
    latest = pick(ItemVersion.id).where(col(ItemVersion.item_id) == item_id, version_is_latest())
    return item_id, session.execute(latest).scalar_one()


def _words(state: State) -> str:
    return state.value.replace("_", " ")
