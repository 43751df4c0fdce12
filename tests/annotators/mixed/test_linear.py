"""The linear mixed model: published fits, an analysis of variance by hand, and an independent implementation."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from scipy import stats

from annotators.mixed.linear import LinearFit, Terms, fit_linear

DYESTUFF = {
    "A": [1545, 1440, 1440, 1520, 1580],
    "B": [1540, 1555, 1490, 1560, 1495],
    "C": [1595, 1550, 1605, 1510, 1560],
    "D": [1445, 1440, 1595, 1465, 1545],
    "E": [1595, 1630, 1515, 1635, 1625],
    "F": [1520, 1455, 1450, 1480, 1445],
}
"""Davies & Goldsmith (1972), Statistical Methods in Research and Production, table 6.2."""


def fitted(terms: Terms) -> LinearFit:
    found = fit_linear(terms)
    assert isinstance(found, LinearFit)
    assert found.converged
    return found


def test_the_yield_of_dyestuff_is_as_published() -> None:
    """Bates (2010), lme4, section 1.3: REML variances 1764.05 and 2451.25, intercept 1527.5 with error 19.38."""
    y = np.array([value for batch in DYESTUFF.values() for value in batch], dtype=float)
    found = fitted(Terms(y, np.ones((30, 1)), np.repeat(np.arange(6), 5), None, {}))
    assert found.variances["answer"] == pytest.approx(1764.05, rel=1e-3)
    assert found.error == pytest.approx(2451.25, rel=1e-3)
    value, error, freedom = found.contrast(np.ones(1))
    assert (value, error) == (pytest.approx(1527.5), pytest.approx(19.383, rel=1e-3))
    assert freedom == pytest.approx(5, rel=1e-2)  # of six batches, all of which have five


def test_two_answers_to_each_question_give_the_paired_t_test() -> None:
    rng = np.random.default_rng(0)
    first, other = rng.normal(size=(2, 25)) + rng.normal(size=25)
    y, system = np.r_[first, other], np.repeat([0, 1], 25)
    found = fitted(Terms(y, np.eye(2)[system], None, np.tile(np.arange(25), 2), {}))
    value, error, freedom = found.contrast(np.array([1.0, -1.0]))
    paired = stats.ttest_rel(first, other)
    assert value / error == pytest.approx(paired.statistic, rel=1e-4)
    assert freedom == pytest.approx(24, rel=1e-3)


def test_crossed_raters_of_a_complete_design_give_the_mean_squares() -> None:
    """20 units by 4 raters: error is the interaction's mean square, variances (MS - error) / 4 and / 20."""
    rng = np.random.default_rng(2)
    table = rng.normal(size=(20, 1)) + 0.8 * rng.normal(size=(1, 4)) + 0.6 * rng.normal(size=(20, 4))
    unit, rater = (codes.ravel() for codes in np.indices((20, 4)))
    found = fitted(Terms(table.ravel(), np.ones((80, 1)), unit, None, {"rater": rater}))
    units, raters, middle = table.mean(axis=1), table.mean(axis=0), table.mean()
    rest = ((table - units[:, None] - raters + middle) ** 2).sum() / (19 * 3)
    of_units, of_raters = 4 * units.var(ddof=1), 20 * raters.var(ddof=1)
    assert found.error == pytest.approx(rest, rel=1e-3)
    assert found.variances["answer"] == pytest.approx((of_units - rest) / 4, rel=1e-3)
    assert found.variances["rater"] == pytest.approx((of_raters - rest) / 20, rel=1e-3)
    _, error, freedom = found.contrast(np.ones(1))
    variance = (of_units + of_raters - rest) / 80
    assert error == pytest.approx(np.sqrt(variance), rel=1e-3)
    # Satterthwaite (1946) of a sum of mean squares.
    parts = of_units**2 / 19 + of_raters**2 / 3 + rest**2 / 57
    assert freedom == pytest.approx((of_units + of_raters - rest) ** 2 / parts, rel=0.02)


def test_labels_with_gaps_are_fitted_as_by_statsmodels() -> None:
    rng = np.random.default_rng(5)
    question = np.repeat(np.arange(15), 4)
    system = np.tile([0, 0, 1, 1], 15)
    answer = question * 2 + system
    rater = np.concatenate([rng.permutation(4)[:2] for _ in range(30)])
    y = rng.normal(size=15)[question] + 0.5 * rng.normal(size=30)[answer] + 0.5 * rng.normal(size=4)[rater]
    y = y + 0.4 * system + 0.7 * rng.normal(size=60)
    kept = rng.random(60) < 0.9
    y, question, system, answer, rater = (column[kept] for column in (y, question, system, answer, rater))
    answer = np.unique(answer, return_inverse=True)[1]
    found = fitted(Terms(y, np.eye(2)[system], answer, question, {"rater": rater}))
    frame = pd.DataFrame({"y": y, "system": system, "a": answer, "q": question, "r": rater, "all": 0})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parts = {name: f"0 + C({name})" for name in "aqr"}
        other = smf.mixedlm("y ~ 0 + C(system)", frame, groups="all", vc_formula=parts).fit()
    assert found.beta == pytest.approx(other.fe_params.to_numpy(), abs=1e-4)
    assert found.error == pytest.approx(other.scale, rel=1e-2)
    for place in range(2):
        assert found.contrast(np.eye(2)[place])[1] == pytest.approx(other.bse_fe.iloc[place], rel=1e-2)


def test_what_cannot_be_fitted_says_why() -> None:
    same = fit_linear(Terms(np.ones(20), np.ones((20, 1)), None, None, {}))
    assert same == "all labels are alike"
    assert fit_linear(Terms(np.array([1.0, 2.0]), np.eye(2), None, None, {})) == "there are too few labels"
    # Two raters, each of whom rated one of the systems, and both are fixed.
    system = np.repeat([0, 1], 10)
    columns = np.column_stack([np.eye(2)[system], np.where(system == 0, 1.0, -1.0)])
    tangled = fit_linear(Terms(np.random.default_rng(0).normal(size=20), columns, None, None, {}))
    assert isinstance(tangled, str)
    assert "do not tell the systems apart" in tangled
    exact = np.repeat(np.arange(10.0), 2)
    without = fit_linear(Terms(exact, np.ones((20, 1)), np.repeat(np.arange(10), 2), None, {}))
    assert isinstance(without, str)
    assert "leave no error" in without


def test_a_variance_that_is_not_there_is_0_and_named() -> None:
    rng = np.random.default_rng(1)
    y = rng.normal(size=60)
    rater = np.tile(np.arange(3), 20)
    for place in range(3):
        y[rater == place] -= y[rater == place].mean()
    found = fitted(Terms(y, np.ones((60, 1)), None, None, {"rater": rater}))
    assert found.none == ("rater",)
    assert found.variance_interval("rater", 0.95) is None
    ends = found.variance_interval("error", 0.95)
    assert ends is not None
    # χ² of the error's own degrees of freedom.
    assert ends == pytest.approx((59 * found.error / stats.chi2.ppf([0.975, 0.025], 59)).tolist(), rel=1e-2)
