"""The radar has a line for every system, and a round rim where reports draw it."""

from __future__ import annotations

from exports.drawing.radar import radar

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
