"""What models propose for the labels of items: read from what was imported with them and from their scores."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlmodel import Session

from annotators.asking.judged_scores import ScoreKey
from annotators.criteria.suggested import Proposals, is_anything_suggested
from annotators.items.item import ItemContent
from annotators.items.page_labels import labelled_pages
from annotators.protocols import Protocol
from annotators.scorers.shared.verdicts import judged_verdicts
from db.items.rows import read_items

_AT_ONCE = 500
READ = frozenset({"evidence", "metadata"})
"""The parts of an item that its proposals are read from."""


def proposals_of(
    item: ItemContent, suggested: Mapping[str, Sequence[ScoreKey]], values: Mapping[ScoreKey, float]
) -> Proposals:
    """What models say of an item that was read with `READ`; verdicts are those of one judge, and never people's.

    `suggested`: criterion → the scores that its suggestions are from; `values` are those of this item.
    """
    return Proposals(
        pages=frozenset(labelled_pages(item)),
        used={f"evidence:{unit.key}": unit.used for unit in item.evidence if unit.used is not None},
        verdicts=judged_verdicts(item),
        scores={
            criterion: next(values[key] for key in keys if key in values)
            for criterion, keys in suggested.items()
            if any(key in values for key in keys)
        },
    )


def versions_without_proposals(
    session: Session,
    protocol: Protocol,
    version_ids: Sequence[int],
    suggested: Mapping[str, Sequence[ScoreKey]],
    values: Mapping[int, Mapping[ScoreKey, float]],
) -> set[int]:
    """The item versions for none of whose labels anything is suggested; `values`: version → its scores."""
    asking = [
        criterion
        for step in range(len(protocol.steps))
        if protocol.suggests_at(step)
        for criterion in protocol.step_criteria(step)
    ]
    without: set[int] = set()
    for start in range(0, len(version_ids), _AT_ONCE):
        for version_id, item in read_items(session, version_ids[start : start + _AT_ONCE], READ).items():
            proposals = proposals_of(item.content, suggested, values.get(version_id, {}))
            if not any(is_anything_suggested(criterion, proposals) for criterion in asking):
                without.add(version_id)
    return without
