"""The plots of agreement as Altair charts: for the page, and drawn without a browser for files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import altair as alt
import numpy as np
import pandas as pd

from annotators.agreement import Statistic
from annotators.agreement.annotators import Similarity
from exports.charts import ACCENT, COLOURS


def similarity(found: Similarity) -> alt.LayerChart | None:
    """How alike each pair of annotators labels, those who label alike side by side; None with fewer than two."""
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
    title = "Cohen's κ" if found.statistic == "cohen_kappa" else "Raw agreement"
    frame = pd.DataFrame(cells)
    low = min(0.0, float(frame["value"].min()))
    x = alt.X("a:N", sort=names, title=None, axis=alt.Axis(labelAngle=0 if len(names) < 8 else -45))
    base = alt.Chart(frame).encode(x=x, y=alt.Y("b:N", sort=names, title=None))
    tiles = base.mark_rect().encode(
        color=alt.Color("value:Q", scale=alt.Scale(domain=[low, 1], scheme="blues"), title=title),
        tooltip=["a:N", "b:N", alt.Tooltip("value:Q", format=".3f"), alt.Tooltip("shared:Q", title="shared units")],
    )
    return _with_numbers(tiles, base, "value", ".2f", middle=low + 0.55 * (1 - low), many=len(names) > 20)


def confusion(counts: Mapping[tuple[str, str], int], raters: tuple[str, str], labels: Sequence[str]) -> alt.LayerChart:
    """How often each pair of labels was given by two raters: rows the first, columns the second."""
    frame = pd.DataFrame([{"first": a, "second": b, "n": counts.get((a, b), 0)} for a in labels for b in labels])
    base = alt.Chart(frame).encode(
        x=alt.X("second:N", sort=list(labels), title=raters[1], axis=alt.Axis(labelAngle=0, labelLimit=140)),
        y=alt.Y("first:N", sort=list(labels), title=raters[0]),
    )
    most = max(1, int(frame["n"].max()))
    tiles = base.mark_rect().encode(
        color=alt.Color("n:Q", scale=alt.Scale(domain=[0, most], scheme="blues"), title="units"),
        tooltip=["first:N", "second:N", "n:Q"],
    )
    return _with_numbers(tiles, base, "n", ",d", middle=0.55 * most, many=len(labels) > 20)


def shares(by_rater: Mapping[str, Mapping[str, float]], labels: Sequence[str]) -> alt.Chart | None:
    """The share of each label that each annotator gave, one bar an annotator; None without labels."""
    rows = [
        {"annotator": rater, "label": label, "share": given.get(label, 0.0), "order": place}
        for rater, given in by_rater.items()
        for place, label in enumerate(labels)
    ]
    if not rows:
        return None
    bars: alt.Chart = (
        alt.Chart(pd.DataFrame(rows))
        .mark_bar()
        .encode(
            x=alt.X("share:Q", stack="normalize", axis=alt.Axis(format="%"), title="Share of labels"),
            y=alt.Y("annotator:N", sort=list(by_rater), title=None),
            color=alt.Color("label:N", sort=list(labels), title=None, scale=alt.Scale(range=COLOURS)),
            order=alt.Order("order:Q"),
            tooltip=["annotator:N", "label:N", alt.Tooltip("share:Q", format=".1%")],
        )
        .properties(height=alt.Step(28))
    )
    return bars


def over_time(points: Sequence[tuple[str, Statistic]], title: str) -> alt.LayerChart | None:
    """A coefficient in stretches of the labelling, first to last, with its interval; None with fewer than two."""
    defined = [
        {"when": name, "order": place, "value": one.value, "low": one.low, "high": one.high, "units": one.n_units}
        for place, (name, one) in enumerate(points)
        if one.value is not None
    ]
    if len(defined) < 2:
        return None
    frame = pd.DataFrame(defined)
    x = alt.X(
        "when:N", sort=list(frame["when"]), title="Units in the order of their last label", axis=alt.Axis(labelAngle=0)
    )
    lowest = min(0.0, float(frame["low"].astype(float).fillna(frame["value"]).min()))
    y = alt.Y("value:Q", scale=alt.Scale(domain=[lowest, 1]), title=title)
    base = alt.Chart(frame).encode(x=x)
    bars = base.mark_rule(color=ACCENT).encode(y=alt.Y("low:Q", title=title), y2="high:Q")
    line = base.mark_line(color=ACCENT, point=alt.OverlayMarkDef(color=ACCENT, size=60)).encode(
        y=y, tooltip=["when:N", alt.Tooltip("value:Q", format=".3f"), "units:Q"]
    )
    layered: alt.LayerChart = (bars + line).properties(height=220)
    return layered


def _with_numbers(
    tiles: alt.Chart, base: alt.Chart, field: str, form: str, *, middle: float, many: bool
) -> alt.LayerChart:
    """The number on each tile, light on the dark ones; left out where there are too many to read."""
    dark = alt.condition(f"datum.{field} > {middle}", alt.value("#ffffff"), alt.value("#10202c"))
    words = base.mark_text(fontSize=0 if many else 12).encode(text=alt.Text(f"{field}:Q", format=form), color=dark)
    layered: alt.LayerChart = (tiles + words).properties(height=alt.Step(16 if many else 44))
    return layered
