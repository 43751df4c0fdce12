"""Charts as files: what no drawing can hold is replaced before it is drawn, as the library would end the process."""

from __future__ import annotations

from typing import Any, cast

import altair as alt
import pandas as pd
import pytest

from annotators.intervals.result import Aligned
from exports.drawing.charts import Ending, drawn, intervals
from exports.drawing.forest import forest

UNDRAWABLE = ["good\x01", "bad\x1b[31m", "\x0b", "ugly\ufffe", "\uffff"]


@pytest.mark.parametrize("text", UNDRAWABLE)
@pytest.mark.parametrize(("ending", "begins"), [("svg", b"<svg"), ("png", b"\x89PNG"), ("pdf", b"%PDF")])
def test_texts_that_no_drawing_can_hold_are_drawn_with_a_sign_in_their_place(
    text: str, ending: Ending, begins: bytes
) -> None:
    bars = alt.Chart(pd.DataFrame({"who": [text, "plain"], "n": [1, 2]}), title=text).mark_bar()
    chart: Any = bars.encode(x=alt.X("who:N", title=text), y=alt.Y("n:Q"))
    made = drawn(chart, ending)
    assert made.startswith(begins)
    if ending == "svg":
        assert "\ufffd" in cast(bytes, made).decode() and text not in made.decode(errors="ignore")


@pytest.mark.parametrize(("low", "told"), [(None, False), (0.1, True)])
def test_of_intervals_that_are_not_there_nobody_is_told(low: float | None, told: bool) -> None:
    """A part of a plot that is empty has nothing to be called."""
    frame = pd.DataFrame({"name": ["a"], "low": [low], "high": [low]})
    rules = intervals(alt.Chart(frame), frame, strokeWidth=2).to_dict()
    assert rules["mark"]["aria"] is told
    chart = forest([("a", Aligned(name="spearman", value=0.3, n=30))], "Spearman")
    assert chart is not None
    assert [layer["mark"].get("aria", True) for layer in chart.to_dict()["layer"]] == [False, True]
