"""Draws the first page of each sample document: a block of colour with a motif, the title, and who published it."""

import math
from collections.abc import Callable, Mapping
from typing import Any

from exports.sample.canvas import WIDTH, Box, Canvas, Point, escape


def draw_cover(canvas: Canvas, spec: Mapping[str, Any], style: Mapping[str, Any]) -> float:
    """Draw the head of the cover and return the height (y) where the text of the page may begin.

    ``spec`` has ``motif``, ``depth`` (height of the block of colour), ``publisher``, ``title`` and ``subtitle``.
    """
    depth = float(spec["depth"])
    block = (0.0, 0.0, WIDTH, depth)
    accent, margin, face = style["accent"], float(style["margin"]), style["label_face"]
    canvas.rect(block, fill=accent)
    _MOTIFS[spec["motif"]](canvas, block)
    align = "right" if canvas.rtl else "left"
    left, right = margin, WIDTH - margin
    near = (left, right - 60) if not canvas.rtl else (left + 60, right)
    weight = "normal" if canvas.rtl else "bold"
    look: dict[str, Any] = {"align": align, "face": face, "ink": "#ffffff"}
    canvas.text(escape(spec["publisher"]), (left, 54, right, 100), size=10.5, **look)
    end = canvas.text(spec["title"], (near[0], 84, near[1], depth), size=27, leading=1.2, weight=weight, **look)
    below = (end or 84) + 8
    canvas.text(escape(spec["subtitle"]), (near[0], below, near[1], depth + 80), size=12.5, leading=1.35, **look)
    return depth + 26


def _waves(canvas: Canvas, block: Box) -> None:
    """Swell, and above it a row of storage halls."""
    depth = block[3]
    for row, ink in enumerate(["#2d6ea1", "#3f80b3", "#5b97c6"]):
        base = depth - 52 + row * 17
        points: list[Point] = [
            (x, base + 7 * math.sin(x / (46 - 6 * row) + row * 1.4)) for x in range(0, int(WIDTH) + 6, 5)
        ]
        canvas.area([*points, (WIDTH, depth), (0, depth)], ink)
    for number in range(4):
        x = 396 + number * 40
        canvas.rect((x, depth - 98, x + 30, depth - 60), fill="#8fb9db")
        canvas.area([(x, depth - 98), (x + 15, depth - 108), (x + 30, depth - 98)], "#a9cbe6")


def _board(canvas: Canvas, block: Box) -> None:
    """A plain board with a compass rose, as official reports have it."""
    cx, cy, reach = WIDTH - 108, block[3] - 84, 46.0
    canvas.circle((cx, cy), reach, ink="#8a98a6", width=0.8)
    canvas.circle((cx, cy), reach - 7, ink="#8a98a6", width=0.5)
    for step in range(8):
        angle = step * math.pi / 4
        long = reach if step % 2 == 0 else reach * 0.6
        tip = (cx + long * math.sin(angle), cy - long * math.cos(angle))
        for turn, ink in ((-0.35, "#b9c3cd"), (0.35, "#6f7e8c")):
            side = (cx + 9 * math.sin(angle + turn), cy - 9 * math.cos(angle + turn))
            canvas.area([(cx, cy), side, tip], ink)
    canvas.rect((0, block[3] - 6, WIDTH, block[3]), fill="#a33a2c")


def _windows(canvas: Canvas, block: Box) -> None:
    """A façade at night, some windows lit."""
    lit = {(0, 2), (1, 1), (1, 2), (2, 3), (3, 0), (3, 1), (4, 2), (4, 3), (5, 1), (6, 0), (6, 2), (2, 0), (5, 3)}
    for column in range(7):
        for row in range(4):
            x, y = 352 + column * 34, block[3] - 132 + row * 31
            canvas.rect((x, y, x + 22, y + 21), fill="#f0c560" if (column, row) in lit else "#6b4478")


def _contours(canvas: Canvas, block: Box) -> None:
    """Contour lines of a dome of peat."""
    cx, cy = 440.0, block[3] - 50
    for ring in range(9):
        points: list[Point] = []
        for step in range(73):
            angle = step * math.pi / 36
            reach = 14 + ring * 15 + (3 + ring) * math.sin(3 * angle + ring * 0.3)
            points.append((cx + 1.55 * reach * math.cos(angle), cy + 0.62 * reach * math.sin(angle)))
        inside = [(min(x, WIDTH), min(y, block[3])) for x, y in points]
        canvas.line(inside, ink="#7fa182", width=0.8)


def _palms(canvas: Canvas, block: Box) -> None:
    """Dunes and date palms."""
    depth = block[3]
    for row, ink in enumerate(["#a9683a", "#bf7f4b", "#d39a63"]):
        base = depth - 46 + row * 16
        points: list[Point] = [
            (x, base - 13 * math.sin(x / (120 - 18 * row) + row * 2.1)) for x in range(0, int(WIDTH) + 6, 5)
        ]
        canvas.area([*points, (WIDTH, depth), (0, depth)], ink)
    for x, tall in ((74.0, 84.0), (118.0, 62.0), (158.0, 94.0)):
        foot, crown = (x, depth - 26), (x + 5, depth - 26 - tall)
        canvas.curve(foot, (x - 4, depth - 26 - tall / 2), crown, ink="#4d3420", width=3)
        for angle in (-2.9, -2.5, -2.0, -1.57, -1.1, -0.6, -0.2):
            tip = (crown[0] + 30 * math.cos(angle), crown[1] + 14 + 26 * math.sin(angle))
            pull = (crown[0] + 17 * math.cos(angle), crown[1] - 12 + 14 * math.sin(angle))
            canvas.curve(crown, pull, tip, ink="#2f5d3a", width=2.2)


_MOTIFS: dict[str, Callable[[Canvas, Box], None]] = {
    "waves": _waves,
    "board": _board,
    "windows": _windows,
    "contours": _contours,
    "palms": _palms,
}
