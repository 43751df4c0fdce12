"""Pages of documents as pictures, for formats that have a place for pictures: drawn, or as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from annotators.errors import InvalidInput

if TYPE_CHECKING:
    from annotators.pages.documents.renderer import Renderer

_WIDTH = 1_200
"""Pixels that a page is wide where it is drawn; a part of it has the pixels that it has there."""

_LARGEST = 32 << 20
_AS_THEY_ARE = ("image/png", "image/jpeg", "image/webp")


class PagePictures:
    """The pictures of the pages of some documents, by their keys. What cannot be drawn has none, and is counted."""

    def __init__(self, paths: Mapping[str, Path]) -> None:
        self._paths, self._kinds = paths, dict[str, str]()
        self._renderer: Renderer | None = None
        self.drawn = 0
        self.missing: set[tuple[str, int]] = set()
        """Documents and pages that are not supplied, or could not be drawn."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._renderer is not None:
            self._renderer.close()

    def __call__(self, document: str, page: int, box: Sequence[float] | None) -> bytes | None:
        """The bytes of a PNG or JPEG file of a page (from 1), or of the part of it in `box` (fractions); or None."""
        data = self._picture(document, page, box)
        self.drawn += data is not None
        return data

    def _picture(self, document: str, page: int, box: Sequence[float] | None) -> bytes | None:
        from annotators.pages.documents.kinds import PDF, PICTURES, sniff  # noqa: PLC0415 - formats are listed without it
        from annotators.pages.documents.renderer import Renderer  # noqa: PLC0415
        from annotators.pages.documents.results import WHOLE, PageNotDrawn  # noqa: PLC0415

        path = self._paths.get(document)
        if path is None:
            self.missing.add((document, page))
            return None
        if document not in self._kinds:
            try:
                self._kinds[document] = sniff(path.read_bytes(), document)
            except InvalidInput:
                self._kinds[document] = ""
        media_type = self._kinds[document]
        if media_type not in (PDF, *PICTURES):
            self.missing.add((document, page))
            return None
        if media_type in _AS_THEY_ARE and box is None and page == 1 and path.stat().st_size <= _LARGEST:
            return path.read_bytes()
        self._renderer = self._renderer or Renderer(workers=1)
        crop = WHOLE if box is None else (box[0], box[1], box[2], box[3])
        try:
            return self._renderer.render(path, media_type, page, _WIDTH, crop).data
        except PageNotDrawn:
            self.missing.add((document, page))
            return None
