"""What is written on a page and saved to the project's library: kept as it is written, so a reload loses nothing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar

import streamlit as st

from annotators.asking.versioned import Versioned, VersionedName
from app import ui
from app.widgets import blocks
from db.libraries import Added
from db.people.unsaved import keep_unsaved, my_unsaved
from db.projects import ProjectRow

_KEPT = "unsaved-texts"
_DRAFTS = "unsaved-drafts"
_SAVED = "unsaved-saved"
_HEIGHT = 560
_STYLE = ".st-key-unsaved-text textarea { font-family: monospace; font-size: 0.82rem; line-height: 1.5; }"


class _Draft(Protocol):
    """What is written so far, as text, and what follows from it."""

    text: str

    def write(self, text: str, /) -> None: ...


Draft = TypeVar("Draft", bound=_Draft)
Kept = TypeVar("Kept", bound=Versioned)


@dataclass(frozen=True)
class UnsavedPlace:
    """Where it is written: a page of a project, and there what is changed (`?edit=`)."""

    project: ProjectRow
    page: str
    name: str

    def draft(self, new: Callable[[], Draft]) -> Draft:
        """What this session has written here; else what the reader wrote the last time, into what one begins with."""
        drafts: dict[tuple[int, str, str], Draft] = st.session_state.setdefault(_DRAFTS, {})
        found = drafts.get(self._key)
        if found is None:
            found = new()
            rows = my_unsaved(ui.db(), ui.actor(), self.project.project_id, page=self.page)
            written = next((row.text for row in rows if row.name == self.name), found.text)
            if written != found.text:
                found.write(written)
            self._known()[self._key] = written
            drafts[self._key] = found
        return found

    def keep(self, text: str) -> None:
        """Keep what is written now, where it is not what it was."""
        if self._known().get(self._key) == text:
            return
        with ui.problems():
            self._store(text)
            self._known()[self._key] = text

    def yaml(self, draft: _Draft, hint: str) -> None:
        """The field in which it is written."""
        key = f"{self.page}-text-{self.project.project_id}-{self.name}"
        st.session_state[key] = draft.text
        st.html(f"<style>{_STYLE}</style>")
        with st.container(key="unsaved-text"):
            st.text_area(
                "YAML", key=key, height=_HEIGHT, on_change=lambda: draft.write(st.session_state[key]), help=hint
            )

    def discard_button(self, key: str) -> None:
        """Give up what was written, and go back to the list."""
        if st.button("Discard", type="tertiary", key=key, help="Give up what was written here."):
            self.forget()
            ui.go(self.page, project=self.project.project_id)

    def save(self, add: Callable[[], Added[Kept]], on: int | None) -> None:
        """Add it to the library as a version after `on`, and open it there, where `said` says what that came to."""
        with ui.problems():
            added = add()
            self.forget()
            named = str(VersionedName(added.kept.name, added.kept.version))
            st.session_state[_SAVED] = blocks.what_was_added(named, on, added.since, new=added.new)
            ui.go(self.page, **{self.page.removesuffix("s"): named, "project": self.project.project_id})

    def forget(self) -> None:
        """It was saved, or given up."""
        st.session_state.get(_DRAFTS, {}).pop(self._key, None)
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


def said() -> None:
    """What saving came to, on the page that opens after it."""
    words, warn = st.session_state.pop(_SAVED, ("", False))
    if words:
        (st.warning if warn else st.success)(ui.plain(words))


def links(project: ProjectRow, page: str) -> None:
    """A line with links to everything that the reader has not saved on this page; none where there is nothing."""
    found = my_unsaved(ui.db(), ui.actor(), project.project_id, page=page)
    if found:
        st.caption("You have written and not saved:")
        named = [(f"{'a new one' if row.name == 'new' else row.name}, {ui.when(row.changed_at)}", row) for row in found]
        blocks.links(*(blocks.to(words, page, project=project.project_id, edit=row.name) for words, row in named))
