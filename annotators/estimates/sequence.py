"""When to stop: an interval that holds at every look, for a mean and for the difference of two groups.

An asymptotic confidence sequence: with the information I = 1 / se² of an estimate, its score I (estimate - truth)
moves like a Brownian motion in I, for finite sets, weights and predictions alike (Jennison & Turnbull 1997, Journal of
the American Statistical Association 92, 1330-1341; Waudby-Smith, Arbour, Sinha, Kennedy & Ramdas 2024, Annals of
Statistics 52, 2613-2640, theorem 2.2), and Robbins' normal mixture bounds such a motion at all times at once (Robbins
1970, Annals of Mathematical Statistics 41, 1397-1409). So estimate ± se √((1 + I₀/I) log((1 + I/I₀) / α²)) holds the
truth at every look with probability 1 - α, and one may look after each label and stop when one likes. I₀ says where it
is narrowest; it is set beforehand: from the width at which to stop, or for a hundred labels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from annotators.arrays import BoolArray, IntArray, np
from annotators.estimates.means import CLASSICAL, Mean, difference, kinds_of, mean_of, why_not
from annotators.estimates.sample import Estimate, Units
from annotators.intervals.result import Interval

FIRST = 20
"""Labels from which on there is a sequence: before, its standard error is itself a guess."""
NARROWEST = 8.2
"""I / I₀ at which the sequence is narrowest in standard errors (3.03 of them at 95 %)."""
ALIKE = "all labels so far are the same, which says nothing of how far off others may be"
"""Why there is no sequence of numbers yet."""
LOOKS = 48
"""At how many numbers of labels a sequence is drawn for people to see."""


def tuned_for(half_width: float | None, scale: tuple[float, float] | None, level: float = 0.95) -> float:
    """The information I₀ of the mixture: narrowest where the half-width is that at which to stop.

    Without one it is narrowest at a hundred labels of the largest spread that the scale allows (of 0..1 without one).
    """
    least = _times(NARROWEST, level)
    if half_width is not None:
        return (least / half_width) ** 2 / NARROWEST
    low, high = scale or (0.0, 1.0)
    return 100 / ((high - low) / 2) ** 2 / NARROWEST


def _times(ratio: float, level: float) -> float:
    """How many standard errors the sequence reaches at I / I₀."""
    return math.sqrt((1 + 1 / ratio) * math.log((1 + ratio) / (1 - level) ** 2))


def times(error: float, base: float, level: float = 0.95) -> float:
    """How many standard errors a sequence tuned for `base` (I₀) reaches to either side, where the error is this."""
    return _times(1 / (error * error * base), level) if error > 0 else 0.0


def mean_at_any_time(units: Units, half_width: float | None = None, level: float = 0.95) -> Estimate:
    """The mean of all units with an interval that holds at every look (`mean_anytime`), with predictions if they help.

    `half_width` is that at which the study may stop.
    """
    made, kind = mean_of(units), kinds_of(units)[-1]
    return _mean(made, kind if why_not(units, kind) is None else CLASSICAL, half_width, level)


def _mean(made: Mean, kind: str, half_width: float | None, level: float) -> Estimate:
    units = made.units
    entry = Estimate(name="mean_anytime", n_labelled=units.n_labelled, n_predicted=units.n_predicted)
    if made.reason is not None:
        return entry.undefined(made.reason)
    if units.n_labelled < FIRST:
        return entry.undefined(f"{units.n_labelled} labels are too few to look after each: it begins at {FIRST}")
    if made.says_nothing_of_spread:
        return entry.undefined(ALIKE)
    base = tuned_for(half_width, units.scale, level)
    ends = made.ends(kind, level, times(made.believed(kind), base, level))
    words = f"of {units.whom}; {_at_every_look(level)}, {_narrow(half_width)}"
    interval = Interval(ends.low, ends.high, "confidence sequence", level, error=ends.error, freedom=ends.freedom)
    effective = float(units.n_labelled) if kind == CLASSICAL else made.effective
    return replace(entry, value=ends.value, interval=interval, method=words, effective_n=effective)


def _at_every_look(level: float) -> str:
    return f"valid at every look, {100 * level:g} %: asymptotic confidence sequence"


def _narrow(half_width: float | None) -> str:
    return "narrowest at about 100 labels" if half_width is None else f"narrowest at ±{half_width:g}"


def differences_at_any_time(units: Units, half_width: float | None = None, level: float = 0.95) -> list[Estimate]:
    """The difference of every two groups with an interval that holds at every look (`difference_anytime`).

    Once it leaves 0 out, the first group is better (or worse) than the second, however often one has looked. Each pair
    has the level to itself.
    """
    made = [mean_of(units, place) for place in range(len(units.groups))]
    found = []
    for place, one in enumerate(made):
        for other in made[place + 1 :]:
            kind = kinds_of(units)[-1]
            kind = kind if why_not(units, kind) is None else CLASSICAL
            plain = difference(one, other, kind, level)
            entry = replace(plain, name="difference_anytime")
            if plain.value is None or plain.interval is None or plain.interval.error is None:
                found.append(entry)
                continue
            if plain.n_labelled < FIRST:
                why = f"{plain.n_labelled} labels are too few to look after each: it begins at {FIRST}"
                found.append(replace(entry, value=None, interval=None, method=None, effective_n=None, reason=why))
                continue
            if one.says_nothing_of_spread or other.says_nothing_of_spread:
                found.append(replace(entry, value=None, interval=None, method=None, effective_n=None, reason=ALIKE))
                continue
            base = tuned_for(half_width, units.scale, level)
            apart = max(plain.interval.error, math.hypot(one.believed(kind), other.believed(kind)))
            few = one.believed(kind) > one.error(kind) or other.believed(kind) > other.error(kind)
            error = apart if few else plain.interval.error
            reached = difference(one, other, kind, level, times(error, base, level))
            words = f"of {units.whom}; {_at_every_look(level)}, {_narrow(half_width)}"
            assert reached.interval is not None
            interval = replace(reached.interval, kind="confidence sequence")
            found.append(replace(reached, name="difference_anytime", interval=interval, method=words))
    return found


@dataclass(frozen=True)
class Look:
    """What was known after so many labels: the estimate with predictions, and from labels alone."""

    n: int
    powered: Estimate
    classical: Estimate


def looks(units_at: Sequence[tuple[int, Units]], half_width: float | None = None, level: float = 0.95) -> list[Look]:
    """The sequence as it went: after each of these numbers of labels, of the units as they were then."""
    found = []
    for n, units in units_at:
        made, kind = mean_of(units), kinds_of(units)[-1]
        kind = kind if why_not(units, kind) is None else CLASSICAL
        found.append(Look(n, _mean(made, kind, half_width, level), _mean(made, CLASSICAL, half_width, level)))
    return found


def looked_at(n: int, first: int = FIRST, most: int = LOOKS) -> list[int]:
    """At which numbers of labels a sequence of n is looked at: every few from the first on, and the last."""
    if n < first:
        return []
    return sorted({*np.linspace(first, n, min(most, n - first + 1)).round().astype(int).tolist()})


def first_labels(order: IntArray, labelled: BoolArray, n: int) -> BoolArray:
    """Which units (N) have the first n labels, where `order` (N) is their place in time."""
    places = np.flatnonzero(labelled)
    kept = places[np.argsort(order[places], kind="stable")[:n]]
    found = np.zeros(len(labelled), dtype=np.bool_)
    found[kept] = True
    return found


def labels_to_stop(made: Mean, kind: str, half_width: float, level: float = 0.95) -> int | None:
    """About how many labels there have to be for the sequence to reach this half-width, by how it went so far.

    None where no number would do: what is predicted of the units themselves is too uncertain for it.
    """
    assert made.limits is not None
    base = tuned_for(half_width, made.units.scale, level)
    n, total = made.limits.n, made.units.n
    if n == total and not made.limits.parts.of_raters:
        return total

    def reached(labels: int) -> bool:
        error = error_with(made, kind, labels)
        return times(error, base, level) * error <= half_width

    if not reached(total):
        return None
    low, high = (2, n) if reached(n) else (n, total)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if reached(middle) else (middle + 1, high)
    return high


def error_with(made: Mean, kind: str, labels: int) -> float:
    """The standard error that the mean would have with so many labels, drawn as those that there are."""
    assert made.limits is not None
    n, total, beyond = made.limits.n, made.units.n, made.units.beyond
    parts = made.limits.parts
    of_these = replace(made.limits, parts=replace(parts, beyond=0.0, noise=np.zeros_like(parts.noise)))
    now = of_these.believed(made.factors_of(kind)) ** 2
    of_one_label = now * n / max(1 - n / total, 1 / total)
    of_units = beyond * _variance_of_units(made) if beyond else 0.0
    # What raters differ by is in that of one label; what a finite set takes from it comes back: σ² / m / N of any n.
    return math.sqrt(of_one_label * max(0.0, 1 / labels - 1 / total) + of_units + parts.of_raters)


def _variance_of_units(made: Mean) -> float:
    """The variance that the mean of the population would have were every one of these units labelled."""
    assert made.limits is not None
    parts = made.limits.parts
    share = np.abs(parts.own) / max(float(np.abs(parts.own).sum()), 1e-300)
    middle = float(share @ parts.human)
    off = np.bincount(parts.cluster, weights=share * np.where(parts.labelled, parts.human - middle, 0.0))
    n = made.limits.n
    return float((off**2).sum()) * n / made.units.n
