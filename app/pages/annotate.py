"""Annotate: the annotator's page of one study, over the whole window."""

from __future__ import annotations

from app import ui
from app.widgets.annotate import annotate


def page() -> None:
    """Mount the component for `?study=ID`; what it may show is decided by the routes it asks."""
    actor = ui.actor()
    study_id = ui.integer_parameter("study")
    if study_id is None:
        ui.heading("Annotate")
        ui.empty("No study was chosen.", "Open one from the page Home.")
        return
    annotate(study_id, str(actor.person_id))
