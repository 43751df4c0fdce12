"""Prompts: what judges are told in this project, one of them in full, two compared, and where one is written."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from itertools import groupby

import streamlit as st

from annotators.asking.versioned import VersionedName
from annotators.errors import NotFound
from annotators.judges.prompts import PROMPTS, AnyPrompt, Prompt, prompt_to_yaml
from app import ui, unsaved, wording
from app.pages.prompts import checking, comparing, editor, sending
from app.widgets import blocks
from db.judging.library import list_prompts, named_prompt
from db.libraries import Entry
from db.permissions import RESEARCHERS
from db.projects import ProjectRow

NEW = "new"
"""In place of a name to change: a prompt that begins with little."""


def page() -> None:
    """Draw the list, `?prompt=NAME@VERSION` in full (`with=` another one), or `?edit=NAME@VERSION` (or `new`)."""
    blocks.style()
    project = ui.project()
    may_write = ui.may(project.role, RESEARCHERS)
    wanted, edited, other = (st.query_params.get(name) for name in ("prompt", "edit", "with"))
    own = list_prompts(ui.db(), ui.actor(), project.project_id)
    if edited and may_write:
        editor.draw(project, edited, None if edited == NEW else _found(project, edited), own)
    elif wanted and other:
        comparing.draw(project, _found(project, wanted), _found(project, other))
    elif wanted:
        _in_full(project, _found(project, wanted), own, may_write=may_write)
    else:
        _listed(project, own, may_write=may_write)


def _found(project: ProjectRow, name: str) -> AnyPrompt:
    try:
        return named_prompt(ui.db(), ui.actor(), project.project_id, name=name)
    except NotFound:
        blocks.links(blocks.to("All prompts", "prompts", project=project.project_id))
        raise


# The list -------------------------------------------------------------------------------------------------------------


def _listed(project: ProjectRow, own: Sequence[Entry[AnyPrompt]], *, may_write: bool) -> None:
    by_name = [list(versions) for _, versions in groupby(own, key=lambda entry: entry.kept.name)]
    taken = {entry.kept.name for entry in own}
    built_in = [prompt for prompt in PROMPTS if prompt.name not in taken]
    about = f"{len(built_in)} built in, {wording.count(len(by_name), 'prompt')} of the project’s own"
    ui.heading("Prompts", about)
    if may_write and st.button("New prompt", type="primary", key="prompts-new"):
        ui.go("prompts", edit=NEW, project=project.project_id)
    if may_write:
        unsaved.links(project, editor.PAGE)
    if by_name:
        blocks.table(
            f"Prompts of {project.name}",
            ("Prompt", "Name", "Version", "For", "Examples", "Judges", "Added"),
            [_own_row(versions, project) for versions in by_name],
        )
    else:
        ui.empty(
            "The project has no prompt of its own.",
            "Write one, or open a built-in one and change a copy. Versions are kept; judges hold a copy of theirs."
            if may_write
            else "A researcher of the project writes one; it then appears here.",
        )
    for title, prompts in (
        ("Built-in, to judge", [prompt for prompt in built_in if isinstance(prompt, Prompt)]),
        ("Built-in, to write", [prompt for prompt in built_in if not isinstance(prompt, Prompt)]),
    ):
        st.subheader(title)
        rows = [
            (
                _to(prompt.title or prompt.name, project, prompt.name),
                blocks.identifier(prompt.name),
                for_what(prompt, project),
                len(prompt.examples) or "",
                prompt.source.partition(" (")[0],
            )
            for prompt in prompts
        ]
        blocks.table(title, ("Prompt", "Name", "For", "Examples", "After"), rows)


def _own_row(versions: Sequence[Entry[AnyPrompt]], project: ProjectRow) -> tuple[object, ...]:
    newest = versions[0]
    prompt = newest.kept
    return (
        _to(prompt.title or prompt.name, project, str(VersionedName(prompt.name, prompt.version))),
        blocks.identifier(prompt.name),
        prompt.version,
        for_what(prompt, project),
        len(prompt.examples) or "",
        sum(entry.used for entry in versions) or "",
        f"{newest.who}, {ui.when(newest.created_at)}",
    )


def _to(label: str, project: ProjectRow, name: str, other: str | None = None) -> blocks.Html:
    return blocks.to(label, "prompts", prompt=name, project=project.project_id, **{"with": other})


def for_what(prompt: AnyPrompt, project: ProjectRow) -> object:
    """What a prompt is for: a protocol, any, or what it writes."""
    if not isinstance(prompt, Prompt):
        return f"writing {prompt.in_words}"
    if not prompt.protocol:
        return "any protocol"
    return blocks.to(prompt.protocol, "protocols", protocol=prompt.protocol, project=project.project_id)


# One of them ----------------------------------------------------------------------------------------------------------


def _in_full(project: ProjectRow, prompt: AnyPrompt, own: Sequence[Entry[AnyPrompt]], *, may_write: bool) -> None:
    versions = [entry for entry in own if entry.kept.name == prompt.name]
    named = str(VersionedName(prompt.name, prompt.version))
    ui.heading(prompt.title or prompt.name, f"{named}, {'of the project’s own' if versions else 'built in'}")
    others = [entry.kept.version for entry in versions if entry.kept.version != prompt.version]
    blocks.links(
        blocks.to("All prompts", "prompts", project=project.project_id),
        *(_to(f"Version {number}", project, f"{prompt.name}@{number}") for number in others),
    )
    unsaved.said()
    with st.container(horizontal=True, vertical_alignment="bottom", key="prompt-actions"):
        if may_write:
            sending.choice(project, prompt)
            if st.button("Change" if versions else "Change a copy", type="primary", key="prompt-edit"):
                ui.go("prompts", edit=named, project=project.project_id)
        comparing.choice(project, prompt, own)
        st.download_button(
            "YAML",
            data=lambda: prompt_to_yaml(prompt),
            file_name=f"{prompt.name}.yaml",
            mime="application/yaml",
            on_click="ignore",
            key="prompt-yaml",
        )
    sending.draw(project, prompt)
    checking.draw(project, prompt, own, may_write=may_write)
    left, right = st.columns([3, 2], gap="large")
    with left:
        _said(prompt)
    with right:
        _about(project, prompt)
        _panel("Said first", prompt.system)


def _about(project: ProjectRow, prompt: AnyPrompt) -> None:
    facts: list[tuple[str, object]] = [("For", for_what(prompt, project))]
    if isinstance(prompt, Prompt):
        facts.append(("Rationale", "before the label" if prompt.rationale == "before" else "none"))
        facts.append(("Guidelines", "those of the protocol" if prompt.guidelines else "not sent"))
    blocks.facts([*facts, ("Hash", blocks.identifier(prompt.hash)), ("After", prompt.source)])


def _said(prompt: AnyPrompt) -> None:
    """What it says of each criterion, each with its examples; or of what is written."""
    if not isinstance(prompt, Prompt):
        examples = [
            _example(example.shown, _written(example.written), example.refusal, example.why)
            for example in prompt.examples
        ]
        _panel("What is to be done", prompt.instructions, *examples)
        return
    names = list(dict.fromkeys([*prompt.criteria, *(example.criterion for example in prompt.examples)]))
    for name in names:
        examples = [
            _example(example.shown, example.label, None, example.why)
            for example in prompt.examples
            if example.criterion == name
        ]
        _panel(name, prompt.criteria.get(name, ""), *examples)
    if not names:
        ui.empty("It says nothing of its own.", "Guidelines, criteria and labels come from the protocol alone.")


def _panel(title: str, text: str, *examples: str) -> None:
    with st.container(border=True):
        st.html(f'<p class="assay-soft" style="margin:0">{escape(title)}</p>')
        st.markdown(text)
        if examples:
            st.html("".join(examples))


def _written(written: list[str] | str | None) -> str:
    if isinstance(written, list):
        return "\n".join(written) or "(no claims)"
    return written or "(none)"


def _example(shown: str, given: str, refusal: str | None, why: str) -> str:
    rows = [("Shown", shown.strip()), ("Refusal", refusal or ""), ("Given", given), ("Why", why)]
    body = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in rows if text)
    return f'<dl class="assay-facts assay-example" dir="auto">{body}</dl>'
