"""Weighted κ, intraclass correlations, correlations and standard errors against independent implementations."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import pandas as pd
import pingouin
import pytest
from scipy import sparse, stats
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import cohens_kappa

from annotators.agreement.measure import measure
from annotators.agreement.statistics.alpha import alpha_of_distance
from annotators.agreement.tables.distances import (
    Distance,
    Linear,
    Nominal,
    Ordinal,
    Quadratic,
    RatioSeries,
    Spread,
    TableDistance,
    ratio_distance,
)
from annotators.agreement.tables.own_weights import OwnWeights
from annotators.agreement.tables.patterns import Counts
from tests.annotators.agreement.makers import random_matrix, rated, ratings_of
from tests.annotators.agreement.slow import jackknife_error, one_way

SEEDS = range(6)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", ["linear", "quadratic"])
def test_weighted_kappa_is_that_of_scikit_learn(seed: int, weights: str) -> None:
    matrix = random_matrix(seed, raters=3, missing=0.2, labels=5)
    found = measure(rated(matrix), [f"cohen_kappa_{weights}"], resamples=0)
    for statistic, (a, b) in zip(found, combinations(matrix, 2), strict=True):
        both = ~np.isnan(a) & ~np.isnan(b)
        expected = cohen_kappa_score(a[both], b[both], weights=weights, labels=range(5))
        assert statistic.value == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_the_standard_error_of_kappa_is_that_of_statsmodels(seed: int, weights: str | None) -> None:
    matrix = random_matrix(seed, raters=2, labels=4, units=60)
    table = np.zeros((4, 4))
    np.add.at(table, tuple(matrix.astype(int)), 1)
    name = "cohen_kappa" if weights is None else f"cohen_kappa_{weights}"
    statistic = measure(rated(matrix), [name], resamples=0, kind="analytic")[0]
    kind = {None: None, "linear": "linear", "quadratic": "fc"}[weights]
    expected = cohens_kappa(table, wt=kind)
    assert statistic.value == pytest.approx(expected.kappa, abs=1e-12)
    assert statistic.interval is not None
    assert statistic.interval.error == pytest.approx(expected.std_kappa, abs=1e-10)


@pytest.mark.parametrize("seed", SEEDS)
def test_kappa_with_own_weights_is_that_of_statsmodels(seed: int) -> None:
    matrix = random_matrix(seed, raters=3, missing=0.2, labels=4, units=80)
    apart = np.random.default_rng(seed).uniform(0, 1, (4, 4))
    apart = np.triu(apart, 1) + np.triu(apart, 1).T
    own = OwnWeights.of(1 - apart, [0, 1, 2, 3])
    names = ["cohen_kappa_weighted", "light_kappa_weighted"]
    *pairs, mean = measure(rated(matrix), names, resamples=0, kind="analytic", own_weights=own)
    expected = []
    for statistic, (a, b) in zip(pairs, combinations(matrix, 2), strict=True):
        both = ~np.isnan(a) & ~np.isnan(b)
        table = np.zeros((4, 4))
        np.add.at(table, (a[both].astype(int), b[both].astype(int)), 1)
        theirs = cohens_kappa(table, weights=apart)
        expected.append(theirs.kappa)
        assert statistic.value == pytest.approx(theirs.kappa, abs=1e-12)
        assert statistic.interval is not None
        assert statistic.interval.error == pytest.approx(theirs.std_kappa, abs=1e-10)
    assert mean.value == pytest.approx(np.mean(expected), abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.filterwarnings("ignore:The inplace keyword")
def test_intraclass_correlations_are_those_of_pingouin(seed: int) -> None:
    rng = np.random.default_rng(seed)
    raters, units = 2 + seed % 4, 15
    matrix = rng.normal(5, 2, size=units) + rng.normal(0, 1, size=(raters, 1)) + rng.normal(0, 1, size=(raters, units))
    long = pd.DataFrame(
        {"unit": np.tile(np.arange(units), raters), "rater": np.repeat(np.arange(raters), units), "x": matrix.ravel()}
    )
    table = pingouin.intraclass_corr(long, targets="unit", raters="rater", ratings="x").to_numpy()
    names = ["icc_1_1", "icc_a_1", "icc_c_1", "icc_1_k", "icc_a_k", "icc_c_k"]
    found = measure(ratings_of(matrix.tolist(), scale="interval"), names, resamples=0, kind="analytic")
    for statistic, row in zip(found, table, strict=True):
        assert statistic.value == pytest.approx(row[1], abs=1e-9)
        assert [statistic.low, statistic.high] == pytest.approx(list(row[-1]), abs=0.0051)  # it rounds to two decimals
    assert found[0].value == pytest.approx(one_way(matrix), abs=1e-12)


def test_intraclass_correlations_with_gaps_recover_the_variances_they_estimate() -> None:
    # Units, raters and error have variances 4, 1, 2: ICC(1) and ICC(A,1) are 4/7, ICC(C,1) is 4/6.
    rng = np.random.default_rng(0)
    found = []
    for _ in range(60):
        matrix = rng.normal(0, 2, size=150) + rng.normal(0, 1, size=(12, 1)) + rng.normal(0, np.sqrt(2), size=(12, 150))
        matrix[rng.random(matrix.shape) < 0.6] = np.nan
        names = ["icc_1_1", "icc_a_1", "icc_c_1", "icc_a_k"]
        measured = measure(ratings_of(matrix.tolist(), scale="interval"), names, resamples=0)
        found.append([statistic.value for statistic in measured])
        assert "on average" in (measured[3].method or "")
    assert np.mean(found, axis=0)[:3] == pytest.approx([4 / 7, 4 / 7, 4 / 6], abs=0.02)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("labels", [4, 200])  # τ over the whole cross table, and resample by resample
def test_correlations_are_those_of_scipy(seed: int, labels: int) -> None:
    matrix = random_matrix(seed, raters=3, units=80, labels=labels, missing=0.1)
    names = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}
    found = measure(rated(matrix), list(names), resamples=30)
    pairs = list(combinations(matrix, 2)) * 3
    for statistic, (a, b) in zip(found, pairs, strict=True):
        both = ~np.isnan(a) & ~np.isnan(b)
        assert statistic.value == pytest.approx(names[statistic.name](a[both], b[both])[0], abs=1e-12)
        assert statistic.low is not None
        fisher = next(other for other in statistic.beside if other.kind == "Fisher z")
        if statistic.name == "pearson":
            expected = stats.pearsonr(a[both], b[both]).confidence_interval()
            assert [fisher.low, fisher.high] == pytest.approx([expected.low, expected.high], abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_correlations_of_a_resample_are_those_of_the_units_repeated(seed: int) -> None:
    from annotators.agreement.statistics import correlations
    from annotators.agreement.tables.cross import CrossTable
    from annotators.agreement.tables.patterns import Rows

    matrix = random_matrix(seed, raters=2, units=40, labels=6)
    ratings = rated(matrix)
    table = CrossTable.of(Rows.of(ratings).cells().of_pair(1), ratings.numbers)
    weights = np.random.default_rng(seed).integers(0, 4, size=(4, len(table.a))).astype(float)
    for evaluate, expected in [
        (correlations.pearson, stats.pearsonr),
        (correlations.spearman, stats.spearmanr),
        (correlations.kendall, stats.kendalltau),
    ]:
        for row, value in zip(weights, evaluate(table, Nominal(len(table.used)), weights), strict=True):
            times = row.astype(int)
            a, b = np.repeat(table.x[table.a], times), np.repeat(table.x[table.b], times)
            assert value == pytest.approx(expected(a, b)[0], abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_distances_by_moments_are_those_of_their_table(seed: int) -> None:
    rng = np.random.default_rng(seed)
    x = np.concatenate([[0.0], np.exp(rng.normal(2, 2, size=30))])
    made: list[Distance] = [Nominal(31), Quadratic(x), Linear(x), Ordinal(x), RatioSeries(x)]
    codes = np.arange(31)
    counts = sparse.csr_array(rng.integers(0, 3, size=(12, 31)).astype(float))
    left, right = rng.random((5, 31)), rng.random((5, 31))
    for moments in made:
        table = moments.between(np.repeat(codes, 31), np.tile(codes, 31)).reshape(31, 31)
        other = TableDistance(table)
        assert np.diag(table) == pytest.approx(0)
        for a, b in [
            (moments.cross(left, right), other.cross(left, right)),
            (moments.toward(left[0]), other.toward(left[0])),
            (moments.within(counts), other.within(counts)),
            (moments.greatest, other.greatest),
            (moments.total, other.total),
        ]:
            assert a == pytest.approx(b, rel=1e-9, abs=1e-9 * table.max()), type(moments)


@pytest.mark.slow
def test_ratio_alpha_of_hundreds_of_numbers_is_that_of_the_krippendorff_package() -> None:
    rng = np.random.default_rng(1)
    truth = np.exp(rng.normal(3, 2, size=300))
    matrix = np.round(truth * np.exp(rng.normal(0, 0.4, size=(3, 300))), 3)
    matrix[rng.random(matrix.shape) < 0.2] = np.nan
    matrix[0, :5] = 0
    ratings = ratings_of(matrix.tolist(), scale="ratio")
    assert isinstance(ratio_distance(ratings.numbers), RatioSeries)
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement="ratio")
    assert measure(ratings, ["krippendorff_alpha_ratio"], resamples=0)[0].value == pytest.approx(expected, abs=1e-9)
    table = Counts.of(ratings)
    at = alpha_of_distance(Spread(table, ratio_distance(ratings.numbers)), table.multiplicity[None, :].astype(float))
    assert at[0] == pytest.approx(expected, abs=1e-9)


def alpha_of(level: str):  # type: ignore[no-untyped-def]
    return lambda matrix: float(krippendorff.alpha(reliability_data=matrix, level_of_measurement=level))


@pytest.mark.parametrize("level", ["nominal", "ordinal", "interval", "ratio"])
def test_the_jackknife_of_alpha_is_that_of_a_loop_and_near_the_analytic_error(level: str) -> None:
    matrix = random_matrix(3, raters=3, units=120, labels=4, missing=0.1) + 1
    statistic = measure(rated(matrix, scale="ratio"), [f"krippendorff_alpha_{level}"], kind="jackknife")[0]
    assert statistic.interval is not None
    matrix = matrix[:, (~np.isnan(matrix)).sum(axis=0) >= 2]
    assert statistic.interval.error == pytest.approx(jackknife_error(matrix, alpha_of(level)), rel=1e-6)
    linearised = next(other for other in statistic.beside if other.kind == "linearised")
    assert linearised.error == pytest.approx(statistic.interval.error, rel=0.03)


@pytest.mark.parametrize("name", ["fleiss_kappa", "conger_kappa", "gwet_ac1", "gwet_ac2_linear", "brennan_prediger"])
def test_analytic_errors_are_near_those_of_the_jackknife_without_gaps(name: str) -> None:
    ratings = rated(random_matrix(4, raters=4, units=200, labels=4))
    statistic = measure(ratings, [name], kind="jackknife")[0]
    linearised = next(other for other in statistic.beside if other.kind == "linearised")
    assert statistic.interval is not None
    assert linearised.error == pytest.approx(statistic.interval.error, rel=0.02)
