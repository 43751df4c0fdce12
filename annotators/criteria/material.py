"""What may be put before an annotator, and what of it has to be there before something can be asked about it."""

from __future__ import annotations

from enum import StrEnum

from annotators.items.targets import TargetKind


class Material(StrEnum):
    """What a step may put before the annotator. What is not listed by a step is not sent to the browser."""

    QUESTION = "question"
    HOPS = "hops"
    ANSWER = "answer"
    REFERENCES = "references"
    CLAIMS = "claims"
    EVIDENCE = "evidence"
    DOCUMENTS = "documents"
    IMAGES = "images"
    ROLES = "roles"
    USED = "used"
    PAGE_LABELS = "page_labels"
    SYSTEM = "system"
    SCORES = "scores"
    SUGGESTIONS = "suggestions"


PAIR_MARKS = "pair_marks"
"""Marks of what only one of two answers says, which annotators switch on and off: a submission says which it was."""


NEEDED_BY_TARGET: dict[TargetKind, set[Material]] = {
    TargetKind.ITEM: set(),
    TargetKind.PAIR: set(),
    TargetKind.EVIDENCE: {Material.EVIDENCE},
    TargetKind.CLAIM: {Material.CLAIMS},
    TargetKind.CLAIM_EVIDENCE: {Material.CLAIMS, Material.EVIDENCE},
    TargetKind.CLAIM_CONTEXT: {Material.CLAIMS, Material.EVIDENCE},
    TargetKind.CLAIM_ANSWER: {Material.CLAIMS, Material.ANSWER},
    TargetKind.CLAIM_REFERENCE: {Material.CLAIMS, Material.REFERENCES},
    TargetKind.BLOCK: {Material.ANSWER},
    TargetKind.PAGE: {Material.DOCUMENTS},
    TargetKind.IMAGE: {Material.IMAGES},
    TargetKind.HOP: {Material.HOPS},
}
"""What a step must show (or an earlier one have shown) before a criterion of this target can be asked."""


HELD_AGAINST: dict[TargetKind, Material] = {
    TargetKind.CLAIM_CONTEXT: Material.EVIDENCE,
    TargetKind.CLAIM_ANSWER: Material.ANSWER,
    TargetKind.CLAIM_REFERENCE: Material.REFERENCES,
}
"""What the target of a criterion is judged by, so that nothing can be said where an item has none of it."""

OF_ITEMS = (
    Material.ANSWER, Material.REFERENCES, Material.HOPS, Material.CLAIMS, Material.EVIDENCE, Material.DOCUMENTS,
    Material.IMAGES,
)  # fmt: skip
"""The materials that an item may have or lack: what a criterion can say that it is judged by (`judged_by`)."""

SOURCES = [Material.EVIDENCE, Material.DOCUMENTS]
"""What people look a statement up in: units of evidence, or whole documents."""

TEXT_OF_SIDE: dict[str, Material] = {
    "answer": Material.ANSWER,
    "reference": Material.REFERENCES,
    "question": Material.QUESTION,
}
"""Side of a claim or an image → the text that it belongs to and is shown with."""
