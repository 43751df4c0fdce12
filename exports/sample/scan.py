"""Makes a page that looks like scanned paper: typed and filled in, turned a little, grey, noisy, with no text layer."""

import io
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
from PIL import Image, ImageFilter

from exports.sample.canvas import HEIGHT, WIDTH, Box, Canvas, Point, escape
from exports.sample.textlayer import mupdf

_DPI = 110
_LEFT, _RIGHT = 70.0, WIDTH - 62.0
_PAPER = 236  # grey of the paper, 0..255


def draw_scan(canvas: Canvas, spec: Mapping[str, Any]) -> Box:
    """Fill the current page with a scan of a typed form and return the box of its table on the page (points).

    ``spec`` has ``heading``, ``title``, ``fields`` (lines above the table), ``columns``, ``rows``, ``widths``,
    ``remarks`` (lines below it), ``stamp`` (lines), ``tilt`` (degrees, counter-clockwise) and ``seed`` (of the noise).
    """
    sheet = Canvas(face="monospace")
    sheet.new_page()
    top, bottom = _type_form(sheet, spec)
    tilt = float(spec["tilt"])
    canvas.image(_photograph(sheet, tilt, int(spec["seed"])), (0, 0, WIDTH, HEIGHT))
    return _turned((_LEFT, top, _RIGHT, bottom), tilt)


def _type_form(sheet: Canvas, spec: Mapping[str, Any]) -> tuple[float, float]:
    """Type the form and return top and bottom of its table."""
    sheet.text(f"<b>{escape(spec['heading'])}</b>", (_LEFT, 70, _RIGHT - 120, 110), size=12)
    sheet.text(_typed(spec["title"]), (_LEFT, 92, _RIGHT - 120, 130), size=10)
    sheet.line([(_LEFT, 128), (_RIGHT, 128)], width=1.2)
    y = 140.0
    for text in spec["fields"]:
        y = (sheet.text(_typed(text), (_LEFT, y, _RIGHT, y + 40), size=10) or y) + 4
    top = y = y + 12
    widths = [share * (_RIGHT - _LEFT) for share in spec["widths"]]
    for number, row in enumerate([spec["columns"], *spec["rows"]]):
        sheet.line([(_LEFT, y), (_RIGHT, y)], width=0.9 if number < 2 else 0.5)
        x, end = _LEFT, y
        for width, cell in zip(widths, row, strict=True):
            cell_text = f"<b>{escape(str(cell))}</b>" if number == 0 else escape(str(cell))
            end = max(end, sheet.text(cell_text, (x + 5, y + 6, x + width - 3, y + 90), size=9.6, leading=1.35) or y)
            x += width
        y = end + 6
    sheet.line([(_LEFT, y), (_RIGHT, y)], width=0.9)
    x = _LEFT
    for width in [0.0, *widths]:
        x += width
        sheet.line([(x, top), (x, y)], width=0.5)
    bottom = y
    y += 18
    for text in spec["remarks"]:
        y = (sheet.text(escape(text), (_LEFT, y, _RIGHT, y + 80), size=10, leading=1.4) or y) + 6
    _sign(sheet, (_LEFT + 20, y + 44))
    sheet.line([(_LEFT, y + 54), (_LEFT + 190, y + 54)], width=0.6)
    sheet.text(escape(spec["signed"]), (_LEFT, y + 58, _RIGHT, y + 100), size=8.2)
    box = (_RIGHT - 118, 66, _RIGHT, 116)
    sheet.rect(box, ink="#555555", width=1.6)
    sheet.text(
        "<br/>".join(spec["stamp"]), (box[0], 74, box[2], 140), size=11, align="center", ink="#555555", leading=1.5
    )
    for hole in (210.0, 630.0):
        sheet.circle((28, hole), 8, fill="#4a4a4a")
    return top, bottom


def _typed(text: str) -> str:
    """``text`` as HTML that keeps its runs of spaces."""
    return escape(text).replace("  ", "\u00a0 ")


def _sign(sheet: Canvas, at: Point) -> None:
    """A scribble that could be a name."""
    x, y = at
    steps = [(x + t * 1.15, y - 9 * math.sin(t / 4.6) * math.cos(t / 17) - t * 0.05) for t in range(0, 104, 2)]
    sheet.line(steps, ink="#333333", width=1.3)
    sheet.line([(x - 6, y + 5), (x + 126, y - 7)], ink="#333333", width=1)


def _photograph(sheet: Canvas, tilt: float, seed: int) -> bytes:
    with mupdf.open(stream=sheet.finish(title="", author="", date="2022-11-14"), filetype="pdf") as document:
        pixels = document[0].get_pixmap(dpi=_DPI, colorspace=mupdf.csGRAY)
        picture = Image.frombytes("L", (pixels.width, pixels.height), pixels.samples)
    picture = picture.rotate(tilt, resample=Image.Resampling.BICUBIC, fillcolor=255)
    picture = picture.filter(ImageFilter.GaussianBlur(0.45))
    generator = np.random.default_rng(seed)
    grey = np.asarray(picture, dtype=np.float64)
    grey = 38 + grey / 255 * (_PAPER - 38)
    rows, columns = grey.shape
    shade = np.linspace(-9, 5, columns)[None, :] + np.linspace(4, -6, rows)[:, None]
    specks = (generator.random(grey.shape) < 0.0004) * -110.0
    grey = grey + shade + specks + generator.normal(0, 4.5, grey.shape)
    scanned = Image.fromarray(np.clip(grey, 0, 255).astype(np.uint8))
    data = io.BytesIO()
    scanned.save(data, "JPEG", quality=62, dpi=(_DPI, _DPI))
    return data.getvalue()


def _turned(box: Box, tilt: float) -> Box:
    """The upright box around ``box`` after the page was turned about its middle."""
    angle = math.radians(tilt)
    xs, ys = [], []
    for x in (box[0], box[2]):
        for y in (box[1], box[3]):
            dx, dy = x - WIDTH / 2, y - HEIGHT / 2
            xs.append(WIDTH / 2 + dx * math.cos(angle) + dy * math.sin(angle))
            ys.append(HEIGHT / 2 - dx * math.sin(angle) + dy * math.cos(angle))
    return min(xs), min(ys), max(xs), max(ys)
