"""The radar has a line for every system, and a round rim where reports draw it."""

from __future__ import annotations

import re

import pytest

from exports.drawing.charts import drawn
from exports.drawing.radar import MOST_LINES, left_undrawn, radar

CATEGORIES = ["Images", "Tables", "Text"]


def test_more_systems_than_colours_have_dashed_lines() -> None:
    names = [f"Docling with easyOCR/model{n}_Docling with easyOCR" for n in range(10)]
    chart = radar({name: dict.fromkeys(CATEGORIES, 0.5) for name in names}, CATEGORIES, "#000")
    assert chart is not None
    written = chart.to_dict()
    line = next(layer for layer in written["layer"] if "strokeDash" in layer["encoding"])
    colours, dashes = (line["encoding"][name]["scale"] for name in ("color", "strokeDash"))
    assert colours["domain"] == dashes["domain"] == names
    assert len(set(zip(colours["range"], map(str, dashes["range"]), strict=True))) == 10
    assert line["encoding"]["color"]["legend"]["labelFontSize"] >= 11


def test_the_rim_is_round_at_the_width_of_reports() -> None:
    chart = radar({"one": dict.fromkeys(CATEGORIES, 0.5)}, CATEGORIES, "#000")
    assert chart is not None
    written = chart.properties(width=460).to_dict()
    across, up = (written["layer"][0]["encoding"][axis]["scale"]["domain"][1] for axis in "xy")
    assert abs(across / up - 460 / written["height"]) < 1e-9


def test_a_caption_says_how_many_systems_have_no_line() -> None:
    assert left_undrawn(MOST_LINES) == ""
    assert f"{MOST_LINES} of {MOST_LINES + 8} systems are drawn" in left_undrawn(MOST_LINES + 8)


@pytest.mark.parametrize("on_page", [False, True])
def test_the_rim_fills_its_place_and_names_stand_outside(on_page: bool) -> None:
    chart = radar({"one": dict.fromkeys(CATEGORIES, 1.0)}, CATEGORIES, "#000", on_page=on_page)
    assert chart is not None
    written = chart.to_dict()
    for axis in "xy":
        low, high = written["layer"][0]["encoding"][axis]["scale"]["domain"]
        assert 2 / (high - low) > 0.95, "the rim is 2 across"
    assert written["height"] == written["width"]


def test_long_names_of_categories_are_broken_and_the_legend_stands_beyond_them() -> None:
    long = ["Text", "Tables and images across documents", "Numbers"]
    chart = radar({"one": dict.fromkeys(long, 0.5)}, long, "#000", on_page=True)
    assert chart is not None
    svg = drawn(chart, "svg", None).decode()
    assert "across documents" in re.findall(r">([^<]+)</(?:text|tspan)>", svg)
    written = chart.to_dict()
    line = next(layer for layer in written["layer"] if "strokeDash" in layer["encoding"])
    assert line["encoding"]["color"]["legend"]["orient"] == "right"
    assert line["encoding"]["color"]["legend"]["offset"] > 80
