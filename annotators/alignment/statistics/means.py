"""Mean grades by group with their intervals, and the unweighted mean of the groups: Table I of FATHOMS-RAG."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import stats

from annotators.alignment.statistics.base import AlignmentStatistic, declare
from annotators.alignment.tables.pairs import Numbers, Pairs
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval

MEAN = declare("mean_agreement", "Mean agreement")
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
    for G clusters; those of the macro mean add the groups' influences of a cluster up, with the degrees of freedom of
    the smallest group. They are cut at the ends of `scale`. One cluster, or a group of one, has no interval.
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
    influence, freedom = np.zeros(table.n_clusters), []
    for member, size, mean in zip(members, sizes, means, strict=True):
        own = np.bincount(table.cluster, weights=member * (table.human - mean), minlength=table.n_clusters) / size
        clusters = len(np.unique(table.cluster[member > 0]))
        freedom.append(clusters - 1)
        # one cluster alone says nothing about the spread between clusters
        influence += own * np.sqrt(clusters / max(1, clusters - 1)) / len(members)
    over = f"{asked.over} as clusters" if table.clustered else "units"
    if min(freedom) < 1:
        what = "cluster" if table.clustered else "unit"
        method = f"mean; no interval: a group has a single {what}"
        return replace(statistic.about(n, **about), value=value, method=method)
    error = float(np.sqrt((influence**2).sum()))
    reach = float(stats.t.ppf((1 + asked.level) / 2, min(freedom))) * error
    low, high = value - reach, value + reach
    if scale is not None:
        low, high = max(low, scale[0]), min(high, scale[1])
    method = f"t interval, {100 * asked.level:g} %, {min(freedom)} degrees of freedom, {over}"
    if error == 0:
        method += "; all values are equal, which understates the uncertainty"
    if len(members) > 1:
        method = f"unweighted mean of {len(members)} groups; {method}"
    made = Interval(low, high, "t", asked.level, over=over, error=error, freedom=min(freedom))
    return replace(statistic.about(n, **about), value=value, interval=made, method=method)
