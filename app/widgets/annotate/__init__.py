"""The annotator's page, and its preview: mounts the full-screen components; files are served at `/assets/annotate/`."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson
import streamlit as st

from annotators.keys import ACTIONS
from annotators.preferences import BREAK_AFTER
from annotators.protocols import Protocol
from app.server.assets import asset_url
from db.annotating.annotations import protocol_for_browser
from db.annotating.previews import StepPreview


def _component(name: str, module: str) -> Any:
    """A component whose page is what `mount` of this module puts up."""
    return st.components.v2.component(
        name,
        js=f"""
export default async function (component) {{
  const page = await import(new URL('{asset_url(f"annotate/{module}.js")}', location.origin));
  return page.mount(component);
}}
""",
    )


_annotate = _component("assay_annotate", "main")
_preview = _component("assay_preview", "preview")


def annotate(
    study_id: int,
    person: str,
    *,
    preferences: Mapping[str, Any],
    assignment: int | None = None,
    home: str = "/",
    sign_in: str = "/",
    leave: str = "",
) -> None:
    """Show the annotator's page of a study over the whole window.

    `person` is what the browser keeps unsent submissions and drafts under: the same for a person at every visit, and
    nobody else's. `preferences` are the person's own settings (db/people/preferences.py). `assignment` is opened
    first, to look at and correct. `home` and `sign_in` are the addresses behind
    the project's name and "Sign in again"; `leave` is where somebody from outside ends, in place of `home`.
    """
    _annotate(
        data={
            "study": study_id,
            "person": person,
            "assignment": assignment,
            "home": leave or home,
            "ends": bool(leave),
            "sign_in": sign_in,
            "preferences": {"break_after": BREAK_AFTER, **preferences},
        },
        key=f"annotate-{study_id}-{assignment or 'work'}",
        width="stretch",
        height="content",
    )


def preview(
    protocol: Protocol,
    steps: Sequence[StepPreview],
    *,
    marks: Sequence[Mapping[str, Any]],
    item: str,
    labelling: bool,
    close: Callable[[], None],
) -> list[dict[str, Any]] | None:
    """Show what annotators would get of an item under a protocol over the whole window, to try; nothing is stored.

    With `labelling` the labels of all steps come back, each with its number, once they are given. `steps` are what
    `db.annotating.previews.preview` gives, `marks` what is marked on the pages at each of them (`app.on_pages`), `item`
    is what the item is called, `close` is called when the person closes it.
    """
    data = {
        "protocol": protocol_for_browser(protocol),
        "keys": {action: list(pair) for action, pair in ACTIONS.items()},
        "steps": [
            {**step.presentation(number), "marks": marked}
            for number, (step, marked) in enumerate(zip(steps, marks, strict=True))
        ],
        "item": item,
        "labelling": labelling,
    }
    place = hashlib.sha256(orjson.dumps(data)).hexdigest()
    shown = _preview(
        data={**data, "place": place},
        key=f"preview-{place}",
        width="stretch",
        height="content",
        on_closed_change=close,
        on_labelled_change=lambda: None,
    )
    found: list[dict[str, Any]] | None = shown.get("labelled")
    return found
