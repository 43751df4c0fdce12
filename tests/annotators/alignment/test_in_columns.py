"""What is worked out for thousands of units at once is what the plain definitions give, unit by unit."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
import pytest
from scipy import stats

from annotators.alignment import Pairs, alternative_annotator_test, association, compare, human_ceiling
from annotators.alignment.statistics import alternative_annotator, coefficients
from annotators.alignment.tables.labels import Labels, first_seen
from annotators.alignment.tables.levels import Levels, kinds
from annotators.alignment.tables.sample import DrawnRows
from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling

People = dict[str, dict[str, float]]
WITHOUT = Resampling(0)


def crowd(seed: int, *, binary: bool, units: int = 80, people: int = 7) -> tuple[People, dict[str, float]]:
    """Labels with gaps, so that units have none to seven of them, and scores of most units."""
    rng = np.random.default_rng(seed)
    truth = rng.random(units)
    given: People = {}
    for person in rng.permutation(people).tolist():
        seen = rng.random(units) < rng.uniform(0.1, 0.7)
        values = np.clip(truth + rng.normal(scale=0.3, size=units), 0, 1)
        labels = (values > 0.5).astype(float) if binary else np.round(1 + 4 * values, 1)
        given[f"p{person}"] = {
            f"u{unit}": float(labels[unit]) for unit in rng.permutation(units).tolist() if seen[unit]
        }
    scores = {f"u{unit}": float(np.round(truth[unit], 2)) for unit in range(units) if rng.random() < 0.9}
    return given, scores


# Plain definitions ----------------------------------------------------------------------------------------------------


def others_of(people: Mapping[str, Mapping[str, float]], name: str, unit: str) -> list[float]:
    """What the other people gave a unit."""
    return [given[unit] for other, given in people.items() if other != name and unit in given]


def plain_ceiling(people: People, metric: Mapping[str, float], name: str, *, binary: bool, of_metric: bool) -> float:
    """The mean over people of one person's (or the metric's) statistic with the rest."""
    found = []
    for person in people:
        own, rest = [], []
        for unit, label in people[person].items():
            others = others_of(people, person, unit)
            if unit not in metric or not others:
                continue
            mean = float(np.mean(others))
            if binary and mean == 0.5:
                continue
            rest.append(float(mean > 0.5) if binary else mean)
            score = float(metric[unit] >= 0.5) if binary else metric[unit]
            own.append(score if of_metric else label)
        if len(own) >= 3:
            found.append(STATISTICS[name](np.array(own), np.array(rest)))
    defined = [statistic for statistic in found if not np.isnan(statistic)]
    return float(np.mean(defined))


def plain_kappa(a: FloatArray, b: FloatArray) -> float:
    """Cohen's κ of two columns of 0 and 1."""
    observed, chance = float((a == b).mean()), a.mean() * b.mean() + (1 - a.mean()) * (1 - b.mean())
    return float((observed - chance) / (1 - chance)) if chance < 1 else np.nan


STATISTICS: dict[str, Any] = {
    "pearson": lambda a, b: stats.pearsonr(a, b).statistic if np.ptp(a) and np.ptp(b) else np.nan,
    "spearman": lambda a, b: stats.spearmanr(a, b).statistic if np.ptp(a) and np.ptp(b) else np.nan,
    "kendall_tau_b": lambda a, b: stats.kendalltau(a, b).statistic,
    "accuracy": lambda a, b: float((a == b).mean()),
    "cohen_kappa": plain_kappa,
}


def plain_wins(people: People, judge: Mapping[str, float], name: str, closeness: str) -> dict[str, tuple[bool, bool]]:
    """Unit → whether the judge wins, and the annotator, by the definition of Calderon, Reichart & Dror."""

    def near(label: float, others: list[float]) -> float:
        if closeness == "equal":
            return float(np.mean([other == label for other in others]))
        return -float(np.sqrt(np.mean([(other - label) ** 2 for other in others])))

    found = {}
    for unit, own in people[name].items():
        others = others_of(people, name, unit)
        if unit in judge and others:
            by_judge, by_annotator = near(judge[unit], others), near(own, others)
            found[unit] = (by_judge >= by_annotator, by_annotator >= by_judge)
    return found


# Against them ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_the_ceiling_is_the_mean_of_every_person_beside_the_rest(seed: int, binary: bool) -> None:
    people, scores = crowd(seed, binary=binary)
    found = human_ceiling(people, scores, WITHOUT, binary=binary, metric_name="overlap")
    assert len(found) == (4 if binary else 6)
    for entry in found:
        of_metric = entry.name.startswith("metric_to_rest_")
        name = entry.name.removeprefix("metric_to_rest_").removeprefix("human_ceiling_")
        plain = plain_ceiling(people, scores, name, binary=binary, of_metric=of_metric)
        assert entry.value == pytest.approx(plain, abs=1e-12), entry.name


@pytest.mark.slow
@pytest.mark.parametrize("closeness", ["equal", "distance"])
@pytest.mark.parametrize("seed", range(4))
def test_the_alternative_annotator_test_counts_the_wins_of_every_unit(seed: int, closeness: Any) -> None:
    people, scores = crowd(seed, binary=closeness == "equal")
    judge = {unit: float(score > 0.5) if closeness == "equal" else 1 + 4 * score for unit, score in scores.items()}
    found = {
        statistic.against: statistic
        for statistic in alternative_annotator_test(people, judge, closeness=closeness, asked=WITHOUT)
    }
    shares = []
    for name in people:
        wins = plain_wins(people, judge, name, closeness)
        share = float(np.mean([won for won, _ in wins.values()]))
        shares.append(share)
        assert found[name].n == len(wins)
        assert found[name].value == pytest.approx(share, abs=1e-15)
        lead = [float(annotator) - float(won) - 0.2 for won, annotator in wins.values()]
        if len(lead) >= 30:
            p = stats.ttest_1samp(lead, 0.0, alternative="less").pvalue
        else:
            p = stats.wilcoxon(lead, alternative="less").pvalue
        assert found[name].p_value == pytest.approx(float(p), abs=1e-12)
    advantage = next(
        statistic
        for statistic in alternative_annotator_test(people, judge, closeness=closeness, asked=WITHOUT)
        if statistic.name == "alt_test_advantage" and statistic.against is None
    )
    assert advantage.value == pytest.approx(float(np.mean(shares)), abs=1e-12)


def test_columns_of_labels_hold_what_was_given() -> None:
    people, _ = crowd(9, binary=False)
    labels = Labels.of(people)
    held: dict[Hashable, dict[Hashable, float]] = {name: {} for name in people}
    for unit, person, value in zip(labels.unit.tolist(), labels.person.tolist(), labels.value.tolist(), strict=True):
        held[labels.people[person]][labels.units[unit]] = value
    assert held == people
    sums = labels.beside(labels.value, lambda own, others: own + others.sum(axis=-1))
    for place, (unit, person) in enumerate(zip(labels.unit.tolist(), labels.person.tolist(), strict=True)):
        name, what = str(labels.people[person]), str(labels.units[unit])
        others = others_of(people, name, what)
        assert labels.others[place] == len(others)
        if others:
            assert sums[place] == pytest.approx(people[name][what] + sum(others))
        else:
            assert np.isnan(sums[place])


# Equal rows as one ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_equal_rows_of_many_clusters_count_as_often_as_they_occur(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 600
    x, y = rng.integers(8, size=n).astype(float), rng.integers(2, size=n).astype(float)
    cluster = first_seen(rng.integers(150, size=n))
    sample = DrawnRows.of([x, y], cluster)
    assert sample.clustered
    assert len(sample.columns) == 16
    drawn = rng.integers(4, size=(int(cluster.max()) + 1, 5)).astype(float)
    metric, human = (np.ascontiguousarray(column) for column in sample.columns.T)
    weights = sample.rows(drawn)
    for which in range(5):
        rows = np.repeat(np.arange(n), drawn[cluster, which].astype(int))
        r = coefficients.pearson(metric, human, weights)[which]
        rho = coefficients.spearman(Levels.of(metric), Levels.of(human), weights)[which]
        assert r == pytest.approx(stats.pearsonr(x[rows], y[rows]).statistic, abs=1e-12)
        assert rho == pytest.approx(stats.spearmanr(x[rows], y[rows]).statistic, abs=1e-12)


def test_draws_that_are_kept_give_the_same_intervals_as_fresh_ones() -> None:
    rng = np.random.default_rng(5)
    n = 3000
    truth = rng.random(n)
    pairs = Pairs.of(
        np.round(1 + 4 * truth),
        np.round(truth + rng.normal(scale=0.2, size=n), 2),
        clusters=(np.arange(n) // 2).tolist(),
    )
    how = Resampling(800, seed=11)
    first, again = association(pairs, how), association(pairs, how)
    assert [(statistic.value, statistic.low, statistic.high) for statistic in first] == [
        (statistic.value, statistic.low, statistic.high) for statistic in again
    ]
    other = association(pairs, Resampling(800, seed=12))
    assert [statistic.low for statistic in first] != [statistic.low for statistic in other]


def test_a_comparison_is_the_difference_of_the_two_associations() -> None:
    rng = np.random.default_rng(3)
    n = 500
    human = rng.integers(2, size=n).astype(float)
    first, second = (np.round(np.clip(human + rng.normal(scale=s, size=n), 0, 1), 1) for s in (0.5, 0.9))
    pairs = Pairs.of(human, first, clusters=(np.arange(n) // 4).tolist(), units=range(n))
    other = np.array([second[int(str(unit))] for unit in pairs.units])
    found = {statistic.name: statistic.value for statistic in compare(pairs, other, WITHOUT)}
    alone = [
        {statistic.name: statistic.value for statistic in association(Pairs.of(human, metric), WITHOUT)}
        for metric in (first, second)
    ]
    for name in ("pearson", "spearman", "kendall_tau_b", "auroc"):
        left, right = (values[name] for values in alone)
        assert left is not None
        assert right is not None
        assert found[f"difference_{name}"] == pytest.approx(left - right, abs=1e-12)


def test_kinds_of_rows_and_numbers_in_order_of_appearance() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.integers(5, size=200) / 3, rng.integers(4, size=200) / 7
    left, right, code = kinds(x, y)
    assert list(zip(left.tolist(), right.tolist(), strict=True)) == sorted(
        set(zip(x.tolist(), y.tolist(), strict=True))
    )
    assert (left[code] == x).all()
    assert (right[code] == y).all()
    place: dict[int, int] = {}
    keys = rng.integers(50, size=200)
    assert first_seen(keys).tolist() == [place.setdefault(key, len(place)) for key in keys.tolist()]


@pytest.mark.parametrize(("units", "epsilon"), [(2, 0.2), (5, 0.1), (9, 0.2), (13, 0.15), (6, 0.0), (20, 0.2)])
def test_a_p_of_few_units_is_that_of_scipy(units: int, epsilon: float) -> None:
    rng = np.random.default_rng(units)
    wins = rng.integers(0, 2, size=(units, 2)).astype(float)
    wins[wins.sum(axis=1) == 0] = 1.0
    expected = stats.wilcoxon(wins[:, 1] - wins[:, 0] - epsilon, alternative="less").pvalue
    found, name = alternative_annotator._p_value(wins, epsilon)
    assert found == pytest.approx(expected, abs=1e-12)
    assert name.startswith("Wilcoxon")
