"""What a stream had before is known, in whatever part of it the keys came, and wherever they are kept."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest

from db.items import seen as module
from db.items.seen import Seen


@pytest.fixture
def seen() -> Iterator[Seen]:
    with closing(Seen()) as seen:
        yield seen


def rows(*keys: str, line: int) -> list[tuple[str, str, str, int]]:
    return [(key, f"digest of {key}", "a.json", at) for at, key in enumerate(keys, line)]


@pytest.mark.parametrize("in_memory", [0, 1, 3, 4, 100])
def test_a_key_that_came_before_is_told_with_its_first_place(
    seen: Seen, in_memory: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_IN_MEMORY", in_memory)
    assert seen.add(rows("a", "b", "a", line=1)) == {2: ("digest of a", "a.json", 1)}
    assert seen.add(rows("c", "b", "d", "a", line=4)) == {
        1: ("digest of b", "a.json", 2),
        3: ("digest of a", "a.json", 1),
    }
    again = seen.add(rows("d", "e", "c", "e", line=8))
    assert again == {0: ("digest of d", "a.json", 6), 2: ("digest of c", "a.json", 4), 3: ("digest of e", "a.json", 9)}


def test_more_keys_than_are_kept_in_memory(seen: Seen) -> None:
    keys = [f"k{number}" for number in range(module._IN_MEMORY + 10)]
    assert seen.add(rows(*keys, line=1)) == {}
    again = seen.add(rows(*keys, line=1))
    assert again == {at: (f"digest of {key}", "a.json", at + 1) for at, key in enumerate(keys)}
