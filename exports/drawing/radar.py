"""The radar: a closed line for each name over the axes of categories, as in the figures of FATHOMS-RAG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from annotators.later import Later
from exports.drawing import charts
from exports.drawing.margins import text_width

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

_RINGS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the rim: the grades of a scale to 5, and fifths of a share."""
_REACH = 1.02
"""The ends of both axes: the rim reaches the edges; names stand outside, where the drawing library makes room."""

_LONG_NAME = 36
Align = Literal["left", "right", "center"]
_SIDE = 460  # as wide as plots of reports are drawn, so that the rim is round there
ON_PAGE = 500
"""The side of a radar on a page, with its legend at the right."""

_BESIDE = 390
_NAMES_AT = 1.06
_NAME_SIZE, _NAME_LINE, _NAME_LIMIT = 12, 18, 160
"""Names of categories: their size and limit in pixels, and the letters of a line."""

_DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])
"""Lines beyond as many as there are colours have a colour again, and are dashed."""

MOST_LINES = len(_DASHES) * len(charts.COLOURS)


def left_undrawn(n: int) -> str:
    """What a caption says where there are more systems than lines; empty where all are drawn."""
    return "" if n <= MOST_LINES else f" {MOST_LINES} of {n:,} systems are drawn, the first by name."


def radar(
    values: Mapping[str, Mapping[str, float | None]],
    categories: Sequence[str],
    ink: str,
    *,
    high: float = 1.0,
    on_page: bool = False,
) -> alt.LayerChart | None:
    """One closed line for each name over the categories' axes, from 0 at the centre to `high` at the rim.

    A category without a value leaves its corner out. None with fewer than three categories: that is no shape. With
    `on_page` it is larger, and its legend stands at the right. It has at most `MOST_LINES` names (`left_undrawn`).
    """
    if len(categories) < 3 or not values:
        return None
    angles = {name: 2 * math.pi * place / len(categories) for place, name in enumerate(categories)}

    def point(name: str, radius: float) -> dict[str, float]:
        return {"x": radius * math.sin(angles[name]), "y": radius * math.cos(angles[name])}

    rings = [
        {**point(name, ring), "ring": ring, "order": place}
        for ring in _RINGS
        for place, name in enumerate([*categories, categories[0]])
    ]
    spokes = [
        {**point(name, radius), "category": name, "order": end}
        for name in categories
        for end, radius in enumerate((0.0, 1.0))
    ]
    corners = []
    for name, of in values.items():
        there = [category for category in categories if of.get(category) is not None]
        for place, category in enumerate([*there, *there[:1]]):
            value = float(of[category] or 0.0)
            radius = max(0.0, min(1.0, value / high))
            corners.append(
                {**point(category, radius), "name": name, "category": category, "value": value, "order": place}
            )
    if not corners:
        return None
    side = ON_PAGE if on_page else _SIDE
    x = alt.X("x:Q", scale=alt.Scale(domain=[-_REACH, _REACH], nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-_REACH, _REACH], nice=False, zero=False), axis=None)
    names = list(values)
    long = max(map(len, names)) > _LONG_NAME
    legend = alt.Legend(
        orient="right" if on_page else "bottom", columns=1 if long or on_page else 2, direction="vertical",
        labelLimit=_BESIDE if on_page else _SIDE, labelFontSize=12 if on_page else 11, symbolStrokeWidth=3,
        symbolType="stroke", symbolSize=300, offset=16 + _overhang(categories, angles, side) if on_page else 8,
    )  # fmt: skip
    colour = alt.Color(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, range=charts.palette(len(names))),
        legend=legend,
    )
    dashes = [_DASHES[place // len(charts.COLOURS) % len(_DASHES)] for place in range(len(names))]
    dash = alt.StrokeDash("name:N", sort=names, title=None, scale=alt.Scale(domain=names, range=dashes), legend=legend)
    base = alt.Chart(pd.DataFrame(corners))
    layers: list[alt.Chart] = [
        alt.Chart(pd.DataFrame(rings))
        .mark_line(color=charts.QUIET, strokeWidth=0.7, opacity=0.55)
        .encode(x=x, y=y, detail=alt.Detail("ring:N"), order=alt.Order("order:O")),
        alt.Chart(pd.DataFrame(spokes))
        .mark_line(color=charts.QUIET, strokeWidth=0.7, opacity=0.55)
        .encode(x=x, y=y, detail=alt.Detail("category:N"), order=alt.Order("order:O")),
        base.mark_line(strokeWidth=2.2).encode(x=x, y=y, color=colour, strokeDash=dash, order=alt.Order("order:O")),
        base.mark_point(filled=True, size=46, opacity=1).encode(
            x=x,
            y=y,
            color=colour,
            tooltip=[
                alt.Tooltip("name:N", title="of"),
                alt.Tooltip("category:N"),
                alt.Tooltip("value:Q", format=".3f"),
            ],
        ),
    ]
    for (align, up), some in _names_by_side(categories, angles).items():
        places = [{**point(name, _NAMES_AT), "category": lines} for name, lines in some]
        layers.append(
            alt.Chart(pd.DataFrame(places))
            .mark_text(fontSize=_NAME_SIZE, align=align, color=ink, limit=_NAME_LIMIT, lineBreak="\n", dy=-up)
            .encode(x=x, y=y, text=alt.Text("category:N"))
        )
    marks = [{"x": 0.03, "y": ring, "text": f"{ring * high:g}"} for ring in _RINGS]
    layers.append(
        alt.Chart(pd.DataFrame(marks))
        .mark_text(fontSize=10, align="left", color=ink, dy=-5)
        .encode(x=x, y=y, text=alt.Text("text:N"))
    )
    drawn = alt.layer(*layers).properties(width=side, height=side, autosize="pad")  # else the legend takes of it
    chart: alt.LayerChart = drawn.configure_view(strokeWidth=0)
    return chart


def _lines(name: str) -> str:
    """A name broken at spaces."""
    return "\n".join(wrap(name, _NAME_LINE, break_long_words=False, break_on_hyphens=False)) or name


def _side_of(angle: float) -> Align:
    across = math.sin(angle)
    return "center" if abs(across) < 0.2 else "left" if across > 0 else "right"


def _names_by_side(
    categories: Sequence[str], angles: Mapping[str, float]
) -> dict[tuple[Align, float], list[tuple[str, str]]]:
    """(name, its lines) by how they stand at their end of the axis, so that none runs into the drawing.

    That is: aligned how, and lifted by how many pixels. Lines go on below the first: names above the rim are lifted by
    all of their others, names beside it by half of them.
    """
    found: dict[tuple[Align, float], list[tuple[str, str]]] = {}
    for name in categories:
        lines = _lines(name)
        more = lines.count("\n") * _NAME_SIZE * 1.15
        height = math.cos(angles[name])
        up = more * (0.5 + 0.5 * height) - 4 + (10 if height > 0.9 else 0)  # over the figure at the rim
        found.setdefault((_side_of(angles[name]), round(up, 1)), []).append((name, lines))
    return found


def _overhang(categories: Sequence[str], angles: Mapping[str, float], side: float) -> float:
    """How many pixels names reach beyond the frame at its right."""
    ends = [0.0]
    for name in categories:
        widest = max(min(text_width(line, _NAME_SIZE), _NAME_LIMIT) for line in _lines(name).split("\n"))
        share = {"left": 1.0, "center": 0.5, "right": 0.0}[_side_of(angles[name])]
        ends.append((_NAMES_AT * math.sin(angles[name]) / _REACH - 1) * side / 2 + share * widest)
    return max(ends)
