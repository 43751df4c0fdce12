"""What a figure of agreement or alignment comes back as: its value or why there is none, and its interval."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

IntervalKind = Literal["BCa", "percentile", "jackknife", "analytic"]
BOOTSTRAPS = ("BCa", "percentile")
OUTER = "percentile and basic"
"""Both bootstraps, of which the outer ends count."""
TWO_WAY = "two-way bootstrap"
TWO_WAY_JACKKNIFE = "two-way jackknife"
F_TEST = "F"
MCGRAW_WONG = "McGraw & Wong's F"
WALD = "Wald's F"
GENERALIZED = "generalized confidence interval"
Raters = Literal["fixed", "random"]
FIXED_RATERS, RANDOM_RATERS = "these raters", "raters like these"
"""Which raters a figure is about: those who rated, or others of their kind as well."""


@dataclass(frozen=True)
class Interval:
    """How an interval was made: by which method, at which level (0..1), from how many resamples and which seed.

    `kind` is "BCa", "percentile" or "percentile and basic" (bootstrap), "two-way bootstrap", "jackknife", "two-way
    jackknife", or the name of an analytic method; `raters` says which raters it is about ("these raters", "raters like
    these"), where that is a question; `over` says what was resampled or left out ("units", "questions"). `undefined` is
    how many of the resamples left the coefficient undefined and were left out; `low` and `high` are None when no
    interval could be made, and `note` says why, or what else is to be known. `error` is the standard error and
    `freedom` the degrees of freedom of t, where the method has them.
    """

    low: float | None
    high: float | None
    kind: str
    level: float
    resamples: int = 0
    undefined: int = 0
    seed: int = 0
    note: str = ""
    over: str = "units"
    error: float | None = None
    freedom: float | None = None
    raters: str = ""

    def in_words(self) -> str:
        """One line for tables and files, such as "BCa bootstrap over units, 95 %, 1,000 resamples, seed 7"."""
        if self.low is None:
            return f"no interval: {self.note}"
        level = f"{100 * self.level:g} %"
        about = f" ({self.raters})" if self.raters else ""
        if self.kind in (*BOOTSTRAPS, OUTER):
            words = f"{self.kind} bootstrap over {self.over}{about}, {level}"
        else:
            over = f" over {self.over}" if self.kind in ("jackknife", TWO_WAY, TWO_WAY_JACKKNIFE) else ""
            words = f"{MCGRAW_WONG if self.kind == F_TEST else self.kind}{over}{about}"
            if self.freedom is not None:
                words += f", t with {self.freedom:,.0f} degree{'s' * (round(self.freedom) != 1)} of freedom"
            words += f", {level}"
        if self.kind in (*BOOTSTRAPS, OUTER, TWO_WAY):
            words += f", {self.resamples:,} resamples, seed {self.seed}"
            if self.undefined:
                words += f"; {self.undefined:,} of {self.resamples:,} resamples undefined"
        return f"{words}; {self.note}" if self.note else words

    def to_json(self) -> dict[str, Any]:
        """The interval as an entry of a statistic's "intervals"."""
        return {"kind": self.kind, "low": self.low, "high": self.high, "method": self.in_words()}


@dataclass(frozen=True, kw_only=True)
class Result:
    """One figure: `value`, None with a `reason` when it is undefined, its interval and how both were made.

    `interval` is the one that is reported and `beside` has the others; `method` says in words how it was made and what
    was left out, `note` what the method says besides.
    """

    name: str
    value: float | None = None
    interval: Interval | None = None
    beside: tuple[Interval, ...] = ()
    method: str | None = None
    reason: str | None = None
    note: str = ""

    @property
    def low(self) -> float | None:
        """The lower end of the interval, on the scale of the value; None without one."""
        return None if self.interval is None else self.interval.low

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""
        return None if self.interval is None else self.interval.high

    def undefined(self, reason: str) -> Self:
        """The same without a value, and why."""
        return replace(self, reason=reason)

    def measured(self, value: float, made: Sequence[Interval], note: str = "") -> Self:
        """The same with its value, the first of the intervals as its own and the others beside, and all in words."""
        interval, *others = made
        return replace(
            self,
            value=value,
            interval=interval,
            beside=tuple(other for other in others if other.low is not None),
            method="; ".join(filter(None, [interval.in_words(), *self._left_out(), note])),
            note=note,
        )

    def _left_out(self) -> list[str]:
        """What did not count, in words."""
        return []


@dataclass(frozen=True, kw_only=True)
class Statistic(Result):
    """One statistic of agreement, with the numbers that it rests on.

    `n_units`, `n_raters`, `n_ratings` are those that the statistic used, `left_out` how many units do not count because
    they have a single rating. `raters` names the pair and `label` the label that it is about, when it is about one.
    """

    n_units: int
    n_raters: int
    n_ratings: int
    raters: tuple[Hashable, Hashable] | None = None
    label: Any = None
    left_out: int = 0

    def _left_out(self) -> list[str]:
        units = "unit" if self.left_out == 1 else "units"
        return [f"{self.left_out:,} {units} with a single rating left out"] * bool(self.left_out)

    def to_json(self) -> dict[str, Any]:
        """The statistic as `agreement` JSON has it.

        `raters` and `label` are there only when it is about a pair or a label, `intervals` (the other intervals) only
        when there are any.
        """
        found: dict[str, Any] = {
            "name": self.name,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "reason": self.reason,
            "n_units": self.n_units,
            "n_raters": self.n_raters,
            "n_ratings": self.n_ratings,
        }
        if self.raters is not None:
            found["raters"] = list(self.raters)
        if self.label is not None:
            found["label"] = self.label
        if self.beside:
            found["intervals"] = [interval.to_json() for interval in self.beside]
        return found


@dataclass(frozen=True, kw_only=True)
class Aligned(Result):
    """One statistic of alignment, and what it is about.

    A test statistic has no interval, but a `p_value` (two-sided unless the method says otherwise). `n` is how many rows
    (units, or labels where each label is a row), systems, or people the value rests on; the method says which when it
    is not units. `p_holm` and `p_bh` are p adjusted for all tests of its name, by Holm and by Benjamini and Hochberg,
    where there are several. `metric`, `criterion` and `group` say what it is about, `by` what the groups are (system,
    category, …), `against` the metric, study or annotator it is compared with; `n_effective` is how many labels alone
    would give as short an interval. `margin` is what a test of equivalence is about, and `verdict` what it shows.
    """

    n: int
    metric: str | None = None
    criterion: str | None = None
    group: str | None = None
    by: str | None = None
    against: str | None = None
    p_value: float | None = None
    p_holm: float | None = None
    p_bh: float | None = None
    n_effective: float | None = None
    margin: float | None = None
    verdict: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The statistic as `alignment` JSON has it; what only some have (`by`, p values, …) where there is one."""
        found: dict[str, Any] = {
            "name": self.name,
            "metric": self.metric,
            "criterion": self.criterion,
            "group": self.group,
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "method": self.method,
            "n": self.n,
            "reason": self.reason,
        }
        for name in ("by", "against", "p_value", "p_holm", "p_bh", "n_effective", "margin", "verdict"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        return found
