"""Pairs: two items of one question, the answers of two systems, of which each stands on one side."""

from __future__ import annotations

from collections.abc import Iterable

from annotators.items.item import ItemContent, ItemEvidence

BETWEEN = "\x00"
"""Between the ids of two items; no id has it."""


def pair_name(item: str, other: str | None) -> str:
    """What an item, or a pair of two, is known by where one name is needed; turned round it is another name."""
    return f"{item}{BETWEEN}{other}" if other else item


def in_words(name: str) -> str:
    """A name of `pair_name` as people read it: `q1:harbour ⇄ q1:lantern`."""
    return name.replace(BETWEEN, " ⇄ ")


def turned_round(name: str) -> str | None:
    """The name of the pair with its items exchanged; None for an item by itself."""
    item, between, other = name.partition(BETWEEN)
    return pair_name(other, item) if between else None


def names_either_way(item: str, other: str | None) -> set[str]:
    """What an item is known by, or a pair with either of its items first."""
    return {pair_name(item, other), pair_name(other, item)} if other else {item}


def question_of_pair(item: ItemContent, other: ItemContent) -> ItemContent:
    """What is shown beside the two answers: the first item, with the evidence and the documents of both.

    A unit that both have is there once. The units of the second come under keys that the first does not have.
    """
    return item._replace(
        answer="",
        evidence=(*item.evidence, *_further(item.evidence, other.evidence)),
        documents=tuple(dict.fromkeys((*item.documents, *other.documents))),
        claims=(),
        images=(),
        scores=(),
    )


def _further(evidence: Iterable[ItemEvidence], others: Iterable[ItemEvidence]) -> Iterable[ItemEvidence]:
    there = list(evidence)
    said = [unit._replace(key="", metadata={}, rank=None) for unit in there]
    keys = {unit.key for unit in there}
    for unit in others:
        if unit._replace(key="", metadata={}, rank=None) in said:
            continue
        key = unit.key
        while key in keys:
            key += "'"
        keys.add(key)
        yield unit._replace(key=key)
