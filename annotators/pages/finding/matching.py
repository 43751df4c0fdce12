"""Finding a phrase in the normal form of pages, and what of two texts that differ a little is the same."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from annotators.later import Later
from annotators.pages.normal import NONE, SOFT, Normal, begins_without_blank

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")

Key = TypeVar("Key", bound=Hashable)

_BETWEEN = "\n"
"""Stands between two pages; no normal form holds it."""

# So many characters a piece of text has at least, in scripts without blanks and in others.
_SEED_SIZES = (4, 8)
_MOST_PLACES = 60
# What is common to a long text and many pages is looked for until so many places have been tried.
_MOST_TRIED = 60_000


@dataclass(frozen=True)
class Span:
    """Characters `start` to `end` of the normal form of one page (numbered from 0 among those searched)."""

    page: int
    start: int
    end: int


class Searchable(Generic[Key]):
    """Pages that are searched as one string. `keys` name them, in the order in which hits come."""

    def __init__(self, pages: Sequence[tuple[Key, Normal]]) -> None:
        self.keys = [key for key, _ in pages]
        self.text = _BETWEEN.join(page.text for _, page in pages)
        self.marks = b"".join(page.marks for _, page in pages)
        self._offsets: list[int] = []
        at = 0
        for _, page in pages:
            self._offsets.append(at)
            at += len(page.text) + 1

    def find(self, phrase: Normal, *, whole_words: bool = True, start: int = 0) -> Iterator[Span]:
        """Where the phrase stands, first to last, without overlaps.

        whole_words: neither end may be inside a word or a number: 8 is not in 18, 8.5 or 1,800.
        """
        size = len(phrase.text)
        if size == 0:
            return
        at = self.text.find(phrase.text, start)
        while at >= 0:
            if self.fits(phrase, at, whole_words=whole_words):
                yield self.span(at, at + size)
                at = self.text.find(phrase.text, at + size)
            else:
                at = self.text.find(phrase.text, at + 1)

    def has(self, phrase: Normal) -> bool:
        """Whether the phrase stands anywhere, in whole words."""
        return next(self.find(phrase), None) is not None

    def span(self, start: int, end: int) -> Span:
        """Positions of the one string as positions on their page."""
        page = bisect_right(self._offsets, start) - 1
        offset = self._offsets[page]
        return Span(page, start - offset, end - offset)

    def fits(self, phrase: Normal, at: int, *, whole_words: bool = True) -> bool:
        """Whether the phrase, whose characters stand at position `at` of `text`, also has its words there."""
        end = at + len(phrase.text)
        if whole_words and not (is_edge(self.text, self.marks, at) and is_edge(self.text, self.marks, end)):
            return False
        here, there = self.marks[at + 1 : end], phrase.marks[1:-1]
        return here == there or self._same_words(phrase, at, here, there)

    def _same_words(self, phrase: Normal, at: int, here: bytes, there: bytes) -> bool:
        """Whether blanks stand in the same places. In longer phrases a few may be lost, as in badly made PDFs."""
        allowed = phrase.n_words // 3
        for position, (mark, other) in enumerate(zip(here, there, strict=True), start=1):
            if mark == other or SOFT in (mark, other):
                continue
            before, after = phrase.text[position - 1], phrase.text[position]
            if before.isdigit() and after.isdigit():
                return False
            if before.isalpha() and after.isalpha():
                allowed -= 1
                if allowed < 0:
                    return False
        return True


def is_edge(text: str, marks: bytes, at: int) -> bool:
    """Whether a word or a number may begin or end before character `at`."""
    if not 0 < at < len(text) or marks[at] != NONE:
        return True
    before, after = text[at - 1], text[at]
    if _BETWEEN in (before, after):
        return True
    if before.isalnum() and after.isalnum():
        return False
    if after in ".,-" and before.isdigit():
        return after == "-"
    if before in ".,-" and after.isdigit():
        return before == "-" and at >= 2 and text[at - 2].isdigit() and marks[at - 1] == NONE
    return True


def common_runs(text: Normal, pages: Searchable[Any]) -> set[tuple[int, int]]:
    """(start, end) in the text's normal form of the longest pieces that stand on a page as well, in whole words.

    Both normal forms have no blanks, so a piece lies on a diagonal of the two: it is found by its first few characters,
    then made as long as it goes, and nothing inside it is looked at again.
    """
    starts = [at for at, mark in enumerate(text.marks[:-1]) if mark != NONE]
    seeds = {key for at in starts if (key := _seed(text.text, at))}
    places: dict[str, list[int]] = {}
    for at in np.flatnonzero(np.frombuffer(pages.marks, dtype=np.uint8)).tolist():
        for size in _SEED_SIZES:
            key = pages.text[at : at + size]
            if key in seeds and len(there := places.setdefault(key, [])) < _MOST_PLACES:
                there.append(at)
    reached: dict[int, int] = {}
    found: set[tuple[int, int]] = set()
    tried = 0
    for start in starts:
        if tried > _MOST_TRIED:
            break
        for place in places.get(_seed(text.text, start), ()):
            if reached.get(place - start, 0) > start:
                continue
            tried += 1
            length = _shared(text.text, start, pages.text, place)
            reached[place - start] = start + length
            end = start + length
            while end > start and not (
                text.marks[end] != NONE and is_edge(pages.text, pages.marks, place + end - start)
            ):
                end -= 1
            if end > start:
                piece = Normal(text.text[start:end], text.marks[start:end] + bytes([SOFT]), (0, end - start))
                if pages.fits(piece, place):
                    found.add((start, end))
    return found


def _seed(text: str, at: int) -> str:
    """The characters by which a piece that begins here is looked up; fewer where a character is a word."""
    size = _SEED_SIZES[0] if begins_without_blank(text[at : at + 1]) else _SEED_SIZES[1]
    return text[at : at + size] if at + size <= len(text) else ""


def _shared(text: str, at: int, other: str, place: int) -> int:
    """How many characters are the same from these two places on."""
    length, step = 0, 16
    while step:
        a, b = text[at + length : at + length + step], other[place + length : place + length + step]
        if len(a) == step and a == b:
            length += step
            step *= 2
        else:
            step //= 2
    return length
