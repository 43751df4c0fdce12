"""The plots of the statistics pages, drawn by Altair in the page's theme and taken away as PNG or SVG."""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from functools import partial

import altair as alt
import pandas as pd
import streamlit as st

from annotators.agreement import Statistic

ACCENT = "#4c8cbf"
"""A blue that is read on the light and on the dark page."""


def forest(rows: Sequence[tuple[str, Statistic]], title: str) -> alt.LayerChart | None:
    """Each criterion's coefficient with its interval, one line a criterion; None when nothing is defined."""
    defined = [(name, one) for name, one in rows if one.value is not None]
    if not defined:
        return None
    frame = pd.DataFrame(
        [{"criterion": name, "value": one.value, "low": one.low, "high": one.high} for name, one in defined]
    )
    lowest = min(0.0, float(frame["low"].fillna(frame["value"]).min()))
    order = list(frame["criterion"])
    y = alt.Y("criterion:N", sort=order, title=None, axis=alt.Axis(labelLimit=240))
    scale = alt.Scale(domain=[lowest, 1])
    bars = (
        alt.Chart(frame)
        .mark_rule(color=ACCENT, strokeWidth=2)
        .encode(y=y, x=alt.X("low:Q", scale=scale, title=title), x2="high:Q")
    )
    tips = [alt.Tooltip("criterion:N"), *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high"))]
    points = (
        alt.Chart(frame)
        .mark_point(color=ACCENT, filled=True, size=70, opacity=1)
        .encode(y=y, x=alt.X("value:Q", scale=scale), tooltip=tips)
    )
    layered: alt.LayerChart = (bars + points).properties(height=alt.Step(30))
    return layered


def similarity(pairs: Sequence[Statistic]) -> alt.LayerChart | None:
    """Cohen's κ of every pair of raters as a matrix; None with fewer than two defined pairs."""
    cells = []
    for one in pairs:
        if one.raters is not None and one.value is not None:
            first, second = map(str, one.raters)
            cells += [{"a": first, "b": second, "kappa": one.value}, {"a": second, "b": first, "kappa": one.value}]
    if not cells:
        return None
    frame = pd.DataFrame(cells)
    base = alt.Chart(frame).encode(x=alt.X("a:N", title=None, axis=alt.Axis(labelAngle=0)), y=alt.Y("b:N", title=None))
    low = min(0.0, float(frame["kappa"].min()))
    tiles = base.mark_rect().encode(
        color=alt.Color("kappa:Q", scale=alt.Scale(domain=[low, 1], scheme="blues"), title="Cohen's κ"),
        tooltip=["a:N", "b:N", alt.Tooltip("kappa:Q", format=".3f")],
    )
    dark = alt.condition(alt.datum.kappa > 0.55, alt.value("#ffffff"), alt.value("#10202c"))
    words = base.mark_text(fontSize=12).encode(text=alt.Text("kappa:Q", format=".2f"), color=dark)
    layered: alt.LayerChart = (tiles + words).properties(height=alt.Step(44))
    return layered


def confusion(counts: Counter[tuple[str, str]], raters: tuple[str, str], labels: Sequence[str]) -> alt.LayerChart:
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
    dark = alt.condition(alt.datum.n > 0.55 * most, alt.value("#ffffff"), alt.value("#10202c"))
    words = base.mark_text(fontSize=12).encode(text="n:Q", color=dark)
    layered: alt.LayerChart = (tiles + words).properties(height=alt.Step(44))
    return layered


def draw(chart: alt.LayerChart, name: str, caption: str) -> None:
    """Draw a plot with its caption and the buttons that take it away as PNG and SVG."""
    st.altair_chart(chart, width="stretch", key=f"plot-{name}")
    st.html(f'<p class="assay-soft">{caption}</p>')
    with st.container(horizontal=True, gap="small", key=f"downloads-plot-{name}"):
        for label, ending, media_type in (("PNG", "png", "image/png"), ("SVG", "svg", "image/svg+xml")):
            st.download_button(
                label,
                data=partial(_image, chart, ending),
                file_name=f"{name}.{ending}",
                mime=media_type,
                on_click="ignore",
                key=f"download-plot-{name}-{ending}",
            )


def _image(chart: alt.LayerChart, ending: str) -> bytes:
    """The plot as a file, on white, sharp in print."""
    printed = chart.properties(width=420, background="white")
    if ending == "svg":
        text = io.StringIO()
        printed.save(text, format="svg")
        return text.getvalue().encode()
    picture = io.BytesIO()
    printed.save(picture, format="png", ppi=300)
    return picture.getvalue()
