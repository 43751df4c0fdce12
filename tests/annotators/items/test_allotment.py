"""Items allotted to people beforehand: each by different people, evenly, and each two meet about as often."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from annotators.items.allotment import allotment


def met(people: int, overlaps: list[int], seed: int = 1) -> np.ndarray:
    """How many items each two people share; on the diagonal how many each has."""
    found = np.zeros((people, people), dtype=int)
    for wanted, block in zip(overlaps, allotment(people, overlaps, seed), strict=True):
        assert len(block) == len(set(block)) == wanted
        found[np.ix_(block, block)] += 1
        loads = np.diag(found)
        assert loads.max() - loads.min() <= 1, "after every item"
    return found


@pytest.mark.parametrize("people", [2, 3, 4, 5, 6, 7, 9, 13, 20])
@pytest.mark.parametrize("overlap", [1, 2, 3, 5])
def test_loads_differ_by_one_at_most_and_every_two_share_about_as_many_items(people: int, overlap: int) -> None:
    if overlap > people:
        return
    for n in (1, 10, 97, 400):
        found = met(people, [overlap] * n)
        shared = [found[pair] for pair in combinations(range(people), 2)]
        assert max(shared) - min(shared) <= (1 if people <= 4 and n > 97 else 5), (n, shared)
        mean = n * overlap * (overlap - 1) / (people * (people - 1))
        assert np.std(shared) <= 1.1, f"about {mean:.1f} each"


def test_seven_people_and_three_an_item_are_a_balanced_design_again_and_again() -> None:
    """35 items are all the trios of seven: 35 × 3 / 7 = 15 items each, 35 × 3 / 21 = 5 for every two."""
    found = met(7, [3] * 35 * 3, seed=4)
    assert set(np.diag(found)) == {45}
    assert max(found[a, b] for a, b in combinations(range(7), 2)) <= 17


def test_the_seed_decides_and_different_overlaps_mix() -> None:
    first = list(allotment(6, [2] * 50, 7))
    assert first == list(allotment(6, [2] * 50, 7)) != list(allotment(6, [2] * 50, 8))
    found = met(5, [3 if place % 10 == 0 else 1 for place in range(100)])
    assert np.diag(found).sum() == 10 * 3 + 90


def test_a_long_study_repeats_rounds_and_stays_even() -> None:
    """30,000 items of 20 people, two each: 30,000 × 2 / (20 × 19) = 157.9 for every two."""
    found = met(20, [2] * 30_000)
    shared = [found[pair] for pair in combinations(range(20), 2)]
    assert max(shared) - min(shared) <= 20
