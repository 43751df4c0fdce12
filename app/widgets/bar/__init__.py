"""The top bar's groups and pages: links that go to a page within the session; served at `/assets/bar/`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import streamlit as st

from app.server.assets import asset_url

_bar = st.components.v2.component(
    "assay_bar",
    js=f"""
export default async function (component) {{
  const bar = await import(new URL('{asset_url("bar/bar.js")}', location.origin));
  return bar.mount(component);
}}
""",
    isolate_styles=False,
)


@dataclass(frozen=True)
class BarPlace:
    """A page that the bar leads to, with how much waits there (and that in words).

    `current` is what `aria-current` says: `page` of the one that is open, `true` of its group, or of the page that led
    to it; nothing of the others.
    """

    name: str
    title: str
    href: str
    current: str = ""
    waiting: int = 0
    waits: str = ""


def bar(groups: Sequence[BarPlace], pages: Sequence[BarPlace], aside: Sequence[BarPlace]) -> str | None:
    """Draw the groups and, under them, the pages of the open one; the name of the page that was pressed, if one was."""
    pressed = _bar(
        data={
            "groups": [asdict(group) for group in groups],
            "pages": [asdict(page) for page in pages],
            "aside": [asdict(place) for place in aside],
            "words": {"groups": "Groups of pages", "pages": "Pages"},
        },
        key="assay-places",
        on_go_change=lambda: None,
        on_theme_change=lambda: None,
    )
    name: str | None = pressed.go
    return name
