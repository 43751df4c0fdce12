"""The pictures that judges are sent: pages of stored documents, or parts of them, drawn as for people."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

from sqlmodel import col

from annotators.judges.base import Picture
from annotators.pages.documents.renderer import Renderer
from annotators.pages.documents.results import WHOLE, PageNotDrawn
from db.engine import Database
from db.items.documents import document_file
from db.models import Document
from db.query import pick

WIDTH = 1024
"""Pixels: a page of text can be read at it."""

_KEPT = 64


class StoredPictures:
    """Draws pages (`annotators.judges.prompts.Pictures`); threads may share it. At most `most` go with a request."""

    def __init__(self, db: Database, folder: Path, renderer: Renderer, *, most: int, width: int = WIDTH) -> None:
        self._db, self._folder, self._renderer, self.most, self._width = db, folder, renderer, most, width
        self._drawn = lru_cache(_KEPT)(self._draw)

    def __call__(self, document: int, page: int, box: Sequence[float] | None) -> Picture | None:
        """The picture of a page (from 1), or of a box of it; None where there are no bytes, or they cannot be drawn."""
        return self._drawn(document, page, None if box is None else (box[0], box[1], box[2], box[3]))

    def _draw(self, document: int, page: int, box: tuple[float, float, float, float] | None) -> Picture | None:
        with self._db.read() as session:
            found = session.execute(
                pick(Document.sha256, Document.media_type).where(col(Document.id) == document)
            ).one_or_none()
        if found is None or found.sha256 is None:
            return None
        try:
            drawn = self._renderer.render(
                document_file(self._folder, found.sha256), found.media_type, page, self._width, box or WHOLE
            )
        except PageNotDrawn:
            return None
        return Picture(drawn.data, "image/png" if drawn.media_type == "image/png" else "image/jpeg")
