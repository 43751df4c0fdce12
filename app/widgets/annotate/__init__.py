"""The annotator's page: mounts the full-screen component; its files are served at `/assets/annotate/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotators.preferences import BREAK_AFTER
from app.server.assets import asset_url

_annotate = st.components.v2.component(
    "assay_annotate",
    js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url("annotate/main.js")}', location.origin));
  return page.mount(component);
}}
""",
)


def annotate(
    study_id: int,
    person: str,
    *,
    preferences: Mapping[str, Any],
    assignment: int | None = None,
    home: str = "/",
    sign_in: str = "/",
) -> None:
    """Show the annotator's page of a study over the whole window.

    `person` is what the browser keeps unsent submissions and drafts under: the same for a person at every visit, and
    nobody else's. `preferences` are the person's own settings (db/people/preferences.py). `assignment` is opened
    first, to look at and correct. `home` and `sign_in` are the addresses behind
    the project's name and "Sign in again".
    """
    _annotate(
        data={
            "study": study_id,
            "person": person,
            "assignment": assignment,
            "home": home,
            "sign_in": sign_in,
            "preferences": {"break_after": BREAK_AFTER, **preferences},
        },
        key=f"annotate-{study_id}-{assignment or 'work'}",
        width="stretch",
        height="content",
    )
