"""The picture that stands in a page's place when the page cannot be shown: it says why."""

from __future__ import annotations

import io
import math
from collections.abc import Callable

# Dark red on near-white: contrast 8.6 : 1; the text under it 13 : 1.
_BACK, _EDGE, _TITLE, _TEXT = "#fbf9f9", "#b3261e", "#8c1d18", "#2b2b2b"
_NARROWEST, _WIDEST = 120, 3600
_SMALLEST = 11.0


def draw_failure(reason: str, width_px: int, title: str = "This page cannot be shown") -> bytes:
    """A PNG, width_px wide and 0.6 times as high (higher if the words need it), with the title and the reason.

    reason: `PageNotDrawn.reason`, or any sentence in Latin letters. width_px: in pixels, taken as between 120 and 3600.
    Say the same in the alternative text, for people who do not see the picture.
    """
    from PIL import Image, ImageDraw, ImageFont  # noqa: PLC0415 - most web processes never draw one

    width = min(max(width_px, _NARROWEST), _WIDEST)
    margin = width // 16
    placed = []
    top = float(margin)
    for text, share, colour in ((title, 24, _TITLE), (reason[:1].upper() + reason[1:], 32, _TEXT)):
        font = ImageFont.load_default(size=max(_SMALLEST, width / share))
        line_height = font.getbbox("Ág")[3] * 1.25
        for line in _wrapped(text, font.getlength, width - 2 * margin):
            placed.append((top, line, font, colour))
            top += line_height
        top += line_height / 2
    height = max(round(width * 0.6), math.ceil(top))
    picture = Image.new("RGB", (width, height), _BACK)
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, width - 1, height - 1), outline=_EDGE, width=max(1, width // 300))
    for at, line, font, colour in placed:
        draw.text((margin, at), line, fill=colour, font=font)
    out = io.BytesIO()
    picture.save(out, "PNG", compress_level=6)
    return out.getvalue()


def _wrapped(text: str, length: Callable[[str], float], room: float) -> list[str]:
    """The text in lines no longer than room; a word that is longer than a line is cut."""
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if length(longer) <= room:
            lines[-1] = longer
            continue
        lines.append("")
        for character in word:
            if lines[-1] and length(lines[-1] + character) > room:
                lines.append("")
            lines[-1] += character
    return [line for line in lines if line]
