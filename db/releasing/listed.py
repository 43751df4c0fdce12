"""Items in one state, in all or as one study has them: a page of a list at a time."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, text

from db.engine import Database
from db.items.read import ItemRow, rows_of_list
from db.permissions import READERS, Actor, On, operation
from db.releasing.revising import AT_ONCE
from db.releasing.states import BLOCK, State, keep_failing, standings

LOOKED = 20
"""Blocks of candidates that are looked at for one page; a list of few among very many goes on with the next page."""

_OF_ITEM = "FROM item_version w JOIN study_item x ON x.item_version_id = w.id OR x.other_version_id = w.id"
_SETTLED = f"SELECT 1 {_OF_ITEM} JOIN settlement s ON s.study_item_id = x.id WHERE w.item_id = item.id"
_ENDED = "SELECT 1 FROM item_ending e WHERE e.item_id = item.id"
_CANDIDATES = {
    State.DISPUTED: f"EXISTS ({_SETTLED} AND s.state = 'disputed')",
    State.IN_REVISION: f"EXISTS ({_SETTLED} AND CAST(s.failing AS TEXT) <> '[]')",
    State.IN_RECHECK: "EXISTS (SELECT 1 FROM item_version w WHERE w.item_id = item.id AND w.number > 1)",
    State.ACCEPTED: f"(EXISTS ({_SETTLED} AND s.state IN ('agreed', 'adjudicated')) OR EXISTS ({_ENDED}))",
    State.REJECTED: f"EXISTS ({_ENDED})",
    State.IN_STUDY: f"EXISTS (SELECT 1 {_OF_ITEM} WHERE w.item_id = item.id)",
}
"""Conditions that every item in a state fulfils; what else fulfils them is told apart item by item."""


@dataclass(frozen=True)
class InState:
    """A page of items in a state; `after`: the external id from which the list goes on, if it may."""

    rows: list[ItemRow]
    after: str | None


@operation(On.PROJECT, READERS)
def items_in_state(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    state: State,
    study_id: int | None = None,
    search: str = "",
    system: str | None = None,
    category: str | None = None,
    after: str | None = None,
    limit: int = 100,
) -> InState:
    """Items in a state by external id, from the one after `after`; the rest as `db.items.read.list_items`.

    With `study_id` as that study of the project has them, as `study_stages` counts them.
    """
    if state is State.IN_REVISION and study_id is not None:
        keep_failing(db, actor, study_id, most=AT_ONCE)
    conditions: list[ColumnElement[bool]] = []
    if state in _CANDIDATES:
        conditions.append(text(_CANDIDATES[state]))  # type: ignore[arg-type]
    if study_id is not None:
        mine = f"EXISTS (SELECT 1 {_OF_ITEM} WHERE w.item_id = item.id AND x.study_id = {int(study_id)} "
        conditions.append(text(f"{mine}AND x.purpose = 'sample')"))  # type: ignore[arg-type]
    rows: list[ItemRow] = []
    with db.read() as session:
        for _ in range(LOOKED):
            found = rows_of_list(
                session,
                project_id,
                search=search,
                system=system,
                category=category,
                after=after,
                limit=BLOCK,
                conditions=conditions,
                also_withdrawn=state is State.WITHDRAWN,
            )
            standing = standings(session, [row.item_id for row in found], study_id=study_id)
            for row in found:
                after = row.external_id
                there = standing[row.item_id].state
                if study_id is not None and there is State.NO_STUDY:
                    there = State.IN_STUDY  # a closed study says nothing of it
                if there is state:
                    rows.append(row)
                    if len(rows) == limit:
                        return InState(rows, after)
            if len(found) < BLOCK:
                return InState(rows, None)
    return InState(rows, after)
