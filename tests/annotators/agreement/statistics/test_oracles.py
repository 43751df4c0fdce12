"""Coefficients against independent implementations on random data."""

from __future__ import annotations

from itertools import combinations

import krippendorff
import numpy as np
import pytest
from sklearn.metrics import cohen_kappa_score
from statsmodels.stats.inter_rater import aggregate_raters
from statsmodels.stats.inter_rater import fleiss_kappa as statsmodels_fleiss_kappa

from annotators.agreement.measure import measure
from annotators.agreement.statistics.base import OfCounts, coefficient_named
from annotators.agreement.tables.distances import Nominal, Spread
from annotators.agreement.tables.patterns import Counts
from annotators.agreement.tables.ratings import Scale
from tests.annotators.agreement.makers import plain_agreement, random_matrix, rated, value

SEEDS = range(8)
SCALES: tuple[Scale, ...] = ("nominal", "ordinal", "interval")


@pytest.mark.parametrize("scale", [*SCALES, "ratio"])
@pytest.mark.parametrize("missing", [0.0, 0.2, 0.4])
@pytest.mark.parametrize("seed", SEEDS)
def test_alpha_is_that_of_the_krippendorff_package(seed: int, missing: float, scale: Scale) -> None:
    matrix = random_matrix(seed, raters=2 + seed % 4, labels=2 + seed % 5, missing=missing)
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement=scale)
    assert value(rated(matrix, scale="ratio"), f"krippendorff_alpha_{scale}") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("scale", SCALES)
def test_alpha_of_unequal_steps_and_negative_numbers(scale: Scale) -> None:
    matrix = np.array([-7.5, 0.0, 0.25, 1000.0])[random_matrix(3).astype(int)]
    expected = krippendorff.alpha(reliability_data=matrix, level_of_measurement=scale)
    assert value(rated(matrix), f"krippendorff_alpha_{scale}") == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_alpha_of_many_distinct_numbers_far_from_zero() -> None:
    rng = np.random.default_rng(0)
    matrix = 1e6 + rng.normal(size=200) + 0.3 * rng.normal(size=(3, 200))
    for scale in SCALES:
        expected = krippendorff.alpha(reliability_data=matrix - 1e6, level_of_measurement=scale)
        assert value(rated(matrix), f"krippendorff_alpha_{scale}") == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("seed", SEEDS)
def test_cohens_kappa_is_that_of_scikit_learn(seed: int, missing: float) -> None:
    matrix = random_matrix(seed, raters=4, missing=missing)
    found = measure(rated(matrix), ["cohen_kappa"], resamples=0)
    assert [pair.raters for pair in found] == list(combinations(range(4), 2))
    for statistic, (a, b) in zip(found, combinations(matrix, 2), strict=True):
        both = ~np.isnan(a) & ~np.isnan(b)
        assert statistic.value == pytest.approx(cohen_kappa_score(a[both], b[both]), abs=1e-12)
        assert statistic.n_units == both.sum()


@pytest.mark.parametrize("seed", SEEDS)
def test_fleiss_kappa_is_that_of_statsmodels_without_gaps(seed: int) -> None:
    matrix = random_matrix(seed, raters=2 + seed % 4)
    expected = statsmodels_fleiss_kappa(aggregate_raters(matrix.T.astype(int))[0])
    assert value(rated(matrix), "fleiss_kappa") == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_raw_agreement_and_fleiss_kappa_with_gaps_are_the_plain_sums(seed: int) -> None:
    matrix = random_matrix(seed, missing=0.45)
    raw, kappa = plain_agreement(matrix)
    assert value(rated(matrix), "percent_agreement") == pytest.approx(raw, abs=1e-12)
    assert value(rated(matrix), "fleiss_kappa") == pytest.approx(kappa, abs=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("scale", SCALES)
def test_a_resample_by_weights_is_the_same_as_units_repeated(seed: int, scale: Scale) -> None:
    # Each pattern of units held as often as drawn, against the package on the units written out: the ordinal distance
    # depends on the marginals of that very resample.
    ratings = rated(random_matrix(seed, units=40, missing=0.3))
    table = Counts.of(ratings, 2)
    weights = np.random.default_rng(seed).integers(0, 4, size=(3, len(table.multiplicity))).astype(float)
    chosen = coefficient_named(f"krippendorff_alpha_{scale}")
    assert isinstance(chosen, OfCounts)
    found = chosen.value(Spread(table, Nominal(len(table.numbers))), weights)
    counts = table.counts.toarray()
    for row, alpha in zip(weights, found, strict=True):
        written_out = np.repeat(counts, row.astype(int), axis=0)
        expected = krippendorff.alpha(
            value_counts=written_out, value_domain=list(ratings.labels), level_of_measurement=scale
        )
        assert alpha == pytest.approx(expected, abs=1e-12)
