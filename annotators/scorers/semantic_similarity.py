"""Semantic similarity: the cosine of the sentence embeddings of the answer and a reference answer."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.embedder import EmbeddingParameters, embedder
from annotators.scorers.shared.references import EMPTY, NO_REFERENCE, reference_texts


class SemanticSimilarity(Scorer[EmbeddingParameters]):
    """Cosine (−1 to 1) with the nearest reference. Unscored for an empty answer and without a reference."""

    name = "semantic_similarity"
    version = "1"
    title = "Semantic similarity"
    summary = "Cosine of the sentence embeddings of answer and reference; of several references the nearest counts."
    source = "Reimers and Gurevych 2019 (Sentence-BERT); the bundled model is all-MiniLM-L6-v2."
    values = (ValueKind("semantic_similarity", "Semantic similarity", "number", low=-1.0, measures="correctness"),)
    uses_model = True
    parameters = EmbeddingParameters

    def score(self, items: Sequence[ItemContent], parameters: EmbeddingParameters) -> list[list[ScoreValue]]:
        """One cosine for each item. It tells topics apart rather than facts: "rose" and "fell" are near each other."""
        embedded = embedder(parameters.model)
        texts: dict[str, int] = {}
        for item in items:
            for text in (item.answer, *reference_texts(item.references)):
                texts.setdefault(text, len(texts))
        vectors = embedded.sentences(list(texts))
        found = []
        for item in items:
            references = [(index, text) for index, text in enumerate(reference_texts(item.references)) if text.strip()]
            if not item.answer.strip():
                found.append(ScoreValue("semantic_similarity", None, EMPTY))
            elif not references:
                found.append(ScoreValue("semantic_similarity", None, NO_REFERENCE))
            else:
                cosines = [float(vectors[texts[item.answer]] @ vectors[texts[text]]) for _, text in references]
                best = max(range(len(cosines)), key=cosines.__getitem__)
                value = min(1.0, max(-1.0, cosines[best]))
                found.append(ScoreValue("semantic_similarity", value, details={"reference": references[best][0]}))
        return [[score] for score in found]


SCORERS.register(SemanticSimilarity())
