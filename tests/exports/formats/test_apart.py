"""Stretches of a text that formats bring: of those that lie over each other the first is kept."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from exports.formats._stretches import Apart

PLACES = st.tuples(st.integers(0, 30), st.integers(1, 12)).map(lambda found: (found[0], found[0] + found[1]))


@given(st.lists(PLACES, max_size=40))
def test_a_stretch_is_taken_where_it_lies_over_none_before(stretches: list[tuple[int, int]]) -> None:
    apart = Apart()
    kept: list[tuple[int, int]] = []
    for start, end in stretches:
        free = not any(start < other_end and other_start < end for other_start, other_end in kept)
        assert apart.takes(start, end) == free
        if free:
            kept.append((start, end))
