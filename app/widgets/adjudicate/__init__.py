"""The adjudicator's page: mounts the full-screen component; its files are served at `/assets/adjudicate/`."""

from __future__ import annotations

import streamlit as st

from annotators.keys import ACTIONS
from app.assets import asset_url

_SHARED = (
    "guidelines",
    "keys",
    "previous_criterion",
    "next_criterion",
    "previous_label",
    "next_label",
    "previous_page",
    "next_page",
    "zoom_in",
    "zoom_out",
    "fit_width",
    "fit_page",
    "previous_evidence",
    "next_evidence",
    "close",
)

KEYS: dict[str, tuple[str, str]] = {
    "settle": ("Enter", "Settle the item"),
    "back": ("z", "Back to the item settled last"),
    "later": ("s", "Later: the item moves to the end for now"),
    "return": ("r", "Return the item to an annotator"),
    "reason": ("c", "Reason for this decision"),
    "clear": ("Backspace", "Take this decision back"),
    "rotate": ("R", "Rotate the page"),
    **{name: ACTIONS[name] for name in _SHARED},
}
"""Action → (key, its name for people). The keys are among those that no label may have, but for `R`."""

_adjudicate = st.components.v2.component(
    "assay_adjudicate",
    js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url("adjudicate/main.js")}', location.origin));
  return page.mount(component);
}}
""",
)


def adjudicate(study_id: int, person: str, project: str, *, home: str = "/", sign_in: str = "/") -> None:
    """Show the adjudicator's page of a study over the whole window.

    `person` is what the browser keeps unsent and half decisions under: the same for a person at every visit, and nobody
    else's. `project` is the name that stands in the top line; `home` and `sign_in` are the addresses behind it and
    behind "Sign in again".
    """
    _adjudicate(
        data={
            "study": study_id,
            "person": person,
            "project": project,
            "home": home,
            "sign_in": sign_in,
            "keys": KEYS,
        },
        key=f"adjudicate-{study_id}",
        width="stretch",
        height="content",
    )
