"""The radar: a closed line for each name over the axes of categories, as in the figures of FATHOMS-RAG."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from annotators.later import Later
from exports.drawing import charts

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

_RINGS = (0.2, 0.4, 0.6, 0.8, 1.0)
"""Of the rim: the grades of a scale to 5, and fifths of a share."""
_REACH = 1.25
_LONG_NAME = 36
_WIDTH, _HEIGHT = 460, 360  # as wide as plots of reports are drawn, so that the rim is round there
_DASHES = ([1, 0], [6, 3], [2, 2], [9, 3, 2, 3])
"""Lines beyond as many as there are colours have a colour again, and are dashed."""

MOST_LINES = len(_DASHES) * len(charts.COLOURS)


def radar(
    values: Mapping[str, Mapping[str, float | None]], categories: Sequence[str], ink: str, *, high: float = 1.0
) -> alt.LayerChart | None:
    """One closed line for each name over the categories' axes, from 0 at the centre to `high` at the rim.

    A category without a value leaves its corner out. None with fewer than three categories: that is no shape.
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
    wide = _REACH * _WIDTH / _HEIGHT  # the same length on both axes: the rim is round
    x = alt.X("x:Q", scale=alt.Scale(domain=[-wide, wide], nice=False, zero=False), axis=None)
    y = alt.Y("y:Q", scale=alt.Scale(domain=[-_REACH, _REACH], nice=False, zero=False), axis=None)
    names = list(values)
    legend = alt.Legend(
        orient="bottom", columns=1 if max(map(len, names)) > _LONG_NAME else 2, direction="vertical",
        labelLimit=_WIDTH, labelFontSize=11, symbolStrokeWidth=3, symbolType="stroke", symbolSize=300, offset=4,
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
    for align, some in _by_side(categories, angles):
        places = [{**point(name, 1.12), "category": name} for name in some]
        layers.append(
            alt.Chart(pd.DataFrame(places))
            .mark_text(fontSize=12, align=align, color=ink, limit=220)  # type: ignore[arg-type]
            .encode(x=x, y=y, text=alt.Text("category:N"))
        )
    marks = [{"x": 0.03, "y": ring, "text": f"{ring * high:g}"} for ring in _RINGS]
    layers.append(
        alt.Chart(pd.DataFrame(marks))
        .mark_text(fontSize=10, align="left", color=ink, dy=-5)
        .encode(x=x, y=y, text=alt.Text("text:N"))
    )
    drawn = alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT, autosize="pad")  # else the legend takes of it
    chart: alt.LayerChart = drawn.configure_view(strokeWidth=0)
    return chart


def _by_side(categories: Sequence[str], angles: Mapping[str, float]) -> list[tuple[str, list[str]]]:
    """Names by how they stand at their end of the axis, so that none runs into the drawing."""
    sides: dict[str, list[str]] = {}
    for name in categories:
        across = math.sin(angles[name])
        sides.setdefault("center" if abs(across) < 0.2 else "left" if across > 0 else "right", []).append(name)
    return list(sides.items())
