"""The forest plot: values with their intervals, one line each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from annotators.later import Later
from exports.drawing.charts import ACCENT, QUIET, axis, ends, intervals
from exports.drawing.figures import Estimated

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")


def forest(
    rows: Sequence[tuple[str, Estimated]],
    title: str,
    *,
    domain: tuple[float, float] | None = None,
    around_zero: bool = False,
) -> alt.LayerChart | None:
    """One line for each name with a value; None when nothing is defined.

    The axis is `domain`, or reaches from 0 to 1 and further where an interval does. With `around_zero` it is as long as
    the values need, with a line at 0.
    """
    defined = [(name, estimate) for name, estimate in rows if estimate.value is not None]
    if not defined:
        return None
    frame = pd.DataFrame(
        [
            {"name": name, "value": estimate.value, "low": estimate.low, "high": estimate.high}
            for name, estimate in defined
        ]
    )
    reach = pd.concat([frame[name].astype(float).dropna() for name in ("value", "low", "high")])
    lowest, highest = domain or (min(0.0, float(reach.min())), max(1.0, float(reach.max())))
    scale = alt.Scale() if around_zero else alt.Scale(domain=[lowest, highest])
    of_values = axis() if around_zero else ends(lowest, highest)
    y = alt.Y("name:N", sort=list(frame["name"]), title=None, axis=alt.Axis(labelLimit=260))
    tips = [alt.Tooltip("name:N"), *(alt.Tooltip(f"{name}:Q", format=".3f") for name in ("value", "low", "high"))]
    bars = intervals(alt.Chart(frame), frame, color=ACCENT, strokeWidth=2).encode(
        y=y, x=alt.X("low:Q", scale=scale, title=title, axis=of_values), x2=alt.X2("high:Q")
    )
    points = (
        alt.Chart(frame)
        .mark_point(color=ACCENT, filled=True, size=70, opacity=1)
        .encode(y=y, x=alt.X("value:Q", scale=scale), tooltip=tips)
    )
    zero = alt.Chart(pd.DataFrame({"zero": [0.0]})).mark_rule(color=QUIET, strokeDash=[4, 3]).encode(x=alt.X("zero:Q"))
    layers: alt.LayerChart = zero + bars + points if around_zero else bars + points
    drawn: alt.LayerChart = layers.properties(height=alt.Step(30))
    return drawn
