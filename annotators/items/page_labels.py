"""The pages that an import calls evidence: the labels of a model, or of a pipeline, that people's are set against."""

from __future__ import annotations

from collections.abc import Iterable

from annotators.items.item import ItemContent

GOLD = "gold"


def labelled_pages(item: ItemContent) -> list[str]:
    """The written targets of the pages that the item's gold evidence names, each once, in the order of the item.

    `page:DOC:N|hop:H` for a unit that says its hop (a number from 1, the place of the hop in the question),
    `page:DOC:N` for one that does not, or whose hop the question does not have. Evidence without a document or pages
    labels none.
    """
    return list(dict.fromkeys(_targets(item)))


def _targets(item: ItemContent) -> Iterable[str]:
    for unit in item.evidence:
        if unit.role != GOLD or unit.document is None:
            continue
        known = unit.hop is not None and 1 <= unit.hop <= len(item.hops)
        hop = f"|hop:{item.hops[unit.hop - 1].key}" if known and unit.hop is not None else ""
        yield from (f"page:{unit.document}:{page}{hop}" for page in unit.pages)
