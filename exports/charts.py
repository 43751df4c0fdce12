"""What all charts of reports and pages share: their colours and axes, and how one becomes a file without a browser."""

from __future__ import annotations

import io
from typing import Any, Literal

import altair as alt

ACCENT = "#0072b2"
"""The blue of single series, read on a light and on a dark page."""

LINE = "#d55e00"
QUIET = "#8a949c"
COLOURS = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#a98600", "#56b4e9", "#7a5195", "#8c564b"]
"""Colours that people with any colour vision tell apart (Okabe and Ito, the yellow darkened), read on both themes."""

DISAGREE, NEUTRAL, AGREE = "#d55e00", "#9aa3ad", "#0072b2"
"""The ends and the middle of a scale from one pole to the other."""

TICKS = 4
"""What the drawing library is asked for; it then draws six at most, at round numbers."""


def counts(title: str | None) -> dict[str, Any]:
    """The axis of things that are counted, or of their places: whole numbers from 0."""
    axis = alt.Axis(tickCount=TICKS, tickMinStep=1, format=",d")
    return {"title": title, "axis": axis, "scale": alt.Scale(zero=True)}


def places(title: str | None) -> dict[str, Any]:
    """The axis of places in an order, which begins where the first is: whole numbers."""
    axis = alt.Axis(tickCount=TICKS, tickMinStep=1, format=",d")
    return {"title": title, "axis": axis, "scale": alt.Scale(zero=False)}


def shares(title: str | None) -> dict[str, Any]:
    """The axis of a share: from 0 to 1, in percent."""
    return {"title": title, "axis": alt.Axis(tickCount=TICKS, format="%"), "scale": alt.Scale(domain=[0, 1])}


def values(title: str | None, low: float | None = None, high: float | None = None) -> dict[str, Any]:
    """The axis of any other quantity, between two ends where it has them."""
    scale = alt.Scale(zero=False) if low is None or high is None else alt.Scale(domain=[low, high], nice=False)
    return {"title": title, "axis": alt.Axis(tickCount=TICKS), "scale": scale}


def palette(n: int) -> list[str]:
    """The first n colours, from the beginning again where there are more."""
    return [COLOURS[place % len(COLOURS)] for place in range(max(1, n))]


def poles(n: int) -> list[str]:
    """n colours from one pole of an ordered scale to the other, the middle grey where there is one."""
    low, high, middle = ["#d55e00", "#e8a06a", "#f0c6a2"], ["#0072b2", "#5fa4cf", "#a9cfe6"], [NEUTRAL]
    half = n // 2
    if half > len(low):
        low, high = [DISAGREE] * half, [AGREE] * half
    return [*low[:half], *(middle if n % 2 else []), *reversed(high[:half])]


def drawn(chart: Any, ending: Literal["svg", "png", "pdf"], width: int | None = 460) -> bytes:
    """A chart as a file on white, sharp in print; `width` None keeps the chart's own."""
    printed = chart.properties(background="white")
    if width is not None:
        printed = printed.properties(width=width)
    if ending == "svg":
        text = io.StringIO()
        printed.save(text, format="svg")
        return text.getvalue().encode()
    picture = io.BytesIO()
    if ending == "png":
        printed.save(picture, format="png", ppi=300)
    else:
        printed.save(picture, format="pdf")
    return picture.getvalue()
