"""Ratings of interleaved answers by people or a judge: relevance, effectiveness, position of images, and the whole."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from annotators.figures import count
from annotators.items.item import ItemContent
from annotators.items.targets import TargetKind
from annotators.scorers.base import SCORERS, LabelledParameters, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.ratings import RatingLabels, named, ratings_of


class RatingParameters(LabelledParameters):
    """Nothing to set: whose ratings they are is said with the study."""


class _MeanRating(Scorer[RatingParameters]):
    """What the four have in common: the mean of the ratings of `criteria`, as a share of their scale.

    Unscored while an image of the answer has no rating: a mean of the others would be another thing.
    """

    version = "1"
    source = "MRAMG-Bench, section 6.2.2 (a score of 0 to 100 there is 0 to 1 here)."
    needs = frozenset({Part.IMAGES, Part.METADATA})
    parameters = RatingParameters
    target: ClassVar[TargetKind]
    criteria: ClassVar[tuple[str, ...]]

    def score(self, items: Sequence[ItemContent], parameters: RatingParameters) -> list[list[ScoreValue]]:
        """One share (0 to 1) for each item; its details name criterion, source, scale and the number of ratings."""
        del parameters
        return [[self._one(item)] for item in items]

    def _one(self, item: ItemContent) -> ScoreValue:
        images = [f"image:{image.key}" for image in item.images if image.of == "answer"]
        targets = ["item"] if self.target == TargetKind.ITEM else images
        if not targets:
            return ScoreValue(self.name, None, "the answer has no image")
        given = {rating.target: rating for rating in ratings_of(item) if rating.criterion in self.criteria}
        if not given:
            wanted = "take the labels of a study that rates it, with --labels-of"
            return ScoreValue(self.name, None, f"it has no rating: {wanted}")
        shares = [given[target].share for target in targets if target in given]
        rated = [share for share in shares if share is not None]
        if len(rated) < len(targets):
            if self.target == TargetKind.ITEM:
                return ScoreValue(self.name, None, "its rating is open")
            missing = len(targets) - len(rated)
            return ScoreValue(
                self.name, None, f"{missing} of {count(len(targets), 'image')} of the answer have no rating"
            )
        first = next(iter(given.values()))
        details = {
            "criterion": first.criterion, "by": first.source, "low": first.low, "high": first.high,
            "ratings": len(rated),
        }  # fmt: skip
        return ScoreValue(self.name, sum(rated) / len(rated), details=details)


class ImageRelevance(_MeanRating):
    """Do the images belong to what is asked and answered."""

    name = "image_relevance"
    title = "Image relevance"
    summary = "How relevant the answer's images are, as people or a judge rate them."
    values = (ValueKind("image_relevance", "Image relevance"),)
    target = TargetKind.IMAGE
    criteria = ("relevance", "image_relevance")
    labels = RatingLabels("a rating of each image of the answer, called relevance or image_relevance",
                          named(TargetKind.IMAGE, criteria))  # fmt: skip


class ImageEffectiveness(_MeanRating):
    """Does one understand or do it better with the images."""

    name = "image_effectiveness"
    title = "Image effectiveness"
    summary = "How much the answer's images help, as people or a judge rate them."
    values = (ValueKind("image_effectiveness", "Image effectiveness"),)
    target = TargetKind.IMAGE
    criteria = ("effectiveness", "image_effectiveness")
    labels = RatingLabels("a rating of each image of the answer, called effectiveness or image_effectiveness",
                          named(TargetKind.IMAGE, criteria))  # fmt: skip


class ImagePosition(_MeanRating):
    """Do the images stand where they are needed."""

    name = "image_position"
    title = "Image position"
    summary = "The share of the answer's images that are placed well, or how well they are, by people or a judge."
    values = (ValueKind("image_position", "Image position"),)
    target = TargetKind.IMAGE
    criteria = ("placed_well", "position", "image_position")
    labels = RatingLabels("for each image of the answer whether it is placed_well, or a rating called image_position",
                          named(TargetKind.IMAGE, criteria))  # fmt: skip


class Comprehensive(_MeanRating):
    """Text and images as one answer."""

    name = "comprehensive"
    title = "Comprehensive score"
    summary = "How good text and images are as one answer, as people or a judge rate it."
    values = (ValueKind("comprehensive", "Comprehensive score"),)
    target = TargetKind.ITEM
    criteria = ("overall", "comprehensive")
    labels = RatingLabels("one rating of the whole answer, called overall or comprehensive",
                          named(TargetKind.ITEM, criteria))  # fmt: skip


for _scorer in (ImageRelevance(), ImageEffectiveness(), ImagePosition(), Comprehensive()):
    SCORERS.register(_scorer)
