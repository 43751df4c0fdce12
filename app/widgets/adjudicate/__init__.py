"""The adjudicator's page: mounts the full-screen component; its files are served at `/assets/adjudicate/`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import streamlit as st

from annotators.keys import ADJUDICATION
from app.server.assets import asset_url

_adjudicate = st.components.v2.component(
    "assay_adjudicate",
    js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url("adjudicate/main.js")}', location.origin));
  return page.mount(component);
}}
""",
)


def adjudicate(
    study_id: int,
    person: str,
    project: str,
    *,
    preferences: Mapping[str, Any],
    home: str = "/",
    sign_in: str = "/",
) -> None:
    """Show the adjudicator's page of a study over the whole window.

    `person` is what the browser keeps unsent and half decisions under: the same for a person at every visit, and nobody
    else's. `project` is the name that stands in the top line; `preferences` are the person's own settings
    (db/people/preferences.py); `home` and `sign_in` are the addresses behind the project and behind "Sign in again".
    """
    _adjudicate(
        data={
            "study": study_id,
            "person": person,
            "project": project,
            "home": home,
            "sign_in": sign_in,
            "keys": ADJUDICATION,
            "preferences": dict(preferences),
        },
        key=f"adjudicate-{study_id}",
        width="stretch",
        height="content",
    )
