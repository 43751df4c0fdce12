"""What figures about a judge are called, and shares of units with their intervals."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any

from annotators.alignment.statistics.base import NOT_DEFINED, AlignmentStatistic
from annotators.arrays import FloatArray, IntArray, np
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned
from annotators.intervals.shares import share_interval
from annotators.registry import Registry

Label = Any
"""A label that can be counted: a word, a number, or the vote that a composed value counts as."""
Clusters = Mapping[Any, Hashable]
"""Unit → what is drawn with it (its question); a unit without one stands for itself."""

TRUST: Registry[AlignmentStatistic] = Registry("statistic of judges", "annotators.judges.trust", extended=False)


def declare(name: str, title: str, undefined: str = NOT_DEFINED) -> AlignmentStatistic:
    """Enter a statistic under its name."""
    return TRUST.register(AlignmentStatistic(name, title, undefined))


def numbered(units: Sequence[Any], clusters: Clusters | None) -> IntArray:
    """The cluster of each unit, numbered from 0 in order of appearance."""
    place: dict[Hashable, int] = {}
    keys = clusters or {}
    return np.array([place.setdefault(keys.get(unit, ("unit", unit)), len(place)) for unit in units], dtype=np.int64)


def share(
    statistic: AlignmentStatistic,
    units: Sequence[Any],
    hits: FloatArray,
    sizes: FloatArray,
    asked: Resampling,
    *,
    clusters: Clusters | None = None,
    nothing: str,
    note: str = "",
    **about: Any,
) -> Aligned:
    """Σ hits / Σ sizes of units (both n), with Wilson's interval over units or their clusters; `n` is how many units.

    `nothing` is the reason where there is no unit, `note` what the method says besides.
    """
    entry = statistic.about(len(units), **about)
    if not len(units):
        return entry.undefined(nothing)
    cluster = numbered(units, clusters)
    of_cluster = [np.bincount(cluster, weights=column).astype(np.float64) for column in (hits, sizes)]
    over = asked.over if len(of_cluster[0]) < len(units) else "units"
    interval = share_interval(of_cluster[0], of_cluster[1], asked.level, over=over)
    return entry.measured(float(hits.sum() / sizes.sum()), [interval], note)
