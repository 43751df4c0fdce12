"""Review of a training set before it is accepted: how well it holds together, and which labels it would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from annotators.scorers.abstention import (
    AbstentionParameters,
    Classifier,
    ComparedText,
    Neighbour,
    answer_vectors,
    example_vectors,
)
from annotators.scorers.hallucination import is_hallucination
from annotators.scorers.shared.training_sets import AnswerLabel, Example, TrainingSet


@dataclass(frozen=True, slots=True)
class Mistake:
    """An example that its nearest other example would label otherwise."""

    example: Example
    nearest: Neighbour


@dataclass(frozen=True, slots=True)
class LeaveOneOut:
    """Each example labelled by its nearest other one.

    `accuracy` is the share labelled rightly of `n`, with its 95 % Wilson interval; `confusion[label][given]` counts.
    """

    accuracy: float
    low: float
    high: float
    n: int
    confusion: dict[AnswerLabel, dict[AnswerLabel, int]]
    mistakes: tuple[Mistake, ...]


def leave_one_out(training_set: TrainingSet, parameters: AbstentionParameters | None = None) -> LeaveOneOut:
    """How often the nearest other example has the same label, with the model, text and reach of `parameters`.

    Loads the model: call it in a worker process.
    """
    given = parameters or AbstentionParameters()
    examples = training_set.examples
    vectors = example_vectors(training_set, given.model, given.text)
    nearest = Classifier(training_set, vectors).nearest(vectors, given.reach, leave_out_own=True)
    confusion: dict[AnswerLabel, dict[AnswerLabel, int]] = {
        "statement": {"statement": 0, "abstention": 0},
        "abstention": {"statement": 0, "abstention": 0},
    }
    for example, found in zip(examples, nearest, strict=True):
        confusion[example.label][found.label] += 1
    mistakes = tuple(
        Mistake(example, found)
        for example, found in zip(examples, nearest, strict=True)
        if example.label != found.label
    )
    from scipy.stats import binomtest  # noqa: PLC0415 - scorers are listed without it

    right, n = len(examples) - len(mistakes), len(examples)
    interval = binomtest(right, n).proportion_ci(method="wilson")
    return LeaveOneOut(right / n, float(interval.low), float(interval.high), n, confusion, mistakes)


@dataclass(frozen=True, slots=True)
class JudgedAnswer:
    """An answer that a training set labels; `key` says which, `correctness` is its phrase recall where there is one."""

    key: str
    question: str
    answer: str
    correctness: float | None = None


@dataclass(frozen=True, slots=True)
class Change:
    """What another training set changes for one answer: its label, and its hallucination flag (None: unscored)."""

    key: str
    old: Neighbour
    new: Neighbour
    old_hallucination: bool | None
    new_hallucination: bool | None


def compare_training_sets(
    old: TrainingSet, new: TrainingSet, answers: Sequence[JudgedAnswer], parameters: AbstentionParameters | None = None
) -> list[Change]:
    """The answers that `new` labels otherwise than `old`, in order, with what becomes of their hallucination flag.

    Of `parameters` all but the training set is used. Empty answers have no label and are passed over. Loads the model:
    call it in a worker process.
    """
    given = parameters or AbstentionParameters()
    named = [one for one in answers if one.answer.strip()]
    vectors = answer_vectors([(one.question, one.answer) for one in named], [old, new], given.model, given.text)
    before, after = (
        _classifier(one, given.model, given.text).nearest(rows, given.reach)
        for one, rows in zip((old, new), vectors, strict=True)
    )
    return [
        Change(one.key, was, becomes, _flag(one, was), _flag(one, becomes))
        for one, was, becomes in zip(named, before, after, strict=True)
        if was.label != becomes.label
    ]


@lru_cache(maxsize=2)
def _classifier(training_set: TrainingSet, model: str, text: ComparedText) -> Classifier:
    """The sets of a review, which sees the answers in many blocks."""
    return Classifier(training_set, example_vectors(training_set, model, text))


def _flag(one: JudgedAnswer, neighbour: Neighbour) -> bool | None:
    if one.correctness is None:
        return None
    return is_hallucination(one.answer, one.correctness, abstains=neighbour.label == "abstention")
