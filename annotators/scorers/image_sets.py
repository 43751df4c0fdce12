"""Image precision, recall and F1: the images of the answer against those of the reference answer, as sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.images import NO_REFERENCE_IMAGES, ImageParameters, answer_images, wanted_images
from annotators.scorers.shared.references import f_measure


class _OfImageSets(Scorer[ImageParameters]):
    """What the three have in common. Unscored when the item does not say which images are wanted."""

    version = "1"
    source = "MRAMG-Bench, section 6.2.2."
    needs = frozenset({Part.IMAGES, Part.EVIDENCE, Part.METADATA})
    parameters = ImageParameters
    place: ClassVar[int]

    def score(self, items: Sequence[ItemContent], parameters: ImageParameters) -> list[list[ScoreValue]]:
        """One share (0 to 1) for each item, with the numbers of images."""
        return [[self._one(item, parameters)] for item in items]

    def _one(self, item: ItemContent, parameters: ImageParameters) -> ScoreValue:
        wanted = wanted_images(item, parameters.wanted)
        if wanted is None:
            return ScoreValue(self.name, None, NO_REFERENCE_IMAGES)
        shown, right = set(answer_images(item)), set(wanted)
        value = image_measures(len(shown), len(right), len(shown & right))[self.place]
        if value is None:
            return ScoreValue(self.name, None, "the answer has no image, so none of its images can be right or wrong")
        details = {"in_answer": len(shown), "in_reference": len(right), "in_both": len(shown & right)}
        return ScoreValue(self.name, value, details=details)


class ImagePrecision(_OfImageSets):
    """Right images of the answer / images of the answer."""

    name = "image_precision"
    title = "Image precision"
    summary = "The share of the answer's images that the reference answer has."
    values = (ValueKind("image_precision", "Image precision"),)
    place = 0


class ImageRecall(_OfImageSets):
    """Right images of the answer / images of the reference answer."""

    name = "image_recall"
    title = "Image recall"
    summary = "The share of the reference answer's images that the answer has."
    values = (ValueKind("image_recall", "Image recall"),)
    place = 1


class ImageF1(_OfImageSets):
    """Harmonic mean of image precision and recall."""

    name = "image_f1"
    title = "Image F1"
    summary = "Harmonic mean of image precision and image recall."
    values = (ValueKind("image_f1", "Image F1"),)
    place = 2


for _scorer in (ImagePrecision(), ImageRecall(), ImageF1()):
    SCORERS.register(_scorer)


def image_measures(shown: int, wanted: int, both: int) -> tuple[float | None, float, float]:
    """Precision, recall and F1 from the sizes of the two sets and of what they share.

    Both empty: all 1. Nothing shown though something is wanted: precision undefined (None), recall and F1 0. Something
    shown though nothing is wanted: all 0.
    """
    if not shown and not wanted:
        return 1.0, 1.0, 1.0
    if not shown:
        return None, 0.0, 0.0
    if not wanted:
        return 0.0, 0.0, 0.0
    precision, recall = both / shown, both / wanted
    return precision, recall, f_measure(precision, recall)
