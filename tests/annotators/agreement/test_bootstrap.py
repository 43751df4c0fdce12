"""The bootstrap over units: the same distribution as an honest loop, intervals that other packages would give."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import krippendorff
import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats
from sklearn.metrics import cohen_kappa_score

from annotators.agreement.measure import measure
from annotators.agreement.remarks import benchmarks
from annotators.agreement.statistics import kappa
from annotators.agreement.statistics.alpha import alpha_interval
from annotators.agreement.statistics.base import OfCounts, coefficient_named
from annotators.agreement.tables import pairs
from annotators.agreement.tables.distances import Nominal, Spread
from annotators.agreement.tables.pairs import PairSums
from annotators.agreement.tables.patterns import Counts, Rows
from annotators.agreement.tables.ratings import Ratings
from annotators.intervals.bootstrap import Layout, Resampled, resample
from annotators.intervals.result import Statistic
from annotators.intervals.shares import FEW_DIFFER
from tests.annotators.agreement.makers import plain_agreement, random_matrix, rated, ratings_of

Matrix = npt.NDArray[np.float64]


def alpha(level: str) -> Callable[[Matrix], float]:
    def found(matrix: Matrix) -> float:
        return float(krippendorff.alpha(reliability_data=matrix, level_of_measurement=level))

    return found


def light(matrix: Matrix) -> float:
    return float(np.mean([cohen_kappa_score(matrix[a], matrix[b]) for a, b in [(0, 1), (0, 2), (1, 2)]]))


def sampled_counts(matrix: Matrix, name: str, smallest: int, resamples: int, seed: int = 0) -> Resampled:
    table = Counts.of(rated(matrix), smallest)
    chosen = coefficient_named(name)
    assert isinstance(chosen, OfCounts)
    spread = Spread(table, Nominal(len(table.numbers)))
    return resample(lambda weights: chosen.value(spread, weights), table.multiplicity, resamples=resamples, seed=seed)


def sampled_light(matrix: Matrix, resamples: int, seed: int = 0) -> Resampled:
    ratings = rated(matrix)
    found, _ = Rows.of(ratings).cells().shared()
    sums = PairSums.of_ratings(ratings, found, seed)
    return resample(lambda weights: kappa.light_kappa(sums, weights), sums.multiplicity, resamples=resamples, seed=seed)


HONEST: dict[str, tuple[Callable[[Matrix], float], int]] = {
    "percent_agreement": (lambda matrix: plain_agreement(matrix)[0], 2),
    "fleiss_kappa": (lambda matrix: plain_agreement(matrix)[1], 1),
    "krippendorff_alpha_nominal": (alpha("nominal"), 2),
    "krippendorff_alpha_ordinal": (alpha("ordinal"), 2),
    "krippendorff_alpha_interval": (alpha("interval"), 2),
}


def honest_loop(matrix: Matrix, statistic: Callable[[Matrix], float], resamples: int) -> npt.NDArray[np.float64]:
    """Draw units with replacement, write them out, compute; one by one."""
    rng = np.random.default_rng(99)
    n = matrix.shape[1]
    return np.array([statistic(matrix[:, rng.integers(n, size=n)]) for _ in range(resamples)])


def assert_same_distribution(ours: npt.NDArray[np.float64], honest: npt.NDArray[np.float64]) -> None:
    error = honest.std() * np.sqrt(1 / len(ours) + 1 / len(honest))
    assert abs(ours.mean() - honest.mean()) < 4 * error
    assert ours.std() == pytest.approx(honest.std(), rel=0.1)
    ends = [0.05, 0.25, 0.5, 0.75, 0.95]
    assert np.quantile(ours, ends) == pytest.approx(np.quantile(honest, ends), abs=0.2 * honest.std())
    assert stats.ks_2samp(ours, honest).pvalue > 1e-3


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("units", [25, 400])  # drawn by unit, and by pattern
@pytest.mark.slow
def test_resampling_patterns_is_resampling_units(name: str, units: int) -> None:
    statistic, smallest = HONEST[name]
    matrix = random_matrix(1, raters=3, units=units, labels=3, missing=0.15)
    matrix = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= smallest]
    ours = sampled_counts(matrix, name, smallest, 4000)
    assert ours.values[0] == pytest.approx(statistic(matrix))
    assert_same_distribution(ours.replicates[:, 0], honest_loop(matrix, statistic, 1200))


@pytest.mark.slow
def test_resampling_lights_kappa_is_resampling_units() -> None:
    matrix = random_matrix(2, raters=3, units=40, labels=3)
    ours = sampled_light(matrix, 4000)
    assert ours.values[0] == pytest.approx(light(matrix))
    assert_same_distribution(ours.replicates[:, 0], honest_loop(matrix, light, 500))


def test_resampling_cells_is_resampling_units() -> None:
    matrix = random_matrix(3, raters=2, units=60, labels=3)
    sums = PairSums.of_ratings(rated(matrix), np.array([1]), 0)
    ours = resample(lambda weights: kappa.cohen_kappa(sums, weights), sums.multiplicity, resamples=4000)
    honest = honest_loop(matrix, lambda drawn: float(cohen_kappa_score(drawn[0], drawn[1])), 800)
    assert_same_distribution(ours.replicates[:, 0], honest)


def scipy_bca(matrix: Matrix, statistic: Callable[[Matrix], float], ours: Resampled, level: float) -> list[float]:
    """SciPy's BCa from our resamples, with its own jackknife over the units written out; rounded so that ties tie."""
    found = stats.bootstrap(
        (np.arange(matrix.shape[1]),),
        lambda units: round(statistic(matrix[:, units]), 11),
        n_resamples=0,
        bootstrap_result=SimpleNamespace(bootstrap_distribution=ours.replicates[:, 0].round(11)),
        confidence_level=level,
        vectorized=False,
        method="BCa",
    )
    return [float(found.confidence_interval.low), float(found.confidence_interval.high)]


@pytest.mark.parametrize("name", HONEST)
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_bca_is_that_of_scipy(name: str, level: float) -> None:
    statistic, smallest = HONEST[name]
    matrix = random_matrix(4, raters=3, units=50, labels=3)
    ours = sampled_counts(matrix, name, smallest, 1500)
    made = ours.interval(level=level)
    assert made.kind == "BCa"
    assert [made.low, made.high] == pytest.approx(scipy_bca(matrix, statistic, ours, level), abs=1e-6)


def test_bca_of_numbers_that_never_tie_is_that_of_scipy() -> None:
    rng = np.random.default_rng(5)
    matrix = rng.normal(size=60) + 0.5 * rng.normal(size=(3, 60))
    ours = sampled_counts(matrix, "krippendorff_alpha_interval", 2, 999)
    made = ours.interval()
    assert [made.low, made.high] == pytest.approx(scipy_bca(matrix, alpha("interval"), ours, 0.95), abs=1e-8)


def test_percentile_is_the_quantiles_of_the_resamples() -> None:
    ours = sampled_counts(random_matrix(6), "krippendorff_alpha_nominal", 2, 500)
    made = ours.interval(kind="percentile", level=0.9)
    assert [made.low, made.high] == pytest.approx(np.quantile(ours.replicates[:, 0], [0.05, 0.95]))


def test_the_grouped_jackknife_gives_nearly_the_same_bca() -> None:
    # 1,500 units that all differ: too many to leave out one by one, as the plain jackknife does.
    rng = np.random.default_rng(7)
    matrix = np.exp(rng.normal(size=1500)) + 0.5 * rng.normal(size=(3, 1500))
    ours = sampled_counts(matrix, "krippendorff_alpha_interval", 2, 400)
    assert len(ours.jackknife) == 1000
    without_each = alpha_interval(Spread(Counts.of(rated(matrix)), Nominal(4)), 1 - np.eye(1500))
    every_unit = Resampled(ours.values, ours.replicates, without_each[:, None], np.ones(1500), seed=0, n_units=1500)
    grouped, exact = ours.interval(), every_unit.interval()
    spread = ours.replicates.std()
    assert [grouped.low, grouped.high] == pytest.approx([exact.low, exact.high], abs=0.1 * spread)


def test_a_seed_gives_the_same_interval_and_another_one_a_different_one() -> None:
    ratings = rated(random_matrix(8, missing=0.2))
    assert measure(ratings, seed=3) == measure(ratings, seed=3)
    assert measure(ratings, seed=3) != measure(ratings, seed=4)


def test_resamples_evaluated_in_several_goes_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = rated(random_matrix(9, units=200, missing=0.2))
    at_once = measure(ratings)
    monkeypatch.setattr(Layout, "at_once", lambda self, width: max(1, 3000 // width))
    in_goes = measure(ratings)
    assert [goe.method for goe in in_goes] == [statistic.method for statistic in at_once]
    for a, b in zip(at_once, in_goes, strict=True):
        assert [a.low, a.high] == pytest.approx([b.low, b.high], abs=1e-12)


def test_undefined_resamples_are_left_out_and_counted() -> None:
    # One unit of ten has the rare label: it is in no resample with probability .9 ** 10 = .35.
    rows = [["a"] * 9 + ["b"], ["a"] * 8 + ["b", "b"]]
    found = measure(ratings_of(rows), ["krippendorff_alpha_nominal"], resamples=2000)[0]
    assert found.interval is not None
    assert 0.05 < found.interval.undefined / 2000 < 0.16  # both units with "b" are absent: .8 ** 10 = .107
    assert f"{found.interval.undefined:,} of 2,000 resamples undefined" in (found.method or "")


def test_there_is_no_interval_when_most_resamples_are_undefined() -> None:
    # Of the 27 resamples of three units, 8 lack the first one (no pair left) and 8 the second one (only "a" left), one
    # of them both: 15 are undefined.
    rows = [["a", "b", "a"], ["a", None, None]]
    found = measure(ratings_of(rows), ["fleiss_kappa"], resamples=2000)[0]
    assert found.value == 1.0
    assert found.interval is not None
    assert found.interval.undefined == pytest.approx(2000 * 15 / 27, abs=90)
    assert (found.low, found.high) == (None, None)
    assert found.method == f"no interval: {found.interval.undefined:,} of 2,000 resamples undefined"


def test_where_all_agree_raw_agreement_has_wilsons_interval_and_what_is_corrected_for_chance_has_none() -> None:
    """20 of 20 units: 20 / (20 + t²) with t(19) = 2.093."""
    rows = [["a", "b"] * 10] * 3
    raw, alpha = measure(ratings_of(rows), ["percent_agreement", "krippendorff_alpha_nominal"], seed=7)
    assert (alpha.value, alpha.low, alpha.high) == (1.0, None, None)
    assert (
        alpha.method == "no interval: every resample gives the same value, which says nothing of how far others differ"
    )
    assert benchmarks(alpha) == []
    assert (raw.value, raw.low, raw.high) == (1.0, pytest.approx(20 / (20 + 2.093**2), abs=1e-3), 1.0)
    assert raw.interval is not None
    assert raw.interval.kind == "Wilson score over units"


@pytest.mark.parametrize("clustered", [False, True])
def test_where_few_units_differ_the_interval_of_a_share_stands_first(clustered: bool) -> None:
    def raw(differ: int) -> Statistic:
        second = ["a"] * differ + ["b"] * (50 - differ)
        clusters = {unit: unit // 2 for unit in range(50)} if clustered else None
        ratings = ratings_of([["b"] * 50, second])
        return measure(ratings, ["percent_agreement"], 200, clusters=clusters)[0]

    few, more = raw(FEW_DIFFER), raw(2 * FEW_DIFFER + 2)
    assert few.interval is not None
    assert more.interval is not None
    over = "questions" if clustered else "units"
    assert (few.interval.kind, more.interval.kind) == (f"Wilson score over {over}", "BCa")
    assert "BCa" in [interval.kind for interval in few.beside]
    nobody = raw(50)
    assert nobody.value == nobody.low == 0
    assert nobody.high is not None
    assert 0 < nobody.high < 0.2


def test_bca_falls_back_when_one_unit_carries_a_label_alone() -> None:
    rows = [["a"] * 9 + ["b"], ["a"] * 10]
    found = measure(ratings_of(rows), ["krippendorff_alpha_nominal"])[0]
    assert found.value is not None
    assert "percentile bootstrap" in (found.method or "")
    assert "BCa is not defined because one unit alone makes the coefficient defined" in (found.method or "")


def test_blocks_of_units_give_the_spread_of_units(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = rated(random_matrix(10, raters=12, units=2500, labels=5))
    found, _ = Rows.of(ratings).cells().shared()

    def spread() -> tuple[float, float, bool]:
        sums = PairSums.of_ratings(ratings, found, 0)
        drawn = resample(
            lambda weights: kappa.light_kappa(sums, weights),
            sums.multiplicity,
            resamples=600,
            width=sums.width,
        )
        return float(drawn.values[0]), float(drawn.replicates.std()), sums.blocked

    value, exact, blocked = spread()
    assert not blocked
    monkeypatch.setattr(pairs, "DENSE_CELLS", 200_000)
    monkeypatch.setattr(pairs, "INCIDENCES", 0)
    same_value, from_blocks, blocked = spread()
    assert blocked
    assert same_value == pytest.approx(value, abs=1e-12)
    assert from_blocks == pytest.approx(exact, rel=0.12)


def test_sparse_and_dense_sums_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = rated(random_matrix(11, raters=6, units=80, labels=5, missing=0.3))
    found, _ = Rows.of(ratings).cells().shared()
    dense = PairSums.of_ratings(ratings, found, 0)
    monkeypatch.setattr(pairs, "DENSE_CELLS", 0)
    few = PairSums.of_ratings(ratings, found, 0)
    assert isinstance(dense.left, np.ndarray)
    assert not isinstance(few.left, np.ndarray)
    weights = np.random.default_rng(0).integers(0, 3, size=(20, len(dense.multiplicity))).astype(float)
    assert kappa.cohen_kappa(few, weights) == pytest.approx(kappa.cohen_kappa(dense, weights), abs=1e-12, nan_ok=True)


@pytest.mark.slow
@pytest.mark.parametrize("units", [60, 200])
def test_bca_intervals_cover_about_as_often_as_they_say(units: int) -> None:
    rng = np.random.default_rng(12)

    def drawn(n: int) -> Ratings:
        truth = rng.random(n) < 0.3
        return rated(np.where(rng.random((3, n)) < 0.8, truth, rng.random((3, n)) < 0.3).astype(float))

    truth = measure(drawn(400_000), ["krippendorff_alpha_nominal"], resamples=0)[0].value
    assert truth is not None
    covered = 0
    for seed in range(400):
        statistic = measure(drawn(units), ["krippendorff_alpha_nominal"], seed=seed)[0]
        assert statistic.low is not None
        assert statistic.high is not None
        covered += statistic.low <= truth <= statistic.high
    assert 0.92 <= covered / 400 <= 0.98
