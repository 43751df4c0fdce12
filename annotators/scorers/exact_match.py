"""Exact match: the answer is a reference answer, word for word after normalisation (SQuAD)."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.references import AnswerParameters, best_reference, normaliser, scored


class ExactMatch(Scorer[AnswerParameters]):
    """1 when the normalised answer equals a normalised reference. Without a reference unscored."""

    name = "exact_match"
    version = "1"
    title = "Exact match"
    summary = "1 when the answer is a reference answer after normalisation: case, punctuation and articles aside."
    source = "SQuAD (Rajpurkar et al. 2016), evaluation script; used for short answers by MRAG-Suite, section 3.6."
    values = (ValueKind("exact_match", "Exact match", "flag", measures="correctness"),)
    parameters = AnswerParameters

    def score(self, items: Sequence[ItemContent], parameters: AnswerParameters) -> list[list[ScoreValue]]:
        """One flag for each item."""
        return [self._one(item, parameters) for item in items]

    def _one(self, item: ItemContent, parameters: AnswerParameters) -> list[ScoreValue]:
        form = normaliser(parameters.normalisation, item.language)
        answer = form(item.answer)
        return scored(["exact_match"], best_reference(item.references, form, lambda wanted: (float(answer == wanted),)))


SCORERS.register(ExactMatch())
