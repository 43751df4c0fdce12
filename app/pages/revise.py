"""Revise: items that fail acceptance, one after the other over the whole window, one of them, or a list of them."""

from __future__ import annotations

import streamlit as st

from app import ui, wording
from app.widgets import blocks
from app.widgets.revise import revise
from db.people.preferences import my_preferences
from db.permissions import Actor, Role
from db.projects import my_projects
from db.releasing.revising import MOST, RevisionQueue, revision_queue
from db.studies.remarks import item_place

LISTED = 50


def page() -> None:
    """Mount the component for `?queue=1` or `?item=ID`; without either, list what waits in the project."""
    actor = ui.actor()
    item_id = ui.integer_parameter("item")
    if item_id is not None:
        place = item_place(ui.db(), actor, item_id=item_id)
        role = {row.project_id: row.role for row in my_projects(ui.db(), actor)}[place.project_id]
        back = {"project": place.project_id} if role is Role.REVISER else {"item": item_id}
        home = blocks.address("revise" if role is Role.REVISER else "item", **back)
        _mount(actor, place.project_id, item=item_id, home=home)
        return
    project = ui.project()
    if ui.integer_parameter("queue"):
        _mount(actor, project.project_id, home=blocks.address("revise", project=project.project_id))
        return
    blocks.style()
    only_revises = project.role is Role.REVISER
    found = revision_queue(ui.db(), actor, project.project_id)
    ui.heading("Revise", f"{_count(found)} in {project.name} {'waits' if len(found.waiting) == 1 else 'wait'} for you")
    if not found.waiting:
        ui.empty(
            "Nothing waits to be revised.",
            "Items whose settled labels their protocol does not accept appear here."
            + (" Those that you judged or wrote do not." if only_revises else " Any item is revised from its page."),
        )
        return
    if st.button("Begin", type="primary", key="revise-begin"):
        ui.go("revise", project=project.project_id, queue=1)
    held = {lease.item_id: lease.by for lease in found.held}
    blocks.table(
        "Items to revise",
        ("Item", "What fails", "Before somebody now", ""),
        [
            (
                row.item if only_revises else blocks.item(row.item, row.item_id, project.project_id),
                ", ".join(row.fails),
                held.get(row.item_id, ""),
                blocks.button("Revise", "revise", item=row.item_id),
            )
            for row in found.waiting[:LISTED]
        ],
    )
    if len(found.waiting) > LISTED:
        st.caption(f"The first {LISTED} of {_count(found)}.")


def _count(found: RevisionQueue) -> str:
    n = len(found.waiting)
    return wording.at_least([n], "item", most=MOST)


def _mount(actor: Actor, project_id: int, *, home: str, item: int | None = None) -> None:
    wanted = f"item%3D{item}" if item else f"project%3D{project_id}%26queue%3D1"
    own = my_preferences(ui.db(), actor)
    revise(
        project_id,
        str(actor.person_id),
        preferences=own,
        item=item,
        home=home,
        sign_in=f"/sign-in?next=/revise%3F{wanted}",
    )
