"""Current items as scorers see them, read in blocks by key."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, func, select
from sqlmodel import Session, col

from annotators.items.item import ItemContent
from annotators.scorers.base import Part
from db.items.current import item_is_current, version_is_latest
from db.items.rows import read_items
from db.models import Item, ItemVersion
from db.query import pick


def _current(query: Select[Any], project_id: int) -> Select[Any]:
    # The sum keeps the planner from starting at the project's items and sorting them all for every block.
    return (
        query.select_from(ItemVersion)
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.project_id) + 0 == project_id, item_is_current(), version_is_latest())
    )


def current_in_order(session: Session, query: Select[Any], project_id: int, *, after: int, limit: int) -> list[Any]:
    """The next rows of a query for columns of current items, its first column the id of the version, by that id.

    Read a window of ids at a time: PostgreSQL would otherwise put the whole project in order for every block. A window
    in which little is wanted (other projects, items that are scored) is followed by a larger one.
    """
    found: list[Any] = []
    width = limit
    while len(found) < limit:
        ids = select(col(ItemVersion.id)).where(col(ItemVersion.id) > after).order_by(col(ItemVersion.id)).limit(width)
        upper = session.execute(select(func.max(ids.subquery().c.id))).scalar_one()
        if upper is None:
            break
        within = _current(query, project_id).where(col(ItemVersion.id) > after, col(ItemVersion.id) <= upper)
        rows = session.execute(within.order_by(col(ItemVersion.id)).limit(limit - len(found))).all()
        found += rows
        if len(rows) * 2 < width:
            width = min(2 * width, _WIDEST)
        after = upper
    return found


_WIDEST = 50_000


def count_items(
    session: Session, project_id: int, left: ColumnElement[bool] | None = None, *, at_most: int | None = None
) -> int:
    """How many current items the project has that meet `left`; with `at_most` no more than so many are counted."""
    if at_most is None:
        return int(session.execute(_that_meet(left, _current(select(func.count()), project_id))).scalar_one())
    query = _that_meet(left, _current(pick(ItemVersion.id), project_id))
    return len(session.execute(query.limit(at_most)).all())


def read_next(
    session: Session,
    project_id: int,
    left: ColumnElement[bool] | None,
    *,
    after: int,
    limit: int,
    needs: frozenset[Part],
) -> list[ItemContent]:
    """The next current items (by the id of their version, from the one after `after`) that meet `left`."""
    query = _that_meet(left, pick(ItemVersion.id))
    ids = [row[0] for row in current_in_order(session, query, project_id, after=after, limit=limit)]
    items = read_items(session, ids, needs)
    return [items[version_id].content for version_id in ids]


def _that_meet(left: ColumnElement[bool] | None, query: Select[Any]) -> Select[Any]:
    return query if left is None else query.where(left)
