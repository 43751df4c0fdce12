"""What most of the others gave, without the annotator's own label."""

from __future__ import annotations

from collections import Counter

import numpy as np

from annotators.agreement.majority import majority_of_rest


def by_hand(unit: list[int], code: list[int]) -> list[int]:
    found = []
    for mine, where in enumerate(unit):
        others = Counter(code[other] for other, there in enumerate(unit) if there == where and other != mine)
        most = others.most_common(2)
        tied = not most or (len(most) > 1 and most[0][1] == most[1][1])
        found.append(-1 if tied else most[0][0])
    return found


def test_an_annotator_is_never_part_of_the_majority() -> None:
    # Two say 1 and one says 0: each of the two sees 1 and 0, a tie; the third sees 1 twice.
    assert majority_of_rest(np.array([0, 0, 0]), np.array([1, 1, 0])).tolist() == [-1, -1, 1]
    assert majority_of_rest(np.array([0, 1, 1]), np.array([1, 1, 0])).tolist() == [-1, 0, 1]
    assert majority_of_rest(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)).tolist() == []


def test_it_is_what_counting_each_unit_gives() -> None:
    draw = np.random.default_rng(2)
    for n_labels in (2, 3, 6):
        unit, code = draw.integers(0, 60, 300), draw.integers(0, n_labels, 300)
        assert majority_of_rest(unit, code).tolist() == by_hand(unit.tolist(), code.tolist())
