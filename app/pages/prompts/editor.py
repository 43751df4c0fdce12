"""Where a prompt is written: its YAML, what is wrong with it, what tells it from the one it began as, and saving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from annotators.asking.protocol_files import line_of
from annotators.asking.versioned import VersionedName
from annotators.errors import InvalidInput, NotFound, Problem
from annotators.judges.prompts import PROMPT_NAMES, AnyPrompt, Prompt, any_prompt_from_yaml, prompt_to_yaml
from app import ui, wording
from app.pages.prompts import comparing
from app.unsaved import UnsavedPlace
from app.widgets import blocks
from db.judging.library import add_prompt
from db.libraries import Added, Entry
from db.projects import ProjectRow
from db.studies.library import named_protocol

PAGE = "prompts"
_DRAFTS = "prompt-drafts"
_SAVED = "prompt-saved"
_HEIGHT = 560
_STYLE = """
.st-key-prompt-text textarea { font-family: monospace; font-size: 0.82rem; line-height: 1.5; }
"""
_START = Prompt(name="my_prompt", title="My prompt", protocol="ambiguity", criteria={"ambiguity": "Go about it so: …"})


@dataclass
class _Draft:
    """What is written so far; the prompt that it says, where nothing is wrong."""

    text: str
    begun: AnyPrompt | None
    on: int | None
    problems: list[Problem] = field(default_factory=list)
    prompt: AnyPrompt | None = None


def draw(project: ProjectRow, edited: str, prompt: AnyPrompt | None, own: Sequence[Entry[AnyPrompt]]) -> None:
    """The YAML of `prompt`, or of a new one, beside what is wrong; it is kept until it is saved or given up."""
    draft = _draft(project, edited, prompt, own)
    _place(project, edited).keep(draft.text)
    _look(project, draft, own)
    ui.heading(_title(draft), _about(draft))
    _toolbar(project, edited, draft, own)
    left, right = st.columns([11, 9], gap="large")
    st.html(f"<style>{_STYLE}</style>")
    with left, st.container(key="prompt-text"):
        _yaml(project, edited, draft)
    with right:
        size = wording.count(len(draft.prompt.examples), "example") if draft.prompt else ""
        blocks.to_mend(draft.problems, f"Nothing is wrong: {size}.", noun="Prompt", testid="prompt-problems")
        if draft.prompt is not None and draft.begun is not None:
            st.subheader("Changed so far")
            comparing.difference(draft.begun, draft.prompt)


def _draft(project: ProjectRow, edited: str, prompt: AnyPrompt | None, own: Sequence[Entry[AnyPrompt]]) -> _Draft:
    """The draft of this address: what its reader has not saved, else begun from the prompt."""
    drafts: dict[tuple[int, str], _Draft] = st.session_state.setdefault(_DRAFTS, {})
    found = drafts.get((project.project_id, edited))
    if found is None:
        if prompt is None:
            found = _Draft(prompt_to_yaml(_START), None, None)
        elif any(entry.kept.name == prompt.name for entry in own):
            found = _Draft(prompt_to_yaml(prompt), prompt, prompt.version)
        else:
            copy = prompt.model_copy(update={"name": f"my_{prompt.name}", "version": 1})
            found = _Draft(prompt_to_yaml(copy), prompt, None)
        found.text = _place(project, edited).begin(found.text)
        drafts[project.project_id, edited] = found
    return found


def _title(draft: _Draft) -> str:
    prompt = draft.prompt or draft.begun
    return (prompt.title or prompt.name) if prompt else "New prompt"


def _about(draft: _Draft) -> str:
    if draft.begun is None:
        return "A new prompt. What is saved is version 1."
    if draft.on is None:
        return f"A copy of {draft.begun.name}, which is built in, under a name of its own."
    return f"From version {draft.on}. What is saved is a further version; judges keep theirs."


def _toolbar(project: ProjectRow, edited: str, draft: _Draft, own: Sequence[Entry[AnyPrompt]]) -> None:
    with st.container(horizontal=True, vertical_alignment="bottom", key="prompt-actions"):
        pressed = st.button("Save to the project", type="primary", key="prompt-save", disabled=draft.prompt is None)
        if st.button("Discard", type="tertiary", key="prompt-discard", help="Give up what was written here."):
            _forget(project, edited)
            ui.go("prompts", project=project.project_id)
        ui.link("All prompts", "prompts", key="prompt-editor", project=project.project_id)
    if pressed and draft.prompt is not None:
        with ui.problems():
            on = draft.on if any(entry.kept.name == draft.prompt.name for entry in own) else None
            added = add_prompt(ui.db(), ui.actor(), project.project_id, prompt=draft.prompt, on=on)
            _forget(project, edited)
            named = str(VersionedName(added.kept.name, added.kept.version))
            st.session_state[_SAVED] = _words(added, on)
            ui.go("prompts", prompt=named, project=project.project_id)


def _place(project: ProjectRow, edited: str) -> UnsavedPlace:
    return UnsavedPlace(project, PAGE, edited)


def _forget(project: ProjectRow, edited: str) -> None:
    st.session_state.get(_DRAFTS, {}).pop((project.project_id, edited), None)
    _place(project, edited).forget()


def _words(added: Added[AnyPrompt], on: int | None) -> tuple[str, bool]:
    return blocks.what_was_added(f"{added.kept.name}@{added.kept.version}", on, added.since, new=added.new)


def said() -> None:
    """What saving came to, on the page that opens after it."""
    words, warn = st.session_state.pop(_SAVED, ("", False))
    if words:
        (st.warning if warn else st.success)(ui.plain(words))


def _yaml(project: ProjectRow, edited: str, draft: _Draft) -> None:
    key = f"prompt-text-{project.project_id}-{edited}"
    st.session_state[key] = draft.text

    def write() -> None:
        draft.text = st.session_state[key]

    st.text_area(
        "YAML",
        key=key,
        height=_HEIGHT,
        on_change=write,
        help="Leave the field, or press Ctrl + Enter, to see what is wrong and what has changed.",
    )


def _look(project: ProjectRow, draft: _Draft, own: Sequence[Entry[AnyPrompt]]) -> None:
    """See what is wrong with what is written."""
    draft.prompt = None
    try:
        prompt = any_prompt_from_yaml(draft.text)
    except InvalidInput as error:
        draft.problems = list(error.problems) or [Problem.of(str(error))]
        return
    draft.problems = _unfit(project, draft.text, prompt)
    if not any(entry.kept.name == prompt.name for entry in own) and (taken := PROMPT_NAMES.taken(prompt)):
        draft.problems.append(Problem.of(taken, ("name",), line_of(draft.text, "name")))
    if not draft.problems:
        draft.prompt = prompt


def _unfit(project: ProjectRow, text: str, prompt: AnyPrompt) -> list[Problem]:
    """Why it does not fit the protocol that it names."""
    if not isinstance(prompt, Prompt) or not prompt.protocol:
        return []
    try:
        protocol = named_protocol(ui.db(), ui.actor(), project.project_id, name=prompt.protocol)
    except (InvalidInput, NotFound) as error:
        return [Problem.of(str(error), ("protocol",), line_of(text, "protocol"))]
    return [Problem.of(fault, place, line_of(text, *place)) for place, fault in prompt.faults_at(protocol)]
