"""recall@k: the share of the gold pages that the first k retrieved units reach."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.retrieved_pages import GoldLabels, TopKParameters, retrieval_of


class RecallAtK(Scorer[TopKParameters]):
    """Each gold page counts once. Without retrieved or gold evidence unscored."""

    name = "recall_at_k"
    version = "1"
    title = "recall@k"
    summary = "The share of gold pages that are among the pages of the first k retrieved units."
    source = "UniDoc-Bench, section 4.2 (a unit of several pages reaches each page it overlaps); k = 10 there."
    values = (ValueKind("recall_at_k", "recall@k"),)
    needs = frozenset({Part.EVIDENCE})
    labels = GoldLabels()
    parameters = TopKParameters

    def score(self, items: Sequence[ItemContent], parameters: TopKParameters) -> list[list[ScoreValue]]:
        """One share (0 to 1) for each item."""
        return [[_recall(item, parameters.k)] for item in items]


SCORERS.register(RecallAtK())


def _recall(item: ItemContent, k: int) -> ScoreValue:
    found = retrieval_of(item)
    if isinstance(found, str):
        return ScoreValue("recall_at_k", None, found)
    reached = frozenset().union(*found.top(k))
    return ScoreValue("recall_at_k", len(reached & found.gold) / len(found.gold), details=found.details())
