"""Items whose claims are still to be written: those with a text that no claim was taken from."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import ColumnElement, String, cast, func
from sqlmodel import col

from annotators.errors import InvalidInput
from annotators.items.item import CLAIM_SIDES
from db.engine import Database
from db.items.current import item_is_current, version_is_latest
from db.models import Claim, Item, ItemVersion
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick


@dataclass(frozen=True)
class WithoutClaims:
    """How many items have no claims of a side, and the first of them: its id in the database, and its own."""

    n: int
    item_id: int | None
    external_id: str | None


@operation(On.PROJECT, RESEARCHERS)
def next_without_claims(db: Database, _actor: Actor, project_id: int, *, side: str, after: int = 0) -> WithoutClaims:
    """The current items with an answer (or reference answers) and no claims of it; the first after item id `after`.

    Where there is none behind `after`, the first of all.
    """
    if side not in CLAIM_SIDES:
        raise InvalidInput(f"Claims are of one of {', '.join(CLAIM_SIDES)}, not of {side!r}.")
    claimed = pick(Claim.id).where(col(Claim.item_version_id) == ItemVersion.id, col(Claim.of) == side)
    has_text: ColumnElement[bool] = (
        col(ItemVersion.answer) != "" if side == "answer" else cast(col(ItemVersion.references), String) != "[]"
    )
    there = (
        pick(Item.id, Item.external_id)
        .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
        .where(col(Item.project_id) == project_id, item_is_current(), version_is_latest(), has_text, ~claimed.exists())
    )
    with db.read() as session:
        n = session.execute(pick(func.count()).select_from(there.subquery())).scalar_one()
        first = there.order_by(col(Item.id)).limit(1)
        row = session.execute(first.where(col(Item.id) > after)).first() or session.execute(first).first()
        return WithoutClaims(n, *(row or (None, None)))
