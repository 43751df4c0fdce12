"""Image order: whether the images of the answer are in the order of the reference answer (MRAMG-Bench)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

from pydantic import Field
from rapidfuzz.distance import Levenshtein

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.images import NO_REFERENCE_IMAGES, ImageParameters, answer_images, wanted_images


class ImageOrderParameters(ImageParameters):
    """Costs of the edits. The defaults are from a third-party implementation: the paper gives none."""

    p1: int = Field(3, ge=0, le=1000, description="cost of an image that is missing in the answer")
    p2: int = Field(2, ge=0, le=1000, description="cost of an image that the answer has too many")
    p3: int = Field(1, ge=0, le=1000, description="cost of an image in the place of another")
    p: float = Field(3.0, gt=0, le=1000, description="cost an image at which the score is 0")


class ImageOrder(Scorer[ImageOrderParameters]):
    """1 for the same images in the same order. Unscored when the item does not say which images are wanted."""

    name = "image_order"
    version = "1"
    title = "Image order"
    summary = "The share of wanted images that are there, less what it costs to turn their order into the reference's."
    source = "MRAMG-Bench, section 6.2.2 (weighted edit distance); costs from a third-party implementation."
    values = (ValueKind("image_order", "Image order"),)
    needs = frozenset({Part.IMAGES, Part.EVIDENCE, Part.METADATA})
    parameters = ImageOrderParameters

    def score(self, items: Sequence[ItemContent], parameters: ImageOrderParameters) -> list[list[ScoreValue]]:
        """One value (0 to 1) for each item."""
        return [[self._one(item, parameters)] for item in items]

    def _one(self, item: ItemContent, parameters: ImageOrderParameters) -> ScoreValue:
        wanted = wanted_images(item, parameters.wanted)
        if wanted is None:
            return ScoreValue("image_order", None, NO_REFERENCE_IMAGES)
        value, distance = image_order(answer_images(item), wanted, parameters)
        return ScoreValue("image_order", value, details={"distance": distance})


SCORERS.register(ImageOrder())


def image_order(
    answer: Sequence[Hashable], reference: Sequence[Hashable], parameters: ImageOrderParameters | None = None
) -> tuple[float, int]:
    """The score and the edit distance that turns the answer's images B into the reference's A.

    With n = |A| and m = |B|: |A ∩ B| / n · (1 − min(distance / max(n, m), p) / p), images counted as often as they
    stand there. Both empty: 1. No image in common: 0.
    """
    costs = parameters or ImageOrderParameters()
    distance = Levenshtein.distance(answer, reference, weights=(costs.p1, costs.p2, costs.p3))
    if not answer and not reference:
        return 1.0, 0
    common = (Counter(answer) & Counter(reference)).total()
    if not common:
        return 0.0, distance
    each = min(distance / max(len(answer), len(reference)), costs.p)
    return common / len(reference) * (1 - each / costs.p), distance
