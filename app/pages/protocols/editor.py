"""Where a protocol is written: a form and YAML that change one object, what is wrong with it, and where it is kept."""

from __future__ import annotations

from collections.abc import Sequence

import streamlit as st

from annotators.asking.drafts import Draft
from annotators.asking.protocol_names import PROTOCOL_NAMES
from annotators.asking.versioned import VersionedName
from annotators.errors import Problem
from annotators.protocols import Protocol
from app import ui, wording
from app.pages.protocols import form, trying
from app.unsaved import UnsavedPlace
from app.widgets import blocks
from db.libraries import Added, Entry
from db.projects import ProjectRow
from db.studies.library import add_protocol

PAGE = "protocols"
_DRAFTS = "protocol-drafts"
_SAVED = "protocol-saved"
_HEIGHT = 560
_STYLE = """
.st-key-protocol-side textarea { font-family: monospace; font-size: 0.82rem; line-height: 1.5; }
"""


def draw(project: ProjectRow, edited: str, protocol: Protocol | None, own: Sequence[Entry[Protocol]]) -> None:
    """The form beside the YAML of `protocol`, or of a new one, kept as it is written until it is saved or discarded."""
    draft = _draft(project, edited, protocol, own)
    _place(project, edited).keep(draft.text)
    title = draft.data.get("title") or "Untitled"
    ui.heading(str(title), _about(draft, protocol))
    _toolbar(project, edited, draft, own)
    trying.draw(project, draft.protocol)
    left, right = st.columns([11, 9], gap="large")
    st.html(f"<style>{_STYLE}</style>")
    with right, st.container(key="protocol-side"):
        _problems(draft, own)
        _yaml(project, edited, draft)
    with left:
        if draft.unreadable:
            st.info("The form comes back when the YAML can be read.")
        else:
            form.draw(draft)


def _draft(project: ProjectRow, edited: str, protocol: Protocol | None, own: Sequence[Entry[Protocol]]) -> Draft:
    """The draft of this address: what its reader has not saved, else begun from the protocol."""
    drafts: dict[tuple[int, str], Draft] = st.session_state.setdefault(_DRAFTS, {})
    found = drafts.get((project.project_id, edited))
    if found is None:
        is_own = protocol is not None and any(entry.kept.name == protocol.name for entry in own)
        found = Draft.new() if protocol is None else Draft.of(protocol, on=protocol.version if is_own else None)
        written = _place(project, edited).begin(found.text)
        if written != found.text:
            found.write(written)
        drafts[project.project_id, edited] = found
    return found


def _about(draft: Draft, protocol: Protocol | None) -> str:
    if protocol is None:
        return "A new protocol. Form and YAML change the same; what is saved is version 1."
    if draft.on is None:
        return f"A copy of {protocol.title}, which is built in, under a name of its own."
    return f"From version {draft.on}. What is saved is a further version; studies keep theirs."


def _toolbar(project: ProjectRow, edited: str, draft: Draft, own: Sequence[Entry[Protocol]]) -> None:
    ready = draft.protocol is not None and not _taken(draft, own)
    with st.container(horizontal=True, vertical_alignment="bottom", key="protocol-actions"):
        pressed = st.button("Save to the project", type="primary", key="protocol-save", disabled=not ready)
        trying.choice(project, draft.protocol)
        if st.button("Discard", type="tertiary", key="protocol-discard", help="Give up what was written here."):
            _forget(project, edited)
            ui.go("protocols", project=project.project_id)
        ui.link("All protocols", "protocols", key="editor", project=project.project_id)
    if pressed and draft.protocol is not None:
        with ui.problems():
            on = draft.on if any(entry.kept.name == draft.protocol.name for entry in own) else None
            added = add_protocol(ui.db(), ui.actor(), project.project_id, protocol=draft.protocol, on=on)
            _forget(project, edited)
            named = str(VersionedName(added.kept.name, added.kept.version))
            st.session_state[_SAVED] = _words(added, on)
            ui.go("protocols", protocol=named, project=project.project_id)


def _place(project: ProjectRow, edited: str) -> UnsavedPlace:
    return UnsavedPlace(project, PAGE, edited)


def _forget(project: ProjectRow, edited: str) -> None:
    st.session_state.get(_DRAFTS, {}).pop((project.project_id, edited), None)
    _place(project, edited).forget()


def _words(added: Added[Protocol], on: int | None) -> tuple[str, bool]:
    """What saving came to, and whether somebody should look at what others did."""
    return blocks.what_was_added(f"{added.kept.name}@{added.kept.version}", on, added.since, new=added.new)


def said() -> None:
    """What saving came to, on the page that opens after it."""
    words, warn = st.session_state.pop(_SAVED, ("", False))
    if words:
        (st.warning if warn else st.success)(ui.plain(words))


# YAML and what is wrong -----------------------------------------------------------------------------------------------


def _yaml(project: ProjectRow, edited: str, draft: Draft) -> None:
    key = f"protocol-text-{project.project_id}-{edited}"
    st.session_state[key] = draft.text
    st.text_area(
        "YAML",
        key=key,
        height=_HEIGHT,
        on_change=lambda: draft.write(st.session_state[key]),
        help="The same as the form. Leave the field, or press Ctrl + Enter, and the form follows; a change of the form "
        "writes it anew, without comments.",
    )


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
