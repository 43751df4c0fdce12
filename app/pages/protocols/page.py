"""Protocols: what people can be asked in this project, one of them in full, and the place where one is written."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

import streamlit as st

from annotators.asking.versioned import VersionedName
from annotators.errors import NotFound
from annotators.protocols import PROTOCOLS, Protocol
from app import ui, unsaved, wording
from app.pages.protocols import editor
from app.widgets import blocks, previewing, protocol_view, study_form
from db.libraries import Entry
from db.permissions import RESEARCHERS
from db.projects import ProjectRow
from db.studies.library import list_protocols, named_protocol

NEW = "new"
"""In place of a name to change: a protocol that begins with little."""


def page() -> None:
    """Draw the list, `?protocol=NAME@VERSION` in full, or `?edit=NAME@VERSION` (or `new`) to be changed."""
    blocks.style()
    project = ui.project()
    may_write = ui.may(project.role, RESEARCHERS)
    wanted, edited = st.query_params.get("protocol"), st.query_params.get("edit")
    own = list_protocols(ui.db(), ui.actor(), project.project_id)
    if edited and may_write:
        editor.draw(project, edited, None if edited == NEW else _found(project, edited), own)
    elif wanted:
        _in_full(project, _found(project, wanted), own, may_write=may_write)
    else:
        _listed(project, own, may_write=may_write)


def _found(project: ProjectRow, name: str) -> Protocol:
    try:
        return named_protocol(ui.db(), ui.actor(), project.project_id, name=name)
    except NotFound:
        blocks.links(blocks.to("All protocols", "protocols", project=project.project_id))
        raise


# The list -------------------------------------------------------------------------------------------------------------


def _listed(project: ProjectRow, own: Sequence[Entry[Protocol]], *, may_write: bool) -> None:
    by_name = [list(versions) for _, versions in groupby(own, key=lambda entry: entry.kept.name)]
    taken = {entry.kept.name for entry in own}
    built_in = [protocol for protocol in PROTOCOLS if protocol.name not in taken]
    about = f"{len(built_in)} built in, {wording.count(len(by_name), 'protocol')} of the project’s own"
    ui.heading("Protocols", about)
    with st.container(horizontal=True, vertical_alignment="center", key="protocol-actions"):
        if may_write and st.button("New protocol", type="primary", key="protocols-new"):
            ui.go("protocols", edit=NEW, project=project.project_id)
        ui.link("Prompts of judges", "prompts", key="protocols-prompts", project=project.project_id)
    if may_write:
        unsaved.links(project, editor.PAGE)
    if by_name:
        blocks.table(
            f"Protocols of {project.name}",
            ("Protocol", "Name", "Version", "Criteria", "Overlap", "Studies", "Added"),
            [_own_row(versions, project) for versions in by_name],
        )
    else:
        ui.empty(
            "The project has no protocol of its own.",
            "Write one, or open a built-in one and change a copy. Versions are kept; studies hold a copy of theirs."
            if may_write
            else "A researcher of the project writes one; it then appears here.",
        )
    st.subheader("Built-in")
    blocks.table(
        "Built-in protocols",
        ("Protocol", "Name", "Version", "Asks"),
        [
            (
                blocks.to(protocol.title, "protocols", protocol=protocol.name, project=project.project_id),
                blocks.identifier(protocol.name),
                protocol.version,
                protocol.summary,
            )
            for protocol in built_in
        ],
    )


def _own_row(versions: Sequence[Entry[Protocol]], project: ProjectRow) -> tuple[object, ...]:
    newest = versions[0]
    protocol = newest.kept
    named = str(VersionedName(protocol.name, protocol.version))
    return (
        blocks.to(protocol.title, "protocols", protocol=named, project=project.project_id),
        blocks.identifier(protocol.name),
        protocol.version,
        len(protocol.criteria),
        protocol.overlap,
        sum(entry.used for entry in versions) or "",
        f"{newest.who}, {ui.when(newest.created_at)}",
    )


# One of them ----------------------------------------------------------------------------------------------------------


def _in_full(project: ProjectRow, protocol: Protocol, own: Sequence[Entry[Protocol]], *, may_write: bool) -> None:
    versions = [entry for entry in own if entry.kept.name == protocol.name]
    named = str(VersionedName(protocol.name, protocol.version))
    origin = "of the project’s own" if versions else "built in"
    ui.heading(protocol.title, f"{named}, {origin}. {protocol.summary}")
    links = [
        blocks.to("All protocols", "protocols", project=project.project_id),
        blocks.to("Prompts of judges", "prompts", project=project.project_id),
    ]
    links += [
        blocks.to(f"Version {entry.kept.version}", "protocols", project=project.project_id, protocol=str(other))
        for entry in versions
        if (other := VersionedName(protocol.name, entry.kept.version)) != (protocol.name, protocol.version)
    ]
    blocks.links(*links)
    unsaved.said()
    with st.container(horizontal=True, vertical_alignment="bottom", key="protocol-actions"):
        if may_write:
            previewing.choice(project, protocol, key="protocol")
            if st.button("Change" if versions else "Change a copy", key="protocol-edit"):
                ui.go("protocols", edit=named, project=project.project_id)
            if st.button("New study", type="primary", key="protocol-study"):
                st.session_state[study_form.PROTOCOL] = named
                ui.go("studies", new=1, project=project.project_id)
        protocol_view.download(protocol, "YAML", key="protocol-yaml")
    previewing.draw(project, protocol, key="protocol")
    protocol_view.draw(protocol)
