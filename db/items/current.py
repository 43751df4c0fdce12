"""What is current: items of published batches that are not withdrawn, each in its highest version; what counts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import ColumnElement, CompoundSelect, Select, func, union_all
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from db.models import Annotation, AnnotationKind, Batch, Item, ItemVersion, SetAside, UnpublishedBatch, Withdrawal
from db.query import pick


def withdrawn_batches() -> Select[Any]:
    """A query for the ids of the batches whose latest withdrawal row takes them out."""
    later = aliased(Withdrawal)
    newer = pick(later.id).where(col(later.batch_id) == col(Withdrawal.batch_id), col(later.id) > col(Withdrawal.id))
    return pick(col(Withdrawal.batch_id)).where(col(Withdrawal.reinstates).is_(False), ~newer.exists())


def is_set_aside(annotation_id: Any) -> ColumnElement[bool]:
    """The condition on an annotation (its id, a column) that it does not count, as a decision left it out."""
    return pick(col(SetAside.annotation_id)).where(col(SetAside.annotation_id) == annotation_id).exists()


def counting_annotations(
    study_id: int, kinds: Sequence[AnnotationKind], judges: Sequence[int] = (), among: Sequence[int] | None = None
) -> list[ColumnElement[bool]]:
    """The conditions on the annotations that count, those of these judges among them.

    `among`: of these study items, which are looked up one by one.
    """
    newer = aliased(Annotation)
    is_wanted: ColumnElement[bool] = col(Annotation.kind).in_(kinds)
    if judges:
        is_wanted |= (col(Annotation.kind) == AnnotationKind.MODEL) & col(Annotation.person_id).in_(judges)
    return [
        col(Annotation.study_id) == study_id if among is None else col(Annotation.study_item_id).in_(among),
        is_wanted,
        ~pick(newer.id).where(col(newer.supersedes_id) == Annotation.id).exists(),
        col(Annotation.batch_id).is_(None) | col(Annotation.batch_id).not_in(withdrawn_batches()),
        ~is_set_aside(col(Annotation.id)),
    ]


UNTIMED = col(Annotation.created_at) == col(Batch.created_at)
"""Labels that come in without a time have that of their batch, which says nothing of when, or in which order, they were
given (`_insert` of db/elsewhere/labels.py; exports/bundles/labels/block.py has the same)."""


def unpublished_batches() -> Select[Any]:
    """A query for the ids of the batches whose import has not ended; nobody sees anything of them."""
    return pick(col(UnpublishedBatch.batch_id))


def batches_left_out() -> CompoundSelect[Any]:
    """A query for the ids of the batches that do not count now: withdrawn, or not published yet."""
    return union_all(withdrawn_batches(), unpublished_batches())


def unpublished_now(session: Session) -> tuple[int, ...]:
    """The batches whose import has not ended: part of what tells that counts have changed, as one goes when it ends."""
    query = unpublished_batches().where(col(UnpublishedBatch.cleared_at).is_(None))
    return tuple(session.execute(query.order_by(col(UnpublishedBatch.batch_id))).scalars())


def is_published(batch_id: Any) -> ColumnElement[bool]:
    """The condition that rows of this batch (a column; without one they came with no import) are there to be seen."""
    return col(batch_id).is_(None) | col(batch_id).not_in(unpublished_batches())


def item_is_published() -> ColumnElement[bool]:
    """The condition on `Item` that it is there to be seen, current or not.

    An item of a withdrawn batch that comes again belongs to the new batch before that is published; its earlier
    versions are seen all the time.
    """
    version = aliased(ItemVersion)
    seen = pick(version.id).where(col(version.item_id) == col(Item.id), is_published(version.batch_id))
    return is_published(Item.batch_id) | seen.exists()


def item_is_current() -> ColumnElement[bool]:
    """The condition on `Item` that its batch is published and not withdrawn."""
    return col(Item.batch_id).is_(None) | col(Item.batch_id).not_in(batches_left_out())


def version_is_latest() -> ColumnElement[bool]:
    """The condition on `ItemVersion` that the item has none with a higher number.

    For current items only: a version of a batch that is not published belongs to an item that is not current.
    """
    other = aliased(ItemVersion)
    latest = pick(func.max(other.number)).where(col(other.item_id) == col(ItemVersion.item_id)).scalar_subquery()
    return col(ItemVersion.number) == latest
