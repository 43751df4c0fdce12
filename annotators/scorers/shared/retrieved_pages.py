"""Retrieved and gold pages of an item: what the retrieval metrics compare, by document and page."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import Field

from annotators.figures import count
from annotators.items.item import ItemContent, ItemEvidence
from annotators.items.targets import TargetKind
from annotators.scorers.base import LabelledParameters
from annotators.scorers.shared.study_labels import LabelUse, UnitLabel, is_yes, is_yes_or_no

if TYPE_CHECKING:
    from annotators.criteria import Criterion

Page = tuple[str, int]
"""Document key and page number (from 1)."""


class TopKParameters(LabelledParameters):
    """How many of the retrieved units count."""

    k: int = Field(5, ge=1, le=10_000, description="how many of the retrieved units count, by rank")


@dataclass(frozen=True)
class Retrieval:
    """`spans` are the retrieved units in their order, each with its pages (one or a run of pages of one document).

    `gold` are the gold pages; `hops` those of each hop, by number, for a multi-hop question, else empty. Units without
    document or page can not be compared and are counted in `placeless`.
    """

    spans: tuple[frozenset[Page], ...]
    gold: frozenset[Page]
    hops: dict[int, frozenset[Page]]
    placeless: int

    def top(self, k: int) -> tuple[frozenset[Page], ...]:
        """The first k retrieved units."""
        return self.spans[:k]

    def details(self) -> dict[str, object]:
        """What is stored with a score."""
        found: dict[str, object] = {"retrieved": len(self.spans), "gold_pages": len(self.gold)}
        return {**found, "without_page": self.placeless} if self.placeless else found


def retrieval_of(item: ItemContent) -> Retrieval | str:
    """The item's retrieval, or the reason why there is nothing to compare.

    Retrieved is evidence with a rank (in its order) or, after these, with the role `retrieved`; gold is evidence with
    the role `gold`. The same page retrieved twice is one unit at its better rank. An item is multi-hop if it has hops
    or its gold evidence has; then every hop needs gold evidence.
    """
    retrieved = sorted(
        (unit for unit in item.evidence if _is_retrieved(unit)), key=lambda unit: (unit.rank is None, unit.rank or 0)
    )
    gold = [unit for unit in item.evidence if unit.role == "gold"]
    if not retrieved:
        return "the item has no retrieved evidence"
    if not gold:
        return "the item has no gold evidence"
    pages = pages_of(gold)
    if not pages:
        return "the gold evidence has no document and page"
    hops: dict[int, frozenset[Page]] = {}
    if item.hops or any(unit.hop is not None for unit in gold):
        found = _by_hop(gold, len(item.hops))
        if isinstance(found, str):
            return found
        hops = found
    spans = tuple(dict.fromkeys(span for unit in retrieved if (span := pages_of([unit]))))
    if not spans:
        return "the retrieved evidence has no document and page"
    return Retrieval(spans, pages, hops, sum(not pages_of([unit]) for unit in [*retrieved, *gold]))


def pages_of(evidence: Iterable[ItemEvidence]) -> frozenset[Page]:
    """The pages of these units; one without document or page has none."""
    return frozenset((unit.document, page) for unit in evidence if unit.document is not None for page in unit.pages)


def _is_retrieved(evidence: ItemEvidence) -> bool:
    return evidence.rank is not None or evidence.role == "retrieved"


def _by_hop(gold: list[ItemEvidence], n_hops: int) -> dict[int, frozenset[Page]] | str:
    units: dict[int, list[ItemEvidence]] = defaultdict(list)
    for unit in gold:
        if unit.hop is None:
            return "gold evidence of a multi-hop question says not which hop it is for"
        units[unit.hop].append(unit)
    for hop in {*range(1, n_hops + 1), *units}:
        if not pages_of(units.get(hop, [])):
            return f"hop {hop} has no gold evidence with document and page"
    return {hop: pages_of(units[hop]) for hop in sorted(units)}


# Labels of studies ----------------------------------------------------------------------------------------------------


class GoldLabels(LabelUse):
    """What people found to be evidence, pages (of each hop) or units, in place of the item's own gold evidence.

    What was retrieved stays as it is.
    """

    needs = "two labels for each page or each unit of evidence, of which one says that it is evidence"

    def reads(self, criterion: Criterion) -> bool:
        """See `LabelUse`."""
        return criterion.target in {TargetKind.PAGE, TargetKind.EVIDENCE} and is_yes_or_no(criterion)

    def put(self, item: ItemContent, labels: Sequence[UnitLabel]) -> ItemContent | str:
        """See `LabelUse`. While a page or unit is open, nobody knows what the gold pages are."""
        n_open = sum(label.value is None for label in labels)
        if n_open:
            return f"{n_open:,} of {count(len(labels), 'label')} of its pages or units of evidence are open"
        found = [label.target for label in labels if is_yes(label)]
        if not found:
            return "people found no evidence for it"
        units = {f"evidence:{unit.key}": unit for unit in item.evidence}
        hops = {hop.key: number for number, hop in enumerate(item.hops, 1)}
        gold = [
            *(units[target]._replace(role="gold", rank=None) for target in found if target in units),
            *(_gold_page(target, hops) for target in found if target.startswith("page:")),
        ]
        others = (unit._replace(role=None) if unit.role == "gold" else unit for unit in item.evidence)
        return item._replace(evidence=(*others, *gold))


def _gold_page(target: str, hops: dict[str, int]) -> ItemEvidence:
    """The page of a target `page:DOC:N|hop:H` as gold evidence."""
    page, _, hop = target.removeprefix("page:").partition("|hop:")
    document, _, number = page.rpartition(":")
    return ItemEvidence(target, "page", "gold", document, (int(number),), hop=hops.get(hop))
