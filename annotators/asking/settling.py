"""When labels of several annotators settle a unit, and how strongly they are in dispute."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from annotators.criteria import Criterion
from annotators.protocols import DerivedCriterion


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


FinalLabels = dict[str, tuple[str, Any]]
"""Target → how its label was reached (`open`: it was not), and the label."""

SUREST_FIRST = (Outcome.UNANIMOUS.value, Outcome.MAJORITY.value, "adjudicated")
"""How a label was reached, the surest first."""


def settle_derived(
    unit: DerivedCriterion,
    final: FinalLabels,
    votes: Iterable[Mapping[str, Any]],
    n_annotations: int,
    rule: str | None,
) -> Iterator[tuple[str, str, Any, Settled]]:
    """(target, how it was reached, value, what the votes say) of each unit that is derived from an item's labels.

    `final` has every target of the source that somebody judged or could not, `votes` each annotator's labels of it. A
    value follows from the final labels where it can, and was reached as the least certain of them was. Where labels
    that it needs are open, people may still agree on what theirs amount to: 8 and 10 are two grades and one band. Then
    the votes settle it by the study's `rule`; None: not yet, as annotations are still missing.
    """
    labels = {target: value for target, (how, value) in final.items() if how != Outcome.OPEN}
    follows = unit.derived.values(labels, final.keys() - labels.keys())
    cast: dict[str, list[Any]] = defaultdict(list)
    for given in votes:
        for target, value in unit.derived.values(given, final.keys() - given.keys()).items():
            if value is not None:
                cast[target].append(value)
    ways: dict[str, set[str]] = defaultdict(set)
    for part, (how, _) in final.items():
        if (of := unit.derived.target_of(part)) is not None:
            ways[of].add(how)
    for target in sorted(ways):
        settled = settle(unit.criterion, cast[target], n_annotations, rule or "unanimous")
        if follows.get(target) is not None:
            yield target, max(ways[target] & {*SUREST_FIRST}, key=SUREST_FIRST.index), follows[target], settled
        elif rule is not None and settled.outcome is not Outcome.OPEN:
            yield target, settled.outcome.value, settled.value, settled
        else:
            yield target, Outcome.OPEN.value, None, settled
