"""Having scanned pages read, on the page Data: what it does, the button, and how far it is."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotators.pages.words.recognition import can_recognise
from app import ui, wording
from app.widgets import job_bar
from app.worker import jobs
from app.worker.kinds.scans import SCANS, ScansParameters
from db.jobs import latest_job
from db.models import JobState
from db.projects import ProjectRow


def draw(project: ProjectRow) -> None:
    """The button in an expander, and below it the reading that waits or runs."""
    with st.expander("Read scanned pages"):
        st.caption(
            "Pages that are only pictures get words that can be searched, selected and highlighted, marked as OCR. "
            "Latin letters, digits and Chinese are read, Arabic and Cyrillic are not. It takes 5 to 15 seconds a page."
        )
        if not can_recognise():
            st.caption('The program for it is not installed on the server: pip install "assay[ocr]"')
        elif st.button("Read them", key="scans-read"):
            with ui.problems():
                jobs.queue(ui.db(), ui.actor(), project.project_id, SCANS, ScansParameters())
                st.rerun()
        last = latest_job(ui.db(), ui.actor(), project.project_id, kind=SCANS.name)
        if last is not None and last.state == JobState.DONE:
            st.caption(_said(last.result or {}))
    job_bar.running(project.project_id, SCANS.name)


def _said(result: dict[str, Any]) -> str:
    read, without = result.get("read", 0), result.get("without", 0)
    if not read and not without:
        return "Last time there was no page without text."
    more = f"; on {wording.count(without, 'page')} no text was found" if without else ""
    return f"Last time {wording.count(read, 'page')} got words{more}."
