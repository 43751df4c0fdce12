"""Numbers as people read them, wherever they stand."""

from __future__ import annotations

import pytest

from annotators.figures import count, duration, ends, money, number, p_value, percent


@pytest.mark.parametrize(
    ("value", "options", "text"),
    [
        (0.7249, {}, "0.72"),
        (-0.05, {}, "−0.05"),
        (-0.001, {}, "0.00"),
        (-0.001, {"sign": True}, "0.00"),
        (0.25, {"sign": True}, "+0.25"),
        (-1234.5, {"grouped": True, "digits": 1}, "−1,234.5"),
        (1234.5, {"digits": 1}, "1234.5"),
        (None, {}, "not defined"),
        (float("nan"), {"reason": "nobody rated it"}, "not defined: nobody rated it"),
    ],
)
def test_a_number_has_a_true_minus_and_no_sign_before_zero(value: float | None, options: dict, text: str) -> None:
    assert number(value, **options) == text


def test_an_interval_stands_behind_its_value_or_not_at_all() -> None:
    assert ends(-0.2, 0.05) == " [−0.20, 0.05]"
    assert ends(0.1, 0.2, 1, sign=True) == " [+0.1, +0.2]"
    assert ends(None, 0.2) == ends(0.2, None) == ""


def test_shares_and_p_values_take_the_space_of_where_they_stand() -> None:
    assert percent(0.9681) == "96.8 %"
    assert percent(-0.02, 0, sign=True, space="\N{NARROW NO-BREAK SPACE}") == "−2\N{NARROW NO-BREAK SPACE}%"
    assert percent(None, reason="no page") == "not defined: no page"
    assert [p_value(value) for value in (0.0009, 0.001, 0.04, None)] == ["< 0.001", "0.001", "0.040", "not defined"]


def test_money_keeps_what_a_cheap_call_costs() -> None:
    amounts = (None, 0, 0.000123, 0.0123, 0.5, 12.345, 1234.5)
    assert [money(amount) for amount in amounts] == [
        "no price known",
        "0.00",
        "0.000123",
        "0.0123",
        "0.500",
        "12.35",
        "1,234.50",
    ]


def test_counts_and_durations_are_in_words() -> None:
    assert [count(n, "criterion", "criteria") for n in (0, 1, 1200)] == ["0 criteria", "1 criterion", "1,200 criteria"]
    assert count(0, "item", nothing="no") == "no items"
    assert [duration(value) for value in (None, 4.2, 59.6, 185, 7800)] == [
        "",
        "4 s",
        "1 min 00 s",
        "3 min 05 s",
        "2 h 10 min",
    ]
    assert duration(4.25, tenths=True) == "4.2 s"
