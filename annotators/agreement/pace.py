"""How annotators work over time: their speed beside the others', and how agreement and labels drift."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from annotators.agreement.tables.ratings import Label, Ratings
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.later import Later

if TYPE_CHECKING:
    from scipy import stats
else:
    stats = Later("scipy.stats")


_STRETCHES = 10
FEWEST = 8  # ratings below which no change over time is estimated


@dataclass(frozen=True)
class Estimate:
    """A number with its interval at `level`, how it was made, or the reason why there is none; `n` ratings."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    method: str | None = None
    reason: str | None = None


@dataclass(frozen=True)
class Speed:
    """How long one annotator takes, in seconds an item.

    `median` with a distribution-free interval, `quartiles` the lower and upper quartile (None without a time), `total`
    the sum. `relative` is the annotator's time as a multiple of the others' on the same units: 0.5 is twice as fast.
    """

    rater: Hashable
    median: Estimate
    quartiles: tuple[float, float] | None
    total: float
    relative: Estimate


@dataclass(frozen=True)
class Stretch:
    """A stretch of an annotator's ratings, in the order in which they were given: from, up to (not included), figures.

    `agreement` is the mean share of the others' ratings that are the same, None where nobody else rated; `labels` are
    the shares of the labels; `seconds` the median time, None without one.
    """

    start: int
    stop: int
    agreement: float | None
    labels: dict[Label, float]
    seconds: float | None


@dataclass(frozen=True)
class Drift:
    """How one annotator changes from the first rating to the last.

    `agreement` is the change of the agreement with the others (-0.2: 20 points less at the end than at the start),
    `speed` the factor by which the time an item changes (0.5: twice as fast at the end), both along a straight line.
    """

    rater: Hashable
    n_ratings: int
    stretches: tuple[Stretch, ...]
    agreement: Estimate
    speed: Estimate


def speeds(ratings: Ratings, seconds: FloatArray, level: float = 0.95) -> tuple[Speed, ...]:
    """The speed of every annotator. `seconds` has one time a rating, in the order of `ratings`.

    The interval of the median is that of order statistics (exact, whatever the distribution). `relative` is the
    geometric mean over units of own time / median time of the others, with a t interval of the logarithms; a unit
    whose others have no time does not count. Times that are missing, 0 or negative are left out. Raises InvalidInput
    when there is not one time a rating.
    """
    _one_a_rating(ratings, seconds, "times")
    timed = seconds > 0
    others = _median_of_others(ratings, np.where(timed, seconds, np.nan))
    found = []
    for rater, name in enumerate(ratings.raters):
        own = (ratings.rater == rater) & timed
        times = np.sort(seconds[own])
        logs = np.log(seconds[own]) - np.log(others[own])
        quartiles = tuple(np.quantile(times, [0.25, 0.75]).tolist()) if len(times) else None
        found.append(
            Speed(
                rater=name,
                median=_median(times, level),
                quartiles=quartiles,
                total=float(times.sum()),
                relative=_ratio(logs[~np.isnan(logs)], level),
            )
        )
    return tuple(found)


def drifts(
    ratings: Ratings,
    times: FloatArray,
    seconds: FloatArray | None = None,
    level: float = 0.95,
) -> tuple[Drift, ...]:
    """How every annotator changes. `times` says when each rating was given, in the order of `ratings`.

    Any unit of time will do, only the order counts; ratings without a time are left out. An annotator's ratings are
    cut into up to 10 stretches of the same length, 5 ratings or more each. The change is the slope of a
    straight line over the order of the ratings (0 first, 1 last), with a t interval that does not assume equal
    variances (HC3: MacKinnon & White 1985, Journal of Econometrics 29, 305-325). Items that come in another mixture
    later look like drift, too: compare annotators who saw the same items. Raises InvalidInput when columns do not fit.
    """
    _one_a_rating(ratings, times, "times")
    if seconds is not None:
        _one_a_rating(ratings, seconds, "seconds")
    agreed = agreement_of_ratings(ratings)
    found = []
    for rater, name in enumerate(ratings.raters):
        own = np.flatnonzero((ratings.rater == rater) & ~np.isnan(times))
        own = own[np.argsort(times[own], kind="stable")]
        spent = np.full(len(own), np.nan) if seconds is None else np.where(seconds[own] > 0, seconds[own], np.nan)
        logs = np.log(spent)
        speed = _change(logs, level, "times")
        found.append(
            Drift(
                rater=name,
                n_ratings=len(own),
                stretches=_stretches(ratings, own, agreed[own], spent, _STRETCHES),
                agreement=_change(agreed[own], level, "ratings of units that others rated"),
                speed=_exponential(speed),
            )
        )
    return tuple(found)


def agreement_of_ratings(ratings: Ratings) -> FloatArray:
    """For each rating the share of the other ratings of its unit with the same label; NaN where there is no other."""
    k = max(1, len(ratings.labels))
    _, cell, alike = np.unique(ratings.unit * k + ratings.code, return_inverse=True, return_counts=True)
    others = ratings.sizes[ratings.unit] - 1
    share = np.full(ratings.n_ratings, np.nan)
    np.divide(alike[cell] - 1, others, out=share, where=others > 0)
    return share


def _one_a_rating(ratings: Ratings, column: FloatArray, name: str) -> None:
    if column.shape != (ratings.n_ratings,):
        raise InvalidInput(f"{len(column)} {name} for {ratings.n_ratings} ratings: give one a rating, NaN for none")


def _median_of_others(ratings: Ratings, seconds: FloatArray) -> FloatArray:
    """For each rating the median time of the other ratings of its unit, NaN without any."""
    order = np.lexsort((seconds, ratings.unit))  # within a unit by time, NaN last
    unit = ratings.unit[order]
    start = np.searchsorted(unit, unit)
    place = np.arange(len(order)) - start
    known = np.bincount(ratings.unit, weights=~np.isnan(seconds), minlength=len(ratings.units))[unit].astype(np.int64)
    timed = place < known
    n = np.where(timed, known - 1, known)
    ends = []
    for middle in ((n - 1) // 2, n // 2):
        at = start + middle + (timed & (middle >= place))  # skip oneself
        ends.append(seconds[order][np.clip(at, 0, max(0, len(order) - 1))])
    found = np.empty(len(order))
    found[order] = np.where(n > 0, (ends[0] + ends[1]) / 2, np.nan)
    return found


def _median(times: FloatArray, level: float) -> Estimate:
    """The median of sorted times with the interval of two order statistics that covers at least `level`."""
    n = len(times)
    if not n:
        return Estimate(None, None, None, 0, reason="there are no times")
    value = float(np.median(times))
    below = int(stats.binom.ppf((1 - level) / 2, n, 0.5))  # P(X < below) is at most half of what may be missed
    if below < 1:
        return Estimate(value, None, None, n, method=f"no interval: {n} times are too few")
    return Estimate(value, float(times[below - 1]), float(times[n - below]), n, method="order statistics")


def _ratio(logs: FloatArray, level: float) -> Estimate:
    """exp of the mean of logarithms, with a t interval."""
    n = len(logs)
    if not n:
        return Estimate(None, None, None, 0, reason="nobody else has a time for a unit of this annotator")
    mean = float(logs.mean())
    if n < 2:
        return Estimate(float(np.exp(mean)), None, None, n, method="no interval: one unit")
    half = float(stats.t.ppf((1 + level) / 2, n - 1) * logs.std(ddof=1) / np.sqrt(n))
    return Estimate(float(np.exp(mean)), float(np.exp(mean - half)), float(np.exp(mean + half)), n, "t, logarithms")


def _change(values: FloatArray, level: float, what: str) -> Estimate:
    """The change of a straight line from the first value to the last; NaN keeps its place in the order."""
    position = np.linspace(0, 1, len(values)) if len(values) > 1 else np.zeros(len(values))
    known = ~np.isnan(values)
    x, y = position[known], values[known]
    n = len(y)
    if n < FEWEST:
        return Estimate(None, None, None, n, reason=f"{n} {what} are too few to see a change")
    centred = x - x.mean()
    spread = float((centred**2).sum())
    slope = float(centred @ y / spread)
    residuals = y - y.mean() - slope * centred
    leverage = 1 / n + centred**2 / spread
    variance = float((centred**2 * (residuals / (1 - leverage)) ** 2).sum()) / spread**2
    half = float(stats.t.ppf((1 + level) / 2, n - 2)) * np.sqrt(variance)
    return Estimate(slope, float(slope - half), float(slope + half), n, "least squares, HC3, t")


def _exponential(change: Estimate) -> Estimate:
    """A change of logarithms as a factor."""
    if change.value is None or change.low is None or change.high is None:
        return change
    value, low, high = (float(np.exp(number)) for number in (change.value, change.low, change.high))
    return Estimate(value, low, high, change.n, f"{change.method}, logarithms")


def _stretches(
    ratings: Ratings, own: IntArray, agreed: FloatArray, spent: FloatArray, most: int
) -> tuple[Stretch, ...]:
    """The stretches of one annotator's ratings, which are in the order of time."""
    n = len(own)
    cuts = np.linspace(0, n, max(1, min(most, n // 5)) + 1).round().astype(int).tolist()
    found = []
    for start, stop in pairwise(cuts):
        if start == stop:
            continue
        here, took = agreed[start:stop], spent[start:stop]
        shares = np.bincount(ratings.code[own[start:stop]], minlength=len(ratings.labels)) / (stop - start)
        found.append(
            Stretch(
                start=start,
                stop=stop,
                agreement=None if np.isnan(here).all() else float(np.nanmean(here)),
                labels=dict(zip(ratings.labels, shares.tolist(), strict=True)),
                seconds=None if np.isnan(took).all() else float(np.nanmedian(took)),
            )
        )
    return tuple(found)
