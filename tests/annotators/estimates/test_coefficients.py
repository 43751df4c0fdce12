"""Coefficients of a metric with people: their values, and their influences against leaving each unit out."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from annotators.estimates import coefficients as of
from annotators.estimates.coefficients import coefficients
from tests.annotators.estimates.makers import NAN, correlated, named, units_of


@pytest.mark.parametrize("influence", [of.pearson, of.spearman, of.auroc, of.f1])
def test_an_influence_is_what_leaving_a_unit_out_does(influence: of.Influence) -> None:
    """θ without unit i is about θ - ψ_i / n, ties included."""
    rng = np.random.default_rng(0)
    n = 400
    x = np.round(rng.normal(size=n), 1)
    y = np.round(x + rng.normal(size=n), 1)
    if influence in {of.auroc, of.f1}:
        y = (y > 0.3).astype(float)
    if influence is of.f1:
        x = (x > 0).astype(float)
    equal = np.full(n, 1 / n)
    value, psi = influence(y, x, equal)
    for i in range(0, n, 37):
        weights = np.where(np.arange(n) == i, 0.0, 1 / (n - 1))
        assert (n - 1) * (value - influence(y, x, weights)[0]) == pytest.approx(psi[i], abs=0.03)
    assert psi.mean() == pytest.approx(0, abs=1e-9)


def test_the_values_of_all_labels_are_those_of_scipy() -> None:
    rng = np.random.default_rng(1)
    score = rng.random(200)
    y = (rng.random(200) < score).astype(float)
    found = named(coefficients(units_of(y.tolist(), score.tolist(), population=math.inf)), metric="s0")
    u = stats.mannwhitneyu(score[y > 0], score[y == 0])[0] / y.sum() / (200 - y.sum())
    said = score >= 0.5
    expected = {
        "pearson_classical": stats.pearsonr(y, score)[0],
        "spearman_classical": stats.spearmanr(y, score)[0],
        "auroc_classical": u,
        "f1_classical": 2 * (said * y).sum() / (said.sum() + y.sum()),
    }
    assert {name: found[name].value for name in expected} == pytest.approx(expected)
    assert found["pearson_ppi"].reason == "every unit is labelled: there is nothing that predictions could add"


def test_predictions_narrow_a_correlation() -> None:
    found = named(coefficients(correlated(100, 1000, 0.9, seed=4, scores=3)), metric="s0")
    assert (found["pearson_ppi"].half_width or 9) < 0.9 * (found["pearson_classical"].half_width or 0)
    assert (found["pearson_ppi"].effective_n or 0) > 110
    assert "Fisher's z" in (found["pearson_ppi"].method or "")


def test_what_is_not_defined_says_why() -> None:
    few = named(coefficients(units_of([1, 2, 3, NAN], [1, 2, 3, 4])), metric="s0")
    assert few["pearson_classical"].reason == "only 3 labelled units with a score; 10 are needed"
    same = named(coefficients(units_of([1] * 12 + [NAN], list(range(13)))), metric="s0")
    assert "people gave every labelled unit the same value" in (same["spearman_ppi"].reason or "")
