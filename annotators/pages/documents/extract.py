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
_ABOVE_BASELINE = 0.88
"""The share of its size that the square of an ideograph has above the baseline, in PDF's default (DW2) as in fonts."""


def words_on(page: Any) -> list[Word]:
    """The words in the order in which the document gives them.

    MuPDF gives places on the page before its rotation; here they are turned with it.
    """
    textpage = page.get_textpage(flags=_FLAGS)
    found = textpage.extractWORDS()[:MOST_WORDS]
    if not found:
        return []
    matrix, laid_out = page.rotation_matrix, textpage.extractDICT()
    directions, upright = _directions(laid_out, matrix), _moves_of_upright(laid_out)
    moves = np.array([upright.get((row[5], row[6]), (0.0, 0.0)) * 2 for row in found], dtype=np.float64)
    boxes = _turned(np.array([row[:4] for row in found], dtype=np.float64) + moves, matrix)
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


def _moves_of_upright(found: dict[str, Any]) -> dict[tuple[int, int], tuple[float, float]]:
    """(block, line) → how far the boxes of a line in vertical writing have to be moved onto its glyphs.

    MuPDF gives the box that begins at the baseline of each glyph, whose square stands mostly before it.
    """
    moves = {}
    for block in found["blocks"]:
        for number, line in enumerate(block.get("lines", ())):
            if line["wmode"]:
                back = -_ABOVE_BASELINE * max((span["size"] for span in line["spans"]), default=0.0)
                moves[block["number"], number] = (back * line["dir"][0], back * line["dir"][1])
    return moves


def _runs_backwards(text: str) -> bool:
    """Whether the word's first letter is of a script that is written from right to left."""
    for character in text:
        kind = unicodedata.bidirectional(character)
        if kind in ("R", "AL"):
            return True
        if kind == "L":
            return False
    return False
