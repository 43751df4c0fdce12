"""What one web process holds for all its requests: settings, the database, the pages. Nothing durable."""

from __future__ import annotations

from dataclasses import dataclass

from annotators.pages import Limits, PageCache, Renderer
from annotators.scorers.shared.offered_models import offer
from app.copies import clear_left
from app.server.upload_store import UploadStore
from app.settings import Settings
from app.worker.reports import Reports
from db import schema
from db.engine import Database
from db.faults import check_for_loss
from db.waiting import deadline


@dataclass(frozen=True)
class AppState:
    """The shared parts of a web process."""

    settings: Settings
    db: Database
    renderer: Renderer
    pages: PageCache
    uploads: UploadStore
    reports: Reports

    def close(self) -> None:
        """End the processes that measure and those that draw pages, remove uploaded files, and leave the database."""
        self.reports.close()
        self.renderer.close()
        self.uploads.close()
        self.db.dispose()


_current: list[AppState] = []


def open_state(settings: Settings) -> AppState:
    """Make the home folder, bring the database up to date, and keep the state for `app_state`."""
    settings.prepare()
    clear_left(settings)
    offer(settings.models)
    db = Database(settings.database, wait_seconds=settings.wait_seconds)
    db.enter()
    check_for_loss(db.url, documents=settings.documents_folder, backups=settings.backups_folder)
    schema.migrate(db, backups=settings.backups_folder)
    limits = Limits(
        seconds=settings.render_seconds,
        memory_bytes=settings.render_memory_mb << 20,
        wait_seconds=settings.wait_seconds,
    )
    renderer = Renderer(limits, workers=settings.render_workers, deadline=deadline)
    pages = PageCache(settings.pages_folder, renderer, max_bytes=settings.page_cache_mb << 20)
    uploads = UploadStore(
        settings.uploads_folder, most=settings.upload_mb << 20, most_of_a_person=settings.uploads_mb << 20
    )
    uploads.prepare()
    state = AppState(settings, db, renderer, pages, uploads, Reports(settings))
    _current[:] = [state]
    return state


def app_state() -> AppState:
    """The state of this process. Streamlit's pages take it from here; it is there before the first of them runs."""
    if not _current:
        raise RuntimeError("the app was not started through app.server (assay serve, or uvicorn app.server:app)")
    return _current[0]
