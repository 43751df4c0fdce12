"""Draws the tables of the sample documents: a ruled head, aligned columns, a stressed last row on request."""

from collections.abc import Mapping
from typing import Any

from exports.sample.canvas import Canvas, escape

_GAP = 10.0  # between columns
_PAD = 4.0  # above and below the text of a row


def table_text(spec: Mapping[str, Any]) -> str:
    """The table as text: head and rows, one a line, cells between bars."""
    return "\n".join(" | ".join(str(cell) for cell in row) for row in [spec["columns"], *spec["rows"]])


def table_height(canvas: Canvas, spec: Mapping[str, Any], width: float, *, size: float, face: str) -> float:
    """Height that `draw_table` takes for ``spec`` at ``width``."""
    return sum(_row_heights(canvas, spec, width, size=size, face=face))


def draw_table(
    canvas: Canvas,
    spec: Mapping[str, Any],
    at: tuple[float, float],
    width: float,
    *,
    size: float,
    face: str,
    accent: str,
) -> float:
    """Draw ``spec`` with its top left corner ``at`` and return its bottom.

    ``spec`` has ``columns`` and ``rows`` (cells), ``align`` (l or r for each column), optionally ``widths``
    (shares that add up to 1), ``total`` (the last row is a sum) and ``strong`` (numbers, from 1, of bold rows).
    """
    x0, top = at
    y = top
    heights = _row_heights(canvas, spec, width, size=size, face=face)
    spans = _spans(spec, x0, width, mirrored=canvas.rtl)
    last = len(heights) - 1
    for number, (row, height) in enumerate(zip([spec["columns"], *spec["rows"]], heights, strict=True)):
        strong = _is_strong(spec, number)
        if number == 0:
            canvas.rect((x0, y, x0 + width, y + height), fill=accent)
        for (left, right), cell, key in zip(spans, row, spec["align"], strict=True):
            align = "left" if key == "l" and not canvas.rtl else "right"
            box = (left, y + _PAD, right, y + height + size)
            ink = "#ffffff" if number == 0 else "#1c1f23"
            weight = "bold" if strong else "normal"
            canvas.text(escape(str(cell)), box, size=size, face=face, align=align, ink=ink, weight=weight)
        y += height
        if number == last - 1 and spec.get("total"):
            canvas.line([(x0, y), (x0 + width, y)], width=0.9)
        elif number:
            canvas.line([(x0, y), (x0 + width, y)], ink="#c9cdd2", width=0.5)
    canvas.line([(x0, y), (x0 + width, y)], ink=accent, width=1.1)
    return y


def _spans(spec: Mapping[str, Any], x0: float, width: float, *, mirrored: bool) -> list[tuple[float, float]]:
    count = len(spec["columns"])
    shares = spec.get("widths") or [1 / count] * count
    spans = []
    x = x0
    for share in shares:
        spans.append((x + _GAP / 2, x + share * width - _GAP / 2))
        x += share * width
    if mirrored:
        spans = [(2 * x0 + width - right, 2 * x0 + width - left) for left, right in spans]
    return spans


def _is_strong(spec: Mapping[str, Any], number: int) -> bool:
    return number == 0 or (number == len(spec["rows"]) and bool(spec.get("total"))) or number in spec.get("strong", [])


def _row_heights(canvas: Canvas, spec: Mapping[str, Any], width: float, *, size: float, face: str) -> list[float]:
    spans = _spans(spec, 0, width, mirrored=False)
    heights = []
    for number, row in enumerate([spec["columns"], *spec["rows"]]):
        crowded = max(zip(row, spans, strict=True), key=lambda cell: len(str(cell[0])) / (cell[1][1] - cell[1][0]))
        markup = escape(str(crowded[0]))
        left, right = crowded[1]
        if _is_strong(spec, number):
            markup = f"<b>{markup}</b>"
        heights.append(canvas.height(markup, right - left, size=size, face=face) + 2 * _PAD)
    return heights
