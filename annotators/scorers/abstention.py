"""Abstention: whether an answer states something or declines, by its nearest labelled example (FATHOMS-RAG)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Literal

import numpy as np
from pydantic import Field

from annotators.scorers.embedder import BUNDLED, Vectors, embedder
from annotators.scorers.training_sets import AnswerLabel, TrainingSet, find_training_set, starting_hash
from annotators.scorers.words import words
from annotators.scoring import SCORERS, ItemView, Parameters, Scorer, ScoreValue, ValueKind

EMPTY = "the answer is empty"

ComparedText = Literal["without_question", "answer"]

_RUN = re.compile(r"\w[\w'’-]*")
_FUNCTION_WORDS = frozenset(
    word
    for line in (
        "a an the of in on at to for from by with and or not no do does did is are was were be been it its this that",
        "these those what which who whom whose how why when where as if than then there their they you i we he she can",
        "could may might will would should have has had",
    )
    for word in line.split()
)


class AbstentionParameters(Parameters):
    """Which labelled examples, which embedding model, and what is compared. The paper's: text=answer and reach=2."""

    training_set: str = Field(
        default_factory=starting_hash, pattern="^[0-9a-f]{64}$", description="SHA-256 of the labelled examples"
    )
    model: str = Field(
        BUNDLED, min_length=1, description="sentence-transformers model, by name or folder, on this machine"
    )
    text: ComparedText = Field(
        "without_question", description="leave out the question's words, which say nothing of stating or declining"
    )
    reach: float = Field(
        0.6, ge=0, le=2, description="cosine distance up to which an example of declining counts; 2 is everywhere"
    )


class Abstention(Scorer[AbstentionParameters]):
    """1 when the nearest example is an abstention. An empty answer is unscored."""

    name = "abstention"
    version = "1"
    title = "Abstention"
    summary = "1 when the answer declines to answer, 0 when it states something: as its nearest labelled example does."
    source = "FATHOMS-RAG, section III.C (nearest neighbour over sentence embeddings, cosine distance)."
    values = (ValueKind("abstention", "Abstention", "flag"),)
    uses_model = True
    parameters = AbstentionParameters

    def score(self, items: Sequence[ItemView], parameters: AbstentionParameters) -> list[list[ScoreValue]]:
        """One flag for each item, with the nearest example's label, text and cosine distance (0 to 2)."""
        return [[_score(one)] for one in classify(items, parameters)]

    def resources(self, parameters: AbstentionParameters) -> tuple[str, ...]:
        """The training set, unless it is the one that comes with the program."""
        return training_set_resource(parameters.training_set)


SCORERS.register(Abstention())


def training_set_resource(digest: str) -> tuple[str, ...]:
    """What a worker has to be given to know this training set."""
    return () if digest == starting_hash() else (digest,)


@dataclass(frozen=True, slots=True)
class Neighbour:
    """The nearest example of an answer. Distances are cosine distances, 0 to 2; `other_distance` is that of the nearest
    example with the other label, infinite when none is within reach."""

    label: AnswerLabel
    text: str
    distance: float
    other_distance: float

    def details(self) -> dict[str, object]:
        """As it is stored with a score."""
        return {
            "label": self.label,
            "nearest": self.text,
            "distance": round(self.distance, 6),
            "other_distance": round(self.other_distance, 6) if isfinite(self.other_distance) else None,
        }


def classify(items: Sequence[ItemView], parameters: AbstentionParameters) -> list[Neighbour | None]:
    """The nearest example of each item's answer, None for an empty answer.

    Raises NotFound for an unknown training set, InvalidInput for a model that is not on this machine.
    """
    classifier = _classifier(parameters.training_set, parameters.model)
    texts = [compared_text(item.question, item.answer, parameters.text) for item in items if item.answer.strip()]
    found = iter(classifier.nearest(embedder(parameters.model).sentences(texts), parameters.reach))
    return [next(found) if item.answer.strip() else None for item in items]


def compared_text(question: str, answer: str, text: ComparedText) -> str:
    """What is embedded of an answer: all of it, or what it says beside the words of the question.

    An answer repeats the question's words whether it states or declines; left in, they draw it to examples of the same
    topic. Function words stay. Where nothing is left, or `text` is answer, it is the answer itself.
    """
    asked = set(words(question)) - _FUNCTION_WORDS if text == "without_question" else set()
    if not asked:
        return answer
    left = _RUN.sub(lambda run: "" if asked.issuperset(words(run[0])) else run[0], answer)
    return " ".join(left.split()) if words(left) else answer


class Classifier:
    """A training set with the embeddings of its examples."""

    def __init__(self, training_set: TrainingSet, vectors: Vectors) -> None:
        self.examples = training_set.examples
        self.vectors = vectors
        self.abstains = np.array([one.label == "abstention" for one in self.examples])

    def nearest(self, vectors: Vectors, reach: float = 2.0, *, leave_out_own: bool = False) -> list[Neighbour]:
        """The nearest example of each unit vector (rows); of equally near ones the first.

        An abstention farther away than `reach` does not count: there are few ways to decline, so what resembles none of
        them states something, whatever it is about. `leave_out_own`: row i is not compared with example i.
        """
        similarity = vectors @ self.vectors.T
        if leave_out_own:
            np.fill_diagonal(similarity, -np.inf)
        similarity[:, self.abstains] = np.where(
            similarity[:, self.abstains] >= 1 - reach, similarity[:, self.abstains], -np.inf
        )
        rows = np.arange(len(similarity))
        best = similarity.argmax(axis=1)
        others = np.where(self.abstains[best, None] != self.abstains, similarity, -np.inf).max(axis=1, initial=-np.inf)
        return [
            Neighbour(self.examples[index].label, self.examples[index].text, _distance(near), _distance(other))
            for index, near, other in zip(best, similarity[rows, best], others, strict=True)
        ]


def _distance(similarity: float) -> float:
    return max(0.0, 1.0 - float(similarity))


@lru_cache(maxsize=4)
def _classifier(digest: str, model: str) -> Classifier:
    training_set = find_training_set(digest)
    return Classifier(training_set, embedder(model).sentences([one.text for one in training_set.examples]))


def _score(found: Neighbour | None) -> ScoreValue:
    if found is None:
        return ScoreValue("abstention", None, EMPTY)
    return ScoreValue("abstention", float(found.label == "abstention"), details=found.details())
