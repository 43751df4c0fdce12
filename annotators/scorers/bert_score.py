"""BERTScore: greedy matching of the contextual embeddings of the words of the answer and a reference answer."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.embedder import Embedder, EmbeddingParameters, Vectors, embedder
from annotators.scorers.shared.references import NO_REFERENCE, f_measure, reference_texts

_AT_A_TIME = 64
"""Items whose token embeddings are in memory at once."""

_NAMES = ("bert_score_f1", "bert_score_precision", "bert_score_recall")


class BertScore(Scorer[EmbeddingParameters]):
    """F1, precision and recall with the best reference. Without a reference, or a word in it, unscored."""

    name = "bert_score"
    version = "1"
    title = "BERTScore"
    summary = "How well each word of answer and reference is matched by the nearest word of the other, in context."
    source = "Zhang et al. 2020, section 3, without idf weights and rescaling; used by MRAMG-Bench, section 6.2.2."
    values = (
        ValueKind("bert_score_f1", "BERTScore F1", "number", low=-1.0, measures="correctness"),
        ValueKind("bert_score_precision", "BERTScore precision", "number", low=-1.0),
        ValueKind("bert_score_recall", "BERTScore recall", "number", low=-1.0),
    )
    uses_model = True
    parameters = EmbeddingParameters

    def score(self, items: Sequence[ItemContent], parameters: EmbeddingParameters) -> list[list[ScoreValue]]:
        """F1, precision and recall for each item, of the reference with the best F1."""
        model = embedder(parameters.model)
        remaining = iter(items)
        found: list[list[ScoreValue]] = []
        while batch := list(islice(remaining, _AT_A_TIME)):
            texts = list({text for item in batch for text in (item.answer, *reference_texts(item.references))})
            tokens = dict(zip(texts, model.tokens(texts), strict=True))
            found += [_scores(item, tokens, model) for item in batch]
        return found


SCORERS.register(BertScore())


def bert_score(answer: Vectors, reference: Vectors) -> tuple[float, float, float]:
    """F1, precision and recall of two texts, each tokens × dimensions of unit vectors, none empty.

    Zhang et al. 2020: precision is the mean over the answer's tokens of the largest cosine with a token of the
    reference, recall the same the other way round.
    """
    cosines = answer @ reference.T
    precision, recall = float(cosines.max(axis=1).mean()), float(cosines.max(axis=0).mean())
    return f_measure(precision, recall), precision, recall


def _scores(item: ItemContent, tokens: dict[str, Vectors], model: Embedder) -> list[ScoreValue]:
    texts = reference_texts(item.references)
    references = [(index, text) for index, text in enumerate(texts) if len(tokens[text])]
    if not references:
        reason = "no reference has a word to compare" if texts else NO_REFERENCE
        return [ScoreValue(name, None, reason) for name in _NAMES]
    answer = tokens[item.answer]
    if not len(answer):
        empty = "the answer is empty: it has no word whose match could be looked for"
        return [ScoreValue(_NAMES[0], 0.0), ScoreValue(_NAMES[1], None, empty), ScoreValue(_NAMES[2], 0.0)]
    best, values = max(
        ((index, bert_score(answer, tokens[text])) for index, text in references),
        key=lambda scored: (scored[1][0], -scored[0]),
    )
    details: dict[str, object] = {"reference": best}
    if model.is_cut(item.answer) or model.is_cut(texts[best]):
        details["cut_at_tokens"] = model.max_tokens
    first = ScoreValue(_NAMES[0], values[0], details=details)
    return [first, *(ScoreValue(name, value) for name, value in zip(_NAMES[1:], values[1:], strict=True))]
