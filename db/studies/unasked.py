"""What sampled items lack: what a criterion is about, so that it is not asked, and what it is judged by."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Select, String, Table, cast, func
from sqlalchemy import select as sql_select
from sqlmodel import Session

from annotators.criteria import Criterion
from annotators.criteria.material import Material
from annotators.errors import InvalidInput
from annotators.figures import count, some
from annotators.items.blocks import blocks_of
from annotators.items.item import CLAIM_SIDES, IMAGE_SIDES, image_side
from annotators.items.sampling import Candidate
from annotators.items.targets import BY_EVIDENCE, OF_CLAIMS, OF_EVIDENCE, ChosenBy, TargetKind, Units
from annotators.protocols import Protocol
from db.models import Claim, Document, Evidence, Image, Item, ItemDocument, ItemVersion
from db.query import table_of

_NAMED = 3
"""Items that are named in a note; the rest are counted."""


def items_have(n: int, noun: str = "item") -> str:
    """So many items (or what else one judges), and the verb that says that they have something."""
    return f"{count(n, noun)} {'has' if n == 1 else 'have'}"


_ITEM, _VERSION, _CLAIM = table_of(Item), table_of(ItemVersion), table_of(Claim)
_EVIDENCE, _IMAGE, _DOCUMENT, _ABOUT = table_of(Evidence), table_of(Image), table_of(Document), table_of(ItemDocument)


_CAN_BE_SHOWN = (func.coalesce(_EVIDENCE.c.text, "") != "") | _EVIDENCE.c.document_id.in_(
    sql_select(_DOCUMENT.c.id).where(_DOCUMENT.c.sha256.is_not(None))
)
_TO_LOOK_AT = "evidence with a text or a page that can be shown"
_OF_EVERY_ITEM = (TargetKind.ITEM, TargetKind.HOP, TargetKind.PAIR)
"""What every item has one of, or none of that anything could be said."""


def asked_of_nothing(there: PartsOfItems, protocol: Protocol, items: Sequence[Candidate]) -> tuple[set[int], str]:
    """The versions of those items that lack all that the criteria are about, and what that is, in words.

    None where a criterion is about the item as a whole.
    """
    if any(_is_asked_of_all(criterion) for criterion in protocol.criteria):
        return set(), ""
    having: set[int] = set()
    lacking: dict[str, None] = {}
    for number, _ in enumerate(protocol.steps):
        for criterion in protocol.step_criteria(number):
            having |= there.items_with(criterion, protocol, number)
            lacking[_in_words(criterion)] = None
    return {item.version_id for item in items} - having, " or ".join(lacking)


@dataclass(frozen=True)
class Lacking:
    """Items that lack what criteria (by their titles) are judged by: `what` it is, in words that "no" goes with.

    `everywhere` where each item of which these criteria are asked lacks it.
    """

    what: str
    titles: tuple[str, ...]
    items: tuple[Candidate, ...]
    everywhere: bool

    def in_words(self, n_items: int) -> str:
        """How many they are of so many, and what is judged by what they lack."""
        judged = f"by which {_listed(self.titles)} {'is' if len(self.titles) == 1 else 'are'} judged"
        if len(self.items) == n_items:
            if n_items == 1:
                return f"The only item has no {self.what}, {judged}"
            return f"None of the {n_items:,} items has {_one(self.what)}, {judged}"
        named = some([item.external_id for item in self.items], _NAMED)
        return f"{items_have(len(self.items))} no {self.what} ({named}), {judged}"


def lacking(there: PartsOfItems, protocol: Protocol, items: Sequence[Candidate]) -> list[Lacking]:
    """What criteria are judged by (`Criterion.bases`) and which of these items have none of it, though they are asked.

    An item of which a criterion is not asked lacks nothing for it. What is asked of evidence is judged by what that
    shows: a text, or pages of a document that was supplied.
    """
    found: dict[tuple[str, tuple[Candidate, ...], bool], list[str]] = {}
    every = {item.version_id for item in items}
    for number, _ in enumerate(protocol.steps):
        for criterion in protocol.step_criteria(number):
            bases = [
                (" or ".join(_HAVING[material] for material in basis),
                 set().union(*(there.items_showing(material, protocol, number) for material in basis)))
                for basis in criterion.bases
            ]  # fmt: skip
            if criterion.target in BY_EVIDENCE:
                bases.append((_TO_LOOK_AT, every - there.items_shown_nothing(criterion)))
            for what, having in bases:
                asked = every if _is_asked_of_all(criterion) else there.items_with(criterion, protocol, number)
                without = tuple(item for item in items if item.version_id in asked - having)
                if without:
                    everywhere = not asked & having & every
                    found.setdefault((what, without, everywhere), []).append(criterion.title)
    return [
        Lacking(what, tuple(dict.fromkeys(titles)), without, everywhere)
        for (what, without, everywhere), titles in found.items()
    ]


def notes_on_what_is_not_asked(there: PartsOfItems, protocol: Protocol, items: Sequence[Candidate]) -> tuple[str, ...]:
    """For what some of these items have none of, how many, which, and what is not asked of them therefore.

    InvalidInput names a step in which nothing would be asked of any of them.
    """
    notes: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for number, step in enumerate(protocol.steps):
        idle = []
        for criterion in protocol.step_criteria(number):
            if _is_asked_of_all(criterion):
                continue
            having = there.items_with(criterion, protocol, number)
            without = tuple(item.external_id for item in items if item.version_id not in having)
            if without:
                notes.setdefault((_in_words(criterion), without), []).append(criterion.title)
            if len(without) == len(items):
                idle.append(criterion)
        if items and len(idle) == len(step.criteria):
            raise InvalidInput(
                f"Nothing would be asked in step {step.title!r}: none of the {len(items):,} items has "
                + "; none has ".join(
                    f"{_in_words(criterion)}, which criterion {criterion.name!r} is about" for criterion in idle
                )
                + ". Import items that have it, or take another protocol."
            )
    return tuple(_note(part, without, titles, len(items)) for (part, without), titles in notes.items())


def _note(part: str, without: Sequence[str], titles: Sequence[str], n_items: int) -> str:
    asked = f"{_listed(titles)} {'is' if len(titles) == 1 else 'are'}"
    if len(without) == n_items:
        return f"None of the {n_items:,} items has {part}: {asked} never asked."
    return f"{items_have(len(without))} no {part} ({some(without, _NAMED)}): {asked} not asked of them."


def _listed(titles: Sequence[str]) -> str:
    named = [f"“{title}”" for title in titles]
    return f"{', '.join(named[:-1])} and {named[-1]}" if len(named) > 1 else named[0]


def notes_on_what_is_not_shown(there: PartsOfItems, protocol: Protocol, items: Sequence[Candidate]) -> tuple[str, ...]:
    """For each text that the protocol shows and some of these items lack, how many, and which.

    What a criterion is judged by is not among them: `lacking` speaks of that. Evidence and hops only where no
    criterion is about them or about pages: then `notes_on_what_is_not_asked` speaks of the one, and a question without
    hops is one of a single hop.
    """
    shown = protocol.shown_at(len(protocol.steps) - 1)
    targets = {criterion.target for criterion in protocol.criteria}
    wanted = [Material.ANSWER, Material.REFERENCES]
    if not targets & {*OF_EVIDENCE, TargetKind.PAGE, TargetKind.HOP}:
        wanted += [Material.HOPS, Material.EVIDENCE]
    notes, last = [], len(protocol.steps) - 1
    bases = {material for criterion in protocol.criteria for basis in criterion.bases for material in basis}
    for material in (material for material in wanted if material in shown and material not in bases):
        having = there.items_showing(material, protocol, last)
        if material == Material.EVIDENCE:
            having = having | there.items_showing(Material.DOCUMENTS, protocol, last)
        without = [item.external_id for item in items if item.version_id not in having]
        if len(without) == len(items):
            which = f"None of the {len(items):,} items has {_one(_HAVING[material])}"
        else:
            which = f"{items_have(len(without))} no {_HAVING[material]} ({some(without, _NAMED)})"
        if without:
            notes.append(f"{which}: annotators see none where the protocol shows it.")
    return tuple(notes)


_HAVING = {
    Material.ANSWER: "answer",
    Material.REFERENCES: "reference answer",
    Material.HOPS: "steps of a multi-hop question",
    Material.CLAIMS: "claim",
    Material.EVIDENCE: "evidence",
    Material.DOCUMENTS: "document",
    Material.IMAGES: "image",
}
"""Material → what an item has of it, in words that "no" goes with."""

_UNCOUNTED = (_HAVING[Material.HOPS], _HAVING[Material.EVIDENCE])


def _one(what: str) -> str:
    """What an item has one of, with its article where it has one."""
    if what.startswith(_UNCOUNTED):
        return what
    return f"{'an' if what[0] in 'aeiou' else 'a'} {what}"


def _is_asked_of_all(criterion: Criterion) -> bool:
    """Whether a criterion is asked of every item, whatever it has."""
    return criterion.target in _OF_EVERY_ITEM and not criterion.made_of


def _chooses_evidence(criterion: Criterion) -> bool:
    """Whether it is asked of nothing where an item has no such evidence: it is about units, or about some of them."""
    return criterion.target in OF_EVIDENCE or criterion.only is not None


def _in_words(criterion: Criterion) -> str:
    """What a criterion needs one of: "claim of the answer"."""
    side = f" of the {criterion.side}" if criterion.side else ""
    if _chooses_evidence(criterion):
        only = criterion.only
        chosen = " or ".join([*only.roles, *only.kinds]) if only else ""
        unit = f"evidence ({chosen})" if chosen else "evidence"
        return f"claim{side} and {unit}" if criterion.target in OF_CLAIMS else unit
    if criterion.target in OF_CLAIMS:
        return f"claim{side}"
    words = {TargetKind.IMAGE: f"image{side}", TargetKind.PAGE: "page that is known", TargetKind.BLOCK: "paragraph"}
    return " and ".join(filter(None, (words.get(criterion.target), criterion.made_of)))


class PartsOfItems:
    """The item versions of a project that have parts of one kind or another, each looked up once, when asked for."""

    def __init__(self, session: Session, project_id: int) -> None:
        self._session, self._project_id = session, project_id
        self._found: dict[tuple[str, int], set[int]] = {}

    def items_with(self, criterion: Criterion, protocol: Protocol, step: int) -> set[int]:
        """The ids of the versions that have a unit for a criterion of the protocol, as far as its step shows it."""
        found = self._found.get((criterion.name, step))
        if found is None:
            found = self._found[criterion.name, step] = self._look_up(criterion, protocol, step)
        return found

    def items_showing(self, material: Material, protocol: Protocol, step: int) -> set[int]:
        """The ids of the versions that have something of a material, of claims and images as far as a step shows it."""
        if material == Material.EVIDENCE:
            return self._having(_EVIDENCE)
        if material == Material.DOCUMENTS:
            return self._having(_ABOUT)
        if material == Material.IMAGES:
            return self._with_images(_sides_shown(protocol, step, material, IMAGE_SIDES))
        if material == Material.CLAIMS:
            return self._having(_CLAIM, _CLAIM.c.of.in_(_sides_shown(protocol, step, material, CLAIM_SIDES)))
        column = _VERSION.c[material.value]
        there = column != "" if material == Material.ANSWER else cast(column, String).not_in(("[]", "null"))
        query = sql_select(_VERSION.c.id).join(_ITEM, _ITEM.c.id == _VERSION.c.item_id)
        return set(self._session.execute(query.where(_ITEM.c.project_id == self._project_id, there)).scalars())

    def items_shown_nothing(self, criterion: Criterion) -> set[int]:
        """The ids of the versions that have evidence for a criterion, of which there is nothing to be seen."""
        return self._with_evidence(criterion) - self._with_evidence(criterion, _CAN_BE_SHOWN)

    def _look_up(self, criterion: Criterion, protocol: Protocol, step: int) -> set[int]:
        found = self._with_target(criterion, protocol, step)
        if criterion.made_of:
            shown = _sides_shown(protocol, step, Material.IMAGES, IMAGE_SIDES)
            made = self._with_material(criterion, shown)
            found = made if found is None else found & made
        assert found is not None
        return found

    def _with_target(self, criterion: Criterion, protocol: Protocol, step: int) -> set[int] | None:
        """None for a target that every item has."""

        def shown(material: Material, sides: Sequence[str]) -> list[str]:
            of = sides if criterion.side is None else [criterion.side]
            return _sides_shown(protocol, step, material, of)

        if criterion.target in _OF_EVERY_ITEM:
            return None
        if criterion.target == TargetKind.IMAGE:
            return self._with_images(shown(Material.IMAGES, IMAGE_SIDES))
        if criterion.target == TargetKind.BLOCK:
            return self._with_blocks()
        if criterion.target == TargetKind.PAGE:
            return self._with_pages()
        found = []
        if criterion.target in OF_CLAIMS:
            found.append(self._having(_CLAIM, _CLAIM.c.of.in_(shown(Material.CLAIMS, CLAIM_SIDES))))
        if _chooses_evidence(criterion):
            found.append(self._with_evidence(criterion))
        return set.intersection(*found)

    def _with_evidence(self, criterion: Criterion, *such: ColumnElement[bool]) -> set[int]:
        chosen = criterion.chosen
        conditions = [*such, *([_EVIDENCE.c.kind.in_(chosen.kinds)] if chosen.kinds else [])]
        return self._having(_EVIDENCE, *conditions, *([_EVIDENCE.c.role.in_(chosen.roles)] if chosen.roles else []))

    def _with_images(self, sides: Sequence[str]) -> set[int]:
        rows = self._session.execute(self._of_project(_IMAGE, _IMAGE.c.item_version_id, _IMAGE.c.extra))
        return {version for version, extra in rows if _shown_with(image_side(extra)) in sides}

    def _with_blocks(self) -> set[int]:
        return {version for version, answer in self._answers() if blocks_of(answer)}

    def _with_material(self, criterion: Criterion, sides: Sequence[str]) -> set[int]:
        """Those that have what values of a criterion are made of (`Criterion.has_material`): of images these sides."""
        images: dict[int, dict[str, ChosenBy]] = defaultdict(dict)
        if criterion.fits_images:
            query = self._of_project(_IMAGE, _IMAGE.c.item_version_id, _IMAGE.c.key, _IMAGE.c.extra)
            for version, key, extra in self._session.execute(query):
                if _shown_with(side := image_side(extra)) in sides:
                    images[version][key] = ChosenBy(side)
        found = set()
        for version, answer in self._answers():
            mine = images.get(version, {})
            parts = {f"{TargetKind.IMAGE}:{key}": side for key, side in mine.items()}
            if criterion.has_material(Units(answer=answer, images=tuple(mine), parts=parts)):
                found.add(version)
        return found

    def _answers(self) -> Iterable[tuple[int, str]]:
        """Version → answer of the project's items."""
        query = sql_select(_VERSION.c.id, _VERSION.c.answer).join(_ITEM, _ITEM.c.id == _VERSION.c.item_id)
        rows = self._session.execute(query.where(_ITEM.c.project_id == self._project_id))
        return ((version, answer) for version, answer in rows)

    def _with_pages(self) -> set[int]:
        found: set[int] = set()
        for part in (_ABOUT, _EVIDENCE):
            of_pages = part.c.document_id.in_(sql_select(_DOCUMENT.c.id).where(_DOCUMENT.c.n_pages > 0))
            found |= self._having(part, of_pages)
        return found

    def _having(self, part: Table, *conditions: ColumnElement[bool]) -> set[int]:
        query = self._of_project(part, part.c.item_version_id).where(*conditions).distinct()
        return set(self._session.execute(query).scalars())

    def _of_project(self, part: Table, *columns: ColumnElement[Any]) -> Select[Any]:
        """Columns of those parts that belong to the project's items."""
        rows = part.join(_VERSION, _VERSION.c.id == part.c.item_version_id)
        rows = rows.join(_ITEM, _ITEM.c.id == _VERSION.c.item_id)
        return sql_select(*columns).select_from(rows).where(_ITEM.c.project_id == self._project_id)


def _sides_shown(protocol: Protocol, step: int, material: Material, sides: Sequence[str]) -> list[str]:
    """Those of these sides whose claims or images have been shown by a step."""
    firsts = {side: protocol.first_step_with_parts(material, side) for side in sides}
    return [side for side, first in firsts.items() if first is not None and first <= step]


def _shown_with(side: str) -> str:
    """The text that an image is shown with: one of something else comes with the answer."""
    return side if side in IMAGE_SIDES else "answer"
