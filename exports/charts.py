"""What all charts of reports and pages share: their colours, and how one becomes a file without a browser."""

from __future__ import annotations

import io
from typing import Any, Literal

ACCENT = "#4c8cbf"
"""A blue that is read on a light and on a dark page."""

LINE = "#d5862b"
QUIET = "#8a949c"
COLOURS = ["#4c8cbf", "#d5862b", "#3a9a7c", "#b35c9e", "#8f8a2f", "#c9574b", "#6f7fd0", "#7a7a7a"]


def drawn(chart: Any, ending: Literal["svg", "png", "pdf"], width: int | None = 460) -> bytes:
    """A chart as a file on white, sharp in print; `width` None keeps the chart's own."""
    printed = chart.properties(background="white")
    if width is not None:
        printed = printed.properties(width=width)
    if ending == "svg":
        text = io.StringIO()
        printed.save(text, format="svg")
        return text.getvalue().encode()
    picture = io.BytesIO()
    if ending == "png":
        printed.save(picture, format="png", ppi=300)
    else:
        printed.save(picture, format="pdf")
    return picture.getvalue()
