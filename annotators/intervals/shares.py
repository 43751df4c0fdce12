"""The interval of a share: Wilson's, with labels of one cluster counting for less than as many independent ones."""

from __future__ import annotations

import math

from annotators.arrays import FloatArray, np, special
from annotators.intervals.result import Interval

WILSON = "Wilson score"


def wilson_ends(share: float, n: float, z: float) -> tuple[float, float]:
    """The ends of the score interval of a share (0..1) of n labels, within 0..1; z is its number of standard errors.

    Wilson (1927), Journal of the American Statistical Association 22, 209-212.
    """
    more = z * z / n
    middle = (share + more / 2) / (1 + more)
    reach = math.sqrt(max(0.0, share * (1 - share)) / n + more / (4 * n)) * z / (1 + more)
    return 0.0 if share <= 0 else max(0.0, middle - reach), 1.0 if share >= 1 else min(1.0, middle + reach)


def share_interval(hits: FloatArray, sizes: FloatArray, level: float = 0.95, *, over: str = "items") -> Interval:
    """The interval (0..1) of Σ hits / Σ sizes, for clusters with `hits` (K) of `sizes` (K) labels; `over` names them.

    Wilson's interval with the number of labels replaced by that of independent ones with the same variance, and z by t
    with one degree of freedom less than clusters: Korn & Graubard (1998), Survey Methodology 24, 193-201, whose
    correction Dean & Pagano (2015), Journal of Survey Statistics and Methodology 3, 484-503, find to serve Wilson's
    interval as well. The variance of the share is that of a ratio of sums over clusters. Where it says nothing, because
    every label is a hit or none is, a whole cluster counts as one label. One cluster alone has no interval.
    """
    there = sizes > 0
    hits, sizes = hits[there], sizes[there]
    clusters, n = len(sizes), float(sizes.sum())
    if clusters < 2:
        return Interval(None, None, WILSON, level, note=f"one {over[:-1]} gives no standard error", over=over)
    value = float(hits.sum()) / n
    spread = float(((hits - value * sizes) ** 2).sum()) / n**2 * clusters / (clusters - 1)
    independent = float(clusters)
    if 0 < value < 1:
        independent = min(n, value * (1 - value) / spread) if spread > 0 else n
    t = float(special.stdtrit(clusters - 1, (1 + level) / 2))
    low, high = wilson_ends(value, independent, t)
    note = "" if clusters == n else f"{n:,.0f} labels count as {independent:,.1f} independent ones"
    return Interval(
        low,
        high,
        f"{WILSON} over {over}",
        level,
        note=note,
        over=over,
        error=float(np.sqrt(spread)),
        freedom=clusters - 1,
    )
