"""Accuracy: a reference answer is contained in the answer, after normalisation."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.items.item import ItemContent, Reference
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.references import NO_REFERENCE, AnswerParameters, normaliser


class Accuracy(Scorer[AnswerParameters]):
    """1 when the answer contains a reference: whole words of it in a row. Without a reference unscored."""

    name = "accuracy"
    version = "1"
    title = "Accuracy"
    summary = "1 when the normalised answer contains a reference answer; of a set of phrases, every one."
    source = "MRAG-Suite, section 3.6 (EM/Accuracy of short answers); containment as in open-domain QA evaluations."
    values = (ValueKind("accuracy", "Accuracy", "flag", measures="correctness"),)
    parameters = AnswerParameters

    def score(self, items: Sequence[ItemContent], parameters: AnswerParameters) -> list[list[ScoreValue]]:
        """One flag for each item."""
        return [[self._one(item, parameters)] for item in items]

    def _one(self, item: ItemContent, parameters: AnswerParameters) -> ScoreValue:
        if not item.references:
            return ScoreValue("accuracy", None, NO_REFERENCE)
        form = normaliser(parameters.normalisation, item.language)
        answer = f" {form(item.answer)} "
        comparable = False
        for index, reference in enumerate(item.references):
            phrases = [wanted for phrase in _phrases(reference) if (wanted := form(phrase))]
            comparable = comparable or bool(phrases)
            if phrases and all(f" {phrase} " in answer for phrase in phrases):
                return ScoreValue("accuracy", 1.0, details={"reference": index})
        if not comparable:
            return ScoreValue("accuracy", None, "no reference has a word to compare")
        return ScoreValue("accuracy", 0.0)


SCORERS.register(Accuracy())


def _phrases(reference: Reference) -> list[str]:
    return [reference] if isinstance(reference, str) else reference
