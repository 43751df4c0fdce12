"""Addresses to copy: each in a field with a button, several with one more for all of them."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from app.server.assets import asset_url

_STYLE = """
.addresses { display: grid; gap: 10px; font-family: var(--st-font); font-size: 0.95rem; color: var(--st-text-color); }
.line { display: grid; grid-template-columns: minmax(4rem, max-content) minmax(0, 1fr) max-content; gap: 10px;
  align-items: center; }
b { font-weight: 600; overflow-wrap: anywhere; max-width: 14rem; }
input { min-width: 0; font: 0.88rem var(--st-code-font); padding: 7px 9px; border-radius: 7px; color: inherit;
  border: 1px solid var(--st-border-color); background: var(--st-background-color); }
button { font: inherit; font-weight: 600; padding: 6px 14px; border-radius: 7px; cursor: pointer; white-space: nowrap;
  border: 1px solid var(--st-border-color); background: var(--st-secondary-background-color); color: inherit; }
button:hover { border-color: var(--st-primary-color); }
:is(input, button):focus-visible { outline: 2px solid var(--st-primary-color); outline-offset: 1px; }
.all { display: flex; align-items: center; gap: 8px; }
/* It is selected when there is no clipboard, and never looked at. */
.all textarea { position: absolute; width: 1px; height: 1px; opacity: 0; border: 0; padding: 0; }
@media (max-width: 520px) { .line { grid-template-columns: minmax(0, 1fr) max-content; }
  .line b { grid-column: 1 / -1; max-width: none; } }
"""

_copy = st.components.v2.component(
    "assay_copy",
    css=_STYLE,
    js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url("copying/copy.js")}', location.origin));
  return page.mount(component);
}}
""",
)


def addresses(rows: Sequence[tuple[str, str]], *, key: str) -> None:
    """Draw (name, address) a line, each with its Copy."""
    _copy(
        data={"rows": [{"name": name, "address": address} for name, address in rows]},
        key=key,
        width="stretch",
        height="content",
    )
