"""Reads the words of a page that MuPDF has open, with their places on the page as displayed. Runs in a worker."""

from __future__ import annotations

import unicodedata
from typing import Any

import numpy as np
import pymupdf

from annotators.pages.documents.typeset import without_breaks
from annotators.pages.documents.words import DOWN, LEFT, MOST_WORDS, RIGHT, UP, Word

# The library has no types.
mupdf: Any = pymupdf

# Ligatures fall apart into their letters; text outside the page's boxes is not read.
_FLAGS = mupdf.TEXT_PRESERVE_WHITESPACE | mupdf.TEXT_MEDIABOX_CLIP
_OUTSIDE = 0.002


def words_on(page: Any) -> list[Word]:
    """The words in the order in which the document gives them.

    MuPDF gives places on the page before its rotation; here they are turned with it.
    """
    textpage = page.get_textpage(flags=_FLAGS)
    found = textpage.extractWORDS()[:MOST_WORDS]
    if not found:
        return []
    matrix = page.rotation_matrix
    directions = _directions(textpage.extractDICT(), matrix)
    boxes = _turned(np.array([row[:4] for row in found], dtype=np.float64), matrix)
    boxes /= (page.rect.width, page.rect.height) * 2
    middles = (boxes[:, :2] + boxes[:, 2:]) / 2
    inside = np.all((middles >= -_OUTSIDE) & (middles <= 1 + _OUTSIDE), axis=1)
    words: list[Word] = []
    lines: dict[tuple[int, int], int] = {}
    for row, box, is_inside in zip(found, boxes.tolist(), inside.tolist(), strict=True):
        if not is_inside:
            continue
        place = (row[5], row[6])
        text = without_breaks(row[4])
        direction = directions.get(place, RIGHT)
        if not text.isascii() and _runs_backwards(text):
            direction = (direction + 2) % 4
        words.append(Word(box, text, lines.setdefault(place, len(lines)), direction))
    return words


def _turned(boxes: Any, matrix: Any) -> Any:
    """Boxes (n × 4) after the matrix, again with the top left corner first."""
    corners = boxes.reshape(-1, 2) @ np.array([[matrix.a, matrix.b], [matrix.c, matrix.d]]) + (matrix.e, matrix.f)
    corners = corners.reshape(-1, 2, 2)
    return np.concatenate((corners.min(axis=1), corners.max(axis=1)), axis=1)


def _directions(found: dict[str, Any], matrix: Any) -> dict[tuple[int, int], int]:
    """(block, line) → direction of the line on the page as displayed."""
    turned: dict[tuple[int, int], int] = {}
    for block in found["blocks"]:
        for number, line in enumerate(block.get("lines", ())):
            across, down = line["dir"]
            x = across * matrix.a + down * matrix.c
            y = across * matrix.b + down * matrix.d
            turned[block["number"], number] = (
                (RIGHT if x >= 0 else LEFT) if abs(x) >= abs(y) else (DOWN if y > 0 else UP)
            )
    return turned


def _runs_backwards(text: str) -> bool:
    """Whether the word's first letter is of a script that is written from right to left."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("R", "AL"):
            return True
        if kind == "L":
            return False
    return False
