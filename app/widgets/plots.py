"""Drawing a plot on a page, with the buttons that take it away as PNG and SVG."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any, Literal

import streamlit as st

from exports.charts import drawn

_WIDTH = 420
_KINDS: tuple[tuple[str, Literal["png", "svg"], str], ...] = (
    ("PNG", "png", "image/png"),
    ("SVG", "svg", "image/svg+xml"),
)


def plot(
    chart: Any, name: str, caption: str, *, printed: Callable[[], Any] | None = None, stretch: bool = True
) -> None:
    """Draw a plot with its caption and its files; nothing where there is none.

    `printed` gives the plot of the files, in its own size, where it is another than that of the page (which has the
    page's ink). Without `stretch` the plot keeps its own width, and so its shape.
    """
    if chart is None:
        return
    st.altair_chart(chart, width="stretch" if stretch else "content", key=f"plot-{name}")
    st.html(f'<p class="assay-soft">{escape(caption)}</p>')
    with st.container(horizontal=True, gap="small", key=f"downloads-plot-{name}"):
        for label, ending, media_type in _KINDS:

            def file(ending: Literal["png", "svg"] = ending) -> bytes:
                return drawn(chart, ending, _WIDTH) if printed is None else drawn(printed(), ending, None)

            st.download_button(
                label,
                data=file,
                file_name=f"{name}.{ending}",
                mime=media_type,
                on_click="ignore",
                key=f"download-plot-{name}-{ending}",
                help=f"{caption} as {label}",
            )
