"""Room at the edges of a plot for its words, whatever font draws them.

The program that lays a plot out measures words in a narrow font. Who opens the SVG has the font that their system calls
sans-serif, and in a wider one the longest names would be cut off.
"""

from __future__ import annotations

import math
import re
import unicodedata
from dataclasses import dataclass
from xml.parsers import expat

_BY_WIDTH = {
    0.28: "'ijl", 0.32: " ,.", 0.34: "IJ:;", 0.36: "f-", 0.38: "/\\", 0.40: "()[]t", 0.42: "!r", 0.46: '"',
    0.50: "*_`–", 0.53: "sz", 0.55: "?c", 0.56: "L|", 0.58: "Fk", 0.61: "Pvxy", 0.62: "TYaeo",
    0.64: "$0123456789ESbdghnpqu{}", 0.66: "K", 0.70: "ABCRVXZ", 0.76: "HNU", 0.79: "&DGOQ", 0.84: "#+<=>^w~−",
    0.91: "M", 0.96: "%", 1.00: "Wm@—…",
}  # fmt: skip
"""Advance → letters, in em: those of DejaVu Sans, the widest of the usual fonts, and where it is wider of Noto Sans."""

_WIDTH = {letter: width for width, letters in _BY_WIDTH.items() for letter in letters}
_OTHER, _WIDE, _PICTURE = 0.85, 1.0, 1.3
"""Of a letter of another script, of one of Chinese, Japanese or Korean, and of a pictogram."""

_BOLD = 1.2
_ABOVE, _BELOW = 0.76, 0.24
"""How far letters reach over and under their line, in em."""

_EDGE = 2.0
"""Pixels that are left free beyond the words."""

_HEAD = re.compile(
    r'(?P<begins><svg [^>]*?)width="(?P<width>[\d.]+)" height="(?P<height>[\d.]+)" viewBox="0 0 [\d.]+ [\d.]+">'
    r'(?P<ground><rect )width="[\d.]+" height="[\d.]+"'
)
_STEP = re.compile(r"(translate|rotate)\(([^)]*)\)")

_Matrix = tuple[float, float, float, float, float, float]


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """How wide a text of this size is at most, in the unit of the size."""
    return size * (_BOLD if bold else 1.0) * sum(map(_advance, text))


def _advance(letter: str) -> float:
    letter = unicodedata.normalize("NFD", letter)[0]  # without its accents
    if letter in _WIDTH:
        return _WIDTH[letter]
    kind = unicodedata.category(letter)
    if kind in {"Mn", "Me", "Cf"}:
        return 0.0
    if kind == "So":
        return _PICTURE
    return _WIDE if unicodedata.east_asian_width(letter) in "WF" else _OTHER


def with_room(svg: str) -> str:
    """The plot, made larger on each side where one of its words may reach beyond the edge."""
    head = _HEAD.search(svg)
    if head is None:
        return svg
    width, height = float(head["width"]), float(head["height"])
    left, top, right, bottom = _extent(svg, (0.0, 0.0, width, height))
    if (left, top, right, bottom) == (0.0, 0.0, width, height):
        return svg
    size = f'width="{right - left:g}" height="{bottom - top:g}"'
    grown = (
        f'{head["begins"]}{size} viewBox="{left:g} {top:g} {right - left:g} {bottom - top:g}">'
        f'{head["ground"]}x="{left:g}" y="{top:g}" {size}'
    )  # fmt: skip
    return svg[: head.start()] + grown + svg[head.end() :]


@dataclass
class _Words:
    """A text as it is read: how it lies, how it is set, and its lines."""

    matrix: _Matrix
    size: float
    bold: bool
    anchor: str
    lines: list[tuple[float, str]]


def _extent(svg: str, box: tuple[float, float, float, float]) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of the box with all words in it, in whole pixels where it grows."""
    found = list(box)
    at: list[_Matrix] = [(1.0, 0.0, 0.0, 1.0, 0.0, 0.0)]
    words: list[_Words] = []

    def begins(tag: str, given: dict[str, str]) -> None:
        at.append(_moved(at[-1], given.get("transform", "")))
        if tag == "text" and given.get("opacity") != "0":
            size = float(given.get("font-size", "11px").removesuffix("px"))
            bold = given.get("font-weight") == "bold"
            words.append(_Words(at[-1], size, bold, given.get("text-anchor", "start"), [(0.0, "")]))
        elif tag == "tspan" and words:
            down = words[-1].lines[-1][0] + float(given.get("dy", "0").removesuffix("px"))
            words[-1].lines.append((down, ""))

    def says(text: str) -> None:
        if words:
            down, so_far = words[-1].lines[-1]
            words[-1].lines[-1] = (down, so_far + text)

    def ends(tag: str) -> None:
        at.pop()
        if tag == "text" and words:
            for x, y in _corners(words.pop()):
                found[0], found[2] = min(found[0], math.floor(x - _EDGE)), max(found[2], math.ceil(x + _EDGE))
                found[1], found[3] = min(found[1], math.floor(y)), max(found[3], math.ceil(y))

    parser = expat.ParserCreate()
    parser.StartElementHandler, parser.EndElementHandler, parser.CharacterDataHandler = begins, ends, says
    parser.Parse(svg, True)
    left, top, right, bottom = found
    return left, top, right, bottom


def _corners(words: _Words) -> list[tuple[float, float]]:
    """The corners of the box of each line of a text."""
    a, b, c, d, e, f = words.matrix
    found = []
    for down, line in words.lines:
        if not line.strip():
            continue
        width = text_width(line, words.size, bold=words.bold)
        start = {"middle": -width / 2, "end": -width}.get(words.anchor, 0.0)
        lines = (down - _ABOVE * words.size, down + _BELOW * words.size)
        found += [(a * x + c * y + e, b * x + d * y + f) for x in (start, start + width) for y in lines]
    return found


def _moved(matrix: _Matrix, transform: str) -> _Matrix:
    """The matrix after what an attribute `transform` says; plots have no other steps than these two."""
    for step, given in _STEP.findall(transform):
        numbers = [float(number) for number in given.replace(",", " ").split()]
        a, b, c, d, e, f = matrix
        if step == "translate":
            x, y = numbers[0], numbers[1] if len(numbers) > 1 else 0.0
            matrix = (a, b, c, d, a * x + c * y + e, b * x + d * y + f)
        else:
            cos, sin = math.cos(math.radians(numbers[0])), math.sin(math.radians(numbers[0]))
            matrix = (a * cos + c * sin, b * cos + d * sin, c * cos - a * sin, d * cos - b * sin, e, f)
    return matrix
