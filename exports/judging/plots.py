"""The plots of reports about judges: how sure one is beside how often it is right, and its error by length."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from annotators.later import Later
from exports.alignment.plots import calibration_plot
from exports.drawing import charts
from exports.drawing.charts import ACCENT, QUIET
from exports.drawing.report_files import slug
from exports.judging.figures import CriterionCheck

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd
else:
    alt = Later("altair")
    pd = Later("pandas")

Plot = tuple[str, str, Any]
"""Name, caption, and the chart."""


def sureness_plot(criterion: CriterionCheck) -> Plot | None:
    """How sure the judge is beside how often it is right (a reliability diagram); None where that is not known."""
    chart = calibration_plot(criterion.curve, "right", "how sure the judge is")
    caption = f"{criterion.title}: how sure the judge is, and how often it is right."
    return None if chart is None else (f"judge-calibration-{slug(criterion.criterion)}", caption, chart)


def length_plot(criterion: CriterionCheck) -> Plot | None:
    """The error on short and on long answers, with intervals; None where all have one length, or there are too few."""
    parts = criterion.lengths
    if not parts:
        return None
    frame = pd.DataFrame(
        [
            {
                "words": part.words, "shortest": part.shortest, "longest": part.longest, "error": part.error.value,
                "low": part.error.low, "high": part.error.high, "n": part.error.n,
            }
            for part in parts
        ]
    )  # fmt: skip
    what = "difference in words of the two answers" if criterion.about_pairs else "words of the answer"
    base = alt.Chart(frame).encode(x=alt.X("words:Q", **charts.values(what)))
    y = alt.Y("error:Q", **charts.values("error", 0, 1))
    tips = [alt.Tooltip(f"{name}:Q", format=",.0f") for name in ("shortest", "longest", "n")]
    tips += [alt.Tooltip(f"{name}:Q", format=".3f") for name in ("error", "low", "high")]
    wide = base.mark_rule(color=QUIET, strokeWidth=1).encode(x=alt.X("shortest:Q"), x2=alt.X2("longest:Q"), y=y)
    bars = charts.intervals(base, frame, color=ACCENT, strokeWidth=2).encode(y=alt.Y("low:Q"), y2=alt.Y2("high:Q"))
    points = base.mark_circle(color=ACCENT, opacity=1, size=70).encode(y=y, tooltip=tips)
    caption = f"{criterion.title}: error of the judge by the {what}, in parts of about as many units."
    return f"judge-length-{slug(criterion.criterion)}", caption, (wide + bars + points).properties(height=260)


def plots(criterion: CriterionCheck) -> Iterator[Plot]:
    """All plots of a criterion."""
    for found in (length_plot(criterion), sureness_plot(criterion)):
        if found is not None:
            yield found
