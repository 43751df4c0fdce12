"""What items have that labels made elsewhere are held against: answers, pages of documents, and their parts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from sqlmodel import Session, col, select

from annotators.criteria import Criterion, Value
from annotators.errors import InvalidInput
from annotators.figures import some
from annotators.items.item import image_side
from annotators.items.parsed import ForeignLabel
from annotators.items.targets import ChosenBy, TargetKind, Units
from annotators.protocols import Protocol
from db.items.rows import read_items
from db.models import Claim, Document, Evidence, Image, Item, ItemVersion, Purpose, Study, StudyItem
from db.studies.selection import candidates

_NAMED = 10
_NO_PARTS: Mapping[tuple[str, str], frozenset[str]] = {}
_NO_COUNTS: Mapping[str, int] = {}
_TABLES: Mapping[str, Any] = {"claim": Claim, "evidence": Evidence, "image": Image}
_KEYS: Mapping[str, Callable[[Units], tuple[str, ...]]] = {
    "claim": attrgetter("claims"), "evidence": attrgetter("evidence"), "image": attrgetter("images"),
}  # fmt: skip
_PARTS = frozenset(("claims", "evidence", "images"))
_AT_ONCE = 2_000


class StudyParts(NamedTuple):
    """What is known of a study's items, or of those that it is to have, as far as labels are about it.

    `units`: external id → answer and images, where a criterion's values have to fit them. `pages`: key of a document →
    its pages. `parts`: (external id, `claim`, `evidence` or `image`) → keys, of items that have such parts.
    """

    units: Mapping[str, Units] | None = None
    pages: Mapping[str, int] = _NO_COUNTS
    parts: Mapping[tuple[str, str], frozenset[str]] = _NO_PARTS

    @classmethod
    def of(cls, session: Session, study_id: int, protocol: Protocol, rows: Iterable[ForeignLabel]) -> StudyParts:
        """As far as these rows need it."""
        named = _named(rows)
        project_id = session.get_one(Study, study_id).project_id
        return cls(
            units=_units(session, study_id, protocol),
            pages=_page_counts(session, project_id) if "page" in named else _NO_COUNTS,
            parts=_parts(session, study_id, named & _TABLES.keys()),
        )

    @classmethod
    def of_items(cls, items: Mapping[str, Units], protocol: Protocol, rows: Iterable[ForeignLabel]) -> StudyParts:
        """Of these items, by their external ids, as far as the rows need it. Of pages of documents nothing is known."""
        kinds = _named(rows) & _TABLES.keys()
        there = ((item, kind, _KEYS[kind](units)) for item, units in items.items() for kind in kinds)
        return cls(
            units=items if any(map(_fits, protocol.criteria)) else None,
            parts={(item, kind): frozenset(keys) for item, kind, keys in there if keys},
        )

    @classmethod
    def of_project(
        cls, session: Session, project_id: int, protocol: Protocol, rows: Sequence[ForeignLabel]
    ) -> StudyParts:
        """Of the items as the project has them now, as far as these rows need it."""
        named = _named(rows)
        pages = _page_counts(session, project_id) if "page" in named else _NO_COUNTS
        if not named & _TABLES.keys() and not any(map(_fits, protocol.criteria)):
            return cls(pages=pages)
        about = {row.item for row in rows}
        versions = [one.version_id for one in candidates(session, project_id) if one.external_id in about]
        found: dict[str, Units] = {}
        for start in range(0, len(versions), _AT_ONCE):
            items = read_items(session, versions[start : start + _AT_ONCE], _PARTS).values()
            found |= {item.content.id: item.content.units() for item in items}
        return cls.of_items(found, protocol, rows)._replace(pages=pages)

    def check_target(self, item: str, kind: TargetKind, target: str) -> None:
        """InvalidInput for a page beyond its document, and for a part that the item does not have among such parts.

        An item without any of the kind came as its labels came, bare, and says nothing against them.
        """
        if kind == TargetKind.PAGE:
            self._check_page(target)
        if not self.parts:
            return
        for piece in target.split("|"):
            of, _, key = piece.partition(":")
            there = self.parts.get((item, of))
            if there is not None and key not in there:
                shown = some(sorted(there), _NAMED)
                raise InvalidInput(
                    f"item {item!r} has no {of} {key!r}. It has: {shown}. Correct the target {target!r}."
                )

    def _check_page(self, target: str) -> None:
        document, _, number = target.partition("|")[0].removeprefix("page:").rpartition(":")
        n = self.pages.get(document)
        if n is not None and int(number) > n:
            raise InvalidInput(
                f"document {document!r} has {n:,} pages, so that there is no page {number}. Correct the target "
                f"{target!r}."
            )

    def fitted(self, item: str, criterion: Criterion, value: Value) -> Value:
        """The value as it is stored for this item; InvalidInput where it does not fit the item's answer or images.

        Of an item that came without images nothing is known of them.
        """
        units = self.units.get(item) if self.units is not None and _fits(criterion) else None
        if units is None or (criterion.fits_images and not units.images):
            return value
        return criterion.check(value, units)


def _named(rows: Iterable[ForeignLabel]) -> set[str]:
    """The kinds of parts that labels are about."""
    return {piece.partition(":")[0] for row in rows for piece in (row.target or "").split("|")}


def _fits(criterion: Criterion) -> bool:
    """Whether its values have to fit the item."""
    return criterion.fits_items or criterion.fits_images


def _of_study(study_id: int, *columns: Any) -> Any:
    """Of the sample: one that is judged again, in a later version, has the id of the earlier one."""
    found = select(*columns).select_from(StudyItem).join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
    found = found.join(Item, col(Item.id) == ItemVersion.item_id)
    return found.where(col(StudyItem.study_id) == study_id, StudyItem.purpose == Purpose.SAMPLE.value)


def _units(session: Session, study_id: int, protocol: Protocol) -> dict[str, Units] | None:
    """None where no criterion's values have to fit the item."""
    fits_images = any(criterion.fits_images for criterion in protocol.criteria)
    if not any(map(_fits, protocol.criteria)):
        return None
    sides: dict[str, dict[str, ChosenBy]] = defaultdict(dict)
    if fits_images:
        query = _of_study(study_id, Item.external_id, Image.key, Image.extra)
        for item, key, extra in session.execute(query.join(Image, col(Image.item_version_id) == ItemVersion.id)):
            sides[item][key] = ChosenBy(image_side(extra))
    return {
        item: Units(
            answer=answer,
            images=tuple(sides.get(item, ())),
            parts={f"{TargetKind.IMAGE}:{key}": side for key, side in sides.get(item, {}).items()},
        )
        for item, answer in session.execute(_of_study(study_id, Item.external_id, ItemVersion.answer))
    }


def _page_counts(session: Session, project_id: int) -> dict[str, int]:
    """Key → pages of a project's documents, as far as known."""
    counts = select(Document.key, Document.n_pages).where(
        Document.project_id == project_id, col(Document.n_pages).is_not(None)
    )
    return dict(session.execute(counts).all())


def _parts(session: Session, study_id: int, kinds: Iterable[str]) -> dict[tuple[str, str], frozenset[str]]:
    found: dict[tuple[str, str], set[str]] = defaultdict(set)
    for kind in kinds:
        table = _TABLES[kind]
        query = _of_study(study_id, Item.external_id, table.key)
        for item, key in session.execute(query.join(table, table.item_version_id == ItemVersion.id)):
            found[item, kind].add(key)
    return {about: frozenset(keys) for about, keys in found.items()}
