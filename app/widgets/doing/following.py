"""What would follow from an act, said on the page before it is done."""

from __future__ import annotations

import streamlit as st

from app import ui
from db.releasing.consequences import Consequences


def follows(found: Consequences) -> None:
    """Say it below the form of the act."""
    st.info("  \n".join(ui.plain(sentence) for sentence in found.sentences()))
