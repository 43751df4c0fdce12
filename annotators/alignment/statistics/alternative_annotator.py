"""May a judge replace an annotator: the alternative annotator test, one annotator left out after the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

import numpy as np
from scipy import stats

from annotators.alignment.statistics.base import declare
from annotators.alignment.tables.labels import Labels, People, clusters_of, first_seen
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray, IntArray
from annotators.errors import InvalidInput
from annotators.intervals.bootstrap import Resampling
from annotators.intervals.result import Aligned, Interval

Closeness = Literal["equal", "distance"]
U = TypeVar("U", bound=Hashable)
WINNING_RATE = declare("alt_test_winning_rate", "Alternative annotator test: winning rate ω")
ADVANTAGE = declare("alt_test_advantage", "Alternative annotator test: advantage ρ")
FEWEST = 30  # units an annotator; with fewer the t test gives way to Wilcoxon's
EXACT = 13  # leads up to which SciPy, too, has an exact p where some are tied


def on_their_scale(metric: Mapping[U, float], of: tuple[float, float], people: tuple[float, float]) -> dict[U, float]:
    """The metric's values, which lie on the scale `of`, stretched over people's: what it would say as one of them."""
    stretch = (people[1] - people[0]) / (of[1] - of[0])
    return {unit: people[0] + (value - of[0]) * stretch for unit, value in metric.items()}


def alternative_annotator_test(
    people: People | Labels,
    judge: Mapping[Any, float],
    *,
    closeness: Closeness = "equal",
    epsilon: float = 0.2,
    fdr: float = 0.05,
    asked: Resampling | None = None,
    clusters: Mapping[Any, Hashable] | IntArray | None = None,
    **about: Any,
) -> list[Aligned]:
    """Winning rate ω and mean advantage probability ρ of a judge against annotators; n is the number of annotators.

    `people` is annotator → unit → label, `judge` unit → label, as numbers. For each annotator and each unit that
    somebody else labelled too, judge and annotator are compared by how close they are to the others' labels: share of
    `equal` ones, or minus the root of the mean squared `distance`; equally close, both win. ρ_j is the share of units
    that the judge wins. The annotator is beaten when H0 "share the judge wins ≤ share the annotator wins − ε" is
    rejected, by a one-sided t test over the units' differences (Wilcoxon's signed-rank test with fewer than 30 units),
    at a false discovery rate of `fdr` by Benjamini & Yekutieli (2001). ω is the share of annotators beaten; the judge
    passes with ω ≥ 0.5. ε is what an annotator's cost is worth: 0.2 for experts, 0.15 for trained ones, 0.1 for crowd
    workers. Calderon, Reichart & Dror (2025), The Alternative Annotator Test, ACL, section 3; at least three annotators
    and 50 units are advised there.

    The interval of ρ is a bootstrap over units, or over `clusters` (unit → cluster); ω is a decision and has none. Then
    one `alt_test_advantage` an annotator (`against`), with the p value of the test. Raises InvalidInput for ε or fdr
    outside 0..1.
    """
    asked = asked or Resampling()
    if not 0 <= epsilon < 1 or not 0 < fdr < 1:
        raise InvalidInput(f"ε {epsilon} and false discovery rate {fdr} must lie between 0 and 1")
    labels = Labels.of(people)
    wins = _wins(labels, judge, closeness)
    compared = {name: rows for name, rows in wins.items() if len(rows.unit)}
    if len(compared) < 2:
        reason = "no two annotators labelled a unit that the judge labelled too"
        return [statistic.without_value(reason, len(compared), **about) for statistic in (WINNING_RATE, ADVANTAGE)]
    tables = {name: rows.table for name, rows in compared.items()}
    tests = {name: _p_value(table, epsilon) for name, table in tables.items()}
    beaten = benjamini_yekutieli([p for p, _ in tests.values()], fdr)
    few = "" if len(compared) > 2 else "; at least three annotators are advised"
    words = (
        f"ε = {epsilon:g}, false discovery rate {fdr:g} (Benjamini-Yekutieli), {sum(beaten)} of {len(beaten)} beaten"
    )
    rate = sum(beaten) / len(beaten)
    found = [
        replace(WINNING_RATE.about(len(compared), **about), value=rate, method=words + few),
        _advantage(list(compared.values()), clusters_of(labels.units, clusters), asked, about),
    ]
    each = zip(tables.items(), tests.values(), beaten, strict=True)
    for (name, table), (p, test), won in sorted(each, key=lambda one: str(one[0][0])):
        share = float(table[:, 0].mean())
        method = f"{test}, one-sided p = {p:.3g}, ε = {epsilon:g}: {'beaten' if won else 'not beaten'}"
        low, high = stats.binomtest(round(share * len(table)), len(table)).proportion_ci(asked.level, "wilson")
        made = Interval(float(low), float(high), "Wilson", asked.level)
        entry = ADVANTAGE.about(len(table), against=str(name), p_value=p, **about)
        found.append(replace(entry, value=share, interval=made, method=f"Wilson interval; {method}"))
    return found


@dataclass(frozen=True, eq=False)
class _ComparedUnits:
    """The units (places) on which an annotator can be compared; whether the judge wins, and the annotator (n × 2)."""

    unit: IntArray
    table: FloatArray


def _wins(labels: Labels, judge: Mapping[Any, float], closeness: Closeness) -> dict[Hashable, _ComparedUnits]:
    """Of each annotator, as they were given, the units that can be compared and who wins them; equally close, both win.

    Their order is not that of their names, by which an interval would be another under pseudonyms.
    """
    near = _equal if closeness == "equal" else _distance
    judged = labels.of_units(judge)[labels.unit]
    by_judge, by_annotator = labels.beside(judged, near), labels.beside(labels.value, near)
    table = np.stack([by_judge >= by_annotator, by_annotator >= by_judge], axis=1).astype(np.float64)
    there = ~np.isnan(judged) & (labels.others > 0)
    found = {}
    for place, name in enumerate(labels.people):
        rows = np.flatnonzero(there & (labels.person == place))
        found[name] = _ComparedUnits(labels.unit[rows], table[rows])
    return found


def _equal(label: FloatArray, others: FloatArray) -> FloatArray:
    """The share of the others' labels that are this one."""
    share: FloatArray = (others == label[:, None]).mean(axis=-1)
    return share


def _distance(label: FloatArray, others: FloatArray) -> FloatArray:
    """Minus the root of the mean squared distance to the others' labels."""
    away: FloatArray = np.sqrt(((others - label[:, None]) ** 2).mean(axis=-1))
    return -away


def _p_value(wins: FloatArray, epsilon: float) -> tuple[float, str]:
    """One-sided p that the annotator's lead is below ε, and the test's name."""
    lead = wins[:, 1] - wins[:, 0] - epsilon
    if len(lead) >= FEWEST:
        if np.ptp(lead) == 0:
            return (0.0 if lead[0] < 0 else 1.0), "all units alike"
        return float(stats.ttest_1samp(lead, 0.0, alternative="less").pvalue), "t test"
    return _signed_rank_p(lead), "Wilcoxon's signed-rank test"


def _signed_rank_p(lead: FloatArray) -> float:
    """One-sided p of Wilcoxon's signed-rank test that leads are below 0; few without zeros exactly, ties or not.

    The sums of ranks over all 2^n signs are counted by adding one rank after the other. `scipy.stats.wilcoxon` has the
    same p, but draws every sign by itself, which takes it half a second at 13 tied leads.
    """
    if len(lead) > EXACT or not lead.all():
        return float(stats.wilcoxon(lead, alternative="less").pvalue)
    ranks = np.rint(2 * stats.rankdata(np.abs(lead))).astype(np.int64)  # doubled, as tied ones have halves
    counts = np.ones(1)
    for rank in ranks.tolist():
        counts = np.pad(counts, (0, rank)) + np.pad(counts, (rank, 0))
    return float(counts[: int(ranks[lead > 0].sum()) + 1].sum() / counts.sum())


def benjamini_yekutieli(p_values: list[float], fdr: float) -> list[bool]:
    """Which hypotheses are rejected at this false discovery rate, whatever the tests' dependence.

    Benjamini & Yekutieli (2001), Annals of Statistics 29, 1165-1188: the largest k with p_(k) ≤ k fdr / (m Σ 1/i).
    """
    adjusted: FloatArray = stats.false_discovery_control(p_values, method="by")
    return [bool(p <= fdr) for p in adjusted]


def _advantage(
    wins: list[_ComparedUnits], cluster_of_unit: IntArray, asked: Resampling, about: dict[str, Any]
) -> Aligned:
    """The mean over annotators of the share of units that the judge wins, bootstrapped over units or clusters."""
    units, place = np.unique(np.concatenate([rows.unit for rows in wins]), return_inverse=True)
    cluster = first_seen(cluster_of_unit[units])
    there, won = ([np.zeros(len(units)) for _ in wins] for _ in range(2))
    ends = np.cumsum([len(rows.unit) for rows in wins])
    for number, (rows, end) in enumerate(zip(wins, ends.tolist(), strict=True)):
        here = place[end - len(rows.unit) : end]
        there[number][here] = 1.0
        won[number][here] = rows.table[:, 0]
    sample = DrawnRows.of([*won, *there], cluster)
    columns = sample.columns.T

    def together(weights: FloatArray) -> FloatArray:
        sizes = columns[len(wins) :] @ weights
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: FloatArray = (columns[: len(wins)] @ weights) / sizes
        mean: FloatArray = shares.mean(axis=0)
        return mean

    entry = ADVANTAGE.about(len(wins), **about)
    return ADVANTAGE.measured(entry, sample.resampled(together, asked), 0, asked, note="mean over annotators")
