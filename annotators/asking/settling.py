"""When labels of several annotators settle a unit, and how strongly they are in dispute."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotators.criteria import Criterion


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
    half of the voters gave, or None; where the study's rule is majority, what they settle part by part.
    """

    outcome: Outcome
    value: Any
    votes: dict[str, int]
    dispute: float
    majority: Any


def settle(criterion: Criterion, values: Sequence[Any], n_annotations: int, rule: str) -> Settled:
    """Settle one unit from the values given for it (`cannot judge` left out) by `n_annotations` annotators.

    Unanimity: all who judged agree, as the criterion sees it (`Criterion.agreed`), and they are more than half of the
    annotators. Majority: more than half of all annotations say so, part by part where the kind settles parts
    (`Criterion.by_majority`).
    A unit that one part of the annotators was never asked (its condition did not hold) counts as not judged by them.
    """
    cast = [criterion.vote(value) for value in values]
    votes = dict(sorted(Counter(cast).items(), key=lambda pair: (-pair[1], pair[0])))
    top = max(votes.values(), default=0)
    dispute = 1 - top / len(values) if values else 0.0
    most = criterion.by_majority if rule == "majority" else criterion.most_given
    majority = most(values, n_annotations) if values else None
    if len(values) > n_annotations / 2 and (agreed := criterion.agreed(values)) is not None:
        return Settled(Outcome.UNANIMOUS, agreed, votes, 0.0, majority)
    if rule == "majority" and majority is not None:
        return Settled(Outcome.MAJORITY, majority, votes, dispute, majority)
    return Settled(Outcome.OPEN, None, votes, dispute, majority)
