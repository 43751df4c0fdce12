"""A revision before it is saved: its difference, and the labels that fall."""

from __future__ import annotations

from typing import Any

import orjson
import streamlit as st

from annotators.items.revising import as_row
from app import ui
from app.widgets import blocks
from app.widgets.difference import difference_html
from app.wording import fallen_verdicts
from db.studies.revisions import ItemRevision


def difference(plan: ItemRevision) -> None:
    """What is different, field by field."""
    before, after = as_row(plan.before), as_row(plan.after)
    for name in dict.fromkeys("evidence" if field == "roles" else field for field in plan.edited):
        st.html(blocks.panel(name.capitalize(), difference_html(_text(before.get(name)), _text(after.get(name)))))


def _text(value: Any) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def effects(plan: ItemRevision) -> None:
    """Which labels fall with the edit, and which stay, by study; and verdicts that came with the item."""
    if plan.verdicts:
        st.caption(fallen_verdicts(plan.verdicts))
    if not plan.labelled:
        st.caption("Nobody has labelled the item yet: no label falls.")
        return
    rows = [
        (effect.study, effect.annotations, ", ".join(effect.falls) or "none", ", ".join(effect.stays) or "none")
        for effect in plan.labelled
    ]
    ui.table("Labels after the edit", ("Study", "Annotations", "Fall", "Stay"), rows, name="labels-after-the-edit")
    st.caption(
        "Studies keep the version that they were made with, and its labels; what falls says nothing of the new one."
    )
