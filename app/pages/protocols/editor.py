"""Where a protocol is written: a form and YAML that change one object, what is wrong with it, and where it is kept."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators.asking.drafts import Draft
from annotators.asking.protocol_names import PROTOCOL_NAMES
from annotators.errors import Problem
from annotators.protocols import Protocol
from app import ui, wording
from app.pages.protocols import form
from app.unsaved import UnsavedPlace
from app.widgets import blocks, previewing
from db.libraries import Entry
from db.projects import ProjectRow
from db.studies.library import add_protocol

PAGE = "protocols"


def draw(project: ProjectRow, edited: str, protocol: Protocol | None, own: Sequence[Entry[Protocol]]) -> None:
    """The form beside the YAML of `protocol`, or of a new one, kept as it is written until it is saved or discarded."""
    place = UnsavedPlace(project, PAGE, edited)
    draft = place.draft(lambda: _begun(protocol, own))
    place.keep(draft.text)
    title = draft.data.get("title") or "Untitled"
    ui.heading(str(title), _about(draft, protocol))
    _toolbar(place, draft, own)
    previewing.draw(project, draft.protocol, key="protocol")
    left, right = st.columns([11, 9], gap="large")
    with right:
        _problems(draft, own)
        place.yaml(
            draft,
            "The same as the form. Leave the field, or press Ctrl + Enter, and the form follows; a change of the form "
            "writes it anew, without comments.",
        )
    with left:
        if draft.unreadable:
            st.info("The form comes back when the YAML can be read.")
        else:
            form.draw(draft)


def _begun(protocol: Protocol | None, own: Sequence[Entry[Protocol]]) -> Draft:
    """What one begins with: the project's own protocol, a copy of one that is built in, or little."""
    if protocol is None:
        return Draft.new()
    is_own = any(entry.kept.name == protocol.name for entry in own)
    return Draft.of(protocol, on=protocol.version if is_own else None)


def _about(draft: Draft, protocol: Protocol | None) -> str:
    if protocol is None:
        return "A new protocol. Form and YAML change the same; what is saved is version 1."
    if draft.on is None:
        return f"A copy of {protocol.title}, which is built in, under a name of its own."
    return f"From version {draft.on}. What is saved is a further version; studies keep theirs."


def _toolbar(place: UnsavedPlace, draft: Draft, own: Sequence[Entry[Protocol]]) -> None:
    project_id, protocol = place.project.project_id, draft.protocol
    ready = protocol is not None and not _taken(draft, own)
    with st.container(horizontal=True, vertical_alignment="bottom", key="protocol-actions"):
        pressed = st.button("Save to the project", type="primary", key="protocol-save", disabled=not ready)
        previewing.choice(place.project, protocol, key="protocol")
        place.discard_button("protocol-discard")
        ui.link("All protocols", PAGE, key="editor", project=project_id)
    if pressed and protocol is not None:
        on = draft.on if any(entry.kept.name == protocol.name for entry in own) else None
        place.save(lambda: add_protocol(ui.db(), ui.actor(), project_id, protocol=protocol, on=on), on)


# What is wrong --------------------------------------------------------------------------------------------------------


def _taken(draft: Draft, own: Sequence[Entry[Protocol]]) -> list[Problem]:
    """What is wrong with the name, where it is that of a built-in protocol which says something else."""
    protocol = draft.protocol
    if protocol is None or any(entry.kept.name == protocol.name for entry in own):
        return []
    what, _, remedy = (PROTOCOL_NAMES.taken(protocol) or "").partition(". ")
    return [Problem(draft.line_of("name"), f"{what}.", remedy, ("name",))] if what else []


def _problems(draft: Draft, own: Sequence[Entry[Protocol]]) -> None:
    """What is wrong, each with its line and the remedy; or that nothing is."""
    size = ""
    if draft.protocol is not None:
        steps, criteria = len(draft.protocol.steps), len(draft.protocol.criteria)
        size = f"{wording.count(criteria, 'criterion', 'criteria')} in {wording.count(steps, 'step')}"
    problems = [*draft.problems, *_taken(draft, own)]
    blocks.to_mend(problems, f"Nothing is wrong: {size}.", noun="Protocol", testid="protocol-problems")
