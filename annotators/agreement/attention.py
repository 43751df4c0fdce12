"""Warnings about pace and straight-lining: what of an annotator's work their own distribution makes unlikely.

No limit is fixed in seconds or labels: somebody who is always quick, or a study in which nearly every item gets one
label, is no cause for a warning. Both ask how long a run would be if the annotator's own items stood in another order.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass

from annotators.arrays import BoolArray, FloatArray, IntArray, np

LEVEL = 0.01
"""How many of 100 attentive annotators may get a warning of one kind by chance."""

FEWEST = 20  # items below which nothing is said
QUICK = (0.1, 0.25)  # the shares of the quickest items in which runs are looked for
MATERIAL = 0.5  # a run is remarked where its median time is below this share of what was expected


@dataclass(frozen=True)
class Run:
    """A run of an annotator's items, in the order in which they were given: from, up to (not included).

    `p` is how likely so long a run is for the annotator's own times or labels, corrected for all that was looked at;
    `label` the label of a run of labels, `ratio` the median time of a run of quick items over that expected.
    """

    start: int
    stop: int
    p: float
    label: Hashable = None
    ratio: float | None = None

    @property
    def length(self) -> int:
        """How many items."""
        return self.stop - self.start


def chance_of_run(n: int, marked: int, length: int) -> float:
    """How likely a run of `length` or more is where `marked` of n places are marked and every order is as likely.

    The marked places fall into the n - m + 1 gaps around the others: of C(n, m) orders, Σ_j (-1)^(j+1) C(n - m + 1, j)
    C(n - j l, n - m) have a gap with l or more (inclusion and exclusion; Feller 1968, An Introduction to Probability
    Theory, chapter II.10). Above .99995, where the terms would cancel, it is 1. Raises ValueError for counts that do
    not fit.
    """
    if not 0 <= marked <= n or length < 1:
        raise ValueError(f"{marked} marked of {n}, runs of {length}: give 0 ≤ marked ≤ n and a length of 1 or more")
    if length > marked:
        return 0.0
    gaps, total, sign = n - marked + 1, 0.0, 1.0
    whole = _log_choose(n, marked)
    for j in range(1, min(gaps, marked // length) + 1):
        term = math.exp(_log_choose(gaps, j) + _log_choose(n - j * length, n - marked) - whole)
        if j == 1 and term > 10:  # the gaps are negatively associated: no run at all is less likely than exp(-term)
            return 1.0
        total += sign * term
        sign = -sign
        if term < 1e-15 * abs(total):
            break
    return min(1.0, max(0.0, total))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def hurried(seconds: FloatArray, lengths: FloatArray | None = None, level: float = LEVEL) -> Run | None:
    """The run of items that were judged too quickly to be like the annotator's others; None without one.

    `seconds` has one time an item in the order of judging, NaN where there is none, `lengths` what there was to read
    (characters). The logarithm of a time is set against what the length and the place in the order (people get quicker)
    make expected, by straight lines of least squares; of the differences the quickest tenth, and the quickest
    quarter, are marked, and the longest run of marked items is compared with other orders of the same items.
    That holds whatever the distribution of the times is. A run counts where its median is below half of what is
    expected. Raises ValueError where there is not one length a time.
    """
    if lengths is not None and len(lengths) != len(seconds):
        raise ValueError(f"{len(lengths)} lengths for {len(seconds)} times: give one a time")
    places = np.flatnonzero(seconds > 0)
    n = len(places)
    if n < FEWEST:
        return None
    rest = np.log(seconds[places])
    if lengths is not None:
        rest -= _line(np.log1p(lengths[places].astype(np.float64)), rest)
    rest -= _line(np.log1p(np.arange(n, dtype=np.float64)), rest)
    found: Run | None = None
    for share in QUICK:
        marked = np.zeros(n, dtype=bool)
        marked[np.argsort(rest, kind="stable")[: int(share * n)]] = True
        start, stop = _longest(marked)
        p = min(1.0, len(QUICK) * chance_of_run(n, int(marked.sum()), max(1, stop - start)))
        ratio = float(np.exp(np.median(rest[start:stop]) - np.median(rest))) if stop > start else 1.0
        if p <= level and ratio < MATERIAL and (found is None or p < found.p):
            found = Run(int(places[start]), int(places[stop - 1]) + 1, p, ratio=ratio)
    return found


def _line(x: FloatArray, y: FloatArray) -> FloatArray:
    """What the straight line of least squares says of y; its mean where x says nothing."""
    x = x - x.mean()
    across = float(x @ x)
    slope = float(x @ y) / across if across > 0 else 0.0
    return slope * x + float(y.mean())


def _longest(marked: BoolArray) -> tuple[int, int]:
    """Where the longest run of marked places begins and ends; the first of several."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], marked, [False]]).astype(np.int8)))
    starts, stops = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    place = int(np.argmax(stops - starts))
    return int(starts[place]), int(stops[place])


def straight_lined(
    codes: IntArray, labels: Sequence[Hashable], others: IntArray | None = None, level: float = LEVEL
) -> Run | None:
    """The run of one and the same label that the annotator's own label frequencies make unlikely; None without one.

    `codes` has one place in `labels` an item, in the order of judging, -1 for items with several labels; `others` what
    most of the others gave the item, -1 where nobody else has judged it or they are divided. Each label's longest run
    is compared with other orders of the annotator's own labels, corrected for the number of labels. A run that is the
    others' as well, item by item, is the items': it is no warning.
    """
    n = len(codes)
    if n < FEWEST:
        return None
    used = [code for code in range(len(labels)) if (codes == code).any()]
    found: Run | None = None
    for code in used:
        start, stop = _longest(codes == code)
        p = min(1.0, len(used) * chance_of_run(n, int((codes == code).sum()), stop - start))
        if p > level or (found is not None and p >= found.p):
            continue
        if others is not None:
            known = others[start:stop][others[start:stop] >= 0]
            if 2 * len(known) >= stop - start and bool((known == code).all()):
                continue
        found = Run(start, stop, p, label=labels[code])
    return found
