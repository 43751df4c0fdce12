"""Reading items: lists by key, one item with everything, the current versions as a stream, and counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Select, func
from sqlmodel import Session, col

from annotators.errors import NotFound
from db.engine import Database
from db.items.current import is_published, item_is_current, item_is_published, unpublished_now, version_is_latest
from db.items.rows import StoredItem, read_items
from db.models import Batch, Item, ItemVersion, Question, Revision, Run, Score, Withdrawal
from db.permissions import READERS, Actor, On, operation
from db.query import pick

BLOCK = 2_000
_IN_LIST = 300


class CurrentVersion(NamedTuple):
    """An item in its current version, without its parts."""

    item_id: int
    version_id: int
    external_id: str
    number: int
    question_id: int
    system: str
    category: str | None
    content_hash: str


def current_versions(
    session: Session,
    project_id: int,
    *,
    system: str | None = None,
    category: str | None = None,
    external_ids: Sequence[str] | None = None,
    after: int = 0,
) -> Iterator[CurrentVersion]:
    """The project's items in their current version, in the order they were added; constant memory.

    `after` is the item id to go on from. Items of withdrawn batches are left out.
    """
    while True:
        query = _current(project_id, system, category).where(col(Item.id) > after).order_by(col(Item.id)).limit(BLOCK)
        if external_ids is not None:
            query = query.where(col(Item.external_id).in_(external_ids))
        rows = session.execute(query).all()
        yield from (CurrentVersion(*row) for row in rows)
        if len(rows) < BLOCK:
            return
        after = rows[-1][0]


def _current(project_id: int, system: str | None, category: str | None, *, also_withdrawn: bool = False) -> Select[Any]:
    i, v = Item, ItemVersion
    there = item_is_published() if also_withdrawn else item_is_current()
    query = (
        pick(i.id, v.id, i.external_id, v.number, i.question_id, i.system, v.category, v.content_hash)
        .join(v, col(v.item_id) == i.id)
        .where(col(i.project_id) == project_id, there, version_is_latest())
    )
    if system is not None:
        query = query.where(col(i.system) == system)
    if category is not None:
        query = query.where(col(v.category) == category if category else col(v.category).is_(None))
    return query


@dataclass(frozen=True)
class ItemRow:
    """An item in a list: what it is known by and the beginning of what it says."""

    item_id: int
    external_id: str
    number: int
    question_key: str
    question: str
    system: str
    category: str | None


@operation(On.PROJECT, READERS)
def list_items(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    search: str = "",
    system: str | None = None,
    category: str | None = None,
    after: str | None = None,
    limit: int = 100,
) -> list[ItemRow]:
    """Current items by external id, from the one after `after`.

    `search` is part of an external id or a question; `category` "" finds those without one.
    """
    with db.read() as session:
        return rows_of_list(
            session, project_id, search=search, system=system, category=category, after=after, limit=limit
        )


def rows_of_list(
    session: Session,
    project_id: int,
    *,
    search: str,
    system: str | None,
    category: str | None,
    after: str | None,
    limit: int,
    conditions: Sequence[ColumnElement[bool]] = (),
    also_withdrawn: bool = False,
) -> list[ItemRow]:
    """As `list_items`, in the caller's session: items that fulfil the `conditions` on `Item` as well."""
    i, v = Item, ItemVersion
    text = func.substr(v.question, 1, _IN_LIST)
    columns: list[Any] = [i.id, i.external_id, v.number, Question.key, text, i.system, v.category]
    query = _current(project_id, system, category, also_withdrawn=also_withdrawn).with_only_columns(*columns)
    query = query.join(Question, col(Question.id) == i.question_id).where(*conditions)
    if after is not None:
        query = query.where(col(i.external_id) > after)
    if search:
        found = col(i.external_id).icontains(search, autoescape=True)
        query = query.where(found | col(v.question).icontains(search, autoescape=True))
    return [ItemRow(*row) for row in session.execute(query.order_by(col(i.external_id)).limit(limit))]


@dataclass(frozen=True)
class VersionRow:
    """One version of an item: when, by whom, and (for a revision) why."""

    version_id: int
    number: int
    created_at: datetime
    person_id: int | None
    reason: str | None


@dataclass(frozen=True)
class ScoreRow:
    """One score of an item version, with the scorer, its version and parameters."""

    version_id: int
    scorer: str
    version: str
    parameters: dict[str, Any]
    name: str
    target: str
    value: float | None
    reason: str | None


@dataclass(frozen=True)
class ItemDetails:
    """One item: its latest version with all parts, its history, its scores, and where it came from.

    `is_current` is False when the batch that brought it is withdrawn.
    """

    item: StoredItem
    versions: list[VersionRow]
    scores: list[ScoreRow]
    batch_id: int | None
    source: str | None
    is_current: bool


@operation(On.PROJECT, READERS)
def item_details(db: Database, _actor: Actor, project_id: int, *, external_id: str) -> ItemDetails:
    """Everything about one item; NotFound for an id that the project does not have."""
    with db.read() as session:
        row = session.execute(
            pick(Item.id, item_is_current()).where(
                col(Item.project_id) == project_id, col(Item.external_id) == external_id, item_is_published()
            )
        ).first()
        if row is None:
            raise NotFound(f"The project has no item {external_id!r}. Look the id up in the list of items.")
        item_id, is_current = row
        versions = session.execute(
            pick(
                ItemVersion.id,
                ItemVersion.number,
                ItemVersion.created_at,
                ItemVersion.person_id,
                Revision.reason,
                Batch.id,
                Batch.source,
            )
            .join(Revision, col(Revision.to_version_id) == ItemVersion.id, isouter=True)
            .join(Batch, col(Batch.id) == ItemVersion.batch_id, isouter=True)
            .where(col(ItemVersion.item_id) == item_id, is_published(ItemVersion.batch_id))
            .order_by(col(ItemVersion.number))
        ).all()
        ids = [version[0] for version in versions]
        # The item belongs to the last import that brought it.
        batch_id, source = next(((v[5], v[6]) for v in reversed(versions) if v[5] is not None), (None, None))
        scores = session.execute(
            pick(
                Score.item_version_id,
                Run.name,
                Run.version,
                Run.parameters,
                Score.name,
                Score.target,
                Score.value,
                Score.reason,
            )
            .join(Run, col(Run.id) == Score.run_id)
            .where(col(Score.item_version_id).in_(ids), is_published(Run.batch_id))
            .order_by(col(Score.id))
        )
        return ItemDetails(
            read_items(session, ids[-1:])[ids[-1]],
            [VersionRow(*version[:5]) for version in versions],
            [ScoreRow(*score) for score in scores],
            batch_id,
            source,
            bool(is_current),
        )


# Counts ---------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemCounts:
    """How many current items a project has, by system and category ("" for those without one)."""

    total: int
    cells: tuple[tuple[str, str, int], ...]

    def by_system(self) -> dict[str, int]:
        """System → items."""
        return self._summed(0)

    def by_category(self) -> dict[str, int]:
        """Category → items."""
        return self._summed(1)

    def _summed(self, place: int) -> dict[str, int]:
        counts: dict[str, int] = {}
        for cell in self.cells:
            name = str(cell[place])
            counts[name] = counts.get(name, 0) + cell[2]
        return counts


_kept: dict[tuple[str, int], tuple[Any, ItemCounts]] = {}
_keeping = Lock()


@operation(On.PROJECT, READERS)
def item_counts(db: Database, _actor: Actor, project_id: int) -> ItemCounts:
    """Counts of the current items. They are counted when items have come or gone since, and kept until then."""
    with db.read() as session:
        state = items_state(session, project_id)
        with _keeping:
            kept = _kept.get((str(db.url), project_id))
        if kept is not None and kept[0] == state:
            return kept[1]
        cell: list[Any] = [Item.system, func.coalesce(ItemVersion.category, "")]
        query = _current(project_id, None, None).with_only_columns(*cell, func.count()).group_by(*cell)
        cells = tuple(sorted((row[0], row[1], row[2]) for row in session.execute(query)))
        counts = ItemCounts(sum(n for _, _, n in cells), cells)
    with _keeping:
        _kept[str(db.url), project_id] = (state, counts)
    return counts


_NAMES_OF = 1000
"""Of how many of the newest versions the names of metadata are collected."""


@operation(On.PROJECT, READERS)
def metadata_fields(db: Database, _actor: Actor, project_id: int) -> list[str]:
    """The names in the metadata of the project's newest items under which a plain value stands, by the alphabet."""
    query = pick(ItemVersion.extra).join(Item, col(Item.id) == ItemVersion.item_id)
    query = query.where(col(Item.project_id) == project_id).order_by(col(ItemVersion.id).desc()).limit(_NAMES_OF)
    with db.read() as session:
        found = {
            name
            for (extra,) in session.execute(query)
            for name, value in (extra or {}).items()
            if not isinstance(value, dict | list) and "," not in name
        }
    return sorted(found)


def items_state(session: Session, project_id: int) -> Any:
    """What changes whenever the current items of a project may have; five look-ups in an index."""
    batches = pick(func.count(), func.max(Batch.id)).where(col(Batch.project_id) == project_id)
    return (
        tuple(session.execute(batches).one()),
        session.execute(pick(func.max(Withdrawal.id))).scalar_one(),
        session.execute(pick(func.max(ItemVersion.id))).scalar_one(),
        unpublished_now(session),
    )
