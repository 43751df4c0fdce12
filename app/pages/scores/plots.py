"""Plots of scores: radar by category as in the FATHOMS figures, distributions, and two scorers against each other."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial

import altair as alt
import pandas as pd
import streamlit as st

from annotators.scorers.base import ValueKind
from app.palette import colours
from app.widgets import plots
from db.scores.items import BINS, Distribution, ScoreComparison
from exports.agreement import plots as agreement_plots
from exports.drawing import charts

Plot = alt.Chart | alt.LayerChart

_RINGS = (0.25, 0.5, 0.75, 1.0)
_REACH = 1.25
_WIDTH, _HEIGHT = 680, 470


def draw(made: Callable[[str], Plot | None], name: str, caption: str, *, stretch: bool = True) -> bool:
    """Draw a plot in the page's ink, with buttons that take it away as PNG and SVG; False if there is nothing to draw.

    `made` gets the colour of words and gives the plot. Without `stretch` it keeps its own width, and so its shape.
    """
    shown = made(colours(st.context.theme.type or "light")["ink"])
    if shown is None:
        return False
    plots.plot(shown, name, caption, printed=partial(made, charts.PRINTED), stretch=stretch)
    return True


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
    colour = alt.Color(
        "name:N",
        sort=names,
        title=None,
        scale=alt.Scale(domain=names, range=list(charts.COLOURS)[: max(1, min(len(names), len(charts.COLOURS)))]),
        legend=alt.Legend(orient="right", labelLimit=320, symbolStrokeWidth=3),
    )
    base = alt.Chart(pd.DataFrame(corners))
    layers: list[alt.Chart] = [
        alt.Chart(pd.DataFrame(rings))
        .mark_line(color=charts.QUIET, strokeWidth=0.7, opacity=0.55)
        .encode(x=x, y=y, detail="ring:N", order="order:O"),
        alt.Chart(pd.DataFrame(spokes))
        .mark_line(color=charts.QUIET, strokeWidth=0.7, opacity=0.55)
        .encode(x=x, y=y, detail="category:N", order="order:O"),
        base.mark_line(strokeWidth=2.2).encode(x=x, y=y, color=colour, order="order:O"),
        base.mark_point(filled=True, size=46, opacity=1).encode(
            x=x,
            y=y,
            color=colour,
            tooltip=[alt.Tooltip("name:N", title="of"), "category:N", alt.Tooltip("value:Q", format=".3f")],
        ),
    ]
    for align, some in _by_side(categories, angles):
        places = [{**point(name, 1.12), "category": name} for name in some]
        layers.append(
            alt.Chart(pd.DataFrame(places))
            .mark_text(fontSize=12, align=align, color=ink, limit=220)  # type: ignore[arg-type]
            .encode(x=x, y=y, text="category:N")
        )
    marks = [{"x": 0.03, "y": ring, "text": f"{ring * high:g}"} for ring in _RINGS]
    layers.append(
        alt.Chart(pd.DataFrame(marks))
        .mark_text(fontSize=10, align="left", color=ink, dy=-5)
        .encode(x=x, y=y, text="text:N")
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


def distribution(found: Distribution, kind: ValueKind) -> Plot | None:
    """How a value is distributed in each system: the share of yes of a flag, a histogram of a number."""
    return yes_bars(found, kind.title) if kind.kind == "flag" else histogram(found, kind.title)


def yes_bars(found: Distribution, title: str) -> alt.LayerChart | None:
    """The share of items of each system of which a flag says yes, a bar a system, with the counts; None without one."""
    rows = [
        {"system": system, "yes": counts[-1], "n": sum(counts), "share": counts[-1] / sum(counts)}
        for system, counts in found.counts.items()
        if sum(counts)
    ]
    if not rows:
        return None
    frame = pd.DataFrame([{**row, "said": f"{row['yes']:,} of {row['n']:,}"} for row in rows])
    base = alt.Chart(frame).encode(
        x=alt.X("share:Q", **charts.shares(f"{title}: yes")),
        y=alt.Y("system:N", sort=list(frame["system"]), title=None, axis=alt.Axis(labelLimit=320)),
        tooltip=["system:N", alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("said:N", title="items")],
    )
    words = base.mark_text(align="left", dx=5, fontSize=11, color=charts.QUIET).encode(text="said:N")
    layered: alt.LayerChart = (base.mark_bar(color=charts.ACCENT) + words).properties(width=620, height=alt.Step(26))
    return layered


def histogram(found: Distribution, title: str) -> alt.Chart | None:
    """How many items of each system have a value in each bin, a row a system; None without a value."""
    rows = [
        {"system": system, "low": found.edges(place)[0], "high": found.edges(place)[1], "n": n}
        for system, counts in found.counts.items()
        for place, n in enumerate(counts)
    ]
    if not any(row["n"] for row in rows):
        return None
    low, high = found.low, found.low + BINS * found.width
    names = list(found.counts)
    scale = alt.Scale(domain=names, range=charts.palette(len(names)))
    ends = alt.Axis(tickCount=charts.TICKS, format="~g")
    chart: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", title=title, bin="binned", scale=alt.Scale(domain=[low, high], nice=False), axis=ends),
            x2="high:Q",
            y=alt.Y("n:Q", title="items", axis=charts.whole()),
            color=alt.Color("system:N", sort=names, legend=None, scale=scale),
            row=alt.Row("system:N", sort=names, title=None, header=alt.Header(labelAngle=0, labelAlign="left")),
            tooltip=["system:N", alt.Tooltip("low:Q", format=".2f"), alt.Tooltip("high:Q", format=".2f"), "n:Q"],
        )
        .properties(width=620, height=84)
        .resolve_scale(y="independent")
    )
    return chart


def joint(found: ScoreComparison, first: str, second: str, *, flags: bool = False) -> alt.LayerChart | None:
    """How many items have which pair of values: a tile for each pair of bins, or of yes and no; None without a pair."""
    if not found.joint:
        return None
    if flags:
        said = {0: "no", BINS - 1: "yes"}
        pairs = {(said[b], said[a]): n for (a, b), n in found.joint.items() if a in said and b in said}
        return agreement_plots.confusion(pairs, (second, first), ["no", "yes"])
    rows = []
    for (a, b), n in found.joint.items():
        (x0, x1), (y0, y1) = found.first.edges(a), found.second.edges(b)
        rows.append({"x0": x0, "x1": x1, "y0": y0, "y1": y1, "n": n})
    frame = pd.DataFrame(rows)
    (x_low, x_high), (y_low, y_high) = (
        (side.low, side.low + BINS * side.width) for side in (found.first, found.second)
    )
    whole = alt.Legend(tickCount=charts.TICKS, format=",d")
    tiles = (
        alt.Chart(frame)
        .mark_rect()
        .encode(
            x=alt.X("x0:Q", **charts.values(first, x_low, x_high)),
            x2="x1:Q",
            y=alt.Y("y0:Q", **charts.values(second, y_low, y_high)),
            y2="y1:Q",
            color=alt.Color("n:Q", title="items", scale=alt.Scale(type="log", scheme="blues"), legend=whole),
            tooltip=[
                alt.Tooltip("x0:Q", title=first, format=".2f"),
                alt.Tooltip("y0:Q", title=second, format=".2f"),
                alt.Tooltip("n:Q", title="items"),
            ],
        )
    )
    same = (
        alt.Chart(pd.DataFrame({"x": [max(x_low, y_low), min(x_high, y_high)]}))
        .mark_line(color=charts.QUIET, strokeDash=[4, 4])
        .encode(x="x:Q", y=alt.Y("x:Q"))
    )
    chart: alt.LayerChart = (tiles + same).properties(width=420, height=380)
    return chart
