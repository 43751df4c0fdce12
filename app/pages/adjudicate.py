"""Adjudicate: the disputes of one study over the whole window, or which study has some."""

from __future__ import annotations

from annotators.errors import NotFound
from app import ui, wording
from app.widgets.adjudicate import adjudicate
from db.permissions import Actor
from db.preferences import my_preferences
from db.studies import StudyRow, my_studies


def page() -> None:
    """Mount the component for `?study=ID`, or for the only study of the project that has disputes; else offer them."""
    actor = ui.actor()
    studies = [row for row in my_studies(ui.db(), actor) if row.may_adjudicate]
    wanted = ui.integer_parameter("study")
    if wanted is not None:
        found = next((row for row in studies if row.study_id == wanted), None)
        if found is None:
            raise NotFound(f"There is no study with id {wanted} that {actor.name!r} can adjudicate.")
        _mount(found, actor)
        return
    disputed = [row for row in studies if row.disputed]
    here = ui.project().project_id
    own = [row for row in disputed if row.project_id == here]
    if len(own) == 1:
        _mount(own[0], actor)
        return
    ui.heading("Adjudicate")
    if not disputed:
        _nothing(studies)
    for row in own or disputed:
        label = f"{row.name} ({row.project}): {wording.count(row.disputed, 'disputed item')}"
        ui.link(label, "adjudicate", key="choose", study=row.study_id, project=row.project_id)


def _mount(row: StudyRow, actor: Actor) -> None:
    back = f"/sign-in?next=/adjudicate%3Fstudy%3D{row.study_id}"
    own = my_preferences(ui.db(), actor)
    adjudicate(row.study_id, str(actor.person_id), row.project, preferences=own, sign_in=back)


def _nothing(studies: list[StudyRow]) -> None:
    if not studies:
        ui.empty("There is no study to adjudicate yet.", "A researcher makes one on the page Studies.")
        return
    left = sum(max(0, row.slots - row.submitted) for row in studies)
    more = "Items on which annotators disagree appear here once they have all their annotations"
    ui.empty("Nothing is disputed.", f"{more}; {wording.count(left, 'annotation')} to come." if left else f"{more}.")
