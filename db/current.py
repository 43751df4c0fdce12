"""What is current: the items that no withdrawn batch has brought, each in its version with the highest number."""

from __future__ import annotations

from typing import Any

from sqlalchemy import ColumnElement, Select, func
from sqlalchemy.orm import aliased
from sqlmodel import col

from db.models import Item, ItemVersion, Withdrawal
from db.query import pick


def withdrawn_batches() -> Select[Any]:
    """A query for the ids of the batches whose latest withdrawal row takes them out."""
    later = aliased(Withdrawal)
    newer = pick(later.id).where(col(later.batch_id) == col(Withdrawal.batch_id), col(later.id) > col(Withdrawal.id))
    return pick(col(Withdrawal.batch_id)).where(col(Withdrawal.reinstates).is_(False), ~newer.exists())


def item_is_current() -> ColumnElement[bool]:
    """The condition on `Item` that its batch is not withdrawn."""
    return col(Item.batch_id).is_(None) | col(Item.batch_id).not_in(withdrawn_batches())


def version_is_latest() -> ColumnElement[bool]:
    """The condition on `ItemVersion` that the item has none with a higher number."""
    other = aliased(ItemVersion)
    latest = pick(func.max(other.number)).where(col(other.item_id) == col(ItemVersion.item_id)).scalar_subquery()
    return col(ItemVersion.number) == latest
