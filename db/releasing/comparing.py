"""Two releases beside each other: items that came and went, items that were revised, labels that are others."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

from sqlalchemy import case, func
from sqlmodel import Session, col

from annotators.items.pairs import in_words, pair_name
from annotators.items.revising import edited
from db.engine import Database
from db.items.rows import read_items
from db.models import Item, ItemVersion, ReleaseItem, Study
from db.permissions import READERS, Actor, On, operation
from db.query import pick
from db.releasing.releases import FinalLabel, ReleasedPair, release_named, released_labels, released_pairs
from db.releasing.states import BLOCK


@dataclass(frozen=True)
class ChangedItem:
    """An item that is in both releases, in two versions: their numbers, and the fields that differ."""

    item_id: int
    item: str
    before: int
    after: int
    fields: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """As `assay releases --compare --json` prints it."""
        return {"item": self.item, "from": self.before, "to": self.after, "fields": list(self.fields)}


@dataclass(frozen=True)
class ChangedLabel:
    """A final label that differs between two releases of an item that is in both; None: that one has none.

    `other`: the second item of a pair that is in both.
    """

    item_id: int
    item: str
    study: str
    criterion: str
    target: str
    before: Any
    after: Any
    how_before: str | None
    how_after: str | None
    other: str | None = None

    @property
    def name(self) -> str:
        """The item, or the pair, as people read it."""
        return in_words(pair_name(self.item, self.other))

    def to_json(self) -> dict[str, Any]:
        """As `assay releases --compare --json` prints it."""
        said = {name: value for name, value in asdict(self).items() if name not in {"item_id", "other"}}
        return said | ({"other_item": self.other} if self.other else {})


@dataclass(frozen=True)
class ComparedPair:
    """A pair that is in one of two releases only, or in both: its items, and the study that compares them."""

    item_id: int
    item: str
    other: str
    study: str

    @property
    def name(self) -> str:
        """As people read it."""
        return in_words(pair_name(self.item, self.other))

    def to_json(self) -> dict[str, Any]:
        """As `assay releases --compare --json` prints it."""
        return {"item": self.item, "other_item": self.other, "study": self.study}


@dataclass
class Comparison:
    """How the second of two releases differs from the first. `added` and `removed` are (item id, id of the item)."""

    first: str
    second: str
    same_hash: bool
    added: list[tuple[int, str]] = field(default_factory=list)
    removed: list[tuple[int, str]] = field(default_factory=list)
    changed: list[ChangedItem] = field(default_factory=list)
    labels: list[ChangedLabel] = field(default_factory=list)
    in_both: int = 0
    added_pairs: list[ComparedPair] = field(default_factory=list)
    removed_pairs: list[ComparedPair] = field(default_factory=list)
    pairs_in_both: int = 0

    def to_json(self) -> dict[str, Any]:
        """As `assay releases --compare --json` prints it."""
        return {
            "from": self.first,
            "to": self.second,
            "same": self.same_hash,
            "in_both": self.in_both,
            "added": [item for _, item in self.added],
            "removed": [item for _, item in self.removed],
            "changed": [row.to_json() for row in self.changed],
            "labels": [row.to_json() for row in self.labels],
            "pairs_in_both": self.pairs_in_both,
            "pairs_added": [row.to_json() for row in self.added_pairs],
            "pairs_removed": [row.to_json() for row in self.removed_pairs],
        }


@operation(On.PROJECT, READERS)
def compare_releases(db: Database, _actor: Actor, project_id: int, *, first: str, second: str) -> Comparison:
    """What the release `second` has otherwise than `first`; NotFound for a name that no release has."""
    with db.read() as session:
        a, b = (release_named(session, project_id, name) for name in (first, second))
        found = Comparison(a.name, b.name, a.sha256 == b.sha256)
        assert a.id is not None and b.id is not None
        after = 0
        while rows := _block(session, a.id, b.id, after):
            _compare(session, found, rows, (a.id, b.id))
            after = rows[-1][0]
        return found


Row = tuple[int, str, int | None, int | None]
"""An item: its ids, and its version's id in either release."""


def _block(session: Session, a: int, b: int, after: int) -> list[Row]:
    """The next items, by id, that are in one of two releases."""
    of = [func.max(case((col(ReleaseItem.release_id) == which, ItemVersion.id))) for which in (a, b)]
    query = (
        pick(Item.id, Item.external_id, *of)
        .select_from(ReleaseItem)
        .join(ItemVersion, col(ItemVersion.id) == ReleaseItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(ReleaseItem.release_id).in_((a, b)), col(Item.id) > after)
        .group_by(col(Item.id), col(Item.external_id))
        .order_by(col(Item.id))
        .limit(BLOCK)
    )
    return [tuple(row) for row in session.execute(query)]


def _compare(session: Session, found: Comparison, rows: list[Row], releases: tuple[int, int]) -> None:
    found.added += [row[:2] for row in rows if row[2] is None]
    found.removed += [row[:2] for row in rows if row[3] is None]
    both = [(item_id, item, a, b) for item_id, item, a, b in rows if a is not None and b is not None]
    found.in_both += len(both)
    revised = [row for row in both if row[2] != row[3]]
    versions = read_items(session, [version for _, _, a, b in revised for version in (a, b)])
    for item_id, item, a, b in revised:
        fields = edited(versions[a].content, versions[b].content)
        found.changed.append(ChangedItem(item_id, item, versions[a].number, versions[b].number, fields))
    before, after = (
        released_labels(session, release, versions_there)
        for release, versions_there in zip(releases, ([a for *_, a, _ in both], [b for *_, b in both]), strict=True)
    )
    for item_id, item, a, b in both:
        found.labels += _labels(item_id, item, None, before.get(a, []), after.get(b, []))
    _compare_pairs(session, found, rows, releases)


def _compare_pairs(session: Session, found: Comparison, rows: list[Row], releases: tuple[int, int]) -> None:
    """The pairs whose first items these are: in one release, in both, and with which labels."""
    old = released_pairs(session, releases[0], [row[2] for row in rows if row[2] is not None])
    new = released_pairs(session, releases[1], [row[3] for row in rows if row[3] is not None])
    if not old and not new:
        return
    versions = {version for pair in (*old, *new) for version in (pair.version_id, pair.other_version_id)}
    query = pick(ItemVersion.id, Item.id, Item.external_id).join(Item, col(Item.id) == ItemVersion.item_id)
    of = {row[0]: (row[1], row[2]) for row in session.execute(query.where(col(ItemVersion.id).in_(versions)))}
    studies = {pair.study_id for pair in (*old, *new)}
    named = session.execute(pick(Study.id, Study.name).where(col(Study.id).in_(studies)))
    names = {row[0]: row[1] for row in named}

    def by_items(pairs: list[ReleasedPair]) -> dict[tuple[int, int, int], ReleasedPair]:
        return {(pair.study_id, of[pair.version_id][0], of[pair.other_version_id][0]): pair for pair in pairs}

    before, after = by_items(old), by_items(new)
    for key in sorted({*before, *after}):
        a, b = before.get(key), after.get(key)
        pair = a or b
        assert pair is not None
        (item_id, item), (_, other) = of[pair.version_id], of[pair.other_version_id]
        row = ComparedPair(item_id, item, other, names[pair.study_id])
        if a is None:
            found.added_pairs.append(row)
        elif b is None:
            found.removed_pairs.append(row)
        else:
            found.pairs_in_both += 1
            found.labels += _labels(item_id, item, other, a.labels, b.labels)


def _labels(
    item_id: int, item: str, other: str | None, before: list[FinalLabel], after: list[FinalLabel]
) -> list[ChangedLabel]:
    """The labels of one item or pair whose values differ, and those that only one release has."""
    old, new = ({(label.study, label.criterion, label.target): label for label in labels} for labels in (before, after))
    changed = []
    for unit in sorted({*old, *new}):
        was, now = old.get(unit), new.get(unit)
        if was is None or now is None or was.value != now.value:
            values = (was and was.value, now and now.value)
            how = (was and was.how, now and now.how)
            changed.append(ChangedLabel(item_id, item, *unit, *values, *how, other))
    return changed
