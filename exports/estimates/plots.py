"""The plots of an estimate while people label: the interval that holds at every look, and half its width."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from annotators.estimates.sequence import Look
from annotators.later import Later
from exports.drawing import charts
from exports.drawing.charts import ACCENT

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

POWERED, CLASSICAL, STOP = "with predictions", "labels alone", "#2f7a4f"
_BROWN = "#a08a5b"


def _colour(*, legend: bool) -> Any:
    scale = alt.Scale(domain=[POWERED, CLASSICAL], range=[ACCENT, _BROWN])
    made = alt.Legend(title=None, orient="top", direction="horizontal", offset=2, symbolOpacity=1) if legend else None
    return alt.Color("kind:N", scale=scale, legend=made)


def _labels(last: int, title: str | None) -> Any:
    return alt.X("n:Q", title=title, axis=charts.whole(), scale=alt.Scale(domain=[0, last], nice=False))


def while_labelling(going: Sequence[Look], last: int, stop_with: int | None, title: str) -> Any:
    """The mean with its interval after so many labels, with predictions and without; None with fewer than two looks."""
    rows: list[dict[str, Any]] = [
        {"n": look.n, "kind": kind, "mean": entry.value, "low": entry.low, "high": entry.high}
        for look in going
        for kind, entry in ((CLASSICAL, look.classical), (POWERED, look.powered))
        if entry.value is not None
    ]
    if len(going) < 2 or not rows:
        return None
    frame = pd.DataFrame(rows)
    x, y = _labels(last, None), charts.values(title)
    tips = [
        alt.Tooltip("n:Q"),
        alt.Tooltip("kind:N"),
        *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("mean", "low", "high")),
    ]
    base = alt.Chart(frame)
    band: Any = base.mark_area(opacity=0.26).encode(
        x=x, y=alt.Y("low:Q", **y), y2=alt.Y2("high:Q"), color=_colour(legend=True), tooltip=tips
    )
    line: Any = base.mark_line(strokeWidth=2).encode(
        x=x, y=alt.Y("mean:Q", **y), color=_colour(legend=True), tooltip=tips
    )
    return alt.layer(band, line, *_marks(going[-1].n, stop_with, words=True)).properties(height=240)


def half_widths(
    going: Sequence[Look],
    ahead: Sequence[tuple[int, float, float]],
    last: int,
    stop: float | None,
    stop_with: int | None,
) -> Any:
    """Half the width after so many labels, and as far as can be foreseen, with the stop rule; None without looks."""
    rows: list[dict[str, Any]] = [
        {"n": look.n, "kind": kind, "half": entry.half_width, "when": "so far"}
        for look in going
        for kind, entry in ((CLASSICAL, look.classical), (POWERED, look.powered))
        if entry.half_width is not None
    ]
    if len(going) < 2 or not rows:
        return None
    rows += [
        {"n": n, "kind": kind, "half": half, "when": "foreseen"}
        for n, powered, classical in ahead
        for kind, half in ((CLASSICAL, classical), (POWERED, powered))
    ]
    frame = pd.DataFrame(rows)
    y = alt.Y("half:Q", title="±", axis=charts.axis(), scale=alt.Scale(domainMin=0))
    tips = [alt.Tooltip("n:Q"), alt.Tooltip("kind:N"), alt.Tooltip("half:Q", format=".3f"), alt.Tooltip("when:N")]
    dash = alt.StrokeDash("when:N", scale=alt.Scale(domain=["so far", "foreseen"], range=[[1, 0], [3, 3]]), legend=None)
    line = alt.Chart(frame).mark_line(strokeWidth=2)
    layers = [
        line.encode(
            x=_labels(last, "labels by people"), y=y, color=_colour(legend=False), strokeDash=dash, tooltip=tips
        )
    ]
    if stop is not None:
        rule = alt.Chart(pd.DataFrame({"half": [stop], "said": [f"stop at ±{stop:g}"]}))
        layers.append(rule.mark_rule(color=STOP, strokeDash=[4, 3]).encode(y=alt.Y("half:Q")))
    return alt.layer(*layers, *_marks(going[-1].n, stop_with, words=False)).properties(height=170)


def _marks(now: int, stop_with: int | None, *, words: bool) -> list[Any]:
    """Where labelling stands, and where it may stop."""
    there: list[tuple[int, str, str, Any, int]] = [(now, f"now, {now:,}", charts.QUIET, "right", -5)]
    if stop_with is not None and stop_with > now:
        there.append((stop_with, f"stop, about {stop_with:,}", STOP, "right", -5))
    found = []
    for n, said, colour, align, dx in there:
        frame = pd.DataFrame({"n": [n], "said": [said]})
        dash = [1, 0] if n == now else [4, 3]
        found.append(alt.Chart(frame).mark_rule(color=colour, strokeDash=dash).encode(x=alt.X("n:Q")))
        if words:
            text = alt.Chart(frame).mark_text(align=align, dx=dx, color=colour, baseline="top", fontSize=12)
            found.append(text.encode(x=alt.X("n:Q"), y=alt.value(2), text=alt.Text("said:N")))
    return found
