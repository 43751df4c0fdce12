"""Bradley–Terry strengths with Davidson's ties, against sums by hand and a general optimiser."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from annotators.arrays import FloatArray
from annotators.intervals.bootstrap import Resampling
from annotators.paired_comparisons import Comparisons, bradley_terry, strength_interval, strengths


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


def test_of_two_systems_one_that_wins_or_draws_every_time_has_no_bound() -> None:
    """With ν growing with the difference, six wins and four ties become as likely as 0.6 and 0.4 have it."""
    assert np.isnan(fitted([[0, 6], [0, 0]], [[0, 4], [4, 0]])).all()
    assert np.isfinite(fitted([[0, 6], [1, 0]], [[0, 4], [4, 0]])).all()
    assert np.isnan(fitted([[0, 0], [0, 0]], [[0, 4], [4, 0]])).all()


@pytest.mark.parametrize("seed", range(40))
def test_there_are_strengths_just_where_no_direction_makes_every_label_likelier(seed: int) -> None:
    """The log-likelihood is concave in the worths and log ν: where it never falls is a linear program."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 5))
    wins = (rng.random((size, size)) < 0.35) * (1 - np.eye(size))
    ties = np.triu(rng.random((size, size)) < 0.3, 1).astype(float)
    ties += ties.T
    rows = []
    for i, j in zip(*np.nonzero(np.ones((size, size)) - np.eye(size)), strict=True):
        difference = np.zeros(size + 1)
        difference[i], difference[j] = 0.5, -0.5
        of_nu = np.eye(size + 1)[size]
        if wins[i, j]:
            rows += [-difference, of_nu - difference]
        if ties[i, j]:
            rows += [difference - of_nu]
    free = 0.0
    for i, j in zip(*np.nonzero(np.ones((size, size)) - np.eye(size)), strict=True):
        goal = np.zeros(size + 1)
        goal[i], goal[j] = -1, 1
        bounds = [(-1, 1)] * (size + 1)
        best = linprog(
            goal, A_ub=np.array(rows) if rows else None, b_ub=np.zeros(len(rows)) if rows else None, bounds=bounds
        )
        free = max(free, -best.fun)
    assert np.isnan(fitted(wins.tolist(), ties.tolist())).all() == (free > 1e-9)


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


def test_there_is_no_interval_where_one_end_would_have_no_bound() -> None:
    """One loss among ten is missing in a third of the resamples, ten among a hundred in none."""
    outcome = np.array([-1] * 6 + [0] * 3 + [1])
    for times, there in ((1, False), (10, True)):
        given = np.tile(outcome, times)
        zeros = np.zeros(len(given), dtype=np.int64)
        asked = Resampling(400, seed=1)
        measured = bradley_terry(Comparisons(2, zeros, zeros + 1, given, np.arange(len(given))), asked)
        assert measured.values[0] == pytest.approx(np.log(6) / 2)
        interval = strength_interval(measured, 0, asked)
        assert (interval.low is not None) == there
        assert there or "have no bound" in interval.note
