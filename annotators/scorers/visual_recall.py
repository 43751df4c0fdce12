"""Visual recall: the share of the gold images that were retrieved."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Parameters, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.images import evidence_identity, place_of, wanted_images


class VisualRecallParameters(Parameters):
    """How many of the retrieved units count."""

    k: int = Field(10, ge=1, le=10_000, description="how many of the retrieved units count, by rank")


class VisualRecall(Scorer[VisualRecallParameters]):
    """Gold images are figures among the gold evidence, else the reference answer's. Without one unscored."""

    name = "visual_recall"
    version = "1"
    title = "Visual recall"
    summary = "The share of gold images that are among the first k retrieved units."
    source = "MRAMG-Bench, section 6.2.1 (Visual Recall@10)."
    values = (ValueKind("visual_recall", "Visual recall"),)
    needs = frozenset({Part.EVIDENCE, Part.IMAGES})
    parameters = VisualRecallParameters

    def score(self, items: Sequence[ItemContent], parameters: VisualRecallParameters) -> list[list[ScoreValue]]:
        """One share (0 to 1) for each item."""
        return [[_recall(item, parameters.k)] for item in items]


SCORERS.register(VisualRecall())


def _recall(item: ItemContent, k: int) -> ScoreValue:
    wanted = wanted_images(item, "gold_evidence") or wanted_images(item, "reference_images") or []
    gold = {place_of(image) for image in wanted}
    if not gold:
        return ScoreValue("visual_recall", None, "the item has no gold image")
    ranked = [unit for unit in item.evidence if unit.rank is not None or unit.role == "retrieved"]
    if not ranked:
        return ScoreValue("visual_recall", None, "the item has no retrieved evidence")
    ranked.sort(key=lambda unit: (unit.rank is None, unit.rank or 0))
    units = list(dict.fromkeys(place_of(evidence_identity(unit)) for unit in ranked))[:k]
    found = gold & set(units)
    return ScoreValue("visual_recall", len(found) / len(gold), details={"gold": len(gold), "found": len(found)})
