"""Several tests at once: p values adjusted for how many there are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from annotators.arrays import np, stats
from annotators.figures import p_value
from annotators.intervals.result import Aligned


def holm(p_values: Sequence[float]) -> list[float]:
    """p values adjusted so that a false one among all is no likelier than the level, whatever their dependence.

    Holm (1979), Scandinavian Journal of Statistics 6, 65-70.
    """
    order = np.argsort(p_values)
    n, highest = len(p_values), 0.0
    adjusted = [0.0] * n
    for rank, place in enumerate(order.tolist()):
        highest = max(highest, min(1.0, (n - rank) * p_values[place]))
        adjusted[place] = highest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """p values adjusted so that of those below the level no larger share than it is false in the long run.

    For tests that are independent or go together: Benjamini & Hochberg (1995), Journal of the Royal Statistical Society
    B 57, 289-300; Benjamini & Yekutieli (2001), Annals of Statistics 29, 1165-1188.
    """
    found: list[float] = stats.false_discovery_control(list(p_values)).tolist() if len(p_values) else []
    return found


def adjusted(statistics: Sequence[Aligned], names: Collection[str]) -> list[Aligned]:
    """The statistics in their order; where several tests of one of these names were made, with p adjusted for all.

    The tests of one name are one family, over metrics, criteria and groups: each gets `p_holm` and `p_bh`, and its
    method says of how many tests.
    """
    found = list(statistics)
    for name in names:
        family = [place for place, entry in enumerate(found) if entry.name == name and entry.p_value is not None]
        if len(family) < 2:
            continue
        p_values = [found[place].p_value or 0.0 for place in family]
        for place, by_holm, by_rate in zip(family, holm(p_values), benjamini_hochberg(p_values), strict=True):
            words = f"of {len(family)} tests p is {p_value(by_holm)} by Holm, {p_value(by_rate)} by Benjamini–Hochberg"
            method = "; ".join(filter(None, [found[place].method, words]))
            found[place] = replace(found[place], p_holm=by_holm, p_bh=by_rate, method=method)
    return found
