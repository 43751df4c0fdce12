"""Images of an item by what they show: those of the answer, of the reference answer, gold and retrieved ones."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Literal

from pydantic import Field

from annotators.items.item import ItemContent, ItemEvidence, ItemImage
from annotators.scorers.base import Parameters

Wanted = Literal["auto", "reference_images", "gold_evidence"]

NO_REFERENCE_IMAGES = "the item does not say which images its reference answer has"


class ImageParameters(Parameters):
    """Where the images that the answer should have are from."""

    wanted: Wanted = Field(
        "auto", description="the reference answer's images, figures of the gold evidence, or the first that there are"
    )


def image_identity(image: ItemImage) -> Hashable:
    """What makes two images the same: document, page and box; without a document the key."""
    return (image.document, image.page, image.box) if image.document is not None else image.key


def evidence_identity(evidence: ItemEvidence) -> Hashable:
    """The same for a figure among the evidence: document and first page; without these the key."""
    return (evidence.document, evidence.pages[0], None) if evidence.document and evidence.pages else evidence.key


def place_of(identity: Hashable) -> Hashable:
    """An image by document and page alone, as retrieval is compared; without a document the key."""
    return identity[:2] if isinstance(identity, tuple) else identity


def answer_images(item: ItemContent) -> list[Hashable]:
    """The images of the answer in their order."""
    return [image_identity(image) for image in item.images if image.of == "answer"]


def wanted_images(item: ItemContent, wanted: Wanted) -> list[Hashable] | None:
    """The images that the answer should have, in order; None when the item does not say.

    `reference_images`: those of the reference answer (`of` = reference). `gold_evidence`: figures among the gold
    evidence. `auto`: the former if there are any, else the latter. An item whose metadata has `"reference_images": 0`
    says that it wants none.
    """
    of_reference = [image_identity(image) for image in item.images if image.of == "reference"]
    if of_reference and wanted != "gold_evidence":
        return of_reference
    if wanted != "reference_images":
        gold = [evidence_identity(figure) for figure in gold_figures(item.evidence)]
        if gold:
            return gold
    return [] if item.metadata.get("reference_images") in (0, []) else None


def gold_figures(evidence: Sequence[ItemEvidence]) -> list[ItemEvidence]:
    """The figures among the gold evidence."""
    return [unit for unit in evidence if unit.role == "gold" and unit.kind == "figure"]
