"""What comes back about a document or a page: its facts, its picture, or why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from annotators.errors import AssayError, InvalidInput

PAGE_MEDIA_TYPES = ("image/jpeg", "image/png")

Crop = tuple[float, float, float, float]
"""A part of a page: left, top, right and bottom as fractions of the page as displayed."""

WHOLE: Crop = (0.0, 0.0, 1.0, 1.0)
SMALLEST_CROP = 0.002
"""The least width and height of a part."""


def check_crop(x0: float, y0: float, x1: float, y1: float) -> Crop:
    """The part, rounded to 4 decimals; InvalidInput unless it lies on the page and is not too small (SMALLEST_CROP)."""
    crop = (round(x0, 4), round(y0, 4), round(x1, 4), round(y1, 4))
    if not (0 <= crop[0] < crop[2] <= 1 and 0 <= crop[1] < crop[3] <= 1):
        raise InvalidInput(f"{crop} is no part of a page: give fractions with 0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1.")
    if min(crop[2] - crop[0], crop[3] - crop[1]) < SMALLEST_CROP:
        raise InvalidInput(f"{crop} is too small a part of a page: give at least {SMALLEST_CROP} in each direction.")
    return crop


@dataclass(frozen=True)
class Limits:
    """What one document may cost.

    seconds: wall-clock time for one page (or for opening one document) before its worker is killed.
    memory_bytes: address space of a worker (RLIMIT_AS), about 300 MB of which is the program itself.
    wait_seconds: how long a request waits for a free worker before it gives up.
    """

    seconds: float = 20.0
    memory_bytes: int = 2 << 30
    wait_seconds: float = 60.0


@dataclass(frozen=True)
class DocumentFacts:
    """What `Renderer.inspect` finds.

    n_pages: at least 1.
    sizes: (width, height) of each page as displayed (rotation applied), in points (1/72 inch). A page of a damaged PDF
        that cannot be read stands here as US Letter, so that the list has n_pages entries.
    has_text: at least one of up to 64 pages spread over the document has text; False means a scan, or a picture.
    note: empty, or one sentence about damage that importing people should read.
    """

    n_pages: int
    sizes: list[tuple[float, float]]
    has_text: bool
    note: str = ""


def too_many() -> PageNotDrawn:
    """The error for who has waited long enough for a page that others are before."""
    return PageNotDrawn(Why.BUSY, "too many pages are being drawn just now; try again in a minute")


@dataclass(frozen=True)
class RenderedPage:
    """A page as an encoded picture.

    data: the bytes of a JPEG or PNG file, as media_type says; width and height in pixels.
    note: empty, or one sentence that says that a part of the page could not be read and is missing from the picture.
    """

    data: bytes
    media_type: str
    width: int
    height: int
    note: str = ""


class Why(StrEnum):
    """The kinds of reason for which a page cannot be shown."""

    TIME = "time"
    MEMORY = "memory"
    CRASH = "crash"
    BROKEN = "broken"
    PASSWORD = "password"  # noqa: S105 - a kind of reason, not a secret
    SIZE = "size"
    PAGE = "page"
    MISSING = "missing"
    BUSY = "busy"


class PageNotDrawn(AssayError):
    """A page that cannot be shown.

    why: the kind of reason. reason: the reason in words, fit to be shown in the page's place (`draw_failure`). Where
    nothing but time was wanting (BUSY) the status asks to come again.
    """

    status = 422

    def __init__(self, why: Why, reason: str) -> None:
        super().__init__(reason)
        self.why = why
        self.reason = reason
        if why is Why.BUSY:
            self.status = 503

    def again(self) -> PageNotDrawn:
        """An equal error to raise in another thread (a raised exception collects tracebacks)."""
        return PageNotDrawn(self.why, self.reason)
