"""Draws the charts of the sample documents as vector graphics: bars and lines on one or two axes, with a legend."""

from collections.abc import Mapping, Sequence
from typing import Any

from exports.sample.canvas import Box, Canvas

_GREY = "#5b6470"
_SIZE = 7.6
_LEGEND = 22.0  # height of the strip with the legend and the units
_FOOT = 16.0  # height of the strip with the names of the categories


def chart_text(spec: Mapping[str, Any]) -> str:
    """The chart's series as text, one a line: name, unit, then category and value pairs."""
    lines = []
    for series in [*spec.get("bars", []), *spec.get("lines", [])]:
        unit = _axis(spec, series)["unit"]
        pairs = zip(spec["categories"], series["values"], strict=True)
        lines.append(f"{series['label']} ({unit}): " + ", ".join(f"{name} {value}" for name, value in pairs))
    return "\n".join(lines)


def draw_chart(canvas: Canvas, spec: Mapping[str, Any], box: Box, *, face: str) -> None:
    """Draw ``spec`` into ``box``.

    ``spec`` has ``categories``, the axes ``left`` and optionally ``right`` (``unit``, ``low``, ``high``, ``step``),
    ``bars`` and ``lines``, and optionally ``limit`` (``value``, ``label``: a dashed level of the left axis). A series
    has ``label``, ``ink``, ``values``, optionally ``axis: right``; a line ``dashes``; bars ``printed`` (each value
    stands at the foot of its bar).
    """
    x0, y0, x1, y1 = box
    plot = (x0 + 30, y0 + _LEGEND, x1 - (30 if spec.get("right") else 8), y1 - _FOOT)
    _draw_axis(canvas, spec["left"], plot, face, on_right=False)
    if spec.get("right"):
        _draw_axis(canvas, spec["right"], plot, face, on_right=True)
    _draw_bars(canvas, spec, plot, face)
    _draw_limit(canvas, spec, plot, face)
    for series in spec.get("lines", []):
        _draw_line(canvas, spec, series, plot)
    _draw_categories(canvas, spec, plot, face)
    _draw_legend(canvas, spec, plot, y0 + 6, face)


def _axis(spec: Mapping[str, Any], series: Mapping[str, Any]) -> Mapping[str, Any]:
    axis: Mapping[str, Any] = spec["right"] if series.get("axis") == "right" else spec["left"]
    return axis


def _level(axis: Mapping[str, Any], value: float, plot: Box) -> float:
    share = float((value - axis["low"]) / (axis["high"] - axis["low"]))
    return plot[3] - share * (plot[3] - plot[1])


def _centre(number: int, count: int, plot: Box) -> float:
    return plot[0] + (number + 0.5) * (plot[2] - plot[0]) / count


def _draw_axis(canvas: Canvas, axis: Mapping[str, Any], plot: Box, face: str, *, on_right: bool) -> None:
    x = plot[2] if on_right else plot[0]
    value = axis["low"]
    while value <= axis["high"]:
        y = _level(axis, value, plot)
        if not on_right:
            canvas.line([(plot[0], y), (plot[2], y)], ink="#e3e6ea", width=0.5)
        text = f"{value:g}".replace("-", "−")
        at = (x + 5, y) if on_right else (x - 5, y)
        canvas.label(text, at, size=_SIZE, ink=_GREY, anchor="left" if on_right else "right", face=face)
        value = round(value + axis["step"], 6)
    canvas.line([(x, plot[1]), (x, plot[3])], ink=_GREY, width=0.7)
    at = (plot[2] + 26, plot[1] - 12) if on_right else (plot[0] - 26, plot[1] - 12)
    canvas.label(axis["unit"], at, size=_SIZE, ink=_GREY, anchor="right" if on_right else "left", face=face)


def _draw_bars(canvas: Canvas, spec: Mapping[str, Any], plot: Box, face: str) -> None:
    bars = spec.get("bars", [])
    count = len(spec["categories"])
    slot = (plot[2] - plot[0]) / count
    for place, series in enumerate(bars):
        width = 0.62 * slot / len(bars)
        axis = _axis(spec, series)
        for number, value in enumerate(series["values"]):
            left = _centre(number, count, plot) - 0.31 * slot + place * width
            top = _level(axis, value, plot)
            canvas.rect((left, top, left + width, plot[3]), fill=series["ink"])
            if series.get("printed"):
                canvas.label(f"{value:,}", (left + width / 2, plot[3] - 7), size=_SIZE - 0.6, face=face)


def _draw_line(canvas: Canvas, spec: Mapping[str, Any], series: Mapping[str, Any], plot: Box) -> None:
    axis = _axis(spec, series)
    count = len(spec["categories"])
    points = [(_centre(n, count, plot), _level(axis, v, plot)) for n, v in enumerate(series["values"])]
    canvas.line(points, ink=series["ink"], width=1.5, dashes=series.get("dashes"))
    for at in points:
        canvas.circle(at, 2.3, fill=series["ink"], ink="#ffffff", width=0.6)


def _draw_limit(canvas: Canvas, spec: Mapping[str, Any], plot: Box, face: str) -> None:
    if limit := spec.get("limit"):
        y = _level(spec["left"], limit["value"], plot)
        canvas.line([(plot[0], y), (plot[2], y)], ink="#a33a2c", width=0.8, dashes="[3 2] 0")
        canvas.label(limit["label"], (plot[2] - 2, y - 6), size=_SIZE, ink="#a33a2c", anchor="right", face=face)


def _draw_categories(canvas: Canvas, spec: Mapping[str, Any], plot: Box, face: str) -> None:
    names: Sequence[Any] = spec["categories"]
    for number, name in enumerate(names):
        canvas.label(str(name), (_centre(number, len(names), plot), plot[3] + 9), size=_SIZE, ink=_GREY, face=face)
    canvas.line([(plot[0], plot[3]), (plot[2], plot[3])], ink=_GREY, width=0.7)


def _draw_legend(canvas: Canvas, spec: Mapping[str, Any], plot: Box, y: float, face: str) -> None:
    entries = [(series, True) for series in spec.get("bars", [])]
    entries += [(series, False) for series in spec.get("lines", [])]
    room = (plot[2] - plot[0] - 60) / len(entries)
    if canvas.rtl:
        entries.reverse()
    for number, (series, is_bar) in enumerate(entries):
        x = plot[0] + 44 + number * room
        swatch, text, anchor = (x, x + 18, "left") if not canvas.rtl else (x + room - 26, x + room - 30, "right")
        if is_bar:
            canvas.rect((swatch, y - 3.5, swatch + 13, y + 3.5), fill=series["ink"])
        else:
            canvas.line([(swatch, y), (swatch + 13, y)], ink=series["ink"], width=1.5, dashes=series.get("dashes"))
            canvas.circle((swatch + 6.5, y), 2.3, fill=series["ink"], ink="#ffffff", width=0.6)
        canvas.label(series["label"], (text, y), size=_SIZE, ink="#1c1f23", anchor=anchor, face=face)
