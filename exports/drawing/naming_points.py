"""Names beside the points of a plot, none of which lies over another, over a point, or beyond the frame."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from exports.drawing.margins import text_width

Align = Literal["left", "right", "center"]

SIZE = 11
"""Of the names, in pixels."""

_POINT = 6.0
"""Radius of the place of a point, in pixels."""

_LINE = 13.0
_APART = 1.5
_NEAR = 9.0
_REACHES = (_NEAR, 17.0, 28.0, 42.0, 58.0, 78.0, 100.0)
_DIRECTIONS: tuple[tuple[float, float, Align], ...] = (
    (1, 0, "left"), (-1, 0, "right"), (0, -1, "center"), (0, 1, "center"),
    (0.7, -0.7, "left"), (0.7, 0.7, "left"), (-0.7, -0.7, "right"), (-0.7, 0.7, "right"),
)  # fmt: skip
"""Where a name may stand: beside its point before it stands above or below it, then slantwise."""

_Box = tuple[float, float, float, float]


@dataclass(frozen=True)
class Placed:
    """Where the name of a point stands, in pixels from the upper left corner; `away` if a line has to lead to it."""

    x: float
    y: float
    align: Align
    away: bool


def placed(
    points: Sequence[tuple[float, float]], names: Sequence[str], width: float, height: float
) -> list[Placed] | None:
    """A place for each name of points (pixels from the upper left corner) in a frame; None where some has none.

    A plot that is drawn wider than `width` spreads the places, so that they stay apart.
    """
    taken: list[_Box] = [(x - _POINT, y - _POINT, x + _POINT, y + _POINT) for x, y in points]
    found: list[Placed | None] = [None] * len(points)
    # Those in a crowd first: they have the fewest places.
    order = sorted(range(len(points)), key=lambda place: -sum(_near(points[place], other) for other in points))
    for place in order:
        for spot, box in _spots(points[place], text_width(names[place], SIZE)):
            inside = box[0] >= 0 and box[1] >= 0 and box[2] <= width and box[3] <= height
            if inside and not any(_over(box, other) for other in taken):
                found[place] = spot
                taken.append(box)
                break
        else:
            return None
    return [spot for spot in found if spot is not None]


def _near(one: tuple[float, float], other: tuple[float, float]) -> bool:
    return abs(one[0] - other[0]) < 60 and abs(one[1] - other[1]) < 30


def _spots(point: tuple[float, float], width: float) -> Iterator[tuple[Placed, _Box]]:
    for reach in _REACHES:
        for across, down, align in _DIRECTIONS:
            x, y = point[0] + reach * across, point[1] + reach * down
            left = x - {"left": 0.0, "right": width, "center": width / 2}[align]
            box = (left, y - _LINE / 2, left + width, y + _LINE / 2)
            yield Placed(x, y, align, away=reach > _NEAR), box


def _over(one: _Box, other: _Box) -> bool:
    return (
        one[0] < other[2] + _APART
        and other[0] < one[2] + _APART
        and one[1] < other[3] + _APART
        and other[1] < one[3] + _APART
    )
