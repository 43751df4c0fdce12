"""A draft: what it would make, and what can be done with it while nothing of it is frozen."""

from __future__ import annotations

from typing import Any

import streamlit as st

from annotators.designing.files import design_data, said_of
from annotators.errors import InvalidInput
from annotators.items.pairs import in_words
from app import ui, wording
from app.widgets import blocks, previewing, protocol_view, study_form
from db.annotating.previews import items_to_preview
from db.designing.drafts import DraftOfStudy, delete_draft, drafts_of, start_draft
from db.designing.making import plan_study
from db.permissions import RESEARCHERS


def draw(draft_id: int) -> None:
    """The draft of this id in the project; where it is none any more, the way back."""
    project = ui.project()
    found = next((row for row in drafts_of(ui.db(), ui.actor(), project.project_id) if row.draft_id == draft_id), None)
    if found is None:
        ui.heading("Draft")
        ui.empty("This draft is not there any more.", "It was started or deleted. The page Studies has what it became.")
        ui.link("All studies", "studies", key="draft-studies")
        return
    by = f" by {found.by}" if found.by else ""
    ui.heading(found.design.name, f"{found.protocol.title}, a draft: changed {ui.when(found.changed_at)}{by}")
    blocks.links(blocks.tag("draft", quiet=True), blocks.to("All studies", "studies", project=project.project_id))
    if ui.may(project.role, RESEARCHERS):
        _size(found)
        _buttons(found)
        _preview(found)
    blocks.facts([(_words(name), said_of(name, value)) for name, value in _said(found)])
    with st.expander(f"{ui.plain(found.protocol.title)} as annotators read it"):
        protocol_view.draw(found.protocol)


_MOST_OFFERED = 200


def _preview(draft: DraftOfStudy) -> None:
    """The draft's own items as its annotators would get them, one at a time, every step."""
    about: dict[str, Any] = {"protocol": draft.protocol, "design": draft.design}
    try:
        items = items_to_preview(ui.db(), ui.actor(), draft.project_id, **about)
    except InvalidInput:  # the page says above why nothing can be drawn
        return
    key = f"draft-{draft.draft_id}"
    with st.container(horizontal=True, vertical_alignment="bottom", key="draft-preview"):
        item = st.selectbox(
            f"Its {draft.protocol.noun}s, in order",
            items[:_MOST_OFFERED],
            format_func=in_words,
            key=f"{key}-item",
            help=f"The first {_MOST_OFFERED:,} at most, then those whose right labels are known.",
            width=330,
        )
        if st.button("Preview as annotator", key="draft-preview-open"):
            previewing.show(key, item)
    previewing.draw(ui.project(), draft.protocol, key=key, design=draft.design)


def _said(draft: DraftOfStudy) -> list[tuple[str, object]]:
    return [(name, value) for name, value in design_data(draft.design).items() if name not in ("name", "protocol")]


def _words(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _size(draft: DraftOfStudy) -> None:
    """What starting it now would make, or why that cannot be."""
    protocol, design = draft.protocol, draft.design
    try:
        plan = plan_study(ui.db(), ui.actor(), draft.project_id, protocol=protocol, design=design, people=False)
    except InvalidInput as error:
        st.warning(ui.lines(str(error)))
        return
    slots = wording.count(plan.n_slots, "slot")
    st.write(f"Started now, it has {wording.count(plan.n_items, protocol.noun)} and {slots}.")
    for note in plan.notes:
        st.caption(ui.plain(note))


def _buttons(draft: DraftOfStudy) -> None:
    name, project = draft.design.name, ui.project()
    with st.container(horizontal=True, vertical_alignment="center", key="draft-buttons"):
        if st.button("Start", type="primary", key="draft-start", help="Freezes it; annotators get items at once."):
            with ui.problems(), st.spinner("Making the study"):
                made = start_draft(ui.db(), ui.actor(), draft.project_id, name=name)
                ui.go("study", study=made.study_id, project=draft.project_id)
        if st.button("Change…", key="draft-change"):
            study_form.change(project, draft)
        with st.popover("Delete"):
            st.write("The draft is gone then; nobody has labelled anything of it.")
            if st.button("Delete the draft", type="primary", key="draft-delete"):
                with ui.problems():
                    delete_draft(ui.db(), ui.actor(), draft.project_id, name=name)
                    ui.go("studies", project=draft.project_id)
