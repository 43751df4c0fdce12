"""Draws pages before anybody asks for them: what annotators have at hand or get next, whenever nothing else is drawn.

Fifty people who open their first item in the same second would otherwise wait for fifty pages to be drawn.
"""

from __future__ import annotations

import time
from contextlib import suppress
from threading import Event, Thread

from annotators.errors import AssayError
from annotators.pages import PageNotDrawn
from app.state import AppState
from db.annotating.queued_pages import QueuedPage, StudyItemKey, queued_pages
from db.items.documents import document_file

LOOK_SECONDS = 5.0
"""How often the queues are looked at."""

PAUSE_SECONDS = 0.1
"""How long it steps back when somebody waits for a page."""

MOST_REMEMBERED = 50_000


class DrawingAhead:
    """A thread that draws one page after the other, and rests as long as it has drawn: half of a core at most."""

    def __init__(self, state: AppState) -> None:
        self._state, self._stopped = state, Event()
        self._done: set[StudyItemKey] = set()
        self._thread = Thread(target=self._run, name="drawing ahead", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop, after the page that is being drawn."""
        self._stopped.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stopped.wait(LOOK_SECONDS):
            with suppress(AssayError):  # a database that does not answer will be asked again
                self._draw_all(queued_pages(self._state.db, known=self._done))

    def _draw_all(self, queued: dict[StudyItemKey, QueuedPage | None]) -> None:
        for item, page in queued.items():
            if self._stopped.is_set():
                return
            if page is not None:
                self._draw(page)
            if len(self._done) >= MOST_REMEMBERED:
                self._done.clear()
            self._done.add(item)

    def _draw(self, page: QueuedPage) -> None:
        """Draw it, however often it has to give way."""
        path = document_file(self._state.settings.documents_folder, page.sha256)
        with suppress(PageNotDrawn, OSError):  # whoever opens it is told why
            drawn = False
            while not drawn and not self._stopped.is_set():
                begun = time.monotonic()
                drawn = self._state.pages.draw_ahead(page.sha256, path, page.media_type, page.page)
                self._stopped.wait(time.monotonic() - begun if drawn else PAUSE_SECONDS)
