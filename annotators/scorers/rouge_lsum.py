"""ROUGE-Lsum: the union of longest common subsequences, sentence by sentence of a reference answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field
from rapidfuzz.distance import LCSseq

from annotators.items.item import ItemContent
from annotators.items.sentences import sentences
from annotators.later import Later
from annotators.scorers.base import SCORERS, Parameters, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.references import best_reference, f_measure, scored
from annotators.scorers.shared.words import Tokens, tokenizer

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Sentences = list[list[str]]


class RougeLsumParameters(Parameters):
    """How texts are cut into sentences and words."""

    tokens: Tokens = Field("unicode", description="words of every script, or a–z and 0–9 only as rouge-score does")
    stemming: bool = Field(True, description="compare the stems of English words (Porter)")
    sentences: Literal["lines", "marks"] = Field(
        "lines", description="a sentence is a line, as rouge-score has it, or ends with a full stop or the like"
    )


class RougeLsum(Scorer[RougeLsumParameters]):
    """F-measure of the summary-level LCS, of the best reference. Without a reference unscored."""

    name = "rouge_lsum"
    version = "1"
    title = "ROUGE-Lsum"
    summary = "As ROUGE-L, but each sentence of the reference is matched with all of the answer; words are stemmed."
    source = "Lin 2004, section 3.2 (summary-level LCS), as rouge-score 0.1 with stemming: MRAMG-Bench's Rouge-L."
    values = (
        ValueKind("rouge_lsum", "ROUGE-Lsum", measures="correctness"),
        ValueKind("rouge_lsum_precision", "ROUGE-Lsum precision"),
        ValueKind("rouge_lsum_recall", "ROUGE-Lsum recall"),
    )
    parameters = RougeLsumParameters

    def score(self, items: Sequence[ItemContent], parameters: RougeLsumParameters) -> list[list[ScoreValue]]:
        """F-measure, precision and recall (0 to 1) for each item, of the reference with the best F-measure."""
        words = tokenizer(parameters.tokens, parameters.stemming)

        def cut(text: str) -> Sentences:
            parts = re.split("\n", text) if parameters.sentences == "lines" else sentences(text)
            return [found for part in parts if (found := words(part))]

        return [self._one(item, cut) for item in items]

    def _one(self, item: ItemContent, cut: Callable[[str], Sentences]) -> list[ScoreValue]:
        answer = cut(item.answer)
        return scored(
            [kind.name for kind in self.values],
            best_reference(item.references, cut, lambda reference: rouge_lsum(answer, reference)),
        )


SCORERS.register(RougeLsum())


def rouge_lsum(answer: Sentences, reference: Sentences) -> tuple[float, float, float]:
    """F-measure, precision and recall of the union LCS; sentences are lists of tokens. Empty: all 0.

    Hits are the words of each reference sentence that are in the union of its LCS with every sentence of the answer,
    each word counted at most as often as it is in either text. Lin 2004, equations 5 to 7 with β = 1.
    """
    of_answer = Counter(token for sentence in answer for token in sentence)
    of_reference = Counter(token for sentence in reference for token in sentence)
    if not of_answer or not of_reference:
        return 0.0, 0.0, 0.0
    precision_of, recall_of = of_answer.total(), of_reference.total()
    hits = 0
    for sentence in reference:
        for token in _union(sentence, answer):
            if of_answer[token] > 0 and of_reference[token] > 0:
                hits += 1
                of_answer[token] -= 1
                of_reference[token] -= 1
    precision, recall = hits / precision_of, hits / recall_of
    return f_measure(precision, recall), precision, recall


def _union(sentence: list[str], answer: Sentences) -> list[str]:
    """The words of a reference sentence that are in its LCS with any sentence of the answer."""
    places: set[int] = set()
    for other in answer:
        places.update(_lcs_places(sentence, other))
    return [sentence[place] for place in sorted(places)]


def _lcs_places(sentence: list[str], other: list[str]) -> list[int]:
    """Where in `sentence` one longest common subsequence with `other` lies; of several the one rouge-score takes."""
    common = set(sentence) & set(other)
    if not common:
        return []
    if LCSseq.similarity(sentence, other) == len(sentence):
        return list(range(len(sentence)))
    numbers = {token: number for number, token in enumerate(common)}
    columns = np.array([numbers.get(token, -1) for token in other])
    n, m = len(sentence), len(other)
    table = np.zeros((n + 1, m + 1), dtype=np.int32)
    for row, token in enumerate(sentence, start=1):
        equal = columns == numbers.get(token, -2)
        table[row, 1:] = np.maximum.accumulate(np.maximum(table[row - 1, 1:], table[row - 1, :-1] + equal))
    places: list[int] = []
    i, j = n, m
    while i > 0 and j > 0:
        if sentence[i - 1] == other[j - 1]:
            places.append(i - 1)
            i, j = i - 1, j - 1
        elif table[i, j - 1] > table[i - 1, j]:
            j -= 1
        else:
            i -= 1
    return places[::-1]
