"""Which labels a judge takes for which: people's label beside the judge's, in all and by group."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from annotators.arrays import IntArray, np
from annotators.figures import held_in_words
from annotators.judges.trust.base import Label


@dataclass(frozen=True, eq=False)
class Confusion:
    """How many units people gave one label (row) and the judge another (column), of a group or (None) of all.

    `left_out` has why units are not in the table → how many.
    """

    labels: tuple[Label, ...]
    counts: IntArray
    group: str | None = None
    by: str | None = None
    left_out: Mapping[str, int] = field(default_factory=dict)

    @property
    def held(self) -> str:
        """How many units the table holds, of how many, and why the rest is not there, in words."""
        return held_in_words(int(self.counts.sum()), self.left_out)

    def to_json(self) -> dict[str, Any]:
        """The table for JSON."""
        return {
            "group": self.group, "by": self.by, "labels": list(self.labels), "counts": self.counts.tolist(),
            "left_out": dict(self.left_out),
        }  # fmt: skip


def confusion(
    judge: Mapping[Any, Label],
    people: Mapping[Any, Label],
    labels: Sequence[Label],
    groups: Mapping[str, Mapping[Any, str]] | None = None,
    left_out: Mapping[Any, str] | None = None,
) -> list[Confusion]:
    """The table of all units that both labelled, then one for each group of each grouping (name → unit → group).

    `labels` are the declared ones in their order; what else was given comes behind them. `left_out` is why each other
    unit has no pair of labels: the tables count it.
    """
    without = left_out or {}
    units = sorted(judge.keys() & people.keys(), key=str)
    more = sorted({label for unit in units for label in (people[unit], judge[unit])} - set(labels), key=str)
    known = (*labels, *more)
    place = {label: number for number, label in enumerate(known)}

    def table(of: Sequence[Any], rest: Iterable[Any], group: str | None = None, by: str | None = None) -> Confusion:
        counts = np.zeros((len(known), len(known)), dtype=np.int64)
        for unit in of:
            counts[place[people[unit]], place[judge[unit]]] += 1
        return Confusion(known, counts, group, by, Counter(without[unit] for unit in rest))

    found = [table(units, without)]
    for by, group_of in (groups or {}).items():
        members: dict[str, list[Any]] = {}
        for unit in units:
            if unit in group_of:
                members.setdefault(group_of[unit], []).append(unit)
        others: dict[str, list[Any]] = {}
        for unit in without:
            if unit in group_of:
                others.setdefault(group_of[unit], []).append(unit)
        found += [table(members[group], others.get(group, ()), group, by) for group in sorted(members)]
    return found
