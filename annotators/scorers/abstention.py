"""Abstention: whether an answer states something or declines, by its nearest labelled example (FATHOMS-RAG)."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.abstaining.classifier import (
    AbstentionParameters,
    Neighbour,
    classify,
    training_set_resource,
)
from annotators.scorers.shared.references import EMPTY


class Abstention(Scorer[AbstentionParameters]):
    """1 when the nearest example is an abstention. An empty answer is unscored."""

    name = "abstention"
    version = "2"
    title = "Abstention"
    summary = "1 when the answer declines to answer, 0 when it states something: as its nearest labelled example does."
    source = "FATHOMS-RAG, section III.C (nearest neighbour over sentence embeddings, cosine distance)."
    values = (ValueKind("abstention", "Abstention", "flag", words=("statement", "abstention"), merit=False),)
    uses_model = True
    parameters = AbstentionParameters

    def score(self, items: Sequence[ItemContent], parameters: AbstentionParameters) -> list[list[ScoreValue]]:
        """One flag for each item, with the nearest example's label, text and cosine distance (0 to 2)."""
        return [[_score(neighbour)] for neighbour in classify(items, parameters)]

    def resources(self, parameters: AbstentionParameters) -> tuple[str, ...]:
        """The training set, unless it is the one that comes with the program."""
        return training_set_resource(parameters.training_set)


SCORERS.register(Abstention())


def _score(found: Neighbour | None) -> ScoreValue:
    if found is None:
        return ScoreValue("abstention", None, EMPTY)
    return ScoreValue("abstention", float(found.label == "abstention"), details=found.details())
