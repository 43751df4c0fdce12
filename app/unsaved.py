"""What somebody writes on a page and has not saved: kept as it is written, so that a reload loses nothing."""

from __future__ import annotations

from dataclasses import dataclass

import streamlit as st

from app import ui
from app.widgets import blocks
from db.people.unsaved import keep_unsaved, my_unsaved
from db.projects import ProjectRow

_KEPT = "unsaved-texts"


@dataclass(frozen=True)
class UnsavedPlace:
    """Where it is written: a page of a project, and there what is changed (`?edit=`)."""

    project: ProjectRow
    page: str
    name: str

    def begin(self, text: str) -> str:
        """What the reader wrote here the last time, else the text that one begins with."""
        found = {row.name: row.text for row in my_unsaved(ui.db(), ui.actor(), self.project.project_id, page=self.page)}
        written = found.get(self.name)
        self._known()[self._key] = text if written is None else written
        return self._known()[self._key]

    def keep(self, text: str) -> None:
        """Keep what is written now, where it is not what it was."""
        if self._known().get(self._key) == text:
            return
        with ui.problems():
            self._store(text)
            self._known()[self._key] = text

    def forget(self) -> None:
        """It was saved, or given up."""
        self._known().pop(self._key, None)
        self._store(None)

    @property
    def _key(self) -> tuple[int, str, str]:
        return self.project.project_id, self.page, self.name

    def _known(self) -> dict[tuple[int, str, str], str]:
        """What is kept of each place that was opened in this session."""
        known: dict[tuple[int, str, str], str] = st.session_state.setdefault(_KEPT, {})
        return known

    def _store(self, text: str | None) -> None:
        keep_unsaved(ui.db(), ui.actor(), self.project.project_id, page=self.page, name=self.name, text=text)


def links(project: ProjectRow, page: str) -> None:
    """A line with links to everything that the reader has not saved on this page; none where there is nothing."""
    found = my_unsaved(ui.db(), ui.actor(), project.project_id, page=page)
    if found:
        st.caption("You have written and not saved:")
        named = [(f"{'a new one' if row.name == 'new' else row.name}, {ui.when(row.changed_at)}", row) for row in found]
        blocks.links(*(blocks.to(words, page, project=project.project_id, edit=row.name) for words, row in named))
