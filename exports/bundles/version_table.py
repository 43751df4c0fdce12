"""`versions.csv`: the items that were revised, in which version they are in the export, and which is the newest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from sqlalchemy.orm import aliased
from sqlmodel import Session, col, func

from db.items.current import is_published
from db.models import Item, ItemVersion
from db.query import pick
from exports.bundles.columns import names_of
from exports.cells import safe
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = names_of("versions")


class RevisedItem(NamedTuple):
    """One version of an item (its id outside) that has several, and the number of its newest one."""

    item: str
    version: int
    latest: int


def revised_versions(session: Session, project_id: int) -> dict[int, RevisedItem]:
    """Every version (its id) of the project's items that have more than one: what it costs goes by these alone."""
    later = aliased(ItemVersion)
    latest = (
        pick(later.item_id, func.max(later.number).label("number"))
        .join(Item, col(Item.id) == later.item_id)
        .where(col(later.number) > 1, col(Item.project_id) == project_id, is_published(later.batch_id))
        .group_by(col(later.item_id))
        .subquery()
    )
    rows = session.execute(
        pick(ItemVersion.id, Item.external_id, ItemVersion.number, latest.c.number)
        .select_from(latest)
        .join(ItemVersion, col(ItemVersion.item_id) == latest.c.item_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
    )
    return {version_id: RevisedItem(*about) for version_id, *about in rows}


def write_versions(items: Sequence[RevisedItem], out: Out) -> int:
    """Write these items, in their order; how many."""
    table = CsvFile(out, COLUMNS)
    table.add(((safe(row.item), row.version, row.latest) for row in items), len(items))
    return len(items)
