"""The annotator's page: mounts the full-screen component; its files are served at `/assets/annotate/`."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

import streamlit as st

ASSETS = Path(__file__).parent
"""The folder whose `*.js` and `*.css`, in it and in `inputs/`, the server sends at `/assets/annotate/`."""


def asset_files() -> list[Path]:
    """Everything the browser loads, as paths relative to `ASSETS`, sorted."""
    return sorted(path.relative_to(ASSETS) for pattern in ("*.js", "*.css", "inputs/*.js") for path in ASSETS.glob(pattern))


@cache
def version() -> str:
    """Twelve hexadecimal digits that change when any file of the page changes."""
    digest = hashlib.sha256()
    for path in asset_files():
        digest.update(path.as_posix().encode() + b"\0" + (ASSETS / path).read_bytes())
    return digest.hexdigest()[:12]


_annotate = st.components.v2.component(
    "assay_annotate",
    js=f"""
export default async function (component) {{
  const page = await import(new URL('/assets/annotate/main.js?v={version()}', location.origin));
  return page.mount(component);
}}
""",
)


def annotate(study_id: int, person: str, *, home: str = "/", sign_in: str = "/") -> None:
    """Show the annotator's page of a study over the whole window.

    `person` is what the browser keeps unsent submissions and drafts under: the same for a person at every visit, and
    nobody else's. `home` and `sign_in` are the addresses behind the project's name and "Sign in again".
    """
    _annotate(
        data={"study": study_id, "person": person, "home": home, "sign_in": sign_in},
        key=f"annotate-{study_id}",
        width="stretch",
        height="content",
    )
