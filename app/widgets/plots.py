"""Drawing a plot on a page, with its words for those who cannot see it, and the menu that takes it away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any, Literal

import streamlit as st

from app.server.routes import downloads
from exports.drawing.charts import drawn

_WIDTH = 420
_KINDS: tuple[tuple[str, Literal["png", "svg"], str], ...] = (
    ("PNG", "png", "image/png"),
    ("SVG", "svg", "image/svg+xml"),
)


def plot(
    chart: Any,
    name: str,
    caption: str,
    *,
    printed: Callable[[], Any] | None = None,
    stretch: bool = True,
    otherwise: str | None = None,
) -> bool:
    """Draw a plot with its caption and the menu of its files; without one say `otherwise`, why not, and give False.

    The caption is also the plot's text alternative. `printed` gives the plot of the files, in its own size, where it is
    another than that of the page (which has the page's ink). Without `stretch` the plot keeps its own width, and so its
    shape.
    """
    if chart is None:
        if otherwise:
            st.html(f'<p class="assay-no-plot">{escape(otherwise)}</p>')
        return False
    st.altair_chart(chart, width="stretch" if stretch else "content", key=f"plot-{name}", alt=caption)
    with st.container(horizontal=True, gap="small", vertical_alignment="center", key=f"about-plot-{name}"):
        st.html(f'<p class="assay-soft">{escape(caption)}</p>', width="content")
        downloads.menu(f"plot-{name}", _files(chart, name, printed), caption)
    return True


def _files(chart: Any, name: str, printed: Callable[[], Any] | None) -> list[downloads.File]:
    def made(ending: Literal["png", "svg"]) -> bytes:
        return drawn(chart, ending, _WIDTH) if printed is None else drawn(printed(), ending, None)

    return [
        downloads.File(label, f"{name}.{ending}", media_type, partial(made, ending))
        for label, ending, media_type in _KINDS
    ]
