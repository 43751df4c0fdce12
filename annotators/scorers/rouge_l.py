"""ROUGE-L: the longest common subsequence of the words of the answer and a reference answer."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pydantic import Field
from rapidfuzz.distance import LCSseq

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Parameters, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.references import best_reference, f_measure, scored
from annotators.scorers.shared.words import Tokens, tokenizer


class RougeLParameters(Parameters):
    """How texts are cut into words."""

    tokens: Tokens = Field("unicode", description="words of every script, or a–z and 0–9 only as rouge-score does")
    stemming: bool = Field(False, description="compare the stems of English words (Porter), as rouge-score can")


class RougeL(Scorer[RougeLParameters]):
    """F-measure of the longest common subsequence, of the best reference. Without a reference unscored."""

    name = "rouge_l"
    version = "1"
    title = "ROUGE-L"
    summary = "F-measure of the longest run of words, gaps allowed, that answer and reference have in common."
    source = "Lin 2004, section 3.1 (sentence-level LCS); used by MRAG-Suite, section 3.6. Computed as rouge-score 0.1."
    values = (
        ValueKind("rouge_l", "ROUGE-L", measures="correctness"),
        ValueKind("rouge_l_precision", "ROUGE-L precision"),
        ValueKind("rouge_l_recall", "ROUGE-L recall"),
    )
    parameters = RougeLParameters

    def score(self, items: Sequence[ItemContent], parameters: RougeLParameters) -> list[list[ScoreValue]]:
        """F-measure, precision and recall (0 to 1) for each item, of the reference with the best F-measure."""
        cut = tokenizer(parameters.tokens, parameters.stemming)
        return [self._one(item, cut) for item in items]

    def _one(self, item: ItemContent, cut: Callable[[str], list[str]]) -> list[ScoreValue]:
        answer = cut(item.answer)
        return scored(
            [kind.name for kind in self.values],
            best_reference(item.references, cut, lambda reference: rouge_l(answer, reference)),
        )


SCORERS.register(RougeL())


def rouge_l(answer: Sequence[str], reference: Sequence[str]) -> tuple[float, float, float]:
    """F-measure, precision (LCS / words of the answer) and recall (LCS / words of the reference). Empty: all 0.

    Lin 2004, equations 2 to 4 with β = 1.
    """
    if not answer or not reference:
        return 0.0, 0.0, 0.0
    common = LCSseq.similarity(answer, reference)
    precision, recall = common / len(answer), common / len(reference)
    return f_measure(precision, recall), precision, recall
