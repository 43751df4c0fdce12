"""What a judge saves: how many labels people still have to give for an interval as narrow, and what the judge costs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from annotators.alignment.statistics import coefficients
from annotators.alignment.tables.pairs import Pairs
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import np
from annotators.figures import number
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval
from annotators.judges.trust.base import declare

STILL = declare("labels_still_needed", "Share of people's labels still needed")
COST = declare("cost_of_label", "Cost of a label of the judge")
TIMES = (2, 5, 10)


@dataclass(frozen=True)
class Plan:
    """For an interval as narrow as that of `people` labels alone: so many of them, beside so many of the judge.

    `cost` is what the judge's labels cost, None where it is not known.
    """

    people: int
    judged: int
    still: int
    cost: float | None

    def to_json(self) -> dict[str, Any]:
        """The plan for JSON."""
        return {"people": self.people, "judged": self.judged, "still": self.still, "cost": self.cost}


def labels_still_needed(
    pairs: Pairs, cost_of_label: float | None = None, asked: Resampling | None = None, **about: Any
) -> tuple[Aligned, list[Plan]]:
    """`labels_still_needed` (0..1) with the judge at hand: 1 - r², however many units it labels; and plans in numbers.

    The mean of a population from n labels of people and N of the judge has the variance σ² ((1 - r²) / n + r² / N) with
    the best weight of the judge (PPI++, Angelopoulos, Duchi & Zrnic 2023, section 6), where σ² / n is that of labels
    alone; r is the correlation of judge and people on the rows of `pairs`. A plan says how many labels are needed
    beside 2, 5 and 10 times as many judged units as people labelled here. The interval is that of r (a bootstrap over
    clusters), squared; where it holds 0, the judge may save nothing. Costs are as the server's tokens were priced.
    """
    asked = asked or Resampling()
    reason = pairs.why_not()
    if reason is not None:
        return STILL.without_value(reason, pairs.n, **about), []
    sample = DrawnRows.of([pairs.metric, pairs.human], pairs.cluster)
    metric, human = (np.ascontiguousarray(column) for column in sample.columns.T)
    found = sample.resampled(lambda weights: coefficients.pearson(metric, human, weights), asked)
    of_r, entry = found.interval(0, asked.level, asked.kind), STILL.about(pairs.n, **about)
    r = float(found.values[0])
    if np.isnan(r):
        return entry.undefined(STILL.undefined), []
    entry = entry.measured(1 - r**2, [_squared(of_r)], f"1 − r², with r = {number(r, 3)}")
    assert entry.value is not None
    explained, n = 1 - entry.value, pairs.n
    plans = []
    for times in TIMES:
        judged = times * n
        still = (1 - explained) / (1 / n - explained / judged)
        plans.append(
            Plan(n, judged, int(np.ceil(still - 1e-9)), None if cost_of_label is None else cost_of_label * judged)
        )
    return entry, plans


def _squared(of_r: Interval) -> Interval:
    """The interval of 1 - r² from that of r."""
    if of_r.low is None or of_r.high is None:
        return of_r
    ends = sorted((of_r.low**2, of_r.high**2))
    least = 0.0 if of_r.low <= 0 <= of_r.high else ends[0]
    return replace(of_r, low=1 - ends[1], high=1 - least)
