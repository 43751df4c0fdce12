"""The reviser's page: mounts the full-screen component; its files are served at `/assets/revise/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotators.keys import REVISION
from app.server.assets import asset_url

_revise = st.components.v2.component(
    "assay_revise",
    js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url("revise/main.js")}', location.origin));
  return page.mount(component);
}}
""",
)


def revise(
    project_id: int,
    person: str,
    *,
    preferences: Mapping[str, Any],
    item: int | None = None,
    home: str = "/",
    sign_in: str = "/",
) -> None:
    """Show the reviser's page over the whole window: the project's queue, or one `item`.

    `person` is what the browser keeps unsaved edits under: the same for a person at every visit, and nobody else's.
    `preferences` are the person's own settings (db/people/preferences.py); `home` and `sign_in` are the addresses
    behind the project's name and behind "Sign in again".
    """
    _revise(
        data={
            "project": project_id,
            "person": person,
            "item": item,
            "home": home,
            "sign_in": sign_in,
            "keys": REVISION,
            "preferences": dict(preferences),
        },
        key=f"revise-{project_id}-{item or 'queue'}",
        width="stretch",
        height="content",
    )
