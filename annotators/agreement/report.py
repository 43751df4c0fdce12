"""All statistics of agreement of one table of ratings, computed together on the same resamples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from annotators.agreement.bootstrap import Sampling
from annotators.agreement.catalogue import LEAST_SHARED, MOST_LABELS, MOST_RATERS, all_statistics, default_statistics
from annotators.agreement.icc import OF_RANDOM_RATERS
from annotators.agreement.own_weights import OwnWeights
from annotators.agreement.parts import Asked, asks_which_raters, entry_of, with_intervals
from annotators.agreement.result import IntervalKind, Raters, Statistic
from annotators.agreement.samples import samples
from annotators.agreement.sets import OVERLAP
from annotators.agreement.table import IntArray, Ratings
from annotators.agreement.two_way import two_way_intervals
from annotators.coefficient_names import CATALOGUE, check_statistics
from annotators.errors import InvalidInput

__all__ = ["MOST_LABELS", "MOST_RATERS", "default_statistics", "measure", "statistic_names"]


def measure(
    ratings: Ratings,
    statistics: Sequence[str] | str | None = None,
    resamples: int = 1000,
    seed: int = 0,
    level: float = 0.95,
    *,
    kind: IntervalKind = "BCa",
    clusters: Mapping[Hashable, Hashable] | None = None,
    over: str = "questions",
    own_weights: OwnWeights | None = None,
    any_scale: bool = False,
    overlap: float = OVERLAP,
    least_shared: int = LEAST_SHARED,
    raters: Raters | None = None,
) -> list[Statistic]:
    """Statistics of agreement with their intervals, in the order asked for.

    `statistics` are names from `STATISTICS`; None or "default" are those of `default_statistics`, "all" is every
    coefficient whatever the scale (`any_scale`): labels that are numbers by their value, others by their rank in the
    declared order, or sorted. Above 10 raters statistics of pairs and Light's κ are made only when they are named.
    `cohen_kappa` and the other statistics of pairs are one entry a pair of raters, in the
    raters' order, and `specific_agreement` one a label.

    `level` (0..1) is that of the intervals. `kind` is the interval that `low` and `high` are: "BCa" or "percentile"
    bootstrap over units, "jackknife", or "analytic" where there is an accepted one (else BCa); the others stand in
    `beside`. 0 `resamples` leave out the bootstrap and the jackknife. `clusters` has the question (or whatever `over`
    calls it) of each unit: then clusters are resampled, and analytic intervals, which take units for independent, are
    left out. `own_weights` are the weights of the statistics that end in _weighted, and add them.
    `raters` says which raters the intervals are about: "fixed" these ones (units are resampled), "random" raters like
    these as well (units and raters: `two_way`); None takes raters as fixed, but as random for ICC(A,1) and ICC(A,k).
    `overlap` (0..1) is the intersection over union from which on two boxes are one find. With three raters and more a
    pair has a κ from `least_shared` units on that both rated.

    Nothing is left out silently: what is undefined has the value None and a reason.

    Raises InvalidInput for an unknown name, a level outside 0..1, negative resamples, a unit without a cluster, or
    weights that do not fit the labels.
    """
    if not 0 < level < 1:
        raise InvalidInput(f"level {level} is not between 0 and 1: give a share such as 0.95")
    if least_shared < 2:
        raise InvalidInput(f"{least_shared} shared units: a κ needs 2 or more")
    if resamples < 0 or seed < 0:
        raise InvalidInput(f"{resamples} resamples and seed {seed}: neither may be negative")
    names = statistic_names(ratings, statistics, own_weights=own_weights is not None)
    asked = Asked(
        any_scale=any_scale or statistics == "all",
        own_weights=own_weights,
        overlap=overlap,
        least_shared=least_shared,
        each_pair=len(ratings.raters) <= MOST_RATERS or statistics not in (None, "default", "all"),
    )
    sampling = Sampling(resamples, seed, level, kind, _cluster_codes(ratings, clusters))
    sampling = replace(sampling, over=over if clusters else "units", raters=raters)
    not_measured = _too_long(ratings, names) if statistics == "all" else {}
    if own_weights is None:
        not_measured |= _without_weights(ratings, names)
    found: dict[str, list[Statistic]] = {name: [] for name in names}
    for sample in samples(ratings, [name for name in names if name not in not_measured], asked, sampling):
        for statistic in sample.measured(sampling):
            found[statistic.name].append(statistic)
    _about_raters_like_these(found, ratings, asked, sampling)
    found |= not_measured
    place = {rater: i for i, rater in enumerate(ratings.raters)}
    return [
        statistic
        for name in names
        for statistic in sorted(
            found[name], key=lambda one: (0, 0) if one.raters is None else (place[one.raters[0]], place[one.raters[1]])
        )
    ]


def _about_raters_like_these(
    found: dict[str, list[Statistic]], ratings: Ratings, asked: Asked, sampling: Sampling
) -> None:
    """Put the two-way interval first where raters are a sample: when asked for, and in ICC(A,·) with gaps."""
    random = sampling.raters == "random"
    wanted = [
        name
        for name, entries in found.items()
        for one in entries[:1]
        if one.value is not None
        and asks_which_raters(one)
        and (random or (name in OF_RANDOM_RATERS and sampling.raters is None and _kind(one) != "F"))
    ]
    if not wanted or not sampling.resamples:
        return
    intervals = two_way_intervals(ratings, wanted, asked, sampling)
    for name in wanted:
        entries = found[name]
        for place, one in enumerate(entries):
            made = intervals.get((name, one.label))
            if made is None or one.value is None or one.interval is None or one.raters is not None:
                continue
            first = [one.interval, made] if _kind(one) == "F" else [made, one.interval]
            entries[place] = with_intervals(one, [*first, *one.beside], one.note)


def _kind(one: Statistic) -> str:
    return one.interval.kind if one.interval is not None else ""


def statistic_names(
    ratings: Ratings, statistics: Sequence[str] | str | None, *, own_weights: bool = False
) -> list[str]:
    """The names asked for: some, one, or those behind None, "default" and "all"; InvalidInput for an unknown one."""
    if statistics is None or statistics == "default":
        names: Sequence[str] = default_statistics(ratings, own_weights=own_weights)
    elif statistics == "all":
        names = all_statistics(ratings, own_weights=own_weights)
    else:
        names = [statistics] if isinstance(statistics, str) else statistics
    check_statistics(names)
    return list(dict.fromkeys(names))


OVER_ALL = ("scott_pi", "pairwise_f1")
"""Statistics of pairs that have a value over all raters besides, which is measured whatever their number."""


def _too_long(ratings: Ratings, names: Sequence[str]) -> dict[str, list[Statistic]]:
    """What "all" does not list one by one, with the reason: hundreds of labels, thousands of pairs of raters."""
    found = {}
    pairs = len(list(combinations(ratings.raters, 2))) if len(ratings.raters) > MOST_RATERS else 0
    for name in names:
        entry, why = CATALOGUE[name], None
        if entry.by_label and len(ratings.labels) > MOST_LABELS:
            why = f"there are {len(ratings.labels):,} labels: ask for {name} by name to list them all"
        elif pairs and (entry.family == "light" or (entry.by_pair and name not in OVER_ALL)):
            why = f"there are {pairs:,} pairs of raters: ask for {name} by name to list them all"
        if why:
            found[name] = [entry_of(ratings, name, why, entry.smallest)]
    return found


def _without_weights(ratings: Ratings, names: Sequence[str]) -> dict[str, list[Statistic]]:
    """What is named after own weights, where there are none: of several criteria some may have them."""
    why = "it needs own weights for this criterion (--weights): a row and a column a label"
    return {
        name: [entry_of(ratings, name, why, CATALOGUE[name].smallest)] for name in names if name.endswith("_weighted")
    }


def _cluster_codes(ratings: Ratings, clusters: Mapping[Hashable, Hashable] | None) -> IntArray | None:
    """The cluster of each unit as a number; None without clusters."""
    if clusters is None:
        return None
    missing = [unit for unit in ratings.units if unit not in clusters]
    if missing:
        raise InvalidInput(f"unit {missing[0]!r} has no cluster: give one for every unit, or none at all")
    named = [clusters[unit] for unit in ratings.units]
    # Sorted by what the cluster is called, so that a seed gives the same resamples whatever the order of the units.
    place = {cluster: i for i, cluster in enumerate(sorted(dict.fromkeys(named), key=str))}
    return np.array([place[cluster] for cluster in named], dtype=np.int64)
