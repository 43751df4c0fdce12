"""Pictures of pages kept on disk: each is drawn once, found again in a fraction of a millisecond, and the oldest go.

The folder may be emptied at any time, and several web processes may share it: nothing in it is needed, a file appears
whole or not at all, and one that is damaged counts as absent.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import struct
import threading
import time
import zlib
from collections import Counter, deque
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from annotators.errors import InvalidInput
from annotators.files import SWEEP_TO, store, sweep
from annotators.pages.documents.kinds import MEDIA_TYPES
from annotators.pages.documents.original import check_original
from annotators.pages.documents.renderer import Renderer
from annotators.pages.documents.results import PAGE_MEDIA_TYPES, WHOLE, Crop, PageNotDrawn, RenderedPage, Why, too_many

log = logging.getLogger(__name__)

# Thumbnail, small, and steps up to a page at 400 % on a wide screen: few variants of each page.
WIDTHS = (160, 480, 800, 1200, 1600, 2400, 3600)

# Goes up when the same page would be drawn differently; MuPDF's own version is part of the folder's name as well.
DRAWING = 1
# Magic, media type, length of the note, width, height, length and CRC of the picture; then the note, then the picture.
_HEAD = struct.Struct(">4sBBIIII")
_MAGIC = b"ASP1"
_SHA256 = re.compile(r"[0-9a-f]{64}")
# How long a failure is remembered, so that a page that takes 20 s to fail does not hold a worker again for each person
# who looks at it. A crash may have been an accident; the rest comes back the same.
_REMEMBERED = {
    Why.TIME: 600.0,
    Why.MEMORY: 600.0,
    Why.BROKEN: 600.0,
    Why.PASSWORD: 600.0,
    Why.SIZE: 600.0,
    Why.CRASH: 60.0,
}
_MOST_FAILURES = 10_000
# What a page is drawn ahead in: the width most wanted lately, and one for the first.
_NOTED_WIDTHS = 50
_FIRST_WIDTH = 1200


def snap_width(width_px: int) -> int:
    """The step of `WIDTHS` at or above width_px (the last one for anything wider)."""
    return next((step for step in WIDTHS if step >= width_px), WIDTHS[-1])


@dataclass(frozen=True)
class _Key:
    """Which picture. The media type belongs to it: the same bytes may be plain text here and Markdown there."""

    sha256: str
    media_type: str
    page: int
    width: int
    crop: Crop = WHOLE

    @property
    def name(self) -> str:
        ending = MEDIA_TYPES[self.media_type]
        part = "" if self.crop == WHOLE else "-" + "-".join(str(round(edge * 10_000)) for edge in self.crop)
        return f"{self.sha256[:2]}/{self.sha256}-{ending}-{self.page}-{self.width}{part}"


@dataclass(frozen=True)
class _Failure:
    width: int
    error: PageNotDrawn
    until: float


class PageCache:
    """Pictures of pages by (document's SHA-256, media type, page, width), from disk or from the renderer.

    folder: made when needed. max_bytes: what the pictures may take on disk. When more is written, the ones not looked
    at for longest are removed in the background until nine tenths are left, so the folder exceeds max_bytes only by
    what is drawn in the fraction of a second that this takes. Safe to call from many threads.
    """

    def __init__(self, folder: Path, renderer: Renderer, max_bytes: int = 2 << 30) -> None:
        if max_bytes < 1:
            raise InvalidInput(f"The page cache cannot be bounded to {max_bytes} bytes: give at least 1.")
        self._top = folder
        self._folder = folder / f"{DRAWING}-{version('pymupdf')}"
        self._renderer = renderer
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._flights: dict[_Key, Future[RenderedPage | None]] = {}
        self._asked: deque[int] = deque(maxlen=_NOTED_WIDTHS)
        self._failures: dict[tuple[str, str, int], _Failure] = {}
        # Bytes on disk as of the last sweep (unknown before the first) plus what was written since.
        self._known_bytes: int | None = None
        self._written_since = 0
        self._sweeper: threading.Thread | None = None

    def etag(self, sha256: str, media_type: str, page: int, width: int, *, crop: Crop = WHOLE) -> str:
        """What tells this picture from every other one: document, kind, page, width, part, and how it is drawn."""
        return f'"{self._key(sha256, media_type, page, width, crop).name[3:]}-{self._folder.name}"'

    def get(
        self, sha256: str, path: Path, media_type: str, page: int, width: int, *, crop: Crop = WHOLE
    ) -> RenderedPage:
        """The picture of a page, or of a part of it, at least `width` pixels wide (see `snap_width`).

        Several that ask for the same at a time wait for one drawing, as long as they would for a worker.

        sha256: of the document, 64 lower-case hexadecimal digits. path: its bytes, read only when it has to be drawn.
        page: from 1. crop: the part, from `check_crop`. Raises PageNotDrawn (remembered for some minutes where drawing
        again would fail again).
        """
        key = self._key(sha256, media_type, page, width, crop)
        if crop == WHOLE and key.width > WIDTHS[0]:
            self._asked.append(key.width)
        while (drawn := self._kept_or_drawn(key, path)) is None:
            pass  # somebody drew it ahead and gave way, or gave up
        return drawn

    def draw_ahead(self, sha256: str, path: Path, media_type: str, page: int) -> bool:
        """Draw a page that somebody is about to want, as wide as people want them; whether it is there now.

        It gives way at once where anything is drawn that is wanted already. Raises PageNotDrawn like `get`.
        """
        key = self._key(sha256, media_type, page, self._usual_width())
        return self._kept_or_drawn(key, path, ahead=True) is not None

    def _usual_width(self) -> int:
        widths = Counter(self._asked)
        return max(widths, key=lambda width: widths[width], default=_FIRST_WIDTH)

    def _kept_or_drawn(self, key: _Key, path: Path, *, ahead: bool = False) -> RenderedPage | None:
        """The picture, from disk, from whoever draws it at the moment, or drawn; None where that gave way."""
        kept = self._read(key)
        if kept is not None:
            return kept
        with self._lock:
            flight = self._flights.get(key)
            owner = flight is None
            if flight is None:
                self._raise_if_failed(key)
                flight = self._flights[key] = Future()
        if not owner:
            self._renderer.also_wanted(path, key.page)
            try:
                return flight.result(max(0.0, self._renderer.until() - time.monotonic()))
            except TimeoutError:
                raise too_many() from None
            except PageNotDrawn as failure:
                if failure.why is Why.BUSY and not ahead and self._renderer.until() > time.monotonic():
                    return None  # whoever asked first has waited long enough; who came later has not
                raise failure.again() from failure
        try:
            # Another thread may have finished it between the two looks.
            drawn = self._read(key) or self._draw(key, path, ahead=ahead)
        except BaseException as error:
            flight.set_exception(error)
            raise
        else:
            flight.set_result(drawn)
            return drawn
        finally:
            with self._lock:
                del self._flights[key]

    def kept(self, sha256: str, media_type: str, page: int, width: int) -> RenderedPage | None:
        """The picture if it is on disk already, else None: fast enough to call without a thread."""
        return self._read(self._key(sha256, media_type, page, width))

    def settle(self) -> None:
        """Wait until the removal that runs in the background, if any, is done."""
        sweeper = self._sweeper
        if sweeper is not None:
            sweeper.join()

    def _key(self, sha256: str, media_type: str, page: int, width: int, crop: Crop = WHOLE) -> _Key:
        if not _SHA256.fullmatch(sha256):
            raise InvalidInput(f"{sha256!r} is not a SHA-256: give 64 lower-case hexadecimal digits.")
        if media_type not in MEDIA_TYPES:
            raise InvalidInput(f"{media_type!r} is not shown as pages: use one of {', '.join(MEDIA_TYPES)}.")
        if page < 1 or width < 1:
            raise InvalidInput(f"There is no page {page} at {width} pixels: both begin at 1.")
        return _Key(sha256, media_type, page, snap_width(width), crop)

    def _raise_if_failed(self, key: _Key) -> None:
        known = self._failures.get((key.sha256, key.media_type, key.page))
        # What failed at one width may still work at a smaller one.
        if known is not None and key.width >= known.width and time.monotonic() < known.until:
            raise known.error.again()

    def _draw(self, key: _Key, path: Path, *, ahead: bool) -> RenderedPage | None:
        check_original(path, key.sha256)
        try:
            if ahead:
                drawn = self._renderer.render_if_idle(path, key.media_type, key.page, key.width)
            else:
                drawn = self._renderer.render(path, key.media_type, key.page, key.width, key.crop)
        except PageNotDrawn as failure:
            seconds = _REMEMBERED.get(failure.why)
            if seconds is not None:
                with self._lock:
                    if len(self._failures) >= _MOST_FAILURES:
                        self._failures.clear()
                    self._failures[key.sha256, key.media_type, key.page] = _Failure(
                        key.width, failure.again(), time.monotonic() + seconds
                    )
            raise
        if drawn is not None:
            self._write(key, drawn)
        return drawn

    def _read(self, key: _Key) -> RenderedPage | None:
        path = self._folder / key.name
        try:
            data = path.read_bytes()
        except OSError:
            return None
        try:
            magic, kind, n_note, width, height, size, crc = _HEAD.unpack_from(data)
        except struct.error:
            return None
        at = _HEAD.size + n_note
        picture = data[at:]
        if magic != _MAGIC or len(picture) != size or zlib.crc32(picture) != crc or kind >= len(PAGE_MEDIA_TYPES):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        note = data[_HEAD.size : at].decode("utf-8", "replace")
        return RenderedPage(picture, PAGE_MEDIA_TYPES[kind], width, height, note)

    def _write(self, key: _Key, page: RenderedPage) -> None:
        """Keep a picture. A disk that is full or read-only costs time, never the page."""
        note = page.note.encode()[:255]
        head = _HEAD.pack(
            _MAGIC,
            PAGE_MEDIA_TYPES.index(page.media_type),
            len(note),
            page.width,
            page.height,
            len(page.data),
            zlib.crc32(page.data),
        )
        size = len(head) + len(note) + len(page.data)
        if size > self._max_bytes * SWEEP_TO:
            return
        try:
            store(self._folder / key.name, head + note + page.data)
        except OSError as error:
            log.warning("a page could not be kept in %s: %s", self._folder, error)
            return
        with self._lock:
            self._written_since += size
            # Other processes write here too, so what is on disk is looked up again now and then.
            due = (
                self._known_bytes is None
                or self._known_bytes + self._written_since > self._max_bytes
                or self._written_since > self._max_bytes // 16
            )
            if due and (self._sweeper is None or not self._sweeper.is_alive()):
                self._sweeper = threading.Thread(target=self._sweep, name="page-cache-sweep", daemon=True)
                self._sweeper.start()

    def _sweep(self) -> None:
        """Remove what was not looked at for longest, until the folder is within its bound."""
        with self._lock:
            self._written_since = 0
        total = sweep(self._top.glob("*/*/*"), self._max_bytes)
        with self._lock:
            self._known_bytes = total
