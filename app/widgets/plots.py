"""Drawing a plot on a page, with the buttons that take it away as PNG and SVG."""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import streamlit as st

from exports.charts import drawn

_KINDS: tuple[tuple[str, Literal["png", "svg"], str], ...] = (
    ("PNG", "png", "image/png"),
    ("SVG", "svg", "image/svg+xml"),
)


def draw(chart: Any, name: str, caption: str) -> None:
    """Draw a plot with its caption and the buttons that take it away as PNG and SVG."""
    st.altair_chart(chart, width="stretch", key=f"plot-{name}")
    st.html(f'<p class="assay-soft">{caption}</p>')
    with st.container(horizontal=True, gap="small", key=f"downloads-plot-{name}"):
        for label, ending, media_type in _KINDS:
            st.download_button(
                label,
                data=partial(drawn, chart, ending, 420),
                file_name=f"{name}.{ending}",
                mime=media_type,
                on_click="ignore",
                key=f"download-plot-{name}-{ending}",
            )
