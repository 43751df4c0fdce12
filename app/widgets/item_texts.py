"""Texts of an item on a page of ours: their Markdown, tables and formulas are rendered as annotators see them."""

from __future__ import annotations

from collections.abc import Mapping
from html import escape
from typing import Any

import streamlit as st

from annotators.keys import ACTIONS
from app.server.assets import asset_url

_texts = st.components.v2.component(
    "assay_texts",
    js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url("texts/page.js")}', location.origin));
  return page.mount(component);
}}
""",
)


def text_html(text: str) -> str:
    """A text whose Markdown is rendered by `rendering`; without it, or without scripts, it stands there as written."""
    return f'<div class="assay-text assay-marked" data-assay-text="" dir="auto">{escape(text)}</div>'


def rendering(person: str, preferences: Mapping[str, Any]) -> None:
    """Render the texts of this page, and offer the choice between rendered and raw where one has Markdown.

    `person` is the id of who looks at the page, `preferences` their settings, in which the choice is kept.
    """
    own = preferences.get("keys") or {}
    data = {"person": person, "key": own.get("raw_text", ACTIONS["raw_text"][0]), "preferences": dict(preferences)}
    _texts(data=data, key="item-texts", width="stretch", height="content")
