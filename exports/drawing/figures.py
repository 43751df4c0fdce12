"""Figures, intervals, shares and p values as tables of reports have them."""

from __future__ import annotations

from typing import Protocol

NOT_DEFINED = "not defined"


class Estimated(Protocol):
    """A value with its interval, or the reason why there is none."""

    @property
    def value(self) -> float | None:
        """The value."""

    @property
    def low(self) -> float | None:
        """The lower end of the interval."""

    @property
    def high(self) -> float | None:
        """The upper end of the interval."""

    @property
    def reason(self) -> str | None:
        """Why there is no value."""


def number(value: float, digits: int = 3, *, sign: bool = False) -> str:
    """`−0.123`, with a true minus sign and no sign before zero; with `sign` also a plus."""
    text = f"{value:+.{digits}f}" if sign else f"{value:.{digits}f}"
    return (text.lstrip("+-") if float(text) == 0 else text).replace("-", "−")


def between(one: Estimated, digits: int = 3, *, sign: bool = False, scale: float = 1.0, unit: str = "") -> str:
    """` [0.640, 0.770]` with a space before it, or nothing without an interval."""
    if one.low is None or one.high is None:
        return ""
    low, high = (number(scale * end, digits, sign=sign) for end in (one.low, one.high))
    return f" [{low}, {high}]{unit}"


def figure(one: Estimated, digits: int = 2, *, sign: bool = False) -> str:
    """`0.71 [0.64, 0.77]`, or `not defined: ` and the reason."""
    if one.value is None:
        return undefined(one)
    return number(one.value, digits, sign=sign) + between(one, digits, sign=sign)


def percent(one: Estimated, digits: int = 1, *, sign: bool = False) -> str:
    """`71.0 % [64.0, 77.0]`, or `not defined: ` and the reason."""
    if one.value is None:
        return undefined(one)
    return f"{number(100 * one.value, digits, sign=sign)} %{between(one, digits, sign=sign, scale=100)}"


def share(value: float | None, digits: int = 1) -> str:
    """`71.0 %`; nothing for None."""
    return "" if value is None else f"{number(100 * value, digits)} %"


def undefined(one: Estimated) -> str:
    """That there is no value, and why."""
    return f"{NOT_DEFINED}: {one.reason}" if one.reason else NOT_DEFINED


def seconds(value: float | None) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`; nothing for None."""
    if value is None:
        return ""
    if value < 9.95:
        return f"{value:.1f} s"
    whole = round(value)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def p_value(value: float | None) -> str:
    """`0.032`, or `< 0.001`; nothing for None."""
    if value is None:
        return ""
    return "< 0.001" if value < 0.001 else number(value)
