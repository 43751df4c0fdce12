"""When labels of several annotators settle a unit, and how strongly they are in dispute."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import median_low
from typing import Any

from annotators.criteria.kinds import Criterion


class Outcome(StrEnum):
    """How a unit stands by its votes alone."""

    UNANIMOUS = "unanimous"
    MAJORITY = "majority"
    OPEN = "open"


@dataclass(frozen=True)
class Settled:
    """What the votes of one unit say.

    `value` is None while the outcome is open. `votes` counts each value, written as JSON where it is not a word.
    `dispute` is the share of votes against the most frequent value (0: none). `majority` is the value that more than
    half of the voters gave, whatever the rule, or None.
    """

    outcome: Outcome
    value: Any
    votes: dict[str, int]
    dispute: float
    majority: Any


def settle(criterion: Criterion, values: Sequence[Any], n_annotations: int, rule: str) -> Settled:
    """Settle one unit from the values given for it (`cannot judge` left out) by `n_annotations` annotators.

    Unanimity: all who judged agree (for an ordered scale: within the criterion's tolerance, and the lower median is
    taken), and they are more than half of the annotators. Majority: one value has more than half of all annotations.
    A unit that one part of the annotators was never asked (its condition did not hold) counts as not judged by them.
    """
    counted = Counter(vote(value) for value in values)
    votes = dict(sorted(counted.items(), key=lambda pair: (-pair[1], pair[0])))
    by_vote = {vote(value): value for value in values}
    top = max(votes.values(), default=0)
    dispute = 1 - top / len(values) if values else 0.0
    majority = next((by_vote[name] for name, n in votes.items() if n > n_annotations / 2), None)
    if len(values) > n_annotations / 2 and _all_agree(criterion, values):
        numbers = criterion.scale in ("ordinal", "interval") and len(votes) > 1
        return Settled(Outcome.UNANIMOUS, median_low(values) if numbers else values[0], votes, 0.0, majority)
    if rule == "majority" and majority is not None:
        return Settled(Outcome.MAJORITY, majority, votes, dispute, majority)
    return Settled(Outcome.OPEN, None, votes, dispute, majority)


def vote(value: Any) -> str:
    """A value as the key it is counted under: sets regardless of order are stored in one order already."""
    if isinstance(value, str):
        return value
    return str(value) if type(value) is int else json.dumps(value, ensure_ascii=False)


def _all_agree(criterion: Criterion, values: Sequence[Any]) -> bool:
    if len({vote(value) for value in values}) == 1:
        return True
    if not criterion.tolerance or criterion.scale not in ("ordinal", "interval"):
        return False
    if any(isinstance(value, str) for value in values):
        return False
    return bool(max(values) - min(values) <= criterion.tolerance)


def is_settled_by_votes(criterion: Criterion) -> bool:
    """Whether a criterion is settled at all: texts are each annotator's own and are not voted on."""
    return criterion.scale != "text"
