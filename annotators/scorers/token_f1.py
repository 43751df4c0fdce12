"""Token F1: how far the words of the answer and of a reference answer are the same (SQuAD)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.references import AnswerParameters, best_reference, f_measure, normaliser, scored


class TokenF1(Scorer[AnswerParameters]):
    """F1 of the bags of tokens, of the best reference. Without a reference unscored."""

    name = "token_f1"
    version = "1"
    title = "Token F1"
    summary = "F1 of the words that answer and reference share, in any order; of several references the best counts."
    source = "SQuAD (Rajpurkar et al. 2016), evaluation script."
    values = (
        ValueKind("token_f1", "Token F1", measures="correctness"),
        ValueKind("token_precision", "Token precision"),
        ValueKind("token_recall", "Token recall"),
    )
    parameters = AnswerParameters

    def score(self, items: Sequence[ItemContent], parameters: AnswerParameters) -> list[list[ScoreValue]]:
        """F1, precision and recall (0 to 1) for each item, of the reference with the best F1."""
        return [self._one(item, parameters) for item in items]

    def _one(self, item: ItemContent, parameters: AnswerParameters) -> list[ScoreValue]:
        form = normaliser(parameters.normalisation, item.language)
        answer = form(item.answer).split()
        found = best_reference(
            item.references, lambda text: form(text).split(), lambda reference: token_f1(answer, reference)
        )
        return scored([kind.name for kind in self.values], found)


SCORERS.register(TokenF1())


def token_f1(answer: Sequence[str], reference: Sequence[str]) -> tuple[float, float, float]:
    """F1, precision and recall of two bags of tokens: a token counts as often as it is in both. Empty: all 0."""
    shared = sum((Counter(answer) & Counter(reference)).values())
    if not shared:
        return 0.0, 0.0, 0.0
    precision, recall = shared / len(answer), shared / len(reference)
    return f_measure(precision, recall), precision, recall
