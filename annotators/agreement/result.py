"""What a coefficient comes back as: its value or the reason why there is none, its intervals, and its numbers."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any, Literal

from annotators.agreement.table import Label

IntervalKind = Literal["BCa", "percentile", "jackknife", "analytic"]
BOOTSTRAPS = ("BCa", "percentile")
TWO_WAY = "two-way bootstrap"
MCGRAW_WONG = "McGraw & Wong's F"
Raters = Literal["fixed", "random"]
FIXED_RATERS, RANDOM_RATERS = "these raters", "raters like these"
"""Which raters a figure is about: those who rated, or others of their kind as well."""


@dataclass(frozen=True)
class Interval:
    """How an interval was made: by which method, at which level (0..1), from how many resamples and which seed.

    `kind` is "BCa" or "percentile" (bootstrap), "two-way bootstrap", "jackknife", or the name of an analytic method;
    `raters` says which raters it is about ("these raters", "raters like these"), where that is a question; `over` says
    what was resampled or left out ("units", "questions"). `undefined` is how many of the resamples left the coefficient
    undefined and were left out; `low` and `high` are None when no interval could be made, and `note` says why, or what
    else is to be known. `error` is the standard error and `freedom` the degrees of freedom of t, where the method has
    them.
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
        if self.kind in BOOTSTRAPS:
            words = f"{self.kind} bootstrap over {self.over}{about}, {level}"
        else:
            over = f" over {self.over}" if self.kind in ("jackknife", TWO_WAY) else ""
            words = f"{MCGRAW_WONG if self.kind == 'F' else self.kind}{over}{about}"
            if self.freedom is not None:
                words += f", t with {self.freedom:,.0f} degree{'s' * (round(self.freedom) != 1)} of freedom"
            words += f", {level}"
        if self.kind in (*BOOTSTRAPS, TWO_WAY):
            words += f", {self.resamples:,} resamples, seed {self.seed}"
            if self.undefined:
                words += f"; {self.undefined:,} of {self.resamples:,} resamples undefined"
        return f"{words}; {self.note}" if self.note else words

    def to_json(self) -> dict[str, Any]:
        """The interval as an entry of a statistic's "intervals"."""
        return {"kind": self.kind, "low": self.low, "high": self.high, "method": self.in_words()}


@dataclass(frozen=True)
class Statistic:
    """One statistic of agreement: `value` (None with a `reason` when undefined), interval, method and numbers.

    `low`, `high` are the ends of the interval on the scale of the value; `method` says in words how it was made and
    what was left out. `n_units`, `n_raters`, `n_ratings` are those that the statistic used. `raters` names the pair and
    `label` the label that it is about, when it is about one. `interval` holds the method's parts, `beside` the other
    intervals, `left_out` the number of units that do not count because they have a single rating, and `note` what the
    method says besides.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    method: str | None
    reason: str | None
    n_units: int
    n_raters: int
    n_ratings: int
    raters: tuple[Hashable, Hashable] | None = None
    label: Label | None = None
    interval: Interval | None = None
    left_out: int = 0
    beside: tuple[Interval, ...] = ()
    note: str = ""

    @classmethod
    def pending(
        cls, name: str, reason: str | None, *, n_units: int, n_raters: int, n_ratings: int, **about: Any
    ) -> Statistic:
        """A statistic that is still to be measured, or with a `reason` that cannot be, with its numbers."""
        return cls(name, None, None, None, None, reason, n_units, n_raters, n_ratings, **about)

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
