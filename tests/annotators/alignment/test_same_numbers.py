"""Answers to one question in people's order, and a metric that gives people's own numbers: by hand, by brute force."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from annotators.alignment import Pairs, on_one_scale, tie_calibrated_accuracy
from annotators.alignment.statistics.preferences import _alike, _best_epsilon
from annotators.intervals.bootstrap import Resampling

QUICK = Resampling(300)


# Ties -----------------------------------------------------------------------------------------------------------------


def test_four_answers_by_hand() -> None:
    """The example of docs/alignment.md, for ten questions alike: all others choose an ε from .1 to below .2."""
    grades, scores = [5, 5, 3, 1] * 10, [0.8, 0.7, 0.5, 0.2] * 10
    found = tie_calibrated_accuracy(Pairs.of(grades, scores, clusters=[i // 4 for i in range(40)]), QUICK)
    assert (found.value, found.n) == (1.0, 60)
    assert "ε of 10 folds: 0.1; people hold 10 pairs equal: who holds all equal is right in 0.167" in (
        found.method or ""
    )
    people, apart = (np.array([a - b for a, b in combinations(side[:4], 2)]) for side in (grades, scores))
    assert _alike(np.sign(people), apart, 0.0).mean() == pytest.approx(5 / 6)
    assert _alike(np.sign(people), apart, 0.15).mean() == 1


@pytest.mark.parametrize("seed", range(30))
def test_the_best_threshold_is_that_of_trying_each(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(1, 40))
    people = rng.integers(-1, 2, size=n).astype(float)
    apart = rng.integers(-3, 4, size=n) / 4 if seed % 2 else rng.normal(size=n)
    tried = {epsilon: _alike(people, apart, epsilon).sum() for epsilon in (0.0, *np.abs(apart).tolist())}
    best = _best_epsilon(people, apart)
    assert tried[best] == max(tried.values())
    assert best == min(epsilon for epsilon, right in tried.items() if right == tried[best])


def test_no_pair_is_judged_by_a_threshold_that_saw_it() -> None:
    """Of pure chance the share is what chance gives: the best threshold on the same pairs would show more."""
    rng = np.random.default_rng(1)
    shares = []
    for seed in range(60):
        grades, scores = rng.integers(3, size=60), rng.normal(size=60)
        pairs = Pairs.of(grades, scores, clusters=[i // 2 for i in range(60)])
        shares.append(tie_calibrated_accuracy(pairs, Resampling(0, seed)).value)
    # People tie in a third. All held equal is right in a third of them, and so is none.
    assert np.mean([share or 0 for share in shares]) == pytest.approx(1 / 3, abs=0.035)


def test_it_needs_two_answers_to_a_question_and_several_questions() -> None:
    alone = tie_calibrated_accuracy(Pairs.of([1, 2, 3], [1, 2, 3]))
    assert alone.reason == "no question has two answers with a label and a score"
    few = tie_calibrated_accuracy(Pairs.of([1, 2, 3, 4], [1, 2, 3, 4], clusters=[0, 0, 1, 1]))
    assert (few.reason, few.n) == ("too few questions have two answers to choose ε on the others: 2", 2)


# One scale ------------------------------------------------------------------------------------------------------------


def test_the_same_numbers_by_hand() -> None:
    """The example of docs/alignment.md."""
    found = on_one_scale(Pairs.of([1, 2, 3, 4], [2, 3, 4, 5]), QUICK, scale=(1, 5))
    assert [entry.value for entry in found] == pytest.approx([2.5 / 3.5, 1, 1, 1])


def test_limits_are_those_of_the_differences() -> None:
    rng = np.random.default_rng(2)
    people = rng.integers(1, 6, size=80).astype(float)
    metric = np.clip(people + rng.integers(-1, 3, size=80), 1, 5)
    concordance, bias, low, high = on_one_scale(Pairs.of(people, metric), QUICK, scale=(1, 5))
    apart = metric - people
    assert bias.value == pytest.approx(apart.mean())
    reach = 1.959964 * apart.std(ddof=1)
    assert (low.value, high.value) == pytest.approx((apart.mean() - reach, apart.mean() + reach))
    r = np.corrcoef(people, metric)[0, 1] * people.std() * metric.std()
    assert concordance.value == pytest.approx(2 * r / (people.var() + metric.var() + apart.mean() ** 2))
    assert all((entry.method or "").startswith("jackknife over units") for entry in (concordance, bias, low, high))


@pytest.mark.parametrize(("metric", "scale"), [([0, 1, 2, 9], (1, 5)), ([1, 2, 2, 1], (1, 5)), ([1, 2, 3, 4], None)])
def test_nothing_is_said_of_a_metric_that_does_not_speak_on_the_scale(
    metric: list[float], scale: tuple[float, float] | None
) -> None:
    assert on_one_scale(Pairs.of([1, 2, 3, 4], metric), QUICK, scale=scale) == []


def test_their_intervals_hold_the_truth() -> None:
    """Twenty normal numbers; the metric is .3 higher and less spread. Truth: by 400,000 units."""
    rng = np.random.default_rng(3)

    def draw(n: int) -> tuple[np.ndarray, np.ndarray]:
        truth = rng.normal(size=n)
        return truth + 0.6 * rng.normal(size=n), 0.8 * truth + 0.3 + 0.6 * rng.normal(size=n)

    wanted = [entry.value or 0 for entry in on_one_scale(Pairs.of(*draw(400_000)), Resampling(0), scale=(-99, 99))]
    hits = np.zeros(4)
    for seed in range(300):
        found = on_one_scale(Pairs.of(*draw(20)), Resampling(2, seed), scale=(-99, 99))
        hits += [(one.low or -9) <= value <= (one.high or -9) for one, value in zip(found, wanted, strict=True)]
    assert hits / 300 == pytest.approx([0.935] * 4, abs=0.035)


def test_few_questions_with_two_answers_among_many_with_one_are_too_few() -> None:
    """Two questions of three answers among twenty of one: all pairs were in one fold, none left to choose on."""
    clusters = [0, 0, 0, 1, 1, 1, *range(2, 22)]
    values = np.random.default_rng(0).normal(size=(2, len(clusters)))
    for seed in range(30):
        found = tie_calibrated_accuracy(Pairs.of(*values, clusters=clusters), Resampling(0, seed))
        assert found.value is None
        assert "too few questions have two answers" in (found.reason or "")
