"""The formulas over weights, against SciPy and scikit-learn on the resamples written out row by row."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from sklearn import metrics as sklearn

from annotators.alignment.statistics import coefficients
from annotators.alignment.statistics.concordance import MOST_ROWS, Tau, kendall_tau_b
from annotators.alignment.tables.levels import Levels
from annotators.arrays import FloatArray
from tests.annotators.alignment.makers import likert, yes_or_no


def written_out(column: FloatArray, weights: FloatArray) -> FloatArray:
    return np.repeat(column, weights.astype(int))


def drawn(seed: int, n: int, samples: int = 8) -> FloatArray:
    """Weights of the data as they are and of some resamples (n × samples)."""
    rng = np.random.default_rng(seed)
    return np.column_stack([np.ones(n), *(np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(samples))])


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("both_fine", [False, True])
def test_correlations_of_every_resample_are_those_of_scipy(seed: int, both_fine: bool) -> None:
    x, y = likert(seed)
    if both_fine:
        x = x + np.random.default_rng(seed).normal(size=len(x))
    weights = drawn(seed, len(x))
    a, b = Levels.of(x), Levels.of(y)
    found = {
        "pearsonr": coefficients.pearson(x, y, weights),
        "spearmanr": coefficients.spearman(a, b, weights),
        "kendalltau": kendall_tau_b(Tau.of(a, b), weights),
    }
    for name, values in found.items():
        oracle = [getattr(stats, name)(written_out(x, w), written_out(y, w)).statistic for w in weights.T]
        assert values == pytest.approx(oracle, abs=1e-12), name


shapes = st.tuples(st.integers(3, 400), st.integers(1, 60), st.integers(1, 500), st.integers(0, 2**32 - 1))


@settings(max_examples=60, deadline=None)
@given(shapes)
def test_rank_correlations_are_those_of_scipy_whatever_the_ties(shape: tuple[int, int, int, int]) -> None:
    """Few and many values, one that most rows have, none twice: all cuts into buckets."""
    n, few, many, seed = shape
    rng = np.random.default_rng(seed)
    x = rng.integers(few, size=n) * rng.integers(2, size=n).astype(float)
    y = np.where(rng.random(n) < 0.2, 0.0, rng.integers(many, size=n) + x)
    weights = drawn(seed, n, 3)
    a, b = Levels.of(x), Levels.of(y)
    for ours, scipys in (
        (coefficients.spearman(a, b, weights), stats.spearmanr),
        (kendall_tau_b(Tau.of(a, b), weights), stats.kendalltau),
    ):
        for value, w in zip(ours, weights.T, strict=True):
            left, right = written_out(x, w), written_out(y, w)
            if np.ptp(left) == 0 or np.ptp(right) == 0:
                assert np.isnan(value)
            else:
                assert value == pytest.approx(scipys(left, right).statistic, abs=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_decisions_and_auroc_of_every_resample_are_those_of_scikit_learn(seed: int) -> None:
    truth, score = yes_or_no(seed)
    said = (score >= 0.5).astype(float)
    weights = drawn(seed, len(truth))
    found = coefficients.decisions(said, truth, weights)
    areas = coefficients.auroc(Levels.of(score), truth, weights)
    for sample, w in enumerate(weights.T):
        y, d, s = written_out(truth, w), written_out(said, w), written_out(score, w)
        oracle = [
            sklearn.accuracy_score(y, d), sklearn.precision_score(y, d), sklearn.recall_score(y, d),
            sklearn.f1_score(y, d), sklearn.cohen_kappa_score(y, d),
        ]  # fmt: skip
        assert found[:, sample] == pytest.approx(oracle)
        assert areas[sample] == pytest.approx(sklearn.roc_auc_score(y, s))


@pytest.mark.parametrize("seed", range(3))
def test_agreement_on_labels_is_that_of_scikit_learn(seed: int) -> None:
    grades, score = likert(seed)
    given_labels = np.clip(np.round(score) + 3, 1, 5)
    weights = drawn(seed, len(grades), 3)
    found = coefficients.label_agreement(given_labels, grades, weights)
    for sample, w in enumerate(weights.T):
        y, d = written_out(grades, w), written_out(given_labels, w)
        quadratic = sklearn.cohen_kappa_score(y, d, weights="quadratic")
        assert found[:, sample] == pytest.approx(
            [sklearn.accuracy_score(y, d), sklearn.cohen_kappa_score(y, d), quadratic]
        )


columns = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 6)), min_size=3, max_size=25)


@settings(max_examples=60, deadline=None)
@given(columns)
def test_correlations_keep_their_sign_under_reversal_and_their_value_under_monotone_change(
    rows: list[tuple[int, int]],
) -> None:
    x, y = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    weights = np.ones((len(x), 1))

    def ranked(a: FloatArray, b: FloatArray) -> FloatArray:
        first, second = Levels.of(a), Levels.of(b)
        found = [coefficients.spearman(first, second, weights), kendall_tau_b(Tau.of(first, second), weights)]
        return np.concatenate(found)

    plain = ranked(x, y)
    assert ranked(-x, y) == pytest.approx(-plain, nan_ok=True)
    assert ranked(np.exp(x), y**3) == pytest.approx(plain, nan_ok=True)
    assert ranked(y, x) == pytest.approx(plain, nan_ok=True)
    straight = coefficients.pearson(x, y, weights)
    assert coefficients.pearson(3 * x - 7, y, weights) == pytest.approx(straight, nan_ok=True)
    for values in (plain, straight):
        there = values[~np.isnan(values)]
        assert (np.abs(there) <= 1).all()
    constant = np.ptp(x) == 0 or np.ptp(y) == 0
    assert np.isnan(plain).all() == constant
    assert np.isnan(straight).all() == constant


@settings(max_examples=60, deadline=None)
@given(columns)
def test_auroc_of_a_turned_round_score_is_one_minus_it(rows: list[tuple[int, int]]) -> None:
    score, labels = (np.array(column, dtype=float) for column in zip(*rows, strict=True))
    truth = (labels > 3).astype(float)
    weights = np.ones((len(score), 1))
    found = coefficients.auroc(Levels.of(score), truth, weights)
    turned = coefficients.auroc(Levels.of(-score), truth, weights)
    if np.ptp(truth) == 0:
        assert np.isnan(found).all()
        return
    assert found + turned == pytest.approx(1.0)
    n1, n0 = int(truth.sum()), int((1 - truth).sum())
    statistic = stats.mannwhitneyu(score[truth == 1], score[truth == 0]).statistic
    assert found[0] == pytest.approx(statistic / (n1 * n0))


def test_very_many_rows_with_few_values_on_one_side() -> None:
    n = MOST_ROWS + 1
    rng = np.random.default_rng(0)
    x = rng.integers(0, 5, size=n).astype(float)
    y = np.round(x + rng.normal(size=n), 2)
    weights = drawn(0, n, 1)
    for ours, scipys in (
        (kendall_tau_b(Tau.of(Levels.of(x), Levels.of(y)), weights), stats.kendalltau),
        (coefficients.spearman(Levels.of(x), Levels.of(y), weights), stats.spearmanr),
    ):
        oracle = [scipys(written_out(x, w), written_out(y, w)).statistic for w in weights.T]
        assert ours == pytest.approx(oracle, abs=1e-12)


def test_more_than_four_million_rows_are_counted_exactly() -> None:
    """Beyond what single precision holds. x and y of 9 million rows in equal parts: (0, 0), (1, 1), (0, 1).

    C = 3M · 3M ((0, 0) with (1, 1)), D = 0; pairs tied in x: 6M and 3M rows, in y: 3M and 6M. So τ-b = 9 / 18 = 0.5.
    """
    x, y = Levels.of(np.array([0.0, 1.0, 0.0])), Levels.of(np.array([0.0, 1.0, 1.0]))
    weights = np.full((3, 1), 3e6)
    assert kendall_tau_b(Tau.of(x, y), weights) == pytest.approx([0.5], abs=1e-12)
    assert coefficients.spearman(x, y, weights) == pytest.approx([0.5], abs=1e-12)


@pytest.mark.parametrize("y", [(1, 2, 2, 1), (3, 1, 1, 3)])
def test_a_correlation_that_is_zero_but_for_rounding_is_zero(y: tuple[int, ...]) -> None:
    x = np.array([0.1, 0.2, 0.3, 0.4])
    assert coefficients.pearson(x, np.array(y, dtype=np.float64), np.ones((4, 1))).tolist() == [0.0]
