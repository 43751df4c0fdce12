"""Mean grades by group with their intervals, and the unweighted mean of the groups: Table I of FATHOMS-RAG."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
from scipy import stats

from annotators.agreement.table import FloatArray
from annotators.alignment.pairs import Numbers, Pairs
from annotators.alignment.resampling import Resampling
from annotators.alignment.result import Aligned, undefined


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
        return [undefined("mean_agreement", "there are no grades", 0, **about)]
    everybody = np.ones(table.n)
    found = [_mean("mean_agreement", table, [everybody], asked, scale, **about)]
    members = [(table.group == place).astype(np.float64) for place in range(len(table.groups))]
    for name, member in zip(table.groups, members, strict=True):
        found.append(_mean("mean_agreement", table, [member], asked, scale, group=name, by=by, **about))
    if len(members) > 1:
        found.append(_mean("macro_mean_agreement", table, members, asked, scale, by=by, **about))
    return found


def _mean(
    name: str,
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
        return Aligned(name, value, None, None, f"mean; no interval: a group has a single {what}", n, None, **about)
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
    return Aligned(name, value, low, high, method, n, None, **about)
