"""The draw of a sample: by its seed, the same everywhere and for ever."""

from __future__ import annotations

from itertools import pairwise

import pytest

from annotators.errors import InvalidInput
from annotators.items.sampling import Candidate, arrange, draw, own_place


def candidates(n: int, system: str = "alpha") -> list[Candidate]:
    return [
        Candidate(
            version_id=number, external_id=f"{system}-{number:02}", question_key=f"q{number}", system=system,
            category="", content_hash=f"h{number}",
        )
        for number in range(n)
    ]  # fmt: skip


def ids(found: list[Candidate]) -> list[str]:
    return [item.external_id for item in found]


def test_one_known_draw() -> None:
    """Written down: whoever made a study with this seed has these items, on every machine and version."""
    assert ids(draw(candidates(20), 5, None, 7)) == ["alpha-00", "alpha-03", "alpha-19", "alpha-15", "alpha-14"]


def test_another_seed_is_another_sample_and_another_order() -> None:
    all_of_them = candidates(40)
    samples = {tuple(ids(draw(all_of_them, 10, None, seed))) for seed in range(20)}
    assert len(samples) == 20
    orders = {tuple(ids(arrange(all_of_them, "shuffled", seed))) for seed in range(20)}
    assert len(orders) == 20


def test_the_order_is_drawn_apart_from_the_sample() -> None:
    """Else the first items that are offered would always be those with the lowest ranks of the sample."""
    sample = draw(candidates(40), 10, None, 7)
    assert ids(arrange(sample, "shuffled", 7)) != ids(sample)


def test_an_item_more_in_one_stratum_changes_nothing_in_another() -> None:
    before = draw([*candidates(20), *candidates(20, "beta")], 5, "system", 7)
    after = draw([*candidates(21), *candidates(20, "beta")], 5, "system", 7)
    of_beta = [[identifier for identifier in ids(drawn) if identifier.startswith("beta")] for drawn in (before, after)]
    assert of_beta[0] == of_beta[1]
    assert len(before) == len(after) == 10


def test_the_order_in_which_items_are_given_does_not_matter() -> None:
    given = candidates(20)
    assert draw(given, 5, None, 7) == draw(given[::-1], 5, None, 7)


def test_an_empty_sample_is_refused() -> None:
    with pytest.raises(InvalidInput):
        draw(candidates(3), 0, None, 7)


@pytest.mark.parametrize("n", [1, 2, 3, 5, 48, 64, 1000])
def test_an_own_order_has_each_place_once_in_every_round(n: int) -> None:
    for about in ("1", "2"):
        rounds = [[own_place(part * n + turn, n, about) for turn in range(n)] for part in (0, 1)]
        assert [sorted(order) for order in rounds] == [list(range(n))] * 2
        if n >= 48:
            assert rounds[0] != rounds[1]


def test_own_orders_differ_between_people_and_mix_places() -> None:
    """The first tenth of 1,000 turns: its mean place is that of a draw, and two people share about a tenth of it."""
    firsts = [[own_place(turn, 1000, f"seed {who}") for turn in range(100)] for who in range(40)]
    means = [sum(first) / 100 for first in firsts]
    assert abs(sum(means) / 40 - 499.5) < 4 * 288.7 / 4000**0.5
    shared = [len(set(one) & set(other)) for one, other in pairwise(firsts)]
    assert 6 < sum(shared) / len(shared) < 14
    adjacent = sum(abs(a - b) == 1 for first in firsts for a, b in pairwise(first))
    assert adjacent < 30  # 40 × 99 steps, of which one in 500 goes to a neighbour


def test_an_own_order_is_the_same_on_every_machine() -> None:
    assert [own_place(turn, 10, "a") for turn in range(10)] == [4, 7, 0, 3, 6, 1, 2, 8, 5, 9]
