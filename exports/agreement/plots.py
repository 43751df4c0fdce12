"""The plots of agreement as Altair charts: for the page, and drawn without a browser for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil
from typing import TYPE_CHECKING, Any

import numpy as np

from annotators.agreement.annotators import Similarity
from annotators.intervals.result import Statistic
from annotators.later import Later
from exports.drawing import charts
from exports.drawing.charts import ACCENT, COLOURS, TICKS

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

_LABEL_LIMIT = 140
"""Pixels that the name of a column has at most."""

_READABLE = 20
"""More rows than this have no numbers on their tiles."""


def similarity(found: Similarity, title: str) -> alt.LayerChart | None:
    """How alike each pair of annotators labels, those who label alike side by side; None with fewer than two.

    `title` says what it is measured by.
    """
    names = [str(found.raters[place]) for place in found.order]
    cells = [
        {
            "a": str(found.raters[i]),
            "b": str(found.raters[j]),
            "value": float(found.value[i, j]),
            "shared": int(found.shared[i, j]),
        }
        for i in range(len(names))
        for j in range(len(names))
        if i != j and not np.isnan(found.value[i, j])
    ]
    if not cells:
        return None
    frame = pd.DataFrame(cells)
    low = min(0.0, float(frame["value"].min()))
    across = len(names) < 8
    axis = alt.Axis(labelAngle=0 if across else -45, labelLimit=_LABEL_LIMIT)
    x = alt.X("a:N", sort=names, title=None, axis=axis)
    base = alt.Chart(frame).encode(x=x, y=alt.Y("b:N", sort=names, title=None))
    tiles = base.mark_rect().encode(
        color=alt.Color(
            "value:Q", scale=alt.Scale(domain=[low, 1], scheme="blues"), title=title, legend=alt.Legend(tickCount=TICKS)
        ),
        tooltip=[
            alt.Tooltip("a:N"),
            alt.Tooltip("b:N"),
            alt.Tooltip("value:Q", format=".3f"),
            alt.Tooltip("shared:Q", title="shared units"),
        ],
    )
    many = len(names) > _READABLE
    drawn = _with_numbers(tiles, base, "value", ".2f", middle=low + 0.55 * (1 - low), many=many)
    wide: alt.LayerChart = drawn.properties(width=alt.Step(_step(names if across else [], many=many, least=44)))
    return wide


def confusion(counts: Mapping[tuple[str, str], int], raters: tuple[str, str], labels: Sequence[str]) -> alt.LayerChart:
    """How often each pair of labels was given by two raters, with the counts: rows the first, columns the second."""
    frame = pd.DataFrame([{"first": a, "second": b, "n": counts.get((a, b), 0)} for a in labels for b in labels])
    across = alt.Axis(labelAngle=0, labelLimit=_LABEL_LIMIT, labelExpr="split(datum.label, ' ')")  # a word a line
    base = alt.Chart(frame).encode(
        x=alt.X("second:N", sort=list(labels), title=raters[1], axis=across),
        y=alt.Y("first:N", sort=list(labels), title=raters[0]),
    )
    most = max(1, int(frame["n"].max()))
    tiles = base.mark_rect().encode(
        color=alt.Color(
            "n:Q",
            scale=alt.Scale(domain=[0, most], scheme="blues"),
            title="units",
            legend=alt.Legend(tickCount=TICKS, tickMinStep=1, format=",d") if len(labels) > _READABLE else None,
        ),
        tooltip=[alt.Tooltip("first:N"), alt.Tooltip("second:N"), alt.Tooltip("n:Q")],
    )
    many = len(labels) > _READABLE
    drawn = _with_numbers(tiles, base, "n", ",d", middle=0.55 * most, many=many)
    step = _step([word for label in labels for word in label.split()], many=many, least=68)
    wide: alt.LayerChart = drawn.properties(width=alt.Step(step))
    return wide


def shares(
    by_rater: Mapping[str, Mapping[str, float]], labels: Sequence[str], *, ordered: bool = False
) -> alt.Chart | None:
    """The share of each label that each annotator gave, one bar an annotator; None without labels.

    The colours of labels that are `ordered` go from one pole to the other.
    """
    rows = [
        {"annotator": rater, "label": label, "share": given.get(label, 0.0), "order": place}
        for rater, given in by_rater.items()
        for place, label in enumerate(labels)
    ]
    if not rows:
        return None
    colours = charts.poles(len(labels)) if ordered else COLOURS
    bars: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", stack="normalize", **charts.shares("Share of labels")),
            y=alt.Y("annotator:N", sort=list(by_rater), title=None),
            color=alt.Color(
                "label:N", sort=list(labels), title=None, scale=alt.Scale(domain=list(labels), range=colours)
            ),
            order=alt.Order("order:Q"),
            tooltip=[alt.Tooltip("annotator:N"), alt.Tooltip("label:N"), alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(height=alt.Step(28))
    )
    return bars


def likert(counts: Mapping[str, Mapping[str, int]], labels: Sequence[str]) -> alt.LayerChart | None:
    """Grades by group as bars that part in the middle: those below it to the left, those above it to the right.

    `counts` is group → label → how often it was given, `labels` are the grades from the lowest. Half of the middle
    grade stands on either side. None without a label, and for labels that have no two sides.
    """
    rows: list[dict[str, Any]] = []
    sizes_: list[dict[str, Any]] = []
    for group, given in counts.items():
        n = sum(given.get(label, 0) for label in labels)
        if not n:
            continue
        parts = [given.get(label, 0) / n for label in labels]
        half = len(labels) // 2
        start = -sum(parts[:half]) - (parts[half] / 2 if len(labels) % 2 else 0.0)
        sizes_.append({"group": group, "said": f"n = {n:,}"})
        for place, (label, part) in enumerate(zip(labels, parts, strict=True)):
            rows.append(
                {
                    "group": group, "label": label, "n": given.get(label, 0), "share": part, "order": place,
                    "from": start, "to": start + part,
                }
            )  # fmt: skip
            start += part
    if not rows or len(labels) < 2:
        return None
    frame = pd.DataFrame([row for row in rows if row["n"]])
    # Either side as far as its longest bar, in quarters; n stands behind them, where no bar reaches.
    left, right = (max(1, ceil(4 * length - 1e-9)) / 4 for length in (-frame["from"].min(), frame["to"].max()))
    end = right + 0.1 * (left + right)
    apart = 1 if left + right <= 1.25 else 2
    ticks = [step / 4 for step in range(-4, 5) if step % apart == 0 and -left <= step / 4 <= right]
    axis = charts.axis(values=ticks, labelExpr="format(abs(datum.value), '.0%')", grid=True)
    colour = alt.Color(
        "label:N",
        sort=list(labels),
        title=None,
        scale=alt.Scale(domain=list(labels), range=charts.poles(len(labels))),
        legend=alt.Legend(orient="bottom", columns=len(labels) if len(labels) < 6 else 4, labelLimit=160),
    )
    y = alt.Y("group:N", sort=[size["group"] for size in sizes_], title=None, axis=alt.Axis(labelLimit=320))
    bars = (
        alt.Chart(frame)
        .mark_bar()
        .encode(
            y=y,
            x=alt.X("from:Q", title="Share of grades", axis=axis, scale=alt.Scale(domain=[-left, end])),
            x2=alt.X2("to:Q"),
            color=colour,
            tooltip=[
                alt.Tooltip("group:N"),
                alt.Tooltip("label:N"),
                alt.Tooltip("n:Q", format=",d"),
                alt.Tooltip("share:Q", format=".1%"),
            ],
        )
    )
    middle = alt.Chart(pd.DataFrame({"x": [0.0]})).mark_rule(color=charts.QUIET).encode(x=alt.X("x:Q"))
    sizes = alt.Chart(pd.DataFrame(sizes_).assign(at=end)).mark_text(align="right", fontSize=11, color=charts.QUIET)
    sizes = sizes.encode(x=alt.X("at:Q"), y=y, text=alt.Text("said:N"))
    layered: alt.LayerChart = (bars + middle + sizes).properties(height=alt.Step(26))
    return layered


def over_time(points: Sequence[tuple[str, Statistic]], title: str) -> alt.LayerChart | None:
    """A coefficient in stretches of the labelling, first to last, with its interval; None with fewer than two."""
    defined = [
        {
            "when": name,
            "order": place,
            "value": statistic.value,
            "low": statistic.low,
            "high": statistic.high,
            "units": statistic.n_units,
        }
        for place, (name, statistic) in enumerate(points)
        if statistic.value is not None
    ]
    if len(defined) < 2:
        return None
    frame = pd.DataFrame(defined)
    x = alt.X(
        "when:N", sort=list(frame["when"]), title="Units in the order of their last label", axis=alt.Axis(labelAngle=0)
    )
    lowest = min(0.0, float(frame["low"].astype(float).fillna(frame["value"]).min()))
    y = alt.Y("value:Q", **charts.values(title, lowest, 1))
    base = alt.Chart(frame).encode(x=x)
    bars = charts.intervals(base, frame, color=ACCENT).encode(y=alt.Y("low:Q", title=title), y2=alt.Y2("high:Q"))
    points_ = base.mark_point(color=ACCENT, filled=True, size=60, opacity=1).encode(
        y=y, tooltip=[alt.Tooltip("when:N"), alt.Tooltip("value:Q", format=".3f"), alt.Tooltip("units:Q", format=",d")]
    )
    layers = bars + points_
    if len(defined) > 2:  # a line through two points says no more than the points
        layers += base.mark_line(color=ACCENT).encode(y=y)
    layered: alt.LayerChart = layers.properties(height=220)
    return layered


def _step(names: Sequence[str], *, many: bool, least: int) -> int:
    """How wide a column is, so that its number has room and the names of columns do not touch."""
    return 16 if many else min(_LABEL_LIMIT, max(least, 7 * max(map(len, names), default=0) + 8))


def _with_numbers(
    tiles: alt.Chart, base: alt.Chart, field: str, form: str, *, middle: float, many: bool
) -> alt.LayerChart:
    """The number on each tile, light on the dark ones; left out where there are too many to read."""
    dark = alt.condition(f"datum.{field} > {middle}", alt.value(charts.ON_DARK), alt.value(charts.ON_LIGHT))
    words = base.mark_text(fontSize=0 if many else 12).encode(text=alt.Text(f"{field}:Q", format=form), color=dark)
    layered: alt.LayerChart = (tiles + words).properties(height=alt.Step(16 if many else 44))
    return layered
