"""Account: one's own password, break reminder and keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import streamlit as st

from annotators.keys import ACTIONS, ADJUDICATION, REVISION
from annotators.preferences import BREAK_AFTER, LONGEST_WORK
from annotators.protocols import PROTOCOLS
from app import ui
from app.widgets import blocks
from db.people.accounts import change_password
from db.people.preferences import my_preferences, set_preference
from db.permissions import Actor

_PAGES = (
    ("keys", "Annotate", ACTIONS),
    ("adjudication_keys", "Adjudicate", ADJUDICATION),
    ("revision_keys", "Revise", REVISION),
)
KEY_SETTINGS = (*(name for name, _, _ in _PAGES), "label_keys")
_NAMES = {"ArrowUp": "↑", "ArrowDown": "↓", "ArrowLeft": "←", "ArrowRight": "→"}


def page() -> None:
    """Draw the page."""
    blocks.style()
    actor = ui.actor()
    ui.heading("Account", actor.name)
    own = my_preferences(ui.db(), actor)
    _breaks(actor, own)
    _keys(actor, own)
    _password(actor)


def _breaks(actor: Actor, own: Mapping[str, Any]) -> None:
    st.subheader("Breaks")
    after = int(own.get("break_after", BREAK_AFTER))
    with st.form("breaks", width=480):
        wanted = st.checkbox("Suggest a break on the annotator's page", value=after > 0)
        minutes = st.number_input("After how many minutes of work", 10, LONGEST_WORK, after or BREAK_AFTER, step=5)
        st.caption("One line between two items. It takes no keys, and five minutes away count as a break.")
        if st.form_submit_button("Save"):
            with ui.problems():
                set_preference(ui.db(), actor, "break_after", value=int(minutes) if wanted else 0)
                st.toast("Saved.")


def _keys(actor: Actor, own: Mapping[str, Any]) -> None:
    st.subheader("Keys")
    rows = list(_changed(own))
    if not rows:
        ui.empty(
            "All keys are as the program has them.",
            "Press ? on the annotator's, adjudicator's or reviser's page, choose a key and press the one you want.",
        )
        return
    blocks.table("Keys that you changed", ("Where", "What", "Your key", "Otherwise"), rows)
    if st.button("All keys as they were"):
        with ui.problems():
            for name in KEY_SETTINGS:
                set_preference(ui.db(), actor, name, value=None)
            st.rerun()


def _changed(own: Mapping[str, Any]) -> Iterator[tuple[object, ...]]:
    """The keys that the person changed, one row each: page, action or label, own key, the program's key."""
    for name, where, actions in _PAGES:
        for action, key in own.get(name, {}).items():
            if action in actions:  # a setting of an earlier version may name one that is gone
                given, title = actions[action]
                yield where, title, blocks.key(_NAMES.get(key, key)), blocks.key(_NAMES.get(given, given))
    for protocol, criteria in own.get("label_keys", {}).items():
        where = PROTOCOLS.get(protocol).title if protocol in PROTOCOLS.names() else protocol
        for criterion, labels in criteria.items():
            for value, key in labels.items():
                yield where, f"label {value} of {criterion}", blocks.key(key), ""


def _password(actor: Actor) -> None:
    st.subheader("Change the password")
    with st.form("change-password", width=480):
        old = st.text_input("Present password", type="password", help="Empty when you have none yet.")
        new = st.text_input("New password", type="password", required=True, help="At least 8 characters.")
        again = st.text_input("New password again", type="password", required=True)
        if st.form_submit_button("Change password", type="primary"):
            if new != again:
                st.error("The two new passwords differ; nothing was changed. Type them again.")
                return
            with ui.problems():
                change_password(ui.db(), actor, old=old or None, new=new)
                ui.signed_out("Your password is changed, and you are signed out in every browser.")
                st.stop()
