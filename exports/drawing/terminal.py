"""A table in columns of text, as wide as the terminal that it is written for."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextvars import ContextVar
from itertools import zip_longest
from unicodedata import combining, east_asian_width

LINE: ContextVar[int | None] = ContextVar("LINE", default=None)
"""Columns of the terminal for which tables are written as text; None for a file, whose lines have no end."""

_NARROWEST = 12
"""To which cells of words are narrowed, unless they are shorter, before a word of theirs is longer than that."""

_TALLEST = 12
"""Lines of a cell beyond which its row is easier read below one another than beside others."""

_WORD = re.compile(r"(?:\[[^\[\] ]{1,20}, [^\[\] ]{1,20}\]|\S)+")
_GAP = 2


def in_columns(titles: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool]) -> str:
    """Rows of text under their titles and a rule; `right` says of each column whether its cells stand at the right.

    On a terminal (`LINE`) that they are too wide for, words go on below one another: those of the widest cells first,
    then figures behind their intervals. Where no columns fit, or a cell would take too many lines, each row is a block
    with a line a cell.
    """
    widths = [max(map(_width, column)) for column in zip(titles, *rows, strict=True)]
    line = LINE.get()
    if line is None or sum(widths) + _GAP * (len(widths) - 1) <= line:
        return _written([[title] for title in titles], [[[cell] for cell in row] for row in rows], widths, right)
    for narrowed in ([not end for end in right], [True] * len(right)):
        found = _fitting(titles, rows, widths, narrowed, line)
        if found is None:
            continue
        cells = [[_wrapped(cell, width) for cell, width in zip(row, found, strict=True)] for row in rows]
        if max((len(cell) for row in cells for cell in row), default=0) <= _TALLEST:
            heads = [_wrapped(title, width) for title, width in zip(titles, found, strict=True)]
            return _written(heads, cells, found, right)
    return _in_blocks(titles, rows, line)


def _fitting(
    titles: Sequence[str], rows: Sequence[Sequence[str]], widths: Sequence[int], narrowed: Sequence[bool], line: int
) -> list[int] | None:
    """Widths that fit the line, those that may be narrowed as wide as one another at most; None where none do."""
    least = [
        min(width, max(_NARROWEST, *map(_longest_word, column))) if narrow else width
        for width, narrow, column in zip(widths, narrowed, zip(titles, *rows, strict=True), strict=True)
    ]
    room = line - _GAP * (len(widths) - 1)
    if sum(least) > room:
        return None
    most = max(widths)
    while sum(found := [max(few, min(width, most)) for few, width in zip(least, widths, strict=True)]) > room:
        most -= 1
    return found


def _longest_word(text: str) -> int:
    return max(map(_width, _WORD.findall(text)), default=0)


def _written(
    titles: Sequence[Sequence[str]],
    rows: Sequence[Sequence[Sequence[str]]],
    widths: Sequence[int],
    right: Sequence[bool],
) -> str:
    """Titles, a rule and rows, each cell in its lines."""

    def lines(cells: Sequence[Sequence[str]]) -> list[str]:
        return [one(parts) for parts in zip_longest(*cells, fillvalue="")]

    def one(parts: Sequence[str]) -> str:
        padded = []
        for part, width, end in zip(parts, widths, right, strict=True):
            space = " " * (width - _width(part))
            padded.append(space + part if end else part + space)
        return (" " * _GAP).join(padded).rstrip()

    return "\n".join(
        [*lines(titles), one(["-" * width for width in widths]), *(it for row in rows for it in lines(row))]
    )


def _in_blocks(titles: Sequence[str], rows: Sequence[Sequence[str]], line: int) -> str:
    """Each row as a block: a line a cell behind its title, without those that are empty; a rule between blocks."""
    if not rows:
        return ", ".join(titles)
    before = max(map(_width, titles))
    room = max(_NARROWEST, line - before - _GAP)
    rule = "-" * min(line, before + _GAP + room)
    blocks = []
    for row in rows:
        lines = []
        for title, cell in zip(titles, row, strict=True):
            for place, part in enumerate(_wrapped(cell, room) if cell else ()):
                head = title if place == 0 else ""
                lines.append(head + " " * (before - _width(head) + _GAP) + part)
        blocks.append("\n".join(lines))
    return f"\n{rule}\n".join(blocks)


def _wrapped(cell: str, width: int) -> list[str]:
    """The cell in lines of this width, broken at spaces, but not within an interval; a longer word stays whole."""
    if _width(cell) <= width:
        return [cell]
    lines: list[str] = []
    for word in _WORD.findall(cell):
        if lines and _width(lines[-1]) + 1 + _width(word) <= width:
            lines[-1] += f" {word}"
        else:
            lines.append(word)
    return lines


def _width(text: str) -> int:
    """How many columns of a terminal a text takes: Chinese letters two, marks above others none."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(letter) in "WF" else not combining(letter) for letter in text)
