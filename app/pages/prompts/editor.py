"""Where a prompt is written: its YAML, what is wrong with it, what tells it from the one it began as, and saving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import streamlit as st

from annotators.asking.protocol_files import line_of
from annotators.errors import InvalidInput, NotFound, Problem
from annotators.judges.prompts import PROMPT_NAMES, AnyPrompt, Prompt, any_prompt_from_yaml, prompt_to_yaml
from app import ui, wording
from app.pages.prompts import comparing
from app.unsaved import UnsavedPlace
from app.widgets import blocks
from db.judging.library import add_prompt
from db.libraries import Entry
from db.projects import ProjectRow
from db.studies.library import named_protocol

PAGE = "prompts"
_START = Prompt(name="my_prompt", title="My prompt", protocol="ambiguity", criteria={"ambiguity": "Go about it so: …"})


@dataclass
class _Draft:
    """What is written so far; the prompt that it says, where nothing is wrong."""

    text: str
    begun: AnyPrompt | None
    on: int | None
    problems: list[Problem] = field(default_factory=list)
    prompt: AnyPrompt | None = None

    def write(self, text: str) -> None:
        """Put another text in its place."""
        self.text = text


def draw(project: ProjectRow, edited: str, prompt: AnyPrompt | None, own: Sequence[Entry[AnyPrompt]]) -> None:
    """The YAML of `prompt`, or of a new one, beside what is wrong; it is kept until it is saved or given up."""
    place = UnsavedPlace(project, PAGE, edited)
    draft = place.draft(lambda: _begun(prompt, own))
    place.keep(draft.text)
    _look(project, draft, own)
    ui.heading(_title(draft), _about(draft))
    _toolbar(place, draft, own)
    left, right = st.columns([11, 9], gap="large")
    with left:
        place.yaml(draft, "Leave the field, or press Ctrl + Enter, to see what is wrong and what has changed.")
    with right:
        size = wording.count(len(draft.prompt.examples), "example") if draft.prompt else ""
        blocks.to_mend(draft.problems, f"Nothing is wrong: {size}.", noun="Prompt", testid="prompt-problems")
        if draft.prompt is not None and draft.begun is not None:
            st.subheader("Changed so far")
            comparing.difference(draft.begun, draft.prompt)


def _begun(prompt: AnyPrompt | None, own: Sequence[Entry[AnyPrompt]]) -> _Draft:
    """What one begins with: the project's own prompt, a copy of one that is built in, or little."""
    if prompt is None:
        return _Draft(prompt_to_yaml(_START), None, None)
    if any(entry.kept.name == prompt.name for entry in own):
        return _Draft(prompt_to_yaml(prompt), prompt, prompt.version)
    copy = prompt.model_copy(update={"name": f"my_{prompt.name}", "version": 1})
    return _Draft(prompt_to_yaml(copy), prompt, None)


def _title(draft: _Draft) -> str:
    prompt = draft.prompt or draft.begun
    return (prompt.title or prompt.name) if prompt else "New prompt"


def _about(draft: _Draft) -> str:
    if draft.begun is None:
        return "A new prompt. What is saved is version 1."
    if draft.on is None:
        return f"A copy of {draft.begun.name}, which is built in, under a name of its own."
    return f"From version {draft.on}. What is saved is a further version; judges keep theirs."


def _toolbar(place: UnsavedPlace, draft: _Draft, own: Sequence[Entry[AnyPrompt]]) -> None:
    project_id, prompt = place.project.project_id, draft.prompt
    with st.container(horizontal=True, vertical_alignment="bottom", key="prompt-actions"):
        pressed = st.button("Save to the project", type="primary", key="prompt-save", disabled=prompt is None)
        place.discard_button("prompt-discard")
        ui.link("All prompts", PAGE, key="prompt-editor", project=project_id)
    if pressed and prompt is not None:
        on = draft.on if any(entry.kept.name == prompt.name for entry in own) else None
        place.save(lambda: add_prompt(ui.db(), ui.actor(), project_id, prompt=prompt, on=on), on)


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
