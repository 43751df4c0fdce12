"""Annotate: the annotator's page of one study, over the whole window."""

from __future__ import annotations

from app import ui
from app.widgets.annotate import annotate
from db.inviting.joining import is_from_outside
from db.people.preferences import my_preferences
from db.studies.design import my_studies


def page() -> None:
    """Mount the component for `?study=ID`; `&assignment=ID` opens that item first.

    What it may show is decided by the routes it asks.
    """
    actor = ui.actor()
    study_id = ui.integer_parameter("study")
    if study_id is not None:
        again = f"/sign-in?next=/annotate%3Fstudy%3D{study_id}"
        annotate(
            study_id,
            str(actor.person_id),
            preferences=my_preferences(ui.db(), actor),
            assignment=ui.integer_parameter("assignment"),
            sign_in=again,
            leave=f"/leave/{study_id}" if is_from_outside(ui.db(), actor, study_id) else "",
        )
        return
    ui.heading("Annotate")
    studies = [row for row in my_studies(ui.db(), actor) if row.is_annotator]
    if not studies:
        ui.empty("You are in no study.", "A researcher adds you to one; it then appears here and on the page Home.")
    for row in studies:
        ui.link(f"{row.name} ({row.project})", "annotate", key="choose", study=row.study_id)
