"""Reads the words off the picture of a page with RapidOCR, whose models come in its package. Runs in a worker.

The model knows Latin letters, digits and Chinese. A page that lies on its side or stands on its head is turned first.
"""

from __future__ import annotations

import importlib
import io
import itertools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from statistics import median
from typing import Any

import numpy as np
from PIL import Image

from annotators.pages.documents.opened import Opened
from annotators.pages.documents.words import DOWN, LEFT, RIGHT, UP, Box, Word, pack_words

# The program makes pictures smaller that are more than so many pixels wide or high.
WIDTH = 2000
# Pieces of text that are read with less than this are more likely to stand on their heads than to be blurred.
_UNSURE = 0.8
_LEAST_SURE = 0.5
# A gap between two letters of so many letters' widths is a blank that was not seen.
_BLANK = 0.6
_DIRECTIONS = {0: RIGHT, 1: DOWN, 2: LEFT, 3: UP}

Points = Any
"""Corners of a box as an array (4 × 2), in pixels."""


@dataclass(frozen=True)
class _Piece:
    """A piece of text in one line: its words with the corners of their boxes, its own corners, how sure it is."""

    words: list[tuple[str, Points]]
    corners: Points
    sure: float

    @property
    def n_letters(self) -> int:
        return sum(len(text) for text, _ in self.words)


def read_page(document: Opened, page_number: int) -> bytes:
    """The words on the picture of a page as displayed, packed (`words.PageWords`), marked as recognised."""
    drawn = document.draw(page_number, WIDTH)
    with Image.open(io.BytesIO(drawn.data)) as picture:
        pixels = np.asarray(picture.convert("RGB"))[:, :, ::-1]
    turns, pieces = _upright(np.ascontiguousarray(pixels))
    pieces = [piece for piece in pieces if piece.sure >= _LEAST_SURE]
    height, width = pixels.shape[:2]
    words = []
    for line, piece in enumerate(_in_order(pieces, width if turns % 2 == 0 else height)):
        for text, corners in piece.words:
            box = _turned_back(corners, turns, width, height)
            words.append(Word(box, text, line, _DIRECTIONS[turns]))
    return pack_words(words, ocr=True, aspect=width / height)


@cache
def _engine() -> Any:
    # 4 s that only pages without text need; and the package has no types. One processor stays free for the people.
    program = importlib.import_module("rapidocr_onnxruntime")
    return program.RapidOCR(intra_op_num_threads=max(1, (os.cpu_count() or 2) - 1))


def _upright(pixels: Any) -> tuple[int, list[_Piece]]:
    """(quarter turns counter-clockwise that set the page upright, the pieces of text on the page so turned)."""
    pieces = _read(pixels)
    if not pieces:
        return 0, []
    # What stands on its head often reads as nothing at all: such a piece counts as one letter.
    letters = sum(max(1, piece.n_letters) for piece in pieces)
    sure = sum(piece.sure * piece.n_letters for piece in pieces) / letters
    on_side = sum(max(1, piece.n_letters) for piece in pieces if _is_tall(piece)) > letters / 2
    if on_side:
        # The program has turned each piece counter-clockwise to read it: if that went well, so must the page be.
        turns = 1 if sure >= _UNSURE else 3
        return turns, _read(np.ascontiguousarray(np.rot90(pixels, turns)))
    if sure >= _UNSURE:
        return 0, pieces
    turned = _read(np.ascontiguousarray(np.rot90(pixels, 2)))
    return (2, turned) if _weight(turned) > _weight(pieces) else (0, pieces)


def _weight(pieces: Sequence[_Piece]) -> float:
    return sum(piece.sure**2 * piece.n_letters for piece in pieces)


def _is_tall(piece: _Piece) -> bool:
    across, down = np.ptp(piece.corners, axis=0)
    return bool(down > 1.5 * across)


def _read(pixels: Any) -> list[_Piece]:
    # Pieces are not turned one by one by their looks: "To ground" on a bad scan would stand on its head.
    found, _ = _engine()(pixels, use_cls=False, return_word_box=True, text_score=0.0)
    pieces = []
    for corners, text, sure, boxes, letters, *_ in found or ():
        outline = np.array(corners, dtype=np.float64)
        if len(boxes) == len(letters) > 0:
            words = list(_words(letters, [np.array(box, dtype=np.float64) for box in boxes]))
        else:
            words = [(text, outline)]
        pieces.append(_Piece(words, outline, float(sure)))
    return pieces


def _words(letters: Sequence[str], boxes: Sequence[Points]) -> list[tuple[str, Points]]:
    """Letters put together to words, each with the corners of the box around it."""
    widths = [float(np.hypot(*(box[1] - box[0]))) for box in boxes]
    usual = median(widths)
    words: list[tuple[str, Points]] = []
    current: list[int] = []

    def finish() -> None:
        if current:
            first, last = boxes[current[0]], boxes[current[-1]]
            corners = np.array([first[0], last[1], last[2], first[3]])
            words.append(("".join(letters[at] for at in current), corners))
            current.clear()

    for at, letter in enumerate(letters):
        if not letter.strip():
            finish()
            continue
        if current:
            gap = float(np.hypot(*(boxes[at][0] - boxes[current[-1]][1])))
            if gap > _BLANK * usual and letter.isascii():
                finish()
        current.append(at)
    finish()
    return words


def _in_order(pieces: Sequence[_Piece], width: int) -> list[_Piece]:
    """Pieces from top to bottom and left to right, column by column where the page has two columns of text.

    A scan is seldom straight: rows are told apart after the usual slope has been taken out.
    """
    if not pieces:
        return []
    slopes = [
        (piece.corners[1][1] - piece.corners[0][1]) / max(1.0, piece.corners[1][0] - piece.corners[0][0])
        for piece in pieces
        if not _is_tall(piece)
    ]
    slope = float(median(slopes)) if slopes else 0.0
    high = median([float(np.hypot(*(piece.corners[3] - piece.corners[0]))) for piece in pieces])

    def level(piece: _Piece) -> float:
        x, y = piece.corners.mean(axis=0)
        return float(y - slope * x)

    rows: list[list[_Piece]] = []
    for piece in sorted(pieces, key=level):
        if rows and level(piece) - level(rows[-1][0]) < 0.6 * high:
            rows[-1].append(piece)
        else:
            rows.append([piece])
    for row in rows:
        row.sort(key=lambda piece: float(piece.corners[:, 0].min()))
    return list(itertools.chain.from_iterable(_columns(rows, width)))


def _columns(rows: Sequence[list[_Piece]], width: int) -> list[list[_Piece]]:
    """The rows, with stretches of rows that are two columns of text put one column after the other."""
    out: list[list[_Piece]] = []
    for two, group in itertools.groupby(rows, key=lambda row: _is_of_two_columns(row, width)):
        mine = list(group)
        if two and len(mine) >= _FEWEST_ROWS:
            out += [[piece for piece in row if _middle(piece) < width / 2] for row in mine]
            out += [[piece for piece in row if _middle(piece) >= width / 2] for row in mine]
        else:
            out += mine
    return out


_FEWEST_ROWS = 4


def _middle(piece: _Piece) -> float:
    return float(piece.corners[:, 0].mean())


def _is_of_two_columns(row: Sequence[_Piece], width: int) -> bool:
    """Whether each half of the row is one long piece of text (and not cells of a table)."""
    if len(row) > 2 or any(_crosses(piece, width) for piece in row):
        return False
    return all(float(np.ptp(piece.corners[:, 0])) > 0.25 * width for piece in row)


def _crosses(piece: _Piece, width: int) -> bool:
    left, right = float(piece.corners[:, 0].min()), float(piece.corners[:, 0].max())
    return left < 0.48 * width < 0.52 * width < right


def _turned_back(corners: Points, turns: int, width: int, height: int) -> Box:
    """The upright box around the corners on the page as displayed, in fractions of its width and height.

    turns: how many quarter turns counter-clockwise the page was given before it was read. One such turn takes the pixel
    (x, y) of a page that is w wide to (y, w - x).
    """
    x, y = corners[:, 0], corners[:, 1]
    if turns == 1:
        x, y = width - y, x
    elif turns == 2:
        x, y = width - x, height - y
    elif turns == 3:
        x, y = y, height - x
    low_x, high_x = float(x.min()) / width, float(x.max()) / width
    low_y, high_y = float(y.min()) / height, float(y.max()) / height
    return tuple(min(1.0, max(0.0, edge)) for edge in (low_x, low_y, high_x, high_y))  # type: ignore[return-value]
