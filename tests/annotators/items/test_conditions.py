"""Conditions on items, and lists of ids."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.conditions import alternatives, condition, item_ids


@pytest.mark.parametrize(
    ("text", "values", "holds"),
    [
        ("system=harbour", ["harbour"], True),
        ("system=harbour", ["Harbour"], False),
        ("system = harbour ", ["harbour"], True),
        ("system!=harbour", ["lantern"], True),
        ("system!=harbour", [], True),
        ("role=gold", ["retrieved", "gold"], True),
        ("role!=gold", ["retrieved", "gold"], False),
        ("pages=3", [3], True),
        ("pages=3", [3.0], True),
        ("pages=3", ["3"], True),
        ("checked=true", [True], True),
        ("checked=1", [True], False),
        ("category=", [], True),
        ("category=", ["Text"], False),
        ("category!=", ["Text"], True),
        ("score:rouge_l>=0.5", [0.5], True),
        ("score:rouge_l>0.5", [0.5], False),
        ("score:rouge_l<0.5", [0.4999], True),
        ("score:rouge_l<=0.5", [None], False),
        ("year>2000", ["2001"], True),
        ("year>2000", ["soon"], False),
        ("note=a=b", ["a=b"], True),
    ],
)
def test_a_condition_holds_or_not(text: str, values: list[Any], holds: bool) -> None:
    assert condition(text).holds(values) is holds


@pytest.mark.parametrize("text", ["system", "", "=harbour", "score:=1", " <3", "metadata:>1"])
def test_what_is_no_condition_is_named(text: str) -> None:
    with pytest.raises(InvalidInput, match="is no condition on items"):
        condition(text)


def test_only_numbers_are_larger_or_smaller() -> None:
    with pytest.raises(InvalidInput, match="'much', which is no number"):
        condition("score:rouge_l>=much")


def test_values_of_one_field_are_alternatives_and_fields_hold_together() -> None:
    groups = alternatives(["system=a", "category=x", "system=b", "n>1", "n<3", "system=a"])
    assert [[str(condition) for condition in group] for group in groups] == [
        ["system=a", "system=b"],
        ["category=x"],
        ["n>1"],
        ["n<3"],
    ]


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("a\nb\n\n  c \n", ("a", "b", "c")),
        ("\ufeffa\r\nb", ("a", "b")),
        ('item,note\na,x\n"b,1",y\n', ("a", "b,1")),
        ("note;id\nx;a\ny;b\n", ("a", "b")),
        ("item\na\nb\n", ("a", "b")),
        ("kiwi/41, bm25\nother", ("kiwi/41, bm25", "other")),
    ],
)
def test_ids_stand_one_a_line_or_in_a_column(text: str, ids: tuple[str, ...]) -> None:
    assert item_ids(text, "ids.txt") == ids


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "names no items"),
        ("item\n", "names no items"),
        ('item,"' + "x" * 200_000 + '"\na,b\n', "cannot be read as a table"),
        ("a\nb\na\n", "line 3: 'a' is named again, first on line 1"),
    ],
)
def test_a_list_without_ids_or_with_one_twice_is_refused(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        item_ids(text, "ids.txt")
