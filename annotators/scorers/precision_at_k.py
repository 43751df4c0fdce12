"""precision@k: the share of the first k retrieved units that overlap a gold page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import Field

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.retrieved_pages import GoldLabels, TopKParameters, retrieval_of


class PrecisionAtKParameters(TopKParameters):
    """How many of the retrieved units count, and what they are divided by."""

    divisor: Literal["k", "retrieved"] = Field(
        "k", description="divide by k, or by the units there are when fewer were retrieved"
    )


class PrecisionAtK(Scorer[PrecisionAtKParameters]):
    """Without retrieved or gold evidence unscored."""

    name = "precision_at_k"
    version = "1"
    title = "precision@k"
    summary = "The share of the first k retrieved units that overlap a gold page of the same document."
    source = "UniDoc-Bench, section 4.2 (its rule for units that span pages); k = 10 there."
    values = (ValueKind("precision_at_k", "precision@k"),)
    needs = frozenset({Part.EVIDENCE})
    labels = GoldLabels()
    parameters = PrecisionAtKParameters

    def score(self, items: Sequence[ItemContent], parameters: PrecisionAtKParameters) -> list[list[ScoreValue]]:
        """One share (0 to 1) for each item."""
        return [[_precision(item, parameters)] for item in items]


SCORERS.register(PrecisionAtK())


def _precision(item: ItemContent, parameters: PrecisionAtKParameters) -> ScoreValue:
    found = retrieval_of(item)
    if isinstance(found, str):
        return ScoreValue("precision_at_k", None, found)
    top = found.top(parameters.k)
    right = sum(bool(span & found.gold) for span in top)
    divisor = parameters.k if parameters.divisor == "k" else len(top)
    return ScoreValue("precision_at_k", right / divisor, details=found.details())
