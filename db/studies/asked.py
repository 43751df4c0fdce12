"""Which units need a label in an item of a study, for items whose annotations may lack some."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sqlalchemy import Connection
from sqlalchemy import select as sql_select
from sqlmodel import Session

from annotators.asking.asked_units import units_asked
from annotators.criteria import Criterion
from annotators.items.targets import TargetKind, Units
from annotators.protocols import Protocol
from db.items.rows import PARTS, read_study_items
from db.models import Study, StudyItem
from db.query import table_of
from db.studies.design import has_rechecks

_AT_ONCE = 500
_OF_EVERY_ITEM = (TargetKind.ITEM, TargetKind.PAIR)
_ITEM = table_of(StudyItem).c


def units_needed(
    connection: Connection, study: Study, protocol: Protocol, study_item_ids: Sequence[int]
) -> dict[int, tuple[tuple[str, str], ...]]:
    """Study item → criterion and target of every unit that needs a final label, whether or not its condition holds.

    Texts need none, as nobody can agree on them, nor does what annotators may leave out. A part that an item does not
    have needs none either: an item that came with its labels, bare, has no parts.
    """
    found: dict[int, tuple[tuple[str, str], ...]] = {}
    asks = _asks(connection, study, study_item_ids)
    if all(map(_is_of_every_item, filter(_needs_label, protocol.criteria))):
        known = {names: _needed(protocol, Units(asks=names)) for names in {None, *asks.values()}}
        return {study_item_id: known[asks.get(study_item_id)] for study_item_id in study_item_ids}
    with Session(connection) as session:
        for start in range(0, len(study_item_ids), _AT_ONCE):
            for study_item_id, item in read_study_items(
                session, study_item_ids[start : start + _AT_ONCE], PARTS
            ).items():
                pages = tuple((d.key, n) for d in item.documents for n in range(1, (d.n_pages or 0) + 1))
                units = replace(item.content.units(), pages=pages, asks=asks.get(study_item_id))
                found[study_item_id] = _needed(protocol, units)
    return found


def _needs_label(criterion: Criterion) -> bool:
    return criterion.required and criterion.compared


def _is_of_every_item(criterion: Criterion) -> bool:
    """Whether the criterion has one unit in every item, whatever is in it."""
    plain = type(criterion).has_material is Criterion.has_material
    return plain and criterion.target in _OF_EVERY_ITEM


def _needed(protocol: Protocol, units: Units) -> tuple[tuple[str, str], ...]:
    return tuple(unit.name for unit in units_asked(protocol, units) if _needs_label(unit.criterion))


def _asks(connection: Connection, study: Study, study_item_ids: Sequence[int]) -> dict[int, frozenset[Any]]:
    """Study item → the criteria that it asks, where these are not all of the protocol's."""
    found: dict[int, frozenset[Any]] = {}
    if has_rechecks(study):
        for start in range(0, len(study_item_ids), _AT_ONCE):
            among = _ITEM.id.in_(study_item_ids[start : start + _AT_ONCE])
            rows = connection.execute(sql_select(_ITEM.id, _ITEM.criteria).where(among, _ITEM.criteria.is_not(None)))
            found |= {study_item_id: frozenset(criteria) for study_item_id, criteria in rows}
    return found
