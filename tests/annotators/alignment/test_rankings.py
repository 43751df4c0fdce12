"""Rankings of systems: an interval where systems can be told apart, and words in its place where they cannot."""

from __future__ import annotations

import numpy as np
import pytest

from annotators.alignment import Pairs, system_ranking
from annotators.intervals.bootstrap import Resampling


def ranked(means: list[float], questions: int = 60) -> Pairs:
    """Systems with these means, whose answers to a question share its difficulty; a metric that goes with people."""
    rng = np.random.default_rng(1)
    shared = rng.normal(size=questions)
    human = np.array(means)[:, None] + shared + rng.normal(size=(len(means), questions))
    metric = human + 0.3 * rng.normal(size=human.shape)
    names = [f"system {place}" for place in range(len(means)) for _ in range(questions)]
    clusters = np.tile(np.arange(questions), len(means))
    return Pairs.of(human.ravel(), metric.ravel(), clusters=clusters, groups=names)


def test_systems_that_are_close_have_a_ranking_without_an_interval() -> None:
    for found in system_ranking(ranked([0.02 * place for place in range(8)]), Resampling(300)):
        assert found.value is not None
        assert (found.low, found.high) == (None, None)
        assert "too uncertain: only " in (found.method or "")
        assert " of 28 pairs of systems differ by two standard errors" in (found.method or "")


def test_systems_that_are_apart_have_the_outer_ends_of_both_bootstraps() -> None:
    pairs = ranked([0.35 * place for place in range(8)])
    tau, accuracy = system_ranking(pairs, Resampling(300))
    by_percentiles = system_ranking(pairs, Resampling(300, kind="percentile"))
    for found, other, least in zip((tau, accuracy), by_percentiles, (-1, 0), strict=True):
        assert found.low is not None and found.high is not None and found.value is not None
        assert other.low is not None and other.high is not None
        assert (found.method or "").startswith("percentile and basic bootstrap over questions")
        twice = 2 * found.value
        assert found.low == pytest.approx(max(min(other.low, twice - other.high), least))
        assert found.high == pytest.approx(min(max(other.high, twice - other.low), 1))


def test_half_of_the_pairs_told_apart_are_enough() -> None:
    """Groups of systems with one mean, far from each other: three of two (12 of 15 pairs), two of four (16 of 28), one
    and three (3 of 6, just half), and one and four (4 of 10, too few)."""
    for sizes, there in (((2, 2, 2), True), ((4, 4), True), ((1, 3), True), ((1, 4), False)):
        means = [5.0 * place for place, size in enumerate(sizes) for _ in range(size)]
        assert (system_ranking(ranked(means), Resampling(300))[0].low is not None) == there, sizes
