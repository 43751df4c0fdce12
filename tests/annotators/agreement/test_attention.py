"""Warnings about pace and straight-lining: exact chances of runs, false alarms at the level that is stated, power."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import combinations, groupby

import numpy as np
import pytest

from annotators.agreement.attention import LEVEL, chance_of_run, hurried, straight_lined
from annotators.arrays import FloatArray

Times = Callable[[np.random.Generator, int], FloatArray]


def longest(places: tuple[int, ...], n: int) -> int:
    marks = [place in places for place in range(n)]
    return max((len(list(run)) for marked, run in groupby(marks) if marked), default=0)


@pytest.mark.parametrize(("n", "marked"), [(8, 3), (9, 6), (10, 5), (7, 7), (12, 4), (11, 10)])
def test_the_chance_of_a_run_is_that_of_all_orders(n: int, marked: int) -> None:
    found = Counter(longest(places, n) for places in combinations(range(n), marked))
    for length in range(1, n + 1):
        at_least = sum(count for run, count in found.items() if run >= length)
        assert chance_of_run(n, marked, length) == pytest.approx(at_least / found.total(), abs=1e-12)


def test_the_chance_of_a_run_in_many_items_by_hand() -> None:
    # 2 of n marked: n - 1 of n (n - 1) / 2 pairs stand side by side, so 2 / n.
    assert chance_of_run(100_000, 2, 2) == pytest.approx(2 / 100_000, rel=1e-6)
    assert chance_of_run(100_000, 50_000, 2) == 1.0
    assert chance_of_run(20, 3, 4) == 0.0
    with pytest.raises(ValueError, match="give 0 ≤ marked ≤ n"):
        chance_of_run(3, 4, 1)


def lognormal(draw: np.random.Generator, n: int) -> FloatArray:
    return np.exp(draw.normal(3, 0.6, n))


def heavy_tailed(draw: np.random.Generator, n: int) -> FloatArray:
    return np.exp(3 + 0.4 * draw.standard_t(3, n))


def two_kinds_of_items(draw: np.random.Generator, n: int) -> FloatArray:
    return np.exp(np.where(draw.random(n) < 0.4, draw.normal(1.2, 0.4, n), draw.normal(3.5, 0.4, n)))


def who_gets_quicker(draw: np.random.Generator, n: int) -> FloatArray:
    return np.exp(draw.normal(3, 0.5, n) - 0.25 * np.log1p(np.arange(n)))


def always_quick(draw: np.random.Generator, n: int) -> FloatArray:
    return draw.gamma(3, 0.5, n)


@pytest.mark.slow
@pytest.mark.parametrize("n", [30, 120, 400])
@pytest.mark.parametrize("times", [lognormal, heavy_tailed, two_kinds_of_items, who_gets_quicker, always_quick])
def test_few_attentive_annotators_are_said_to_hurry(times: Times, n: int) -> None:
    draw = np.random.default_rng(n)
    alarms = sum(hurried(times(draw, n), draw.gamma(4, 60, n)) is not None for _ in range(1500))
    assert alarms / 1500 <= LEVEL + 2.6 * np.sqrt(LEVEL / 1500)  # 1 in 200 such tests would fail at the level itself


@pytest.mark.slow
@pytest.mark.parametrize("shares", [[0.5, 0.5], [0.9, 0.1], [0.97, 0.03], [0.4, 0.3, 0.2, 0.1]])
def test_few_attentive_annotators_are_said_to_straight_line(shares: list[float]) -> None:
    draw = np.random.default_rng(7)
    for n in (30, 200):
        alarms = sum(
            straight_lined(draw.choice(len(shares), n, p=shares), range(len(shares))) is not None for _ in range(1500)
        )
        assert alarms / 1500 <= LEVEL + 2.6 * np.sqrt(LEVEL / 1500)


@pytest.mark.parametrize("times", [lognormal, heavy_tailed, two_kinds_of_items, who_gets_quicker])
def test_fifteen_items_at_a_second_each_are_found(times: Times) -> None:
    draw, found = np.random.default_rng(1), 0
    for _ in range(100):
        seconds = times(draw, 120)
        seconds[60:75] = draw.uniform(0.8, 1.2, 15)
        run = hurried(seconds, draw.gamma(4, 60, 120))
        found += run is not None and run.start <= 67 < run.stop and (run.ratio or 1) < 0.5
    assert found >= 85


def test_the_length_of_what_is_read_explains_a_time() -> None:
    """Short answers in a row are read quickly, and that is no warning."""
    draw = np.random.default_rng(3)
    lengths = np.full(100, 800.0)
    lengths[40:60] = 20
    seconds = np.exp(0.9 * np.log(lengths) - 2 + draw.normal(0, 0.2, 100))
    assert hurried(seconds) is not None
    long_again = lengths[draw.permutation(100)]
    assert hurried(np.exp(0.9 * np.log(long_again) - 2 + draw.normal(0, 0.2, 100)), long_again) is None


def test_a_run_of_one_label_is_found_where_it_is_not_the_items_own() -> None:
    draw = np.random.default_rng(5)
    codes = draw.choice(2, 100, p=[0.6, 0.4])
    codes[30:55] = 0
    run = straight_lined(codes, ("yes", "no"))
    assert run is not None
    assert (run.label, run.start <= 30, run.stop >= 55) == ("yes", True, True)
    assert run.p <= LEVEL
    others = draw.choice(2, 100)
    assert straight_lined(codes, ("yes", "no"), others) == run
    others[run.start : run.stop] = 0
    assert straight_lined(codes, ("yes", "no"), others) is None, "the others gave it as well"


def test_nothing_is_said_of_a_few_items_or_of_one_label_throughout() -> None:
    assert hurried(np.array([9.0] * 10 + [1.0] * 9)) is None
    assert straight_lined(np.array([0] * 10 + [1] * 9), ("a", "b")) is None
    assert straight_lined(np.zeros(500, dtype=np.int64), ("a", "b")) is None, "no order of them is another"
    assert hurried(np.full(500, np.nan)) is None
    with pytest.raises(ValueError, match="one a time"):
        hurried(np.ones(3), np.ones(2))


@pytest.mark.slow
@pytest.mark.parametrize("n", [20, 25, 40])
def test_few_annotators_of_small_studies_with_hardly_any_overlap_are_remarked(n: int) -> None:
    """Quick people with twenty to forty items that nobody else has judged, and four criteria that hang together."""
    draw, alarms, studies = np.random.default_rng(n), Counter[str](), 2000
    for _ in range(studies):
        asked = draw.random(n) < 0.85  # what is wrong with the question makes the answer wrong as well
        columns = [asked.astype(np.int64)]
        columns += [(asked & (draw.random(n) < share)).astype(np.int64) for share in (0.95, 0.8, 0.97)]
        alarms["pace"] += hurried(always_quick(draw, n), draw.gamma(2, 200, n)) is not None
        nobody = np.full(n, -1)
        alarms["label"] += any(straight_lined(codes, ("no", "yes"), nobody, LEVEL / 4) for codes in columns)
    for kind, number in alarms.items():
        assert number / studies <= LEVEL + 2.6 * np.sqrt(LEVEL / studies), kind
