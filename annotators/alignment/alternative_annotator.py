"""May a judge replace an annotator: the alternative annotator test, one annotator left out after the other."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any, Literal

import numpy as np
from scipy import stats

from annotators.agreement.table import FloatArray
from annotators.alignment.resampling import Resampling, Sample, with_interval
from annotators.alignment.result import Aligned, undefined
from annotators.errors import InvalidInput

Closeness = Literal["equal", "distance"]
STATISTICS = ("alt_test_winning_rate", "alt_test_advantage")
FEWEST = 30  # units an annotator; with fewer the t test gives way to Wilcoxon's


def alternative_annotator_test(
    people: Mapping[Any, Mapping[Any, float]],
    judge: Mapping[Any, float],
    *,
    closeness: Closeness = "equal",
    epsilon: float = 0.2,
    fdr: float = 0.05,
    asked: Resampling | None = None,
    clusters: Mapping[Any, Hashable] | None = None,
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
    wins = {name: _wins(name, people, judge, closeness) for name in sorted(people, key=str)}
    compared = {name: found for name, found in wins.items() if found}
    if len(compared) < 2:
        reason = "no two annotators labelled a unit that the judge labelled too"
        return [undefined(name, reason, len(compared), **about) for name in STATISTICS]
    tables = {name: np.array(list(found.values()), dtype=np.float64) for name, found in compared.items()}
    tests = {name: _p_value(table, epsilon) for name, table in tables.items()}
    beaten = benjamini_yekutieli([p for p, _ in tests.values()], fdr)
    few = "" if len(compared) > 2 else "; at least three annotators are advised"
    words = (
        f"ε = {epsilon:g}, false discovery rate {fdr:g} (Benjamini-Yekutieli), {sum(beaten)} of {len(beaten)} beaten"
    )
    rate = sum(beaten) / len(beaten)
    found = [
        Aligned(STATISTICS[0], rate, None, None, words + few, len(compared), None, **about),
        _advantage(list(compared.values()), clusters or {}, asked, about),
    ]
    for (name, table), (p, test), won in zip(tables.items(), tests.values(), beaten, strict=True):
        share = float(table[:, 0].mean())
        method = f"{test}, one-sided p = {p:.3g}, ε = {epsilon:g}: {'beaten' if won else 'not beaten'}"
        low, high = stats.binomtest(round(share * len(table)), len(table)).proportion_ci(asked.level, "wilson")
        found.append(
            Aligned(
                STATISTICS[1], share, float(low), float(high), f"Wilson interval; {method}", len(table), None,
                against=str(name), p_value=p, **about,
            )
        )  # fmt: skip
    return found


def _wins(
    name: Hashable,
    people: Mapping[Any, Mapping[Any, float]],
    judge: Mapping[Any, float],
    closeness: Closeness,
) -> dict[Hashable, tuple[bool, bool]]:
    """Unit → whether the judge wins and whether the annotator wins, for each unit that can be compared."""
    found = {}
    for unit, own in sorted(people[name].items(), key=lambda entry: str(entry[0])):
        others = np.array([given[unit] for other, given in people.items() if other != name and unit in given])
        if unit in judge and len(others):
            by_judge, by_annotator = _closeness(judge[unit], others, closeness), _closeness(own, others, closeness)
            found[unit] = (by_judge >= by_annotator, by_annotator >= by_judge)
    return found


def _closeness(label: float, others: FloatArray, kind: Closeness) -> float:
    if kind == "equal":
        return float((others == label).mean())
    return -float(np.sqrt(((others - label) ** 2).mean()))


def _p_value(wins: FloatArray, epsilon: float) -> tuple[float, str]:
    """One-sided p that the annotator's lead is below ε, and the test's name."""
    lead = wins[:, 1] - wins[:, 0] - epsilon
    if len(lead) >= FEWEST:
        if np.ptp(lead) == 0:
            return (0.0 if lead[0] < 0 else 1.0), "all units alike"
        return float(stats.ttest_1samp(lead, 0.0, alternative="less").pvalue), "t test"
    return float(stats.wilcoxon(lead, alternative="less").pvalue), "Wilcoxon's signed-rank test"


def benjamini_yekutieli(p_values: list[float], fdr: float) -> list[bool]:
    """Which hypotheses are rejected at this false discovery rate, whatever the tests' dependence.

    Benjamini & Yekutieli (2001), Annals of Statistics 29, 1165-1188: the largest k with p_(k) ≤ k fdr / (m Σ 1/i).
    """
    adjusted: FloatArray = stats.false_discovery_control(p_values, method="by")
    return [bool(p <= fdr) for p in adjusted]


def _advantage(
    wins: list[dict[Hashable, tuple[bool, bool]]],
    clusters: Mapping[Any, Hashable],
    asked: Resampling,
    about: dict[str, Any],
) -> Aligned:
    """The mean over annotators of the share of units that the judge wins, bootstrapped over units or clusters."""
    units = list(dict.fromkeys(unit for found in wins for unit in found))
    place: dict[Hashable, int] = {}
    cluster = np.array([place.setdefault(clusters.get(unit, ("unit", unit)), len(place)) for unit in units])
    there = [np.array([float(unit in found) for unit in units]) for found in wins]
    won = [np.array([float(found.get(unit, (False,))[0]) for unit in units]) for found in wins]
    sample = Sample.of([*won, *there], cluster)
    columns = sample.columns.T

    def together(weights: FloatArray) -> FloatArray:
        sizes = columns[len(wins) :] @ weights
        with np.errstate(invalid="ignore", divide="ignore"):
            shares: FloatArray = (columns[: len(wins)] @ weights) / sizes
        mean: FloatArray = shares.mean(axis=0)
        return mean

    entry = Aligned(STATISTICS[1], None, None, None, None, len(wins), None, **about)
    note = "mean over annotators"
    return with_interval(entry, sample.resampled(together, asked), 0, asked, note=note)
