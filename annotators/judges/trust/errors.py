"""On what a judge errs: its error against people, and how that goes with length, its own family, and systems."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from annotators.alignment.statistics.base import AlignmentStatistic
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import BoolArray, FloatArray, IntArray, np, ratio, special
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval
from annotators.judges.trust.base import Clusters, Label, declare, numbered, share

ERROR = declare("judge_error", "Error against people")
LENGTH_BIAS = declare("length_bias", "Error for 100 words more", "a resample has answers of one length only")
LENGTH_LEAN = declare("length_lean", "Lean for 100 words more", "a resample has answers of one length only")
FAMILY_BIAS = declare("family_bias", "Error on its own family, less that on others")
FAMILY_LEAN = declare("family_lean", "Lean towards its own family, less that towards others")
SYSTEM_BIAS = declare("system_bias", "Error on a system, less that on the others")
SYSTEM_LEAN = declare("system_lean", "Lean towards a system, less that towards the others")

FEWEST = 3
PARTS = 6
"""Parts of about as many units by the length of the answer, at most."""

WORDS = 100
"""The slope of length is for so many words."""
NO_LEAN = "the labels have no order, so that the judge leans towards none of them"


@dataclass(frozen=True, eq=False)
class Errors:
    """A judge beside people, one row a unit that both labelled.

    `error` (n) is 0 where they agree and up to 1: labels differ (1), or how far numbers are apart in lengths of their
    scale. `lean` (n, -1..1) is how much more the judge gave than people, None where labels have no order. `exact` says
    that every error is 0 or 1.
    """

    units: tuple[Any, ...]
    error: FloatArray
    lean: FloatArray | None
    cluster: IntArray
    clusters: Clusters | None
    exact: bool

    @classmethod
    def of(
        cls,
        judge: Mapping[Any, Label],
        people: Mapping[Any, Label],
        *,
        scale: tuple[float, float] | None = None,
        clusters: Clusters | None = None,
    ) -> Errors:
        """From unit → label of the judge and of people; `scale` has the ends where labels are numbers, else None."""
        units = tuple(sorted(judge.keys() & people.keys(), key=str))
        lean: FloatArray | None = None
        if scale is None:
            error = np.array([judge[unit] != people[unit] for unit in units], dtype=np.float64)
        else:
            length = (scale[1] - scale[0]) or 1.0
            lean = np.array([(judge[unit] - people[unit]) / length for unit in units], dtype=np.float64)
            error = np.abs(lean)
        exact = bool(np.isin(error, (0.0, 1.0)).all())
        return cls(units, error, lean, numbered(units, clusters), clusters, exact)

    def rows(self, kept: BoolArray) -> Errors:
        """Some of the rows."""
        units = tuple(unit for unit, keep in zip(self.units, kept.tolist(), strict=True) if keep)
        lean = None if self.lean is None else self.lean[kept]
        return Errors(units, self.error[kept], lean, numbered(units, self.clusters), self.clusters, self.exact)


def error_rate(errors: Errors, asked: Resampling | None = None, **about: Any) -> Aligned:
    """`judge_error`: the share of units where judge and people differ, or the mean distance (0..1) of numbers.

    Wilson's interval where every error is 0 or 1, else a bootstrap; both over clusters.
    """
    asked = asked or Resampling()
    nothing = "no unit has a label of the judge and one of people"
    n = len(errors.units)
    if errors.exact or not n:
        return share(
            ERROR, errors.units, errors.error, np.ones(n), asked, clusters=errors.clusters, nothing=nothing, **about
        )
    sample = DrawnRows.of([errors.error], errors.cluster)
    values = sample.columns[:, 0]
    found = sample.resampled(lambda weights: (values @ weights) / weights.sum(axis=0), asked)
    return ERROR.measured(ERROR.about(n, **about), found, 0, asked, note="mean distance in lengths of the scale")


def length_bias(
    errors: Errors, words: Mapping[Any, float], asked: Resampling | None = None, **about: Any
) -> list[Aligned]:
    """`length_bias` and `length_lean`: how much error and lean grow with every 100 words of the answer, least squares.

    `words` is unit → how many words the answer has. Above 0, the judge errs more on long answers (bias), or gives them
    more than people do (lean).
    """
    asked = asked or Resampling()
    kept = np.array([unit in words for unit in errors.units], dtype=bool)
    rows = errors.rows(kept)
    x = np.array([words[unit] for unit in rows.units], dtype=np.float64) / WORDS
    reason = _few(rows)
    if reason is None and np.ptp(x) == 0:
        reason = f"every answer has {x[0] * WORDS:g} words, so that there is no length to compare"
    made = _Comparison(rows, x, _slope, asked, "slope by least squares", reason)
    return made.of((LENGTH_BIAS, LENGTH_LEAN), about)


@dataclass(frozen=True)
class LengthPart:
    """The units whose answers have about so many words: from the shortest to the longest, their mean, and the error."""

    shortest: float
    longest: float
    words: float
    error: Aligned


def by_length(
    errors: Errors, words: Mapping[Any, float], asked: Resampling | None = None, *, parts: int = PARTS, **about: Any
) -> list[LengthPart]:
    """The mean error of units with short and with long answers, in up to so many parts of about as many units.

    `words` is unit → how many words. Units of one length are in one part. None where all are of one length, or there
    are fewer than three units a part.
    """
    rows = errors.rows(np.array([unit in words for unit in errors.units], dtype=bool))
    lengths = np.array([words[unit] for unit in rows.units], dtype=np.float64)
    parts = min(parts, len(lengths) // FEWEST)
    if parts < 2 or np.ptp(lengths) == 0:
        return []
    inner = np.unique(np.quantile(lengths, np.arange(1, parts) / parts, method="lower"))
    part = np.searchsorted(inner, lengths, side="left")
    found = []
    for place in np.unique(part).tolist():
        here = part == place
        own = lengths[here]
        error = error_rate(
            rows.rows(here), asked, **{**about, "by": "length", "group": f"{own.min():g} to {own.max():g}"}
        )
        found.append(LengthPart(float(own.min()), float(own.max()), float(own.mean()), error))
    return found if len(found) > 1 else []


def family_bias(
    errors: Errors, own: Mapping[Any, bool], asked: Resampling | None = None, **about: Any
) -> list[Aligned]:
    """`family_bias` and `family_lean`: mean error and lean on answers of the judge's own family, less those on others.

    `own` is unit → whether a model of its family wrote the answer; units that are not in it are left out.
    """
    asked = asked or Resampling()
    rows = errors.rows(np.array([unit in own for unit in errors.units], dtype=bool))
    mine = np.array([own[unit] for unit in rows.units], dtype=np.float64)
    reason = _few(rows)
    if reason is None and not 0 < mine.sum() < len(mine):
        reason = f"{'every' if mine.all() else 'no'} answer is by a model of the judge's own family"
    note = f"{int(mine.sum()):,} by its own family, {int(len(mine) - mine.sum()):,} by others"
    return _Comparison(rows, mine, _apart, asked, note, reason).of((FAMILY_BIAS, FAMILY_LEAN), about)


def system_bias(
    errors: Errors, systems: Mapping[Any, str], asked: Resampling | None = None, **about: Any
) -> list[Aligned]:
    """`system_bias` and `system_lean` of each system (`group`): mean error and lean on it, less those on all others."""
    asked = asked or Resampling()
    rows = errors.rows(np.array([unit in systems for unit in errors.units], dtype=bool))
    named = [systems[unit] for unit in rows.units]
    names = sorted(set(named))
    reason = _few(rows)
    if reason is None and len(names) < 2:
        reason = "there is only one system, and nothing to compare it with"
    if reason is not None:
        return [statistic.without_value(reason, len(named), **about) for statistic in (SYSTEM_BIAS, SYSTEM_LEAN)]
    found = []
    for name in names:
        mine = np.array([system == name for system in named], dtype=np.float64)
        note = f"{int(mine.sum()):,} of it, {int(len(mine) - mine.sum()):,} of others"
        of_system = {**about, "group": name, "by": "system"}
        found += _Comparison(rows, mine, _apart, asked, note).of((SYSTEM_BIAS, SYSTEM_LEAN), of_system)
    return found


def pair_bias(
    errors: Errors,
    sides: Mapping[Any, tuple[bool, bool]],
    statistics: tuple[AlignmentStatistic, AlignmentStatistic],
    who: str,
    asked: Resampling | None = None,
    **about: Any,
) -> list[Aligned]:
    """Error and lean of preferences between two answers, as to one kind of answer (a system, the judge's own family).

    `sides` is unit → whether the first and the second answer are of the kind, `who` what it is called. The error (the
    first statistic) is that on pairs of which one answer is of the kind, less that on pairs of which none is. The lean
    (the second) is how much more than people, in lengths of the scale, the judge prefers the answer of the kind: the
    mean over pairs with one such answer; `errors.lean` must be above 0 for the second answer.
    """
    asked = asked or Resampling()
    bias, lean = statistics
    rows = errors.rows(np.array([sides.get(unit, (True, True)) != (True, True) for unit in errors.units], dtype=bool))
    signs = np.array([float(sides[unit][1]) - float(sides[unit][0]) for unit in rows.units], dtype=np.float64)
    mine = np.abs(signs)
    reason = _few(rows)
    if reason is None and not 0 < mine.sum() < len(mine):
        reason = f"{'every' if mine.all() else 'no'} pair has one answer of {who}"
    note = f"{int(mine.sum()):,} pairs with one answer of {who}, {int(len(mine) - mine.sum()):,} with none"
    found = _Comparison(rows, mine, _apart, asked, note, reason).measured(bias, rows.error, about)
    within = rows.rows(mine > 0)
    entry = lean.about(len(within.units), **about)
    if within.lean is None:
        return [found, entry.undefined(NO_LEAN)]
    if (few := _few(within)) is not None:
        return [found, entry.undefined(few)]
    sample = DrawnRows.of([within.lean * signs[mine > 0]], within.cluster)
    values = sample.columns[:, 0]
    made = sample.resampled(lambda weights: (values @ weights) / weights.sum(axis=0), asked)
    return [found, lean.measured(entry, made, 0, asked, note=f"mean over pairs with one answer of {who}")]


def _few(rows: Errors) -> str | None:
    n = len(rows.units)
    if n < FEWEST:
        return f"{n} units with a label of the judge and one of people; at least {FEWEST} are needed"
    return None


@dataclass(frozen=True, eq=False)
class _Comparison:
    """What error and lean of rows are set against (`beside`, n), by a formula of both and the weights of rows."""

    rows: Errors
    beside: FloatArray
    formula: Callable[[FloatArray, FloatArray, FloatArray], FloatArray]
    asked: Resampling
    note: str
    reason: str | None = None

    def of(self, statistics: tuple[AlignmentStatistic, AlignmentStatistic], about: dict[str, Any]) -> list[Aligned]:
        """The figure of the error, and that of the lean."""
        rows = self.rows
        return [
            self.measured(statistic, column, about)
            for statistic, column in zip(statistics, (rows.error, rows.lean), strict=True)
        ]

    def measured(self, statistic: AlignmentStatistic, column: FloatArray | None, about: dict[str, Any]) -> Aligned:
        """One column by the formula; why not, where there is nothing to compare."""
        entry = statistic.about(len(self.rows.units), **about)
        if self.reason is not None or column is None:
            return entry.undefined(self.reason or NO_LEAN)
        sample = DrawnRows.of([column, self.beside], self.rows.cluster)
        y, x = (np.ascontiguousarray(values) for values in sample.columns.T)
        found = sample.resampled(lambda weights: self.formula(y, x, weights), self.asked)
        value = float(found.values[0])
        if np.isnan(value):
            return entry.undefined(statistic.undefined)
        interval = found.interval(0, self.asked.level, self.asked.kind)
        return entry.measured(value, [_expanded(interval, value, len(np.unique(self.rows.cluster)))], self.note)


def _expanded(interval: Interval, value: float, clusters: int) -> Interval:
    """The interval as much wider as one by t is, from so many clusters, than one by the normal distribution.

    A bootstrap takes the spread that there is for that of the population, and is too narrow with few clusters
    (Hesterberg 2015, The American Statistician 69, 371-386): of 30 questions it held the truth of a slope in 91.9 % of
    studies.
    """
    if interval.low is None or interval.high is None or clusters < FEWEST:
        return interval
    tail = (1 + interval.level) / 2
    wider = float(special.stdtrit(clusters - 1, tail) / special.ndtri(tail)) * (clusters / (clusters - 1)) ** 0.5
    low, high = value - wider * (value - interval.low), value + wider * (interval.high - value)
    return replace(interval, low=low, high=high, note="; ".join(filter(None, (interval.note, "expanded by t"))))


def _slope(y: FloatArray, x: FloatArray, weights: FloatArray) -> FloatArray:
    """The slope of least squares of y on x (B), NaN where x is constant."""
    n = weights.sum(axis=0)
    mx, my = (x @ weights) / n, (y @ weights) / n
    across = (x * x) @ weights / n - mx * mx
    across[across < 1e-12] = 0.0
    return ratio((x * y) @ weights / n - mx * my, across, cut=False)


def _apart(y: FloatArray, mine: FloatArray, weights: FloatArray) -> FloatArray:
    """The mean of y on rows that are `mine`, less that on the others (B)."""
    of_mine, of_others = mine @ weights, (1 - mine) @ weights
    return ratio((y * mine) @ weights, of_mine, cut=False) - ratio((y * (1 - mine)) @ weights, of_others, cut=False)
