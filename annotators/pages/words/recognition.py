"""Giving scanned documents a text layer: the pages without one are read by a program, in a process of its own."""

from __future__ import annotations

import importlib.util
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotators.errors import InvalidInput
from annotators.pages.documents.renderer import Renderer
from annotators.pages.documents.results import Limits, PageNotDrawn
from annotators.pages.documents.words import PageWords
from annotators.pages.words.index import Source, WordIndex

LIMITS = Limits(seconds=300.0, memory_bytes=8 << 30, wait_seconds=600.0)
"""What reading one page may cost: the program alone takes 2 GB of address space, 1 GB of it in memory."""


@dataclass(frozen=True)
class RecognisedPage:
    """What became of one page. done, of: pages. words: how many were read. reason: why none were, or empty."""

    page: int
    done: int
    of: int
    words: int
    seconds: float
    reason: str = ""


def can_recognise() -> bool:
    """Whether the extra `ocr` is installed."""
    return importlib.util.find_spec("rapidocr_onnxruntime") is not None


def pages_without_text(index: WordIndex, source: Source, n_pages: int) -> list[int]:
    """The pages (from 1) that have no text layer and have not been recognised."""
    found = index.get(source, range(1, n_pages + 1))
    return [
        number for number, words in found.items() if isinstance(words, PageWords) and words.n == 0 and not words.ocr
    ]


def recognise(
    index: WordIndex,
    source: Source,
    n_pages: int,
    *,
    pages: Sequence[int] | None = None,
    limits: Limits = LIMITS,
) -> Iterator[RecognisedPage]:
    """Read the pages that have no text layer (or those of `pages` that have none) and keep their words in the index.

    n_pages: of the document. Yields after each page, which is kept by then, so that what is broken off goes on where it
    stopped. A page that cannot be read is reported with the reason and does not stop the others. Raises InvalidInput
    without the extra `ocr`.
    """
    if not can_recognise():
        raise InvalidInput("Reading scanned pages needs RapidOCR. Install Assay with its extra: assay[ocr].")
    left = pages_without_text(index, source, n_pages)
    if pages is not None:
        left = [number for number in left if number in set(pages)]
    if not left:
        return
    with Renderer(limits, workers=1, recycle_after=200) as renderer:
        for done, number in enumerate(left, start=1):
            began = time.monotonic()
            n_words, reason = 0, ""
            try:
                words = renderer.recognise(source.path, source.media_type, number)
                index.keep_recognised(source, {number: words})
                n_words = words.n
                reason = "" if n_words else "no text was found on it"
            except PageNotDrawn as failure:
                reason = failure.reason
            yield RecognisedPage(number, done, len(left), n_words, time.monotonic() - began, reason)
