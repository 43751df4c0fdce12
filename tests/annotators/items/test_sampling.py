"""The draw of a sample: by its seed, the same everywhere and for ever."""

from __future__ import annotations

import pytest

from annotators.errors import InvalidInput
from annotators.items.sampling import Candidate, arrange, draw


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
