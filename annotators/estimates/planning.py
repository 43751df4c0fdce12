"""How many labels an interval of a wanted width takes, from the labels of a pilot."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace

from annotators.arrays import np, stats
from annotators.errors import InvalidInput
from annotators.estimates.means import CLASSICAL, Mean, kinds_of, mean_of, why_not
from annotators.estimates.sample import Estimate, Units
from annotators.estimates.sequence import error_with, labels_to_stop
from annotators.intervals.result import Interval, Result

FEWEST = 8
"""Labels of a pilot from which a spread can be told."""


def check_width(width: float) -> None:
    """InvalidInput for a width that no interval can have."""
    if not (math.isfinite(width) and width > 0):
        raise InvalidInput(f"{width:g} is no width of an interval. Give one above 0, such as 0.1 for ±0.05.")


def labels_needed(units: Units, width: float, level: float = 0.95) -> list[Estimate]:
    """How many labels the mean of all units takes for an interval no wider than `width`, high less low.

    `labels_needed_classical` of labels alone, `labels_needed_ppi` (or `_active`) with the predictions as they are, and
    `labels_needed_anytime` for a confidence sequence that stops at that width. The number goes with the spread of the
    labels, so that its interval is that of a variance (χ²: Cochran 1977, Sampling Techniques, section 4.7).
    """
    check_width(width)
    made = mean_of(units)
    found = []
    for kind in kinds_of(units):
        entry = _entry(units, f"labels_needed_{kind}")
        reason = made.reason or (why_not(units, kind) if units.n_labelled < units.n else None) or _too_few(units)
        found.append(entry.undefined(reason) if reason else _needed(entry, made, kind, width, level))
    entry = _entry(units, "labels_needed_anytime")
    kind = kinds_of(units)[-1]
    kind = kind if why_not(units, kind) is None else CLASSICAL
    if reason := made.reason or _too_few(units):
        return [*found, entry.undefined(reason)]
    needed = labels_to_stop(made, kind, width / 2, level)
    if needed is None:
        return [*found, entry.undefined(_never(units, width))]
    words = f"for ±{width / 2:g} at every look, {100 * level:g} %, by the spread of {units.n_labelled:,} labels"
    return [*found, replace(entry, value=float(needed), method=words)]


def _entry(units: Units, name: str) -> Estimate:
    return Estimate(name=name, n_labelled=units.n_labelled, n_predicted=units.n_predicted)


def _too_few(units: Units) -> str | None:
    n = units.n_labelled
    return None if n >= FEWEST else f"a pilot of {n} label{'s' * (n != 1)} says too little: label at least {FEWEST}"


def _never(units: Units, width: float) -> str:
    return (
        f"not all {units.n:,} labels would make the interval of {units.whom} as narrow as {width:g}: "
        "it takes more items"
    )


def _needed(entry: Estimate, made: Mean, kind: str, width: float, level: float) -> Estimate:
    units, n = made.units, entry.n_labelled

    def enough(spread: float) -> int | None:
        """The labels that do where the standard error is so many times what the pilot says."""

        def fits(labels: int) -> bool:
            t = float(stats.t.ppf((1 + level) / 2, max(1, labels - 1)))
            return 2 * t * spread * error_with(made, kind, labels) <= width

        low, high = 2, units.n
        if not fits(high):
            return None
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if fits(middle) else (middle + 1, high)
        return high

    needed = enough(1.0)
    if needed is None:
        return entry.undefined(_never(units, width))
    freedom = max(1, n - 1)
    ends = [enough(math.sqrt(freedom / float(stats.chi2.ppf(share, freedom)))) for share in (0.975, 0.025)]
    low, high = (float(end) if end is not None else float(units.n) for end in ends)
    words = f"for an interval {width:g} wide, {100 * level:g} %, by the spread of {n:,} labels"
    return replace(entry, value=float(needed), interval=Interval(low, high, "χ²", level), method=words)


def needed_for(found: Iterable[tuple[Result, int]], width: float, total: int | None = None) -> Sequence[int | None]:
    """About how many labels each figure takes for an interval of this width, from its own width with n labels.

    Widths go with 1 / √n, less what of a finite set of `total` is known (None: a population without end). None for a
    figure without an interval.
    """
    check_width(width)
    made: list[int | None] = []
    for entry, n in found:
        if entry.low is None or entry.high is None or n < 1:
            made.append(None)
            continue
        share = (width / (entry.high - entry.low)) ** 2 if entry.high > entry.low else math.inf
        if total is None:
            made.append(max(1, math.ceil(n / share)))
        else:
            inverse = (1 / n - 1 / total) * share + 1 / total if total > n else 1 / n
            made.append(int(np.clip(math.ceil(1 / inverse - 1e-9), 1, total)))
    return made
