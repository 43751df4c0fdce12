"""What a statistic of alignment is called, and the figures that it comes back as."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

from annotators.intervals.bootstrap import Resampled, Resampling
from annotators.intervals.result import Aligned, IntervalKind
from annotators.registry import Registry

LEAST_DRAWN = 10
"""Of fewer units or clusters 95 % bootstrap intervals of correlations covered in a third of simulated studies (3), in
72 to 98 % (5) and in 87 to 96 % (8), of so many in 93 to 97 %: docs/statistics.md."""
NOT_DEFINED = "it is not defined for these values (0/0)"


@dataclass(frozen=True)
class AlignmentStatistic:
    """A statistic by its `name` and `title`; `undefined` says why it can turn out to be NaN.

    `of` is the coefficient that it is made of, such as the one that a difference is the difference of.
    """

    name: str
    title: str
    undefined: str = NOT_DEFINED
    of: AlignmentStatistic | None = None

    def about(self, n: int, **about: Any) -> Aligned:
        """Its entry that is still to be measured on n rows; `about` are fields of `Aligned`."""
        return Aligned(name=self.name, n=n, **about)

    def without_value(self, reason: str, n: int, **about: Any) -> Aligned:
        """Its entry without a value, and why."""
        return Aligned(name=self.name, reason=reason, n=n, **about)

    def measured(
        self,
        entry: Aligned,
        found: Resampled,
        place: int,
        asked: Resampling,
        *,
        note: str = "",
        kind: IntervalKind | None = None,
        undefined: str | None = None,
    ) -> Aligned:
        """The entry with the value and interval of this place of what was resampled; `undefined`: why it can be NaN.

        `kind` is the interval that covers best, where that is not the one asked for; where there is none of it, the one
        asked for stands. There is none of fewer than `LEAST_DRAWN` units or clusters, and the method says so.
        """
        if entry.reason is not None:
            return entry
        value = float(found.values[place])
        if math.isnan(value):
            return entry.undefined(undefined or self.undefined)
        made = found.interval(place, asked.level, kind or asked.kind)
        if made.low is None and kind is not None:
            made = found.interval(place, asked.level, asked.kind)
        if found.n_units < LEAST_DRAWN and made.low is not None:
            why = f"{found.n_units} {found.over} are too few, at least {LEAST_DRAWN} are needed"
            made = replace(made, low=None, high=None, note=why)
        return entry.measured(value, [made], note)


STATISTICS: Registry[AlignmentStatistic] = Registry(
    "alignment statistic", "annotators.alignment.statistics", extended=False
)


def declare(name: str, title: str, undefined: str = NOT_DEFINED) -> AlignmentStatistic:
    """Enter a statistic under its name."""
    return STATISTICS.register(AlignmentStatistic(name, title, undefined))


def derived(name: str, title: str, of: AlignmentStatistic) -> AlignmentStatistic:
    """Enter a statistic that is made of another one, {} in name and title standing for those of the other."""
    made = AlignmentStatistic(name.format(of.name), title.format(of.title), of.undefined, of)
    return STATISTICS.register(made)


def title_of(name: str) -> str:
    """What the statistic of this name is called in tables and sentences."""
    return STATISTICS.get(name).title
