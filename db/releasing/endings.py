"""Ending an item by hand: accepted, rejected or withdrawn with a reason, which can be taken back."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlalchemy import text
from sqlmodel import Session, col

from annotators.errors import Conflict, InvalidInput, NotFound
from db.annotating.assignments import add_slot, lacks_slots
from db.engine import Database
from db.items.current import item_is_current, version_is_latest
from db.models import AssignmentState, Item, ItemEnding, ItemVersion, Study
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.releasing.states import DISCARDED_STATES, State, standings
from db.studies.settlements import DISCARDED
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
        if state in DISCARDED_STATES:
            _close_slots(session, item_id)
        elif before.by_hand and before.state in DISCARDED_STATES:
            _open_slots(session, item_id)
        after = standings(session, [item_id])[item_id]
        details = {"from": before.state.value, "to": after.state.value, "version": before.number, "reason": why}
        kind = f"item {state}" if state else "item taken up again"
        record(session, actor, kind, "item", item_id, project_id=project_id, details=details)
        return Ended(external_id, before.number, before.state, after.state)


_OF_ITEM = " UNION ".join(
    f"SELECT x.id FROM study_item x JOIN item_version i ON i.id = x.{side} WHERE i.item_id = :item"
    for side in ("item_version_id", "other_version_id")
)
_OPEN_OF_ITEM = text(
    f"DELETE FROM assignment WHERE kind = 'slot' AND state = 'open' AND study_item_id IN ({_OF_ITEM}) "
    "RETURNING study_id"
)
_GIVEN_AGAIN = text(
    f"SELECT x.study_id, x.id FROM study_item x WHERE x.id IN ({_OF_ITEM}) AND x.purpose IN ('sample', 'recheck') "
    f"AND NOT {DISCARDED.format(row='x')} ORDER BY x.study_id, x.position, x.id"
)


def _close_slots(session: Session, item_id: int) -> None:
    """Take the slots of an item, and of its pairs, that nobody holds out of the queues of all studies."""
    gone = Counter(session.connection().execute(_OPEN_OF_ITEM, {"item": item_id}).scalars())
    for study_id, n in sorted(gone.items()):
        counts = Tallies(study_id)
        counts.move(AssignmentState.OPEN, None, n=n)
        counts.write(session.connection())


def _open_slots(session: Session, item_id: int) -> None:
    """Put the slots that an item lacks, and its pairs, at the ends of their queues."""
    connection = session.connection()
    for study_id, study_item_id in connection.execute(_GIVEN_AGAIN, {"item": item_id}).all():
        study, counts = session.get_one(Study, study_id), Tallies(study_id)
        if study.settings.get("foreign"):  # labels made elsewhere: nobody is given its items
            continue
        for _ in range(lacks_slots(connection, study, study_item_id)):
            add_slot(connection, study, study_item_id, counts)
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
