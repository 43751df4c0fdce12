"""The words of one page with their places, as bytes that go from a worker to the index on disk and stay as they are."""

from __future__ import annotations

import itertools
import re
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from annotators.later import Later
from annotators.pages.normal import Normal, begins_without_blank, normalise_words

if TYPE_CHECKING:
    import numpy as np
else:
    np = Later("numpy")  # the server is to answer before it is loaded

VERSION = 3
"""Goes up when the same page would give other words or another normal form."""

RIGHT, DOWN, LEFT, UP = range(4)
"""Directions in which a word's characters follow each other on the page as displayed."""

MOST_WORDS = 60_000
"""A page with more is cut: it is data drawn as text."""

Box = tuple[float, float, float, float]

_HEAD = struct.Struct("<4sBIII")
_MAGIC = b"ASW2"
_OCR = 1
_UNFIT = re.compile(r"[\x00-\x20\x7f-\xa0\ud800-\udfff\u200b\u2028\u2029\ufeff\ufffe\uffff]+")
_SIDE = 65_535
# Two words of one line that may be one number: no further apart than this share of the line's height.
_NEAR = 0.45


class Unreadable(ValueError):
    """Bytes that are not the words of a page."""


@dataclass(frozen=True)
class Word:
    """A word as read from a page. box: fractions of the page as displayed. line: the number of its line on the page."""

    box: Box
    text: str
    line: int
    direction: int = RIGHT


def pack_words(words: Sequence[Word], *, ocr: bool = False, aspect: float = 1.0) -> bytes:
    """The bytes of a page's words in reading order.

    aspect: width of the page divided by its height. What no text can hold (blanks, control characters) is taken out;
    words without anything else are left out.
    """
    kept = [(word, text) for word in words[:MOST_WORDS] if (text := _UNFIT.sub("", word.text))]
    texts = [text for _, text in kept]
    normal = normalise_words(texts, _neighbours([word for word, _ in kept], aspect))
    boxes = np.array([word.box for word, _ in kept], dtype=np.float64).reshape(-1, 4)
    shown = "\n".join(texts).encode("utf-8")
    form = normal.text.encode("utf-8")
    return b"".join(
        (
            _HEAD.pack(_MAGIC, _OCR if ocr else 0, len(kept), len(shown), len(form)),
            np.rint(np.clip(boxes, 0, 1) * _SIDE).astype("<u2").tobytes(),
            np.array([min(word.line, _SIDE) for word, _ in kept], dtype="<u2").tobytes(),
            np.array(normal.starts, dtype="<u4").tobytes(),
            bytes(word.direction & 3 for word, _ in kept),
            normal.marks,
            shown,
            form,
        )
    )


def _neighbours(words: Sequence[Word], aspect: float) -> list[bool]:
    near = []
    for word, following in itertools.pairwise(words):
        if word.line != following.line or word.direction != RIGHT:
            near.append(word.line == following.line)
            continue
        gap = (following.box[0] - word.box[2]) * aspect
        near.append(gap < _NEAR * (word.box[3] - word.box[1]))
    return near


class PageWords:
    """The words of one page.

    boxes: n × 4 fractions of the page as displayed, from its top left. lines: n numbers of lines. ocr: read off the
    picture of the page by a program. data: the bytes it was made of.
    """

    def __init__(self, data: bytes) -> None:
        """Take the bytes of `pack_words`; raises Unreadable for any others."""
        try:
            magic, flags, n, n_shown, n_form = _HEAD.unpack_from(data)
        except struct.error as error:
            raise Unreadable("too short") from error
        if magic != _MAGIC or n > MOST_WORDS:
            raise Unreadable("not the words of a page")
        self.data = data
        self.size = len(data)
        self.ocr = bool(flags & _OCR)
        self.n = int(n)
        at = _HEAD.size
        fixed = at + n * 8 + n * 2 + (n + 1) * 4 + n
        if len(data) < fixed + n_shown + n_form + 1:
            raise Unreadable("cut off")
        self._boxes = np.frombuffer(data, "<u2", n * 4, at).reshape(-1, 4)
        self.lines = np.frombuffer(data, "<u2", n, at + n * 8)
        self.starts = np.frombuffer(data, "<u4", n + 1, at + n * 10)
        self._directions = data[fixed - n : fixed]
        tail = len(data) - n_shown - n_form
        self._marks = data[fixed:tail]
        try:
            self._shown = data[tail : tail + n_shown].decode("utf-8")
            self._form = data[tail + n_shown :].decode("utf-8")
        except UnicodeDecodeError as error:
            raise Unreadable("not text") from error
        if (
            len(self._marks) != len(self._form) + 1
            or (n and self._shown.count("\n") != n - 1)
            or int(self.starts[-1]) != len(self._form)
            or bool(np.any(np.diff(self.starts.astype(np.int64)) < 0))
        ):
            raise Unreadable("does not fit together")

    @property
    def boxes(self) -> np.ndarray[Any, np.dtype[np.float64]]:
        """See the class."""
        return self._boxes / _SIDE

    @cached_property
    def normal(self) -> Normal:
        """The page's text in the form in which it is searched."""
        return Normal(self._form, self._marks, self.starts)  # type: ignore[arg-type]

    @property
    def texts(self) -> list[str]:
        """The words as they are written."""
        return self._shown.split("\n") if self.n else []

    def listed(self) -> list[list[Any]]:
        """The words as the viewer gets them: [x0, y0, x1, y1, text, line]."""
        boxes = np.round(self.boxes, 5).tolist()
        rows = zip(boxes, self.texts, self.lines.tolist(), strict=True)
        return [[*box, text, line] for box, text, line in rows]

    def words_between(self, start: int, end: int) -> tuple[int, int]:
        """The first and last word that have characters of the normal form from `start` to before `end`."""
        first = int(np.searchsorted(self.starts, start, side="right")) - 1
        last = int(np.searchsorted(self.starts, end, side="left")) - 1
        return first, max(first, last)

    def boxes_between(self, start: int, end: int) -> list[list[float]]:
        """Boxes of the characters of the normal form from `start` to before `end`, one for each line they stand on.

        A word of which only a part is meant is cut where that part begins or ends, by the widths that its characters
        are likely to have.
        """
        first, last = self.words_between(start, end)
        if self.n == 0:
            return []
        pieces = self.boxes[first : last + 1].copy()
        for word in {first, last}:
            pieces[word - first] = self._cut(
                word, max(start, int(self.starts[word])), min(end, int(self.starts[word + 1]))
            )
        out: list[list[float]] = []
        lines = self.lines[first : last + 1]
        for line in dict.fromkeys(lines.tolist()):
            mine = pieces[lines == line]
            x0, y0 = mine[:, :2].min(axis=0)
            x1, y1 = mine[:, 2:].max(axis=0)
            out.append([round(float(edge), 5) for edge in (x0, y0, x1, y1)])
        return out

    def _cut(self, word: int, start: int, end: int) -> Box:
        x0, y0, x1, y1 = self.boxes[word].tolist()
        begin, finish = int(self.starts[word]), int(self.starts[word + 1])
        if start <= begin and end >= finish:
            return x0, y0, x1, y1
        widths = [_width(character) for character in self._form[begin:finish]]
        whole = sum(widths)
        low, high = sum(widths[: start - begin]) / whole, sum(widths[: end - begin]) / whole
        match self._directions[word]:
            case 0:
                return x0 + (x1 - x0) * low, y0, x0 + (x1 - x0) * high, y1
            case 1:
                return x0, y0 + (y1 - y0) * low, x1, y0 + (y1 - y0) * high
            case 2:
                return x1 - (x1 - x0) * high, y0, x1 - (x1 - x0) * low, y1
            case _:
                return x0, y1 - (y1 - y0) * high, x1, y1 - (y1 - y0) * low

    def context(self, start: int, end: int, n_words: int = 8) -> str:
        """The words around these characters, as they are written."""
        first, last = self.words_between(start, end)
        texts = self.texts[max(0, first - n_words) : last + 1 + n_words]
        text = "".join(_spaced(texts))
        return text if len(text) <= _LONGEST_CONTEXT else self._near(start, end)

    def _near(self, start: int, end: int) -> str:
        """For runs without blanks: the normal form around the characters."""
        spare = max(0, _LONGEST_CONTEXT - (end - start)) // 2
        return self._form[max(0, start - spare) : end + spare][: 2 * _LONGEST_CONTEXT]


_LONGEST_CONTEXT = 160


def _spaced(texts: Sequence[str]) -> list[str]:
    """The words with a blank between two of them unless their script has none."""
    out: list[str] = []
    for at, text in enumerate(texts):
        if at and not (begins_without_blank(texts[at - 1][-1]) and begins_without_blank(text[0])):
            out.append(" ")
        out.append(text)
    return out


def _width(character: str) -> float:
    if begins_without_blank(character):
        return 2.0
    if character in "iljtf.,-'|":
        return 0.6
    return 1.6 if character in "mw%" else 1.0
