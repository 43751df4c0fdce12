"""All statistics of agreement of one table of ratings, computed together on the same resamples."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

from annotators.agreement.catalogue import MOST_LABELS, MOST_RATERS, all_statistics, default_statistics
from annotators.agreement.statistics import reasons
from annotators.agreement.statistics.base import (
    LEAST_SHARED,
    OVERLAP,
    Asked,
    Coefficient,
    Sampling,
    asks_which_raters,
    named,
    samples,
)
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.ratings import Ratings
from annotators.agreement.two_way import two_way_intervals
from annotators.arrays import IntArray, np
from annotators.errors import InvalidInput
from annotators.intervals.result import (
    F_TEST,
    GENERALIZED,
    RANDOM_RATERS,
    WALD,
    Interval,
    IntervalKind,
    Raters,
    Statistic,
)


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
    raters: Raters = "fixed",
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
    left out. `own_weights` are the weights of the statistics with own weights, and add them.
    `raters` says which raters all intervals are about: "fixed" these ones (units are resampled), "random" raters like
    these as well (units and raters: `two_way`, or the F interval of ICC(A,1) and ICC(A,k)).
    `overlap` (0..1) is the intersection over union from which on two boxes are one find. With three raters and more a
    pair has a κ from `least_shared` units on that both rated.

    Nothing is left out silently: what is undefined has the value None and a reason.

    Raises InvalidInput for an unknown name, a level outside 0..1, negative resamples, a unit without a cluster, or
    weights that do not fit the labels.
    """
    sampling = Sampling(resamples, seed, level, kind, over if clusters else "units", raters=raters)
    if least_shared < 2:
        raise InvalidInput(f"{least_shared} shared units: a κ needs 2 or more")
    coefficients = chosen(ratings, statistics, own_weights=own_weights is not None)
    asked = Asked(
        any_scale=any_scale or statistics == "all",
        own_weights=own_weights,
        overlap=overlap,
        least_shared=least_shared,
        each_pair=len(ratings.raters) <= MOST_RATERS or statistics not in (None, "default", "all"),
    )
    sampling = replace(sampling, clusters=_cluster_codes(ratings, clusters))
    found: dict[str, list[Statistic]] = {}
    measured = []
    for coefficient in coefficients:
        reason = _not_measured(ratings, coefficient, asked, everything=statistics == "all")
        found[coefficient.name] = [coefficient.entry(ratings, reason)] if reason else []
        measured += [] if reason else [coefficient]
    for sample in samples(ratings, measured, asked, sampling):
        for statistic in sample.measured(sampling):
            found[statistic.name].append(statistic)
    _about_raters_like_these(found, ratings, measured, asked, sampling)
    place = {rater: i for i, rater in enumerate(ratings.raters)}
    return [
        statistic
        for entries in found.values()
        for statistic in sorted(
            entries,
            key=lambda entry: (0, 0) if entry.raters is None else (place[entry.raters[0]], place[entry.raters[1]]),
        )
    ]


def _about_raters_like_these(
    found: dict[str, list[Statistic]],
    ratings: Ratings,
    coefficients: Sequence[Coefficient],
    asked: Asked,
    sampling: Sampling,
) -> None:
    """Put the two-way interval first where raters like these are asked for."""
    if sampling.raters != "random" or not sampling.resamples:
        return
    wanted = [
        coefficient
        for coefficient in coefficients
        for first in found[coefficient.name][:1]
        if first.value is not None and asks_which_raters(first) and not _is_about_any(first)
    ]
    if not wanted:
        return
    intervals = two_way_intervals(ratings, wanted, asked, sampling)
    for coefficient in wanted:
        entries = found[coefficient.name]
        for place, entry in enumerate(entries):
            made = intervals.get((entry.name, entry.label))
            made = None if made is None else _no_surer(made, entry)
            if made is None or entry.value is None or entry.interval is None or entry.raters is not None:
                continue
            first = [entry.interval, made] if _is_mcgraw_wong(entry) else [made, entry.interval]
            entries[place] = entry.measured(entry.value, [*first, *entry.beside], entry.note)


def _is_about_any(entry: Statistic) -> bool:
    """Whether its interval, or the reason for none, holds for raters like these as well: of an ICC with gaps."""
    made = [] if entry.interval is None else [entry.interval, *entry.beside]
    return any(
        interval.kind == GENERALIZED or (interval.kind, interval.raters) == (WALD, RANDOM_RATERS) for interval in made
    )


def _no_surer(made: Interval, entry: Statistic) -> Interval:
    """The interval about raters like these, which is on neither side shorter than the one about these raters.

    A claim about more people cannot be surer; ± t is symmetric, though, and Wilson's and BCa's ends are not.
    """
    these = entry.interval
    if made.low is None or made.high is None or these is None or these.low is None or these.high is None:
        return made
    return replace(made, low=min(made.low, these.low), high=max(made.high, these.high))


def _is_mcgraw_wong(entry: Statistic) -> bool:
    """Whether its interval is McGraw & Wong's about raters like these."""
    return entry.interval is not None and (entry.interval.kind, entry.interval.raters) == (F_TEST, RANDOM_RATERS)


def chosen(ratings: Ratings, statistics: Sequence[str] | str | None, *, own_weights: bool = False) -> list[Coefficient]:
    """What is asked for: some, one, or what is behind None, "default" and "all"; InvalidInput for an unknown name."""
    if statistics is None or statistics == "default":
        names: Sequence[str] = default_statistics(ratings, own_weights=own_weights)
    elif statistics == "all":
        names = all_statistics(ratings, own_weights=own_weights)
    else:
        names = [statistics] if isinstance(statistics, str) else statistics
    return named(dict.fromkeys(names))


def _not_measured(ratings: Ratings, coefficient: Coefficient, asked: Asked, *, everything: bool) -> str | None:
    """Why a coefficient is not measured, or None.

    `everything` is asked for: then hundreds of labels and thousands of pairs of raters are not listed one by one. Own
    weights may be given for some criteria only.
    """
    if coefficient.own_weights and asked.own_weights is None:
        return reasons.NO_OWN_WEIGHTS
    if not everything:
        return None
    if coefficient.by_label and len(ratings.labels) > MOST_LABELS:
        return reasons.too_many_labels(ratings, coefficient.name)
    of_pairs = coefficient.mean_of_pairs or (coefficient.by_pair and not coefficient.over_all)
    if of_pairs and len(ratings.raters) > MOST_RATERS:
        return reasons.too_many_pairs(len(list(combinations(ratings.raters, 2))), coefficient.name)
    return None


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
