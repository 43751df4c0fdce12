"""Statistics as cells of reports: their figures with intervals (`annotators/figures.py`), undefined ones as words."""

from __future__ import annotations

from typing import Protocol

from annotators import figures


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
    """`−0.123`, as reports write it."""
    return figures.number(value, digits, sign=sign)


def between(estimate: Estimated, digits: int = 3, *, sign: bool = False, scale: float = 1.0, unit: str = "") -> str:
    """` [0.640, 0.770]` with a space before it, or nothing without an interval."""
    if estimate.low is None or estimate.high is None:
        return ""
    return figures.ends(scale * estimate.low, scale * estimate.high, digits, sign=sign) + unit


def figure(estimate: Estimated, digits: int = 2, *, sign: bool = False) -> str:
    """`0.71 [0.64, 0.77]`, or `not defined: ` and the reason."""
    if estimate.value is None:
        return figures.undefined(estimate.reason)
    return number(estimate.value, digits, sign=sign) + between(estimate, digits, sign=sign)


def percent(estimate: Estimated, digits: int = 1, *, sign: bool = False) -> str:
    """`71.0 % [64.0, 77.0]`, or `not defined: ` and the reason."""
    shown = figures.percent(estimate.value, digits, sign=sign, reason=estimate.reason)
    return shown if estimate.value is None else shown + between(estimate, digits, sign=sign, scale=100)


def share(value: float | None, digits: int = 1) -> str:
    """`71.0 %`; nothing for None."""
    return "" if value is None else figures.percent(value, digits)


def seconds(value: float | None) -> str:
    """`4.2 s`, `42 s`, `3 min 05 s`, `2 h 10 min`; nothing for None."""
    return figures.duration(value, tenths=True)


def p_value(value: float | None) -> str:
    """`0.032`, or `< 0.001`; nothing for None."""
    return "" if value is None else figures.p_value(value)
