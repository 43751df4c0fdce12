"""Hallucination: an answer that states something and is not fully correct (FATHOMS-RAG)."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.abstaining.classifier import (
    AbstentionParameters,
    Neighbour,
    classify,
    is_hallucination,
    training_set_resource,
)
from annotators.scorers.shared.phrases import CORRECTNESS, Mode, phrase_recall


class HallucinationParameters(AbstentionParameters):
    """The parameters of `abstention` and the mode of `phrase_recall`."""

    mode: Mode = Field("fathoms_code", description="how correctness is computed: the mode of phrase_recall")


class Hallucination(Scorer[HallucinationParameters]):
    """1 for a statement whose phrase recall is not 1. Unscored where phrase recall is."""

    name = "hallucination"
    version = "2"
    title = "Hallucination"
    summary = "1 when the answer states something and does not have every required phrase; abstaining is none."
    source = "FATHOMS-RAG, section III.C, algorithm 2; an empty answer is none, as in its code."
    values = (ValueKind("hallucination", "Hallucination", "flag", words=("down", "up"), merit=False),)
    uses_model = True
    parameters = HallucinationParameters

    def score(self, items: Sequence[ItemContent], parameters: HallucinationParameters) -> list[list[ScoreValue]]:
        """One flag for each item, with its correctness and, where that is not 1, the nearest labelled example."""
        recalls = [phrase_recall(item.answer, item.references, parameters.mode) for item in items]
        doubtful = [
            item if recall.value not in (None, 1.0) else item._replace(answer="")
            for item, recall in zip(items, recalls, strict=True)
        ]
        neighbours = classify(doubtful, parameters)
        return [
            [_score(item.answer, recall, neighbour)]
            for item, recall, neighbour in zip(items, recalls, neighbours, strict=True)
        ]

    def resources(self, parameters: HallucinationParameters) -> tuple[str, ...]:
        """The training set, unless it is the one that comes with the program."""
        return training_set_resource(parameters.training_set)

    def meaning(self, score: ScoreValue) -> str:
        """Why the flag is up or down, where the score says with which correctness it was given."""
        details = score.details or {}
        correctness = details.get("correctness")
        if score.value is None or not isinstance(correctness, int | float):
            return self.summary
        if score.value:
            shown = CORRECTNESS.in_words(float(correctness))
            return f"Up: the answer states something (it does not abstain), and its correctness is {shown}"
        if correctness == 1:
            return "Down: the correctness of the answer is 1"
        return "Down: the answer abstains" if details.get("label") == "abstention" else "Down: there is no answer"


SCORERS.register(Hallucination())


def _score(answer: str, recall: ScoreValue, neighbour: Neighbour | None) -> ScoreValue:
    if recall.value is None:
        return ScoreValue("hallucination", None, recall.reason)
    flag = is_hallucination(answer, recall.value, abstains=neighbour is not None and neighbour.label == "abstention")
    details = {"correctness": recall.value, **(neighbour.details() if neighbour else {})}
    return ScoreValue("hallucination", float(flag), details=details)
