"""Bradley–Terry strengths with Davidson's ties, against sums by hand and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.paired_comparisons import Comparisons, bradley_terry, strengths


def fitted(wins: list[list[float]], ties: list[list[float]] | None = None) -> FloatArray:
    table = np.array([wins], dtype=float)
    return strengths(table, np.zeros_like(table) if ties is None else np.array([ties], dtype=float))[0]


def test_of_two_systems_the_difference_is_the_logarithm_of_the_odds() -> None:
    """30 wins against 10: ln 3; ties change nothing, since ν takes them up: the three shares are as the model likes."""
    assert np.diff(fitted([[0, 30], [10, 0]]))[0] == pytest.approx(-np.log(3))
    assert np.diff(fitted([[0, 30], [10, 0]], [[0, 25], [25, 0]]))[0] == pytest.approx(-np.log(3))


def test_a_round_robin_of_equals_has_no_differences() -> None:
    wins = np.full((4, 4), 5.0) - 5 * np.eye(4)
    assert fitted(wins.tolist(), wins.tolist()) == pytest.approx([0, 0, 0, 0], abs=1e-8)


def test_who_never_wins_or_draws_has_no_strength_and_nobody_else_either() -> None:
    assert np.isnan(fitted([[0, 5, 5], [3, 0, 4], [0, 0, 0]])).all()
    assert np.isfinite(fitted([[0, 5, 5], [3, 0, 4], [0, 0, 0]], [[0, 0, 1], [0, 0, 0], [1, 0, 0]])).all()


@pytest.mark.parametrize("seed", range(5))
def test_a_general_optimiser_finds_the_same_maximum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    wins = rng.integers(1, 20, (4, 4)) * (1 - np.eye(4))
    ties = np.triu(rng.integers(0, 9, (4, 4)), 1).astype(float)
    ties += ties.T

    def loss(parameters: FloatArray) -> float:
        theta, log_nu = np.append(parameters[:3], -parameters[:3].sum()), parameters[3]
        worth = np.exp(theta)
        root = np.exp((theta[:, None] + theta) / 2 + log_nu)
        total = np.log(worth[:, None] + worth + root)
        likelihood = (wins * (theta[:, None] - total)).sum() + (ties * (np.log(root) - total)).sum() / 2
        return -float(likelihood)

    best = minimize(loss, np.zeros(4), method="BFGS", options={"gtol": 1e-8}).x
    assert fitted(wins.tolist(), ties.tolist()) == pytest.approx(np.append(best[:3], -best[:3].sum()), abs=1e-4)


def test_intervals_are_over_clusters_and_cover_the_truth_about_as_often_as_they_say() -> None:
    """Two systems, worth 2 to 1: p = 2/3. 200 studies of 80 questions with two raters who agree."""
    rng = np.random.default_rng(1)
    covered = 0
    for study in range(100):
        outcome = np.repeat(np.where(rng.random(80) < 2 / 3, -1, 1), 2)
        zeros = np.zeros(160, dtype=np.int64)
        made = Comparisons(2, zeros, zeros + 1, outcome, np.repeat(np.arange(80), 2))
        interval = bradley_terry(made, Resampling(200, seed=study)).interval(0, 0.95, "percentile")
        assert interval.low is not None
        assert interval.high is not None
        covered += interval.low <= np.log(2) / 2 <= interval.high
    assert 88 <= covered <= 100
