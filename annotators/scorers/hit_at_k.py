"""hit@k: whether the first k retrieved units reach the evidence, of every hop for a multi-hop question."""

from __future__ import annotations

from collections.abc import Sequence

from annotators.items.item import ItemContent
from annotators.scorers.base import SCORERS, Part, Scorer, ScoreValue, ValueKind
from annotators.scorers.shared.retrieved_pages import GoldLabels, TopKParameters, retrieval_of


class HitAtK(Scorer[TopKParameters]):
    """1 for a hit. Without retrieved or gold evidence, or with a hop that has none, unscored."""

    name = "hit_at_k"
    version = "1"
    title = "hit@k"
    summary = "1 when the first k retrieved units have a gold page; of a multi-hop question, one of every hop."
    source = "CDocRAG-Bench, section 4.1."
    values = (ValueKind("hit_at_k", "hit@k", "flag"),)
    needs = frozenset({Part.EVIDENCE})
    labels = GoldLabels()
    parameters = TopKParameters

    def score(self, items: Sequence[ItemContent], parameters: TopKParameters) -> list[list[ScoreValue]]:
        """One flag for each item, with the hops that were missed."""
        return [[_hit(item, parameters.k)] for item in items]


SCORERS.register(HitAtK())


def _hit(item: ItemContent, k: int) -> ScoreValue:
    found = retrieval_of(item)
    if isinstance(found, str):
        return ScoreValue("hit_at_k", None, found)
    reached = frozenset().union(*found.top(k))
    if not found.hops:
        return ScoreValue("hit_at_k", float(bool(reached & found.gold)), details=found.details())
    missed = [hop for hop, pages in found.hops.items() if not reached & pages]
    return ScoreValue(
        "hit_at_k", float(not missed), details={**found.details(), "hops": len(found.hops), "missed_hops": missed}
    )
