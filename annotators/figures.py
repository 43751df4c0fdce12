"""Figures as people read them: a number, an interval, a share, a p value, a count, a duration; one rule for each.

Pages, the command line, tables and sentences all write them here. What differs between them is said by parameters: the
space before a unit (pages have one that is narrow and does not break), thousands in groups, a sign before a difference.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

NOT_DEFINED = "not defined"


def undefined(reason: str | None) -> str:
    """`not defined: no page was rated twice`."""
    return f"{NOT_DEFINED}: {reason}" if reason else NOT_DEFINED


def number(
    value: float | None, digits: int = 2, *, sign: bool = False, grouped: bool = False, reason: str | None = None
) -> str:
    """`−0.12`, with a minus sign that is one and no sign before zero; with `sign` also a plus, `grouped` 12,345.00.

    None and NaN are `not defined`, with the reason.
    """
    if value is None or math.isnan(value):
        return undefined(reason)
    text = f"{value:{'+' if sign else ''}{',' if grouped else ''}.{digits}f}"
    return (text.lstrip("+-") if float(text.replace(",", "")) == 0 else text).replace("-", "−")


def ends(low: float | None, high: float | None, digits: int = 2, *, sign: bool = False, grouped: bool = False) -> str:
    """` [0.64, 0.77]` with a space before it, or nothing where there is no interval."""
    if low is None or high is None:
        return ""
    return f" [{number(low, digits, sign=sign, grouped=grouped)}, {number(high, digits, sign=sign, grouped=grouped)}]"


def percent(
    share: float | None, digits: int = 1, *, sign: bool = False, space: str = " ", reason: str | None = None
) -> str:
    """A share from 0 to 1 as `96.8 %`, with this space before the sign."""
    if share is None:
        return undefined(reason)
    return f"{number(100 * share, digits, sign=sign, grouped=True)}{space}%"


def p_value(value: float | None, *, reason: str | None = None) -> str:
    """`0.032`, or `< 0.001`."""
    if value is not None and value < 0.001:
        return "< 0.001"
    return number(value, 3, reason=reason)


def p_in_words(value: float) -> str:
    """`p = 0.032`, or `p < 0.001`."""
    return f"p {'' if value < 0.001 else '= '}{p_value(value)}"


def count(n: int, noun: str, nouns: str | None = None, *, nothing: str = "0") -> str:
    """`1 item`, `1,200 items`; none at all are `0 items`, or `nothing` of them."""
    return f"{n:,} {noun if n == 1 else nouns or f'{noun}s'}" if n else f"{nothing} {nouns or f'{noun}s'}"


def held_in_words(n: int, rest: Mapping[str, int], noun: str = "unit") -> str:
    """`280 of 560 units; the rest: 204 on which people tie, 76 without a score`, or `all 560 units`.

    `rest` is why units are not among them → how many; reasons of none are left out.
    """
    of = n + sum(rest.values())
    if n == of:
        return f"all {count(n, noun)}" if n > 1 else count(n, noun)
    why = ", ".join(f"{many:,} {reason}" for reason, many in rest.items() if many)
    return f"{n:,} of {count(of, noun)}; the rest: {why}"


def money(amount: float | None) -> str:
    """`12.35`, `0.0123`, `0.000123`: two digits after the point, and three that say something; None has no price."""
    if amount is None:
        return "no price known"
    return number(amount, max(2, 2 - math.floor(math.log10(amount))) if 0 < amount < 1 else 2, grouped=True)


def size_in_words(n: int) -> str:
    """Bytes as people read them: `640.2 kB`, `1.2 GB`."""
    for unit, size in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if n >= size:
            return f"{n / size:.1f} {unit}"
    return f"{n} bytes"


def some(names: Sequence[str], most: int) -> str:
    """The first names with commas between them, and … where there are more than `most`."""
    return ", ".join(names[:most]) + (" …" if len(names) > most else "")


def numbers_apart(name: str) -> list[str | int]:
    """What names are sorted by: A2 comes before A10."""
    return [int(part) if part.isdecimal() else part for part in re.split(r"([0-9]+)", name)]


def duration(seconds: float | None, *, tenths: bool = False) -> str:
    """`42 s`, `3 min 05 s`, `2 h 10 min`; with `tenths` `4.2 s` below ten seconds; nothing for None."""
    if seconds is None:
        return ""
    if tenths and seconds < 9.95:
        return f"{seconds:.1f} s"
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
