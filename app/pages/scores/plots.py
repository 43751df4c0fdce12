"""Plots of scores: distributions, and two scorers against each other."""

from __future__ import annotations

from collections.abc import Callable
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


def draw(made: Callable[[str], Plot | None], name: str, caption: str, *, stretch: bool = True) -> bool:
    """Draw a plot in the page's ink, with buttons that take it away as PNG and SVG; False if there is nothing to draw.

    `made` gets the colour of words and gives the plot. Without `stretch` it keeps its own width, and so its shape.
    """
    shown = made(colours(st.context.theme.type or "light")["ink"])
    if shown is None:
        return False
    plots.plot(shown, name, caption, printed=partial(made, charts.PRINTED), stretch=stretch)
    return True


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
        tooltip=[alt.Tooltip("system:N"), alt.Tooltip("share:Q", format=".1%"), alt.Tooltip("said:N", title="items")],
    )
    words = base.mark_text(align="left", dx=5, fontSize=11, color=charts.QUIET).encode(text=alt.Text("said:N"))
    layered: alt.LayerChart = (base.mark_bar(color=charts.ACCENT) + words).properties(width=620, height=alt.Step(26))
    return layered


def histogram(found: Distribution, title: str) -> alt.Chart | None:
    """How many items of each system have a value in each bin, rows of one scale; None without a value."""
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
    ends = charts.axis(format="~g")
    chart: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar(binSpacing=1)
        .encode(
            x=alt.X("low:Q", title=title, bin="binned", scale=alt.Scale(domain=[low, high], nice=False), axis=ends),
            x2=alt.X2("high:Q"),
            y=alt.Y("n:Q", title="items", axis=charts.whole()),
            color=alt.Color("system:N", sort=names, legend=None, scale=scale),
            row=alt.Row("system:N", sort=names, title=None, header=alt.Header(labelAngle=0, labelAlign="left")),
            tooltip=[
                alt.Tooltip("system:N"),
                alt.Tooltip("low:Q", format=".2f"),
                alt.Tooltip("high:Q", format=".2f"),
                alt.Tooltip("n:Q"),
            ],
        )
        .properties(width=620, height=84)
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
            x2=alt.X2("x1:Q"),
            y=alt.Y("y0:Q", **charts.values(second, y_low, y_high)),
            y2=alt.Y2("y1:Q"),
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
        .encode(x=alt.X("x:Q"), y=alt.Y("x:Q"))
    )
    chart: alt.LayerChart = (tiles + same).properties(width=420, height=380)
    return chart
