"""The classifier of answers: what states something and what declines, by the nearest labelled example (FATHOMS-RAG)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.later import Later
from annotators.scorers.base import Parameters
from annotators.scorers.shared.abstaining.training_sets import (
    AnswerLabel,
    TrainingSet,
    find_training_set,
    starting_hash,
)
from annotators.scorers.shared.embedder import Vectors, embedder
from annotators.scorers.shared.offered_models import BUNDLED
from annotators.scorers.shared.words import words

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

ComparedText = Literal["opening", "without_question", "answer"]

OPENING = 20
"""Words of an answer, as parted by white space, that `opening` compares."""

FORM_SHARE = 0.6
"""What the form counts for in `opening`; the words count for the rest."""

_RUN = re.compile(r"\w[\w'’-]*")
_IT_AND_IT = re.compile(r"\bit(?:\W+it\b)+")
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
        "opening",
        description="what is compared: how the answer begins, by its words and its form; the answer without the "
        "question's words; or all of it",
    )
    reach: float = Field(
        0.5, ge=0, le=2, description="cosine distance up to which an example of declining counts; 2 is everywhere"
    )


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


def classify(items: Sequence[ItemContent], parameters: AbstentionParameters) -> list[Neighbour | None]:
    """The nearest example of each item's answer, None for an empty answer.

    Raises NotFound for an unknown training set, InvalidInput for a model that is not on this machine.
    """
    known = classifier(parameters.training_set, parameters.model, parameters.text)
    answers = [(item.question, item.answer) for item in items if item.answer.strip()]
    (vectors,) = answer_vectors(answers, [known.training_set], parameters.model, parameters.text)
    found = iter(known.nearest(vectors, parameters.reach))
    return [next(found) if item.answer.strip() else None for item in items]


def compared_text(question: str, answer: str, text: ComparedText) -> str:
    """The words that are compared: all of the answer, or what it says beside the question's words, all or first of it.

    An answer repeats the question's words whether it states or declines; left in, they draw it to examples of the same
    topic. Function words stay. Where nothing is left the words of the question stay, too.
    """
    if text == "opening":
        answer = opening(answer)
    asked = set() if text == "answer" else set(words(question)) - _FUNCTION_WORDS
    if not asked:
        return answer
    left = _RUN.sub(lambda run: "" if asked.issuperset(words(run[0])) else run[0], answer)
    return " ".join(left.split()) if words(left) else answer


def opening(answer: str) -> str:
    """How an answer begins: its first OPENING words, all of one that has no more."""
    ends = [run.end() for run in islice(re.finditer(r"\S+", answer), OPENING)]
    return answer[: ends[-1]] if ends else answer


def form(text: str, known: frozenset[str]) -> str:
    """How a text says it, whatever it is about: every word that is not among `known` is "it", several in a row are one.

    With the words of declining, "The passage does not name the architect." is "The passage does not name the it."
    """
    left = _RUN.sub(lambda run: run[0] if known.issuperset(words(run[0])) else "it", text)
    return _IT_AND_IT.sub("it", " ".join(left.split()))


def answer_vectors(
    answers: Sequence[tuple[str, str]], sets: Sequence[TrainingSet], model: str, text: ComparedText
) -> list[Vectors]:
    """For each training set the unit vectors (rows) in which questions' answers are compared with its examples.

    For `opening` a vector is the embedding of the form beside that of the words, so that a cosine of two of them is
    FORM_SHARE · cos(forms) + (1 − FORM_SHARE) · cos(words). The form depends on the set: its words of declining. By a
    set without any, because it is tiny, the words alone are compared.
    """
    texts = [compared_text(question, answer, text) for question, answer in answers]
    if text != "opening":
        return [embedder(model).sentences(texts)] * len(sets)
    openings = [opening(answer) for _, answer in answers]
    forms = [[form(text, training_set.words_of_declining) for text in openings] for training_set in sets]
    embedded = embedder(model).sentences([*texts, *(said for block in forms for said in block)])
    said, *how = np.split(embedded, len(sets) + 1)
    shares = [FORM_SHARE if training_set.words_of_declining else 0 for training_set in sets]
    return [np.hstack([by**0.5 * block, (1 - by) ** 0.5 * said]) for by, block in zip(shares, how, strict=True)]


def example_vectors(training_set: TrainingSet, model: str, text: ComparedText) -> Vectors:
    """The unit vectors (rows) of a set's examples, which are answers to no question."""
    return answer_vectors([("", example.text) for example in training_set.examples], [training_set], model, text)[0]


class Classifier:
    """A training set with the embeddings of its examples."""

    def __init__(self, training_set: TrainingSet, vectors: Vectors) -> None:
        self.training_set = training_set
        self.vectors = vectors
        self.abstains = np.array([example.label == "abstention" for example in training_set.examples])

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
        rows, examples = np.arange(len(similarity)), self.training_set.examples
        best = similarity.argmax(axis=1)
        others = np.where(self.abstains[best, None] != self.abstains, similarity, -np.inf).max(axis=1, initial=-np.inf)
        return [
            Neighbour(examples[index].label, examples[index].text, _distance(near), _distance(other))
            for index, near, other in zip(best, similarity[rows, best], others, strict=True)
        ]


def _distance(similarity: float) -> float:
    return max(0.0, 1.0 - float(similarity))


@lru_cache(maxsize=4)
def classifier(training_set: str, model: str, text: ComparedText) -> Classifier:
    """The classifier of a training set, by the hash under which this process knows it; the last few are kept.

    Raises NotFound for an unknown training set, InvalidInput for a model that is not on this machine.
    """
    found = find_training_set(training_set)
    return Classifier(found, example_vectors(found, model, text))


def is_hallucination(answer: str, correctness: float, *, abstains: bool) -> bool:
    """H(p) of FATHOMS-RAG: a statement (neither an abstention nor empty) whose correctness is not 1."""
    return bool(answer.strip()) and not abstains and correctness != 1.0
