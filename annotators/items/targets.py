"""What a label is about: the item, an evidence unit, a claim, a claim against a unit, a page, an image, a hop …"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache

from annotators.errors import InvalidInput


class TargetKind(StrEnum):
    """The kinds of target; a criterion has one of them."""

    ITEM = "item"
    EVIDENCE = "evidence"
    CLAIM = "claim"
    CLAIM_EVIDENCE = "claim_evidence"
    PAGE = "page"
    IMAGE = "image"
    HOP = "hop"
    PAIR = "pair"


_KEY = r"[^|:\s][^|\s]*"
_FORMS: dict[TargetKind, re.Pattern[str]] = {
    TargetKind.ITEM: re.compile(r"item"),
    TargetKind.PAIR: re.compile(r"pair"),
    TargetKind.EVIDENCE: re.compile(rf"evidence:{_KEY}"),
    TargetKind.CLAIM: re.compile(rf"claim:{_KEY}"),
    TargetKind.CLAIM_EVIDENCE: re.compile(rf"claim:{_KEY}\|evidence:{_KEY}"),
    TargetKind.PAGE: re.compile(r"page:[^|]+:[1-9]\d*(\|hop:[^|\s]+)?"),
    TargetKind.IMAGE: re.compile(rf"image:{_KEY}"),
    TargetKind.HOP: re.compile(r"hop:[^|\s]+"),
}


@lru_cache(20_000)
def target_kind(target: str) -> TargetKind:
    """The kind of a written target (`evidence:e1`, `page:report.pdf:4|hop:h1`, …); InvalidInput if it is none."""
    for kind, form in _FORMS.items():
        if form.fullmatch(target):
            return kind
    raise InvalidInput(
        f"{target!r} is not a target. Write item, evidence:K, claim:K, claim:K|evidence:K, page:DOC:N, "
        "page:DOC:N|hop:H, hop:H, image:K or pair."
    )


@dataclass(frozen=True)
class Units:
    """The parts of one item that labels can be about, by key and in the order they are shown, and its answer."""

    evidence: tuple[str, ...] = ()
    claims: tuple[str, ...] = ()
    pages: tuple[tuple[str, int], ...] = field(default=())
    images: tuple[str, ...] = ()
    hops: tuple[str, ...] = ()
    answer: str = ""

    def targets(self, kind: TargetKind, *, per_hop: bool = False) -> list[str]:
        """Every target of `kind` on this item, written out; with `per_hop` each page once for each hop."""
        match kind:
            case TargetKind.ITEM | TargetKind.PAIR:
                return [kind.value]
            case TargetKind.EVIDENCE:
                return [f"evidence:{key}" for key in self.evidence]
            case TargetKind.CLAIM:
                return [f"claim:{key}" for key in self.claims]
            case TargetKind.CLAIM_EVIDENCE:
                return [f"claim:{claim}|evidence:{unit}" for claim in self.claims for unit in self.evidence]
            case TargetKind.IMAGE:
                return [f"image:{key}" for key in self.images]
            case TargetKind.HOP:
                return [f"hop:{key}" for key in self.hops]
            case TargetKind.PAGE:
                pages = [f"page:{document}:{number}" for document, number in self.pages]
                if per_hop and self.hops:
                    return [f"{page}|hop:{hop}" for hop in self.hops for page in pages]
                return pages
