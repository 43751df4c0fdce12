"""Surprisingly popular labels: which label more people give than people expect others to give."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Popular:
    """Of one unit: the label that most gave, and the one that is surprisingly popular; None where labels tie.

    `excess` has for each label its share of the votes less the share that people expected, by label.
    """

    most: str | None
    surprising: str | None
    excess: dict[str, float]


def popular(votes: Sequence[str], same: Sequence[float], labels: Sequence[str]) -> Popular:
    """The majority's and the surprisingly popular label of one unit.

    `votes` has the label of each annotator, `same` the share (0..1) of others whom they expect to give the same;
    `labels` are the criterion's, two or more. The label is taken whose share of the votes exceeds most the mean share
    that was expected of it: Prelec, Seung & McCoy (2017), Nature 541, 532-535, "more popular than people predict".
    People say only how many will give *their* label: of two labels the other one has the rest, of more the rest is
    shared out equally among the others. Raises ValueError for a vote that is no label, or votes without expectations.
    """
    if len(votes) != len(same) or not votes or len(labels) < 2 or not set(votes) <= set(labels):
        raise ValueError(f"{len(votes)} votes with {len(same)} expectations of {len(labels)} labels: give one a vote")
    n, others = len(votes), len(labels) - 1
    counts = Counter(votes)
    excess = {}
    for label in labels:
        expected = [share if vote == label else (1 - share) / others for vote, share in zip(votes, same, strict=True)]
        excess[label] = counts[label] / n - sum(expected) / n
    given = {label: excess[label] for label in labels if counts[label]}
    return Popular(_first(counts), _first(given), excess)


def _first(values: Counter[str] | dict[str, float]) -> str | None:
    """The label with the highest value; None where two have it."""
    most = max(values.values())
    found = [label for label, value in values.items() if value > most - 1e-12]
    return found[0] if len(found) == 1 else None
