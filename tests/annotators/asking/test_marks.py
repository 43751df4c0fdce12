"""Marks, rates and tries of gold and qualification items: exactly at each, and just beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotators.asking.planting import BELOW, Planting, drawn_number
from annotators.asking.qualifying import Qualifying, reaches
from annotators.errors import InvalidInput


@settings(max_examples=200)
@given(st.integers(0, 100), st.integers(1, 400), st.data())
def test_a_share_is_reached_exactly_where_it_is_in_whole_numbers(percent: int, of: int, data: st.DataObject) -> None:
    right = data.draw(st.one_of(st.integers(0, of), st.just(percent * of // 100), st.just(-(-percent * of // 100))))
    assert reaches(percent / 100, right, of) == (100 * right >= percent * of)


def test_fourteen_of_twenty_five_are_fifty_six_percent() -> None:
    assert 0.56 * 25 > 14, "why the share is divided out"
    assert reaches(0.56, 14, 25) and not reaches(0.56, 13, 25)
    assert reaches(1.0, 0, 0), "of nothing nothing is wrong"


def test_below_the_mark_is_who_has_enough_gold_items_and_too_few_right_labels() -> None:
    planting = Planting(mark=0.56, mark_after=5)
    assert not planting.is_below(4, 0, 25), "too few items to say"
    assert planting.is_below(5, 13, 25) and not planting.is_below(5, 14, 25)
    assert planting.is_below(6, 0, 6)


LIMITS: list[tuple[Any, dict[str, Any], bool]] = [
    (Qualifying(items=1), {"mark": 0}, True),
    (Qualifying(items=1), {"mark": -0.001}, False),
    (Qualifying(items=1), {"mark": 1}, True),
    (Qualifying(items=1), {"mark": 1.001}, False),
    (Qualifying(items=1), {"tries": 1}, True),
    (Qualifying(items=1), {"tries": 0}, False),
    (Qualifying(items=1), {"tries": 20}, True),
    (Qualifying(items=1), {"tries": 21}, False),
    (Qualifying(items=1), {"items": 0}, False),
    (Planting(), {"gold_rate": 0.5}, True),
    (Planting(), {"gold_rate": 0.501}, False),
    (Planting(), {"gold_rate": -0.001}, False),
    (Planting(), {"repeat_rate": 0.5}, True),
    (Planting(), {"repeat_rate": 0.501}, False),
    (Planting(), {"repeat_rate": -0.001}, False),
    (Planting(), {"gold_rate": 0.3, "repeat_rate": 0.2}, True),
    (Planting(), {"gold_rate": 0.3, "repeat_rate": 0.201}, False),
    (Planting(), {"repeat_after": 1}, True),
    (Planting(), {"repeat_after": 0}, False),
    (Planting(), {"mark": 1}, True),
    (Planting(), {"mark": 0}, False),
    (Planting(), {"mark": 1.001}, False),
    (Planting(), {"mark_after": 1}, True),
    (Planting(), {"mark_after": 0}, False),
    *((Planting(), {"below": below}, True) for below in BELOW),
    (Planting(), {"below": "shout"}, False),
]


@pytest.mark.parametrize(("asked", "change", "may"), LIMITS)
def test_each_number_may_be_what_it_says_and_no_more(asked: Any, change: dict[str, Any], may: bool) -> None:
    changed = replace(asked, **change)
    faults = [field for field, _ in changed.faults()]
    if "items" not in change:
        assert faults == ([] if may else [list(change)[-1]]), "the field that a form marks"
    if may:
        changed.check()
    else:
        with pytest.raises(InvalidInput):
            changed.check()


@pytest.mark.parametrize(
    "asked",
    [
        Planting(0.1, 0.2, 7, 0.6, 3, "stop"),
        Planting(),
        Qualifying(0.4, 5, 2),
    ],
)
def test_what_a_study_asks_is_read_as_it_was_kept(asked: Any) -> None:
    name = "planting" if isinstance(asked, Planting) else "qualifying"
    assert type(asked).of({name: asked.to_settings(), "other": 1}) == asked
    assert type(asked).of({}) == type(asked)()


@settings(max_examples=20)
@given(st.integers(0, 2**40), st.integers(1, 10**6))
def test_what_a_turn_is_to_be_follows_from_the_rates(seed: int, person: int) -> None:
    gold, both = Planting(gold_rate=0.3), Planting(gold_rate=0.3, repeat_rate=0.2)
    for number in range(1, 20):
        drawn = drawn_number(seed, person, number) / 2**64
        assert 0 <= drawn < 1
        assert gold.turn(seed, person, number) == ("gold" if drawn < 0.3 else None)
        assert both.turn(seed, person, number) == ("gold" if drawn < 0.3 else "repeat" if drawn < 0.5 else None)
        assert Planting().turn(seed, person, number) is None
    assert len({drawn_number(s, p, n) for s in (seed, seed + 1) for p in (person, person + 1) for n in (1, 2)}) == 8


def test_how_much_is_planted_and_how_much_is_not() -> None:
    assert not Planting().plants and Planting(gold_rate=0.01).plants and Planting(repeat_rate=0.01).plants
    planting = Planting(gold_rate=0.3, repeat_rate=0.2)
    assert [planting.besides(n) for n in (100, 101, 1)] == [50, 50, 0]
    # 100 items are half of 200 given ones: 60 of them gold, as far as there are so many, 40 repeats.
    assert [planting.added_to(100, gold_items) for gold_items in (1000, 60, 10, 0)] == [100, 100, 50, 40]
    assert planting.added_to(1, 1000) == 1, "an item comes again once"
    assert Planting().added_to(100, 100) == 0
