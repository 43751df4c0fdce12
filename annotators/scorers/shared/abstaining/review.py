"""Review of a training set before it is accepted: how well it holds together, and which labels it would change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from annotators.scorers.shared.abstaining.classifier import (
    AbstentionParameters,
    Classifier,
    Neighbour,
    answer_vectors,
    classifier,
    is_hallucination,
)
from annotators.scorers.shared.abstaining.training_sets import AnswerLabel, Example, TrainingSet
from annotators.scorers.shared.resources import provide_resource


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
    known = _classifier(training_set, given)
    nearest = known.nearest(known.vectors, given.reach, leave_out_own=True)
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
    named = [answer for answer in answers if answer.answer.strip()]
    vectors = answer_vectors(
        [(answer.question, answer.answer) for answer in named], [old, new], given.model, given.text
    )
    before, after = (
        _classifier(training_set, given).nearest(rows, given.reach)
        for training_set, rows in zip((old, new), vectors, strict=True)
    )
    return [
        Change(answer.key, was, becomes, _flag(answer, was), _flag(answer, becomes))
        for answer, was, becomes in zip(named, before, after, strict=True)
        if was.label != becomes.label
    ]


def _classifier(training_set: TrainingSet, given: AbstentionParameters) -> Classifier:
    """The classifier of a set that nobody else may know yet."""
    return classifier(provide_resource(training_set.to_bytes()), given.model, given.text)


def _flag(answer: JudgedAnswer, neighbour: Neighbour) -> bool | None:
    if answer.correctness is None:
        return None
    return is_hallucination(answer.answer, answer.correctness, abstains=neighbour.label == "abstention")
