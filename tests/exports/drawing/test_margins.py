"""A plot has room for its longest words in a wide font as well, on every side."""

from __future__ import annotations

import re
from typing import Any

import altair as alt
import pandas as pd
import pytest

from annotators.intervals.result import Aligned
from exports.drawing import charts
from exports.drawing.forest import forest
from exports.drawing.margins import text_width, with_room
from exports.drawing.radar import radar

LONG = ["robustqa/technology", "robustqa/lifestyle", "WWW/MMMMMMMM", "kiwi"]


def view(svg: str) -> tuple[float, ...]:
    """Left, top, width and height of what is shown; the white ground is as large."""
    [shown] = re.findall(r'viewBox="([^"]+)"', svg)
    left, top, width, height = map(float, shown.split())
    assert f'width="{width:g}" height="{height:g}" viewBox' in svg
    assert re.search(rf'<rect (x="{left:g}" y="{top:g}" )?width="{width:g}" height="{height:g}" fill="white"', svg)
    return left, top, width, height


def test_widths_are_those_of_the_widest_usual_font() -> None:
    # DejaVu Sans at 12 px: r .411, o .612, b .635, u .634, s .521, t .392, q .635, a .613 em
    assert text_width("robustqa", 12) == pytest.approx(12 * 4.453, rel=0.03)
    assert text_width("robustqa", 12) >= 12 * 4.453
    assert text_width("é", 10) == text_width("e\u0301", 10) == text_width("e", 10)
    assert text_width("中文", 10) == 20
    assert text_width("답", 10) == 10
    assert text_width("AB", 10, bold=True) > text_width("AB", 10)


@pytest.mark.parametrize("ending", ["png", "pdf"])
def test_names_around_a_radar_are_within_its_edges(ending: Any) -> None:
    chart = radar({"one": dict.fromkeys(LONG, 0.5)}, LONG, "#000")
    svg = charts.as_svg(chart)
    left, _, width, _ = view(svg)
    [start] = re.findall(r'stroke-miterlimit="10" transform="translate\(([\d.]+),', svg)
    for name in LONG:
        [(anchor, x)] = re.findall(rf'text-anchor="(\w+)" transform="translate\(([-\d.]+),[^>]*>{name}<', svg)
        begins = float(start) + float(x) - {"start": 0, "middle": 0.5, "end": 1}[anchor] * text_width(name, 12)
        assert left < begins
        assert begins + text_width(name, 12) < left + width
    assert charts.as_file(svg, ending)


def test_the_names_of_a_forest_are_within_its_edge() -> None:
    name = "imported:fathoms: hallucination"
    chart = forest([(name, Aligned(name="spearman", value=0.3, n=30))], "Spearman")
    left, _, width, _ = view(charts.as_svg(chart))
    assert left < 0, "it is wider than the font that it was laid out in"
    assert width > 460 + text_width(name, 10)


def test_slanted_and_upright_words_make_room_above_and_below() -> None:
    frame = pd.DataFrame({"name": ["W" * 18], "n": [1]})
    slanted = alt.X("name:N", title=None, axis=alt.Axis(labelAngle=-90, labelLimit=500))
    chart = alt.Chart(frame).mark_point().encode(x=slanted, y=alt.Y("n:Q"))
    svg = charts.as_svg(chart)
    _, top, _, height = view(svg)
    assert top == 0
    assert height > 300 + text_width("W" * 18, 10)


def test_a_plot_with_room_for_its_words_stays_as_it_is() -> None:
    svg = (
        '<svg class="marks" width="100" height="50" viewBox="0 0 100 50"><rect width="100" height="50" fill="white"/>'
        '<g transform="translate(5,5)"><text transform="translate(20,20)" font-size="10px">{}</text>'
        '<text text-anchor="end" transform="translate(-40,20)" font-size="10px" opacity="0">hidden</text></g></svg>'
    )
    assert with_room(svg.format("kept")) == svg.format("kept")
    grown = with_room(svg.format("not &amp; kept: too long for it"))
    assert view(grown)[0] == 0
    assert view(grown)[2] > 100
    assert "not &amp; kept" in grown
