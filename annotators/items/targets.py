"""What a label is about: the item, or a part of it, or a claim against something, or a pair; and which of its parts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from annotators.errors import InvalidInput
from annotators.items.blocks import blocks_of


class TargetKind(StrEnum):
    """The kinds of target; a criterion has one of them.

    A claim by itself, against each evidence unit, or against all evidence at once (`context`), the answer, the
    reference. A block is a paragraph of the answer.
    """

    ITEM = "item"
    EVIDENCE = "evidence"
    CLAIM = "claim"
    CLAIM_EVIDENCE = "claim_evidence"
    CLAIM_CONTEXT = "claim_context"
    CLAIM_ANSWER = "claim_answer"
    CLAIM_REFERENCE = "claim_reference"
    BLOCK = "block"
    PAGE = "page"
    IMAGE = "image"
    HOP = "hop"
    PAIR = "pair"


AGAINST: Mapping[TargetKind, str] = {
    TargetKind.CLAIM_CONTEXT: "context",
    TargetKind.CLAIM_ANSWER: "answer",
    TargetKind.CLAIM_REFERENCE: "reference",
}
"""What a claim is held against as a whole, as it is written in its target: `claim:c1|context`."""

OF_CLAIMS = frozenset({TargetKind.CLAIM, TargetKind.CLAIM_EVIDENCE, *AGAINST})
OF_EVIDENCE = frozenset({TargetKind.EVIDENCE, TargetKind.CLAIM_EVIDENCE})
BY_EVIDENCE = frozenset({*OF_EVIDENCE, TargetKind.CLAIM_CONTEXT})
"""Targets that are units of evidence, or held against all of it at once: a criterion may choose which evidence."""

OTHER_SIDE: Mapping[TargetKind, str] = {TargetKind.CLAIM_ANSWER: "reference", TargetKind.CLAIM_REFERENCE: "answer"}
"""Whose claims are held against a text: those of the other one."""

_KEY = r"[^|:\s][^|\s]*"
_FORMS: dict[TargetKind, re.Pattern[str]] = {
    TargetKind.ITEM: re.compile(r"item"),
    TargetKind.PAIR: re.compile(r"pair"),
    TargetKind.EVIDENCE: re.compile(rf"evidence:{_KEY}"),
    TargetKind.CLAIM: re.compile(rf"claim:{_KEY}"),
    TargetKind.CLAIM_EVIDENCE: re.compile(rf"claim:{_KEY}\|evidence:{_KEY}"),
    TargetKind.CLAIM_CONTEXT: re.compile(rf"claim:{_KEY}\|context"),
    TargetKind.CLAIM_ANSWER: re.compile(rf"claim:{_KEY}\|answer"),
    TargetKind.CLAIM_REFERENCE: re.compile(rf"claim:{_KEY}\|reference"),
    TargetKind.BLOCK: re.compile(r"block:[1-9]\d{0,5}"),
    TargetKind.PAGE: re.compile(r"page:[^|]+:[1-9]\d*(\|hop:[^|\s]+)?"),
    TargetKind.IMAGE: re.compile(rf"image:{_KEY}"),
    TargetKind.HOP: re.compile(r"hop:[^|\s]+"),
}

WRITTEN: Mapping[TargetKind, str] = {
    TargetKind.ITEM: "item",
    TargetKind.EVIDENCE: "evidence:K",
    TargetKind.CLAIM: "claim:K",
    TargetKind.CLAIM_EVIDENCE: "claim:K|evidence:K",
    TargetKind.CLAIM_CONTEXT: "claim:K|context",
    TargetKind.CLAIM_ANSWER: "claim:K|answer",
    TargetKind.CLAIM_REFERENCE: "claim:K|reference",
    TargetKind.BLOCK: "block:N",
    TargetKind.PAGE: "page:DOC:N, page:DOC:N|hop:H",
    TargetKind.HOP: "hop:H",
    TargetKind.IMAGE: "image:K",
    TargetKind.PAIR: "pair",
}
"""How a target of each kind is written, with the key K of the part, or its number N."""


@lru_cache(20_000)
def target_kind(target: str) -> TargetKind:
    """The kind of a written target (`evidence:e1`, `page:report.pdf:4|hop:h1`, …); InvalidInput if it is none."""
    for kind, form in _FORMS.items():
        if form.fullmatch(target):
            return kind
    forms = list(WRITTEN.values())
    raise InvalidInput(f"{target!r} is not a target. Write {', '.join(forms[:-1])} or {forms[-1]}.")


MODALITIES: Mapping[str, str] = {"passage": "text", "table": "text", "figure": "image", "page": "image"}
"""Kind of evidence → what one takes it in as: read, or looked at."""


class ChosenBy(NamedTuple):
    """What a criterion can choose a part of an item by: the side of a claim or image; kind, role, rank of evidence."""

    of: str = "answer"
    kind: str = "passage"
    role: str | None = None
    rank: int | None = None


_PLAIN = ChosenBy()

Parts = Mapping[str, ChosenBy]
"""A written part (`claim:c1`, `evidence:e2`) → what it can be chosen by, in the order of the item; others are plain."""


@dataclass(frozen=True)
class Chosen:
    """Which parts are meant: those of a side, of these kinds and roles, so many of each modality. Empty: all."""

    of: str | None = None
    kinds: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    per_modality: int | None = None

    def of_side(self, parts: Parts, names: Iterable[str]) -> list[str]:
        """Those of these claims or images that are of the side."""
        return [name for name in names if self.of is None or parts.get(name, _PLAIN).of == self.of]

    def of_evidence(self, parts: Parts, names: Iterable[str]) -> list[str]:
        """Those of these evidence units that are of the kinds and roles; of each modality the first by rank.

        Where ranks are equal, or there are none, the order of the item decides, whatever that of `names`.
        """
        kept = []
        for name in names:
            part = parts.get(name, _PLAIN)
            if (not self.kinds or part.kind in self.kinds) and (not self.roles or part.role in self.roles):
                kept.append(name)
        if self.per_modality is None:
            return kept
        place = {name: number for number, name in enumerate(parts)}
        n: Counter[str] = Counter()
        first = set()
        for name in sorted(kept, key=lambda name: (*_by_rank(parts.get(name, _PLAIN)), place.get(name, 0))):
            modality = MODALITIES[parts.get(name, _PLAIN).kind]
            n[modality] += 1
            if n[modality] <= self.per_modality:
                first.add(name)
        return [name for name in kept if name in first]


ALL_PARTS = Chosen()


def _by_rank(part: ChosenBy) -> tuple[bool, int]:
    """A part without a rank comes last."""
    return part.rank is None, part.rank or 0


@dataclass(frozen=True)
class Units:
    """The parts of one item that labels can be about, by key and in the order they are shown, and its answer.

    `asks` names the criteria that are asked of the item at all, as only some are where it is judged again; None: all.
    """

    evidence: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    pages: tuple[tuple[str, int], ...] = field(default=())
    images: tuple[str, ...] = ()
    hops: tuple[str, ...] = ()
    answer: str = ""
    parts: Parts = field(default_factory=dict)
    asks: frozenset[str] | None = None

    def side_of(self, part: str) -> str:
        """Whose a claim or an image is."""
        return self.parts.get(part, _PLAIN).of

    def targets(self, kind: TargetKind, *, per_hop: bool = False, chosen: Chosen = ALL_PARTS) -> list[str]:
        """Every target of `kind` on this item that is chosen, written out; with `per_hop` each page once for a hop."""
        match kind:
            case TargetKind.ITEM | TargetKind.PAIR:
                return [kind.value]
            case TargetKind.EVIDENCE:
                return self._evidence(chosen)
            case TargetKind.CLAIM:
                return self._claims(chosen)
            case TargetKind.CLAIM_EVIDENCE:
                units = self._evidence(chosen)
                return [f"{claim}|{unit}" for claim in self._claims(chosen) for unit in units]
            case TargetKind.CLAIM_CONTEXT | TargetKind.CLAIM_ANSWER | TargetKind.CLAIM_REFERENCE:
                return [f"{claim}|{AGAINST[kind]}" for claim in self._claims(chosen)]
            case TargetKind.BLOCK:
                return [f"block:{number}" for number, _ in enumerate(blocks_of(self.answer), 1)]
            case TargetKind.IMAGE:
                return chosen.of_side(self.parts, (f"image:{key}" for key in self.images))
            case TargetKind.HOP:
                return [f"hop:{key}" for key in self.hops]
            case TargetKind.PAGE:
                pages = [f"page:{document}:{number}" for document, number in self.pages]
                if per_hop and self.hops:
                    return [f"{page}|hop:{hop}" for hop in self.hops for page in pages]
                return pages

    def _claims(self, chosen: Chosen) -> list[str]:
        return chosen.of_side(self.parts, (f"claim:{key}" for key in self.claims))

    def _evidence(self, chosen: Chosen) -> list[str]:
        return chosen.of_evidence(self.parts, (f"evidence:{key}" for key in self.evidence))
