"""Mean grades by group with their intervals, and the unweighted mean of the groups: Table I of FATHOMS-RAG."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from annotators.alignment.statistics.base import AlignmentStatistic, declare
from annotators.alignment.tables.pairs import Numbers, Pairs
from annotators.arrays import FloatArray, sparse
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval
from annotators.intervals.shares import bounded_interval

MEAN = declare("mean_agreement", "Mean agreement")
FEW = 30
"""With fewer clusters the interval of a bounded mean covers more often than the t interval."""
MACRO_MEAN = declare("macro_mean_agreement", "Mean agreement, unweighted mean of groups")


def mean_agreement(
    grades: Numbers,
    groups: Sequence[str | None] | None = None,
    asked: Resampling | None = None,
    *,
    clusters: Sequence[Hashable] | None = None,
    scale: tuple[float, float] | None = None,
    by: str | None = None,
    **about: Any,
) -> list[Aligned]:
    """Mean grade over all rows, over each group, and the unweighted mean of the groups' means.

    `grades` are numbers, such as how far a person agrees with a score from 1 to 5; None is left out. Entries are named
    `mean_agreement` (group None: all rows) and `macro_mean_agreement`, the unweighted mean of the groups, which FATHOMS
    reports: (5.00 + 4.44 + 4.42) / 3 = 4.62 (section IV.D, table I). Intervals are t intervals with standard errors
    that take the rows of a cluster together (Liang & Zeger, 1986, Biometrika 73, 13-22), and G - 1 degrees of freedom
    for G clusters; those of the macro mean add the groups' influences of a cluster up, with Satterthwaite's degrees of
    freedom. They are cut at the ends of `scale`. Of fewer than `FEW` clusters on a known `scale`, and where all grades
    are equal, it is `bounded_interval`: a t interval of three grades covers half as often as it says. One cluster, or a
    group of one, has no interval; nor have grades that are all equal on no known scale.
    """
    asked = asked or Resampling()
    table = Pairs.of(grades, np.zeros(len(grades)), clusters=clusters, groups=groups, binary=False)
    if not table.n:
        return [MEAN.without_value("there are no grades", 0, **about)]
    everybody = np.ones(table.n)
    found = [_mean(MEAN, table, [everybody], asked, scale, **about)]
    members = [(table.group == place).astype(np.float64) for place in range(len(table.groups))]
    for name, member in zip(table.groups, members, strict=True):
        found.append(_mean(MEAN, table, [member], asked, scale, group=name, by=by, **about))
    if len(members) > 1:
        found.append(_mean(MACRO_MEAN, table, members, asked, scale, by=by, **about))
    return found


def _mean(
    statistic: AlignmentStatistic,
    table: Pairs,
    members: list[FloatArray],
    asked: Resampling,
    scale: tuple[float, float] | None,
    **about: Any,
) -> Aligned:
    """The mean of the means of some sets of rows (1 or 0 for each row), which may share clusters."""
    sizes = [float(member.sum()) for member in members]
    means = [float(member @ table.human / size) for member, size in zip(members, sizes, strict=True)]
    value, n = sum(means) / len(means), int(sum(sizes))
    influences, freedom = [], []
    for member, size, mean in zip(members, sizes, means, strict=True):
        own = np.bincount(table.cluster, weights=member * (table.human - mean), minlength=table.n_clusters) / size
        clusters = len(np.unique(table.cluster[member > 0]))
        freedom.append(clusters - 1)
        # one cluster alone says nothing about the spread between clusters
        influences.append(own * np.sqrt(clusters / max(1, clusters - 1)) / len(members))
    over = f"{asked.over} as clusters" if table.clustered else "units"
    about_it = replace(statistic.about(n, **about), value=value)
    of = f"unweighted mean of {len(members)} groups; " if len(members) > 1 else ""
    if min(freedom) < 1:
        what = "cluster" if table.clustered else "unit"
        return replace(about_it, method=f"mean; no interval: a group has a single {what}")
    error = float(np.sqrt((np.sum(influences, axis=0) ** 2).sum()))
    if len(members) == 1 and scale is not None and (freedom[0] + 1 < FEW or error == 0):
        made = bounded_interval(value, error, freedom[0] + 1, asked.level, scale, over=over)
        return replace(about_it, interval=made, method=f"{made.kind} over {over}, {100 * asked.level:g} %")
    if error == 0:
        return replace(about_it, method=f"{of}mean; no interval: all values are equal, which says nothing of others")
    degrees = _freedom(table, members, influences, freedom)
    reach = float(stats.t.ppf((1 + asked.level) / 2, degrees)) * error
    low, high = value - reach, value + reach
    if scale is not None:
        low, high = max(low, scale[0]), min(high, scale[1])
    method = f"{of}t interval, {100 * asked.level:g} %, {degrees:.3g} degrees of freedom, {over}"
    made = Interval(low, high, "t", asked.level, over=over, error=error, freedom=degrees)
    return replace(about_it, interval=made, method=method)


def _freedom(table: Pairs, members: list[FloatArray], influences: list[FloatArray], freedom: list[int]) -> float:
    """The degrees of freedom of the mean of these groups' means, with those of each group.

    Satterthwaite (1946), Biometrics Bulletin 2, 110-114: (Σ v)² / Σ (v² / f) over parts with variances v and degrees of
    freedom f that are independent of each other. Groups that share clusters are one part, with the degrees of freedom
    of the smallest of them.
    """
    held = [np.unique(table.cluster[member > 0]) for member in members]
    links = sparse.coo_array(
        (
            np.ones(sum(map(len, held))),
            (np.concatenate([np.full(len(own), own[0]) for own in held]), np.concatenate(held)),
        ),
        shape=(table.n_clusters, table.n_clusters),
    )
    _, part_of = sparse.csgraph.connected_components(links, directed=False)
    whole = np.sum(influences, axis=0)
    variances: dict[int, float] = {}
    smallest: dict[int, int] = {}
    for own, of_group in zip(held, freedom, strict=True):
        part = int(part_of[own[0]])
        variances[part] = float((whole[part_of == part] ** 2).sum())
        smallest[part] = min(of_group, smallest.get(part, of_group))
    below = sum(variance**2 / smallest[part] for part, variance in variances.items())
    return sum(variances.values()) ** 2 / below
