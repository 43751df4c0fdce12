"""Charts as files: what no drawing can hold is replaced before it is drawn, as the library would end the process."""

from __future__ import annotations

from typing import Any, cast

import altair as alt
import pandas as pd
import pytest

from exports.drawing.charts import Ending, drawn

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
