"""Account: one's own password and sessions."""

from __future__ import annotations

import streamlit as st

from app import ui
from db.people import change_password


def page() -> None:
    """Draw the page."""
    actor = ui.actor()
    ui.heading("Account", actor.name)
    st.subheader("Change the password")
    with st.form("change-password", width=480):
        old = st.text_input("Present password", type="password", help="Empty when you have none yet.")
        new = st.text_input("New password", type="password", help="At least 8 characters.")
        again = st.text_input("New password again", type="password")
        if st.form_submit_button("Change password", type="primary"):
            if new != again:
                st.error("The two new passwords differ; nothing was changed. Type them again.")
                return
            with ui.problems():
                change_password(ui.db(), actor, old=old or None, new=new)
                ui.signed_out("Your password is changed, and you are signed out in every browser.")
                st.stop()
