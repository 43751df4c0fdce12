"""What an item says: the one form in which readers, scorers, pages and the database know it.

Each field is declared here once: its name, its place in the normal form, its type and default, and what a row may give
for it. From the declarations follow how rows of files are read and written (`annotators.items.normal`), the columns
(`db.items.rows`), and where the short texts that describe an item are shown.

Named tuples, because an import makes a million of them: reading into frozen dataclasses takes half as long again, and
pydantic, whose messages would have to be written all the same, no less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from types import UnionType
from typing import Annotated, Any, NamedTuple, get_args, get_origin, get_type_hints

from annotators.items import checks
from annotators.items.checks import Check
from annotators.items.targets import ChosenBy, Units

EVIDENCE_KINDS = ("passage", "table", "figure", "page")
EVIDENCE_ROLES = ("gold", "retrieved", "distractor")
CLAIM_SIDES = ("answer", "reference")
IMAGE_SIDES = ("answer", "reference", "question")
DEFAULT_SYSTEM = "reference"

Reference = str | list[str]
"""A reference answer: a text, or a set of required phrases."""

NOTHING: Mapping[str, Any] = {}
"""No metadata."""


class Rule(NamedTuple):
    """What is declared of a field beside its type and its default.

    `check` takes the value of a row. A field that is `always` written stands in the normal form at its default, too. A
    short text that describes the whole item has a `title`: it is listed among what is known of the item, and its value
    stands beside the scores of files.
    """

    check: Check = checks.anything
    always: bool = False
    title: str = ""


_METADATA = Annotated[Mapping[str, Any], Rule()]
_BOX = Annotated[tuple[float, ...] | None, Rule(checks.box)]
_DOCUMENT = Annotated[str | None, Rule(checks.document_key)]
_PART_KEY = Annotated[str, Rule(checks.part_key, always=True)]


class ItemEvidence(NamedTuple):
    """One unit of evidence. `document` is its key; `pages` count from 1, and so does `hop`, the step it belongs to.

    `box` is [x0, y0, x1, y1] in fractions of the first page, from its top left corner.
    """

    key: _PART_KEY
    kind: Annotated[str, Rule(checks.one_of(EVIDENCE_KINDS, instead="passage"), always=True)] = "passage"
    role: Annotated[str | None, Rule(checks.one_of(EVIDENCE_ROLES))] = None
    document: _DOCUMENT = None
    pages: Annotated[tuple[int, ...], Rule(checks.pages)] = ()
    box: _BOX = None
    text: Annotated[str | None, Rule(checks.text)] = None
    used: Annotated[bool | None, Rule(checks.flag)] = None
    hop: Annotated[int | None, Rule(checks.hop)] = None
    rank: Annotated[int | None, Rule(checks.whole_number(0))] = None
    metadata: _METADATA = NOTHING

    def chosen_by(self) -> ChosenBy:
        """What a criterion can choose it by."""
        return ChosenBy(kind=self.kind, role=self.role, rank=self.rank)


class ItemClaim(NamedTuple):
    """One claim of the answer or (`of` = reference) of a reference answer."""

    key: _PART_KEY
    text: Annotated[str, Rule(checks.statement, always=True)]
    of: Annotated[str, Rule(checks.one_of(CLAIM_SIDES))] = "answer"
    metadata: _METADATA = NOTHING


class ItemImage(NamedTuple):
    """One image of the question, or interleaved in the answer or the reference answer, in its order there.

    `box` is [x0, y0, x1, y1] in fractions of the page; None is the whole page or a document of its own.
    """

    key: _PART_KEY
    document: _DOCUMENT = None
    page: Annotated[int, Rule(checks.whole_number(1))] = 1
    box: _BOX = None
    caption: Annotated[str, Rule(checks.text)] = ""
    metadata: _METADATA = NOTHING

    @property
    def of(self) -> str:
        """What it belongs to: answer, reference or question."""
        return image_side(self.metadata)

    @property
    def name(self) -> str:
        """By what its text has it, as in `![caption](name)`: its key, where the metadata have no `name`."""
        name = self.metadata.get("name")
        return name if name and isinstance(name, str) else self.key


def image_side(metadata: Mapping[str, Any]) -> str:
    """What an image with this metadata belongs to, which they say as `of`: the answer where they do not."""
    side = metadata.get("of")
    return side if side and isinstance(side, str) else "answer"


class ItemHop(NamedTuple):
    """One step of a multi-hop question."""

    key: Annotated[str, Rule(checks.hop_key, always=True)]
    question: Annotated[str, Rule(checks.text, always=True)] = ""
    answer: Annotated[str, Rule(checks.text)] = ""
    metadata: _METADATA = NOTHING


class ItemScore(NamedTuple):
    """A score that came with the item: a value, or None (*unscored*) with the reason. `target` is written out."""

    scorer: Annotated[str, Rule(checks.key, always=True)]
    name: Annotated[str, Rule(checks.key, always=True)]
    value: Annotated[float | None, Rule()] = None
    target: Annotated[str, Rule(checks.text)] = "item"
    parameters: Annotated[Mapping[str, Any], Rule()] = NOTHING
    reason: Annotated[str | None, Rule(checks.text)] = None


class ItemContent(NamedTuple):
    """One version of an item: what it is known by, what it says, and its parts in their order.

    `version_id` is the version's id where it is stored, and no part of what the item says. A reader that was asked for
    some of the parts leaves the others empty.
    """

    id: Annotated[str, Rule(checks.key, always=True)]
    question_key: Annotated[str, Rule(checks.key, always=True)]
    question: Annotated[str, Rule(checks.text, always=True)]
    answer: Annotated[str, Rule(checks.text, always=True)] = ""
    system: Annotated[str, Rule(checks.key, always=True, title="System")] = DEFAULT_SYSTEM
    category: Annotated[str | None, Rule(checks.text_or_none, title="Category")] = None
    language: Annotated[str | None, Rule(checks.text_or_none, title="Language")] = None
    references: Annotated[tuple[Reference, ...], Rule(checks.references)] = ()
    documents: Annotated[tuple[str, ...], Rule(checks.document_keys)] = ()
    evidence: Annotated[tuple[ItemEvidence, ...], Rule()] = ()
    claims: Annotated[tuple[ItemClaim, ...], Rule()] = ()
    images: Annotated[tuple[ItemImage, ...], Rule()] = ()
    hops: Annotated[tuple[ItemHop, ...], Rule()] = ()
    scores: Annotated[tuple[ItemScore, ...], Rule()] = ()
    metadata: _METADATA = NOTHING
    version_id: int = 0

    def weight(self) -> int:
        """Roughly the bytes of its texts, which is what an item takes of memory when it is a large one."""
        texts = [self.question, self.answer]
        for one in self.references:
            texts += [one] if isinstance(one, str) else one
        texts += (unit.text or "" for unit in self.evidence)
        texts += (claim.text for claim in self.claims)
        texts += (image.caption for image in self.images)
        others = [self.metadata]
        for parts in (self.evidence, self.claims, self.images, self.hops):
            others += (part.metadata for part in parts if part.metadata)
        return sum(map(len, texts)) + sum(map(held, others))

    def pages_named(self) -> Iterator[tuple[str, str, int]]:
        """(what points there, key of the document, page) of each page that evidence or an image points at."""
        for unit in self.evidence:
            if unit.document:
                for page in unit.pages:
                    yield f"evidence {unit.key!r}", unit.document, page
        for image in self.images:
            if image.document:
                yield f"images {image.key!r}", image.document, image.page

    def units(self) -> Units:
        """The parts that labels can be about; each document with page 1, as an item says not how many it has."""
        cited = [*(unit.document for unit in self.evidence), *(image.document for image in self.images)]
        return Units(
            evidence=tuple(unit.key for unit in self.evidence),
            claims=tuple(claim.key for claim in self.claims),
            pages=tuple((key, 1) for key in dict.fromkeys((*self.documents, *filter(None, cited)))),
            images=tuple(image.key for image in self.images),
            hops=tuple(hop.key for hop in self.hops),
            answer=self.answer,
            parts={
                **{f"evidence:{unit.key}": unit.chosen_by() for unit in self.evidence},
                **{f"claim:{claim.key}": ChosenBy(claim.of) for claim in self.claims},
                **{f"image:{image.key}": ChosenBy(image.of) for image in self.images},
            },
        )


_A_VALUE = 64
"""Bytes that a short value takes."""


def held(value: Any) -> int:
    """Roughly the bytes that a value takes, with those within it."""
    if isinstance(value, str):
        return _A_VALUE + len(value)
    parts = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    return _A_VALUE + sum(map(held, parts))


class Field(NamedTuple):
    """A declared field: its rule and, from its type and default, what it holds.

    `many`: a tuple; `part`: the type of the parts that the tuple holds. `needed`: it has no default.
    """

    name: str
    rule: Rule
    needed: bool
    default: Any
    many: bool
    part: Any


@cache
def fields_of(declared: Any) -> tuple[Field, ...]:
    """The fields of an item or of a kind of part that are declared with a rule, in the order of the normal form."""
    found = []
    for name, hint in get_type_hints(declared, include_extras=True).items():
        if get_origin(hint) is not Annotated:
            continue
        held, rule = get_args(hint)
        kinds = get_args(held) if get_origin(held) is UnionType else (held,)
        inner = next((get_args(kind)[0] for kind in kinds if get_origin(kind) is tuple), None)
        part = inner if hasattr(inner, "_field_defaults") else None
        defaults = declared._field_defaults
        found.append(Field(name, rule, name not in defaults, defaults.get(name), inner is not None, part))
    return tuple(found)


FIELDS = tuple(field.name for field in fields_of(ItemContent))
"""The fields of an item in their order. Any other field of a row is kept in `metadata`."""

DESCRIBED = tuple((field.name, field.rule.title) for field in fields_of(ItemContent) if field.rule.title)
"""The short texts that describe an item, each with its title."""
