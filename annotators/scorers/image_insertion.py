"""Image insertion: after which sentence of an answer each image belongs, by a rule (MRAMG-Bench)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import exp, log
from typing import TYPE_CHECKING, Literal, TypeAlias

from pydantic import Field

from annotators.items.item import ItemContent, ItemImage
from annotators.items.sentences import sentences
from annotators.later import Later
from annotators.scorers.base import SCORERS, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.embedder import EmbeddingParameters, embedder
from annotators.scorers.shared.words import words

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt
else:
    np = Later("numpy")

Weights: TypeAlias = "npt.NDArray[np.float64]"

_PLACE = re.compile(r"<PIC>|!\[[^\[\]]*\]\(([^()\s]{1,2000})\)")
"""Where an image stands in an answer: `<PIC>` for the next one, or Markdown with its key or document."""

_ORDER = 4
"""n-grams that BLEU looks at."""


class ImageInsertionParameters(EmbeddingParameters):
    """Which sentence and image may go together, and how one sentence is chosen."""

    alpha: float = Field(
        0.1, ge=0, le=1, description="string similarity (BLEU) above which a sentence may have the image"
    )
    beta: float = Field(0.3, ge=-1, le=1, description="semantic similarity (cosine) above which it may")
    weight: float = Field(0.5, ge=0, le=1, description="share of the string similarity in the weight (λ)")
    method: Literal["matching", "best"] = Field(
        "matching", description="maximum-weight matching, one image a sentence at most, or each image's best sentence"
    )


class ImageInsertion(Scorer[ImageInsertionParameters]):
    """Agreement of the rule with the answer. Unscored without images that have captions, or without their places."""

    name = "image_insertion"
    version = "1"
    title = "Image insertion"
    summary = "The share of the answer's images that stand after the sentence where a rule would put them."
    source = "MRAMG-Bench, section 5.2.3; thresholds and λ are ours, since the paper gives none."
    values = (
        ValueKind("image_insertion", "Image insertion"),
        ValueKind("images_placed", "Images placed by the rule", merit=False),
    )
    needs = frozenset({Part.IMAGES})
    uses_model = True
    parameters = ImageInsertionParameters

    def score(self, items: Sequence[ItemContent], parameters: ImageInsertionParameters) -> list[list[ScoreValue]]:
        """For each item the share of images where the rule agrees and the share that it places; details: where."""
        return [self._one(item, parameters) for item in items]

    def _one(self, item: ItemContent, parameters: ImageInsertionParameters) -> list[ScoreValue]:
        images = [image for image in item.images if image.of == "answer"]
        text, places = placed_images(item.answer, images)
        parts = sentences(text)
        reason = None
        if not images:
            reason = "the answer has no images"
        elif not parts:
            reason = "the answer has no sentence"
        elif not any(image.caption.strip() for image in images):
            reason = "no image has a caption to compare with the sentences"
        if reason is not None:
            return [ScoreValue(kind.name, None, reason) for kind in self.values]
        placements = suggest_placements(parts, images, parameters)
        suggested = {placement.image: placement.sentence for placement in placements}
        details = {
            "suggested": {
                placement.image: [placement.sentence, round(placement.weight, 4)] for placement in placements
            },
            "in_answer": places,
        }
        share = ScoreValue("images_placed", len(suggested) / len(images))
        if not places:
            reason = "the answer does not mark where its images stand (<PIC> or ![…](key))"
            return [ScoreValue("image_insertion", None, reason, details=details), share]
        same = sum(suggested.get(key) == sentence for key, sentence in places.items())
        return [ScoreValue("image_insertion", same / len(places), details=details), share]


SCORERS.register(ImageInsertion())


@dataclass(frozen=True, slots=True)
class Placement:
    """An image (its key) and the sentence that it goes after (numbered from 1), with the weight of the two."""

    image: str
    sentence: int
    weight: float


def suggest_placements(
    parts: Sequence[str], images: Sequence[ItemImage], parameters: ImageInsertionParameters | None = None
) -> list[Placement]:
    """Where the rule puts each image among the sentences `parts`; images without a caption or an edge are left out.

    An edge joins sentence and image if BLEU > alpha or cosine > beta; its weight is weight · BLEU + (1 − weight) ·
    cosine. `matching` chooses the edges of greatest total weight with each sentence and image once (SciPy), `best` each
    image's heaviest edge. MRAMG-Bench, section 5.2.3, equations 1 and 2. Loads the model.
    """
    given = parameters or ImageInsertionParameters()
    captioned = [image for image in images if image.caption.strip()]
    if not parts or not captioned:
        return []
    captions = [image.caption for image in captioned]
    tokens, of_captions = [words(part) for part in parts], [words(caption) for caption in captions]
    alpha = np.array([[bleu(sentence, caption) for caption in of_captions] for sentence in tokens])
    vectors = embedder(given.model).sentences([*parts, *captions]).astype(np.float64)
    beta = vectors[: len(parts)] @ vectors[len(parts) :].T
    edges = (alpha > given.alpha) | (beta > given.beta)
    weights = np.where(edges, given.weight * alpha + (1 - given.weight) * beta, -np.inf)
    chosen = _matching(weights) if given.method == "matching" else _best(weights)
    return [
        Placement(captioned[image].key, sentence + 1, float(weights[sentence, image])) for sentence, image in chosen
    ]


def placed_images(answer: str, images: Sequence[ItemImage]) -> tuple[str, dict[str, int]]:
    """The answer without its marks, and for each marked image the number of the sentence before it (0: none)."""
    keys = {image.key: image.key for image in images} | {
        image.document: image.key for image in images if image.document
    }
    unmarked = iter([image.key for image in images])
    text, places, end = "", {}, 0
    for mark in _PLACE.finditer(answer):
        text += answer[end : mark.start()]
        end = mark.end()
        key = keys.get(mark[1]) if mark[1] else next(unmarked, None)
        if key is not None:
            places[key] = len(sentences(text))
    return text + answer[end:], places


def bleu(sentence: Sequence[str], caption: Sequence[str]) -> float:
    """BLEU of the caption's words against the sentence as the reference, with n-grams of 1 to 4 words.

    Papineni et al. 2002. An n-gram order without a match counts as 0.1 matches (Chen and Cherry 2014, method 1); no
    word in common is 0.
    """
    if not sentence or not caption:
        return 0.0
    logs = 0.0
    for n in range(1, _ORDER + 1):
        have, want = _grams(caption, n), _grams(sentence, n)
        matches = (have & want).total()
        if n == 1 and not matches:
            return 0.0
        logs += log((matches or 0.1) / max(have.total(), 1)) / _ORDER
    brevity = 1.0 if len(caption) > len(sentence) else exp(1 - len(sentence) / len(caption))
    return brevity * exp(logs)


def _grams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[at : at + n]) for at in range(len(tokens) - n + 1))


def _best(weights: Weights) -> list[tuple[int, int]]:
    rows = weights.argmax(axis=0)
    return [(int(row), image) for image, row in enumerate(rows) if np.isfinite(weights[row, image])]


def _matching(weights: Weights) -> list[tuple[int, int]]:
    from scipy.optimize import linear_sum_assignment  # noqa: PLC0415 - scorers are listed without it

    gains = np.where(np.isfinite(weights), np.maximum(weights, 0), 0)
    rows, columns = linear_sum_assignment(gains, maximize=True)
    pairs = [(int(row), int(column)) for row, column in zip(rows, columns, strict=True) if weights[row, column] > 0]
    return sorted(pairs, key=lambda pair: pair[1])
