"""Orders in which the more informative comes first: known probabilities, unbiased sums, intervals that cover."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.alignment import prediction_powered_mean
from annotators.arrays import FloatArray
from annotators.items.prioritised import FIRSTS, HIGH, LOW, UNCERTAIN, UNIFORM, chances, keys_of, weights_of

SCORES = np.array([0.0, 0.25, 0.5, 1.0, np.nan])
NAMES = [f"i{number}" for number in range(400)]


@pytest.mark.parametrize(("first", "heaviest"), [(HIGH, [3, 2, 1, 0]), (LOW, [0, 1, 2, 3]), (UNCERTAIN, [2, 1])])
def test_what_comes_first_weighs_most_and_nothing_less_than_half_of_the_average(
    first: str, heaviest: list[int]
) -> None:
    weights = weights_of(SCORES, first)
    assert np.argsort(-weights[:4], kind="stable").tolist()[: len(heaviest)] == heaviest
    assert weights.min() == pytest.approx(UNIFORM)
    assert weights.mean() == pytest.approx(1)
    assert weights[4] == 1  # no score: the average chance


def test_the_middle_is_that_of_the_scale_where_it_is_known() -> None:
    by_scores, by_scale = weights_of(SCORES[:4], UNCERTAIN), weights_of(SCORES[:4], UNCERTAIN, (0.0, 2.0))
    assert by_scores.argmax() == 2
    assert by_scale.argmax() == 3


def test_nothing_is_more_informative_where_all_scores_are_the_same() -> None:
    for first in FIRSTS:
        assert weights_of(np.full(3, 0.7), first).tolist() == [1, 1, 1]
        assert weights_of(np.full(3, np.nan), first).tolist() == [1, 1, 1]


def test_keys_are_the_seeds_and_fall_with_the_weight() -> None:
    weights = weights_of(np.linspace(0, 1, 400), HIGH)
    keys = keys_of(NAMES, weights, 7)
    assert keys.tolist() == keys_of(NAMES, weights, 7).tolist()
    assert keys.tolist() != keys_of(NAMES, weights, 8).tolist()
    assert (keys >= weights).all()
    first = [np.argsort(-keys_of(NAMES, weights, seed))[:100] for seed in range(20)]
    assert weights[np.concatenate(first)].mean() > 1.15


def test_of_a_whole_study_everything_is_certain() -> None:
    assert chances(np.array([0.5, 2.0]), None).tolist() == [1, 1]
    assert chances(np.array([0.5, 2.0]), 1.0).tolist() == [0.5, 1]


# Simulations ----------------------------------------------------------------------------------------------------------


def population(rng: np.random.Generator, rate: float) -> tuple[FloatArray, FloatArray]:
    """400 items with a rare label, and a score from 0 to 1 that is higher where the label is there."""
    y = (rng.random(400) < rate).astype(float)
    return y, 1 / (1 + np.exp(-(1.5 * (y - 0.5) + rng.normal(size=400))))


def beginning(y: FloatArray, scores: FloatArray, n: int, seed: int, first: str = HIGH) -> tuple[FloatArray, FloatArray]:
    """(labels, NaN behind the first n; probabilities) of a study that stopped after n items."""
    weights = weights_of(scores, first)
    keys = keys_of(NAMES, weights, seed)
    order = np.argsort(-keys)
    labels, drawn = np.full(len(y), np.nan), np.ones(len(y))
    labels[order[:n]] = y[order[:n]]
    drawn[order[:n]] = chances(weights[order[:n]], float(keys[order[n]]))
    return labels, drawn


@pytest.mark.parametrize("first", FIRSTS)
def test_sums_of_a_beginning_are_unbiased_and_plain_means_are_not(first: str) -> None:
    """One population, 2,000 draws: the mean of Σ y / p is the sum of y within three standard errors."""
    y, scores = population(np.random.default_rng(3), 0.15)
    sums, plain = [], []
    for seed in range(2000):
        labels, drawn = beginning(y, scores, 80, seed, first)
        there = ~np.isnan(labels)
        sums.append(float((labels[there] / drawn[there]).sum()))
        plain.append(float(labels[there].mean()))
    assert abs(np.mean(sums) - y.sum()) < 3 * np.std(sums) / np.sqrt(len(sums))
    off = abs(np.mean(plain) - y.mean()) / (np.std(plain) / np.sqrt(len(plain)))
    assert off > 10 or first == UNCERTAIN


def covered(rate: float, n: int, repetitions: int) -> tuple[float, float, float]:
    """How often the intervals cover the mean of all items, from labels alone and tuned; mean error in standard errors.

    Each repetition is a new population and a new draw, which stops after n items.
    """
    rng = np.random.default_rng([int(1000 * rate), n])
    hits, errors = np.zeros(2), []
    for seed in range(repetitions):
        y, scores = population(rng, rate)
        labels, drawn = beginning(y, scores, n, seed)
        found = {entry.name: entry for entry in prediction_powered_mean(labels, scores, probabilities=drawn)}
        for place, name in enumerate(("classical_mean", "ppi_plus_plus_mean")):
            low, high = found[name].low, found[name].high
            assert low is not None
            assert high is not None
            hits[place] += low - 1e-12 <= y.mean() <= high + 1e-12
        errors.append((found["classical_mean"].value or 0.0) - float(y.mean()))
    alone, tuned = (hits / repetitions).tolist()
    return alone, tuned, float(np.mean(errors) / (np.std(errors) / np.sqrt(repetitions)))


def test_intervals_of_a_stopped_study_cover() -> None:
    alone, tuned, off = covered(0.1, 100, 250)
    assert 0.90 <= alone <= 0.99
    assert 0.90 <= tuned <= 0.99
    assert abs(off) < 3


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("rate", "n"), [(0.05, 100), (0.05, 150), (0.1, 60), (0.1, 100), (0.1, 150), (0.2, 60), (0.2, 150)]
)
def test_intervals_of_stopped_studies_cover_as_often_as_they_say(rate: float, n: int) -> None:
    alone, tuned, off = covered(rate, n, 1000)
    assert 0.93 <= alone <= 0.97
    assert 0.93 <= tuned <= 0.97
    assert abs(off) < 3.5


@pytest.mark.nightly
def test_where_about_four_of_the_label_are_seen_intervals_are_too_wide_rather_than_too_short() -> None:
    alone, tuned, _ = covered(0.05, 60, 1000)
    assert 0.95 <= alone <= 0.99
    assert 0.95 <= tuned <= 0.99
