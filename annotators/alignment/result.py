"""What an alignment statistic comes back as: its value or the reason why there is none, its interval, its method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from annotators.agreement.result import Interval


@dataclass(frozen=True)
class Aligned:
    """One statistic of alignment: `value` (None with a `reason` when undefined), interval, method and n.

    `low` and `high` are the ends of the interval on the scale of the value; a test statistic has none, but a
    `p_value` (two-sided unless the method says otherwise). `n` is how many rows (units, or labels where each label is a
    row), systems, or people the value rests on; the method says which when it is not units. `metric`, `criterion` and
    `group` say what it is about, `by` what the groups are (system, category, …), `against` the metric, study or
    annotator it is compared with; `n_effective` is how many labels alone would give as short an interval. `interval`
    holds the parts of the method and does not go into JSON.
    """

    name: str
    value: float | None
    low: float | None
    high: float | None
    method: str | None
    n: int
    reason: str | None
    metric: str | None = None
    criterion: str | None = None
    group: str | None = None
    by: str | None = None
    against: str | None = None
    p_value: float | None = None
    n_effective: float | None = None
    interval: Interval | None = None

    def to_json(self) -> dict[str, Any]:
        """The statistic as `alignment` JSON has it; `by`, `against`, `p_value`, `n_effective` where there is one."""
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
        for name in ("by", "against", "p_value", "n_effective"):
            if getattr(self, name) is not None:
                found[name] = getattr(self, name)
        return found


def undefined(name: str, reason: str, n: int, **about: Any) -> Aligned:
    """A statistic that has no value, and why."""
    return Aligned(name, None, None, None, None, n, reason, **about)
