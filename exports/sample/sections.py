"""Draws the plans and cross-sections among the diagrams of the sample documents."""

import math

from exports.sample.canvas import Box, Canvas, Point

_INK = "#2b3440"
_WATER = "#6fa8c9"


def draw_ground_floor(canvas: Canvas, box: Box, face: str) -> None:
    """The ground floor of a library, with what is open at night tinted and the cameras marked."""
    x0, y0, x1, y1 = box
    width, height = x1 - x0, y1 - y0 - 16

    def room(shares: Box, name: str, note: str, *, is_open: bool) -> None:
        left, top, right, bottom = shares
        spot = (x0 + left * width, y0 + top * height, x0 + right * width, y0 + bottom * height)
        canvas.rect(spot, fill="#f7edc9" if is_open else "#e4e4e8", ink=_INK, width=1)
        middle = ((spot[0] + spot[2]) / 2, (spot[1] + spot[3]) / 2)
        canvas.label(name, (middle[0], middle[1] - 5), size=7.2, face=face, weight="bold")
        canvas.label(note, (middle[0], middle[1] + 5), size=6.8, face=face)

    room((0, 0, 0.42, 0.52), "Reading room", "64 seats", is_open=True)
    room((0.42, 0, 0.7, 0.52), "Computers", "18 places", is_open=True)
    room((0.7, 0, 1, 0.36), "Children", "closed 18:00", is_open=False)
    room((0.7, 0.36, 1, 0.68), "Stairs", "roped off", is_open=False)
    room((0, 0.52, 0.28, 1), "Café corner", "26 seats", is_open=True)
    room((0.28, 0.52, 0.7, 1), "Hall, staffed desk", "2 librarians", is_open=True)
    room((0.7, 0.68, 1, 1), "Guard", "1 until 00:30", is_open=True)
    door = x0 + 0.49 * width
    canvas.rect((door - 16, y0 + height - 2, door + 16, y0 + height + 3), fill="#ffffff", ink=_INK)
    canvas.arrow((door, y0 + height + 14), (door, y0 + height - 3), ink="#a33a2c")
    canvas.label("night entrance", (door + 12, y0 + height + 10), size=6.8, anchor="left", ink="#a33a2c", face=face)
    for left, top in ((0.03, 0.05), (0.66, 0.05), (0.31, 0.58), (0.03, 0.94)):
        at = (x0 + left * width, y0 + top * height)
        canvas.circle(at, 3.4, fill="#5a2f63")
        canvas.circle(at, 1.2, fill="#ffffff")
    key = y0 + height + 10
    canvas.circle((x0 + 6, key), 3.4, fill="#5a2f63")
    canvas.circle((x0 + 6, key), 1.2, fill="#ffffff")
    canvas.label("camera", (x0 + 13, key), size=6.8, anchor="left", face=face)


def draw_ditch_dam(canvas: Canvas, box: Box, face: str) -> None:
    """A dammed drainage ditch, cut lengthwise: peat, clay, sheet piles, and the water on both sides."""
    x0, y0, x1, y1 = box
    ground, floor, clay = y0 + 40, y0 + 104, y1 - 44
    dam_left, dam_right = x0 + 216, x0 + 262
    canvas.rect((x0, floor, x1, clay), fill="#8b6b4a")
    canvas.rect((x0, clay, x1, y1), fill="#b9b2a4")
    canvas.line([(x0, ground), (x1, ground)], ink="#9a9a8c", width=0.6, dashes="[3 3] 0")
    canvas.label("bank", (x1 - 4, ground - 6), size=7.2, anchor="right", ink="#6b6b60", face=face)
    canvas.rect((x0, ground + 9, dam_left, floor), fill=_WATER)
    canvas.rect((dam_right, floor - 15, x1, floor), fill=_WATER)
    canvas.area(
        [(dam_left - 12, floor), (dam_left, ground - 12), (dam_right, ground - 12), (dam_right + 16, floor)], "#6f5236"
    )
    for x in (dam_left + 12, dam_left + 24, dam_left + 36):
        canvas.line([(x, ground - 18), (x, clay + 16)], ink="#3e5a4b", width=2.4)
    canvas.curve((dam_left - 8, ground + 9), (dam_left + 24, ground + 14), (dam_right + 6, floor - 15), ink="#2f6f9a")
    _dimension(canvas, (x0 + 60, ground + 9), (x0 + 60, floor), "55 cm", face)
    _dimension(canvas, (x1 - 70, floor - 15), (x1 - 70, floor), "13 cm", face)
    canvas.label("ditch before the dam", (x0 + 138, ground + 34), size=7.6, ink="#173a52", face=face)
    canvas.label("ditch below the dam", (x1 - 126, ground + 26), size=7.6, ink=_INK, face=face)
    canvas.label("peat", (x0 + 120, (floor + clay) / 2), size=8.2, ink="#ffffff", face=face)
    canvas.label("marine clay", (x0 + 120, (clay + y1) / 2), size=8.2, ink=_INK, face=face)
    canvas.label(
        "recycled sheet piles, driven 40 cm into the clay", (dam_left + 60, y0 + 8), size=7.6, anchor="left", face=face
    )
    canvas.line([(dam_left + 57, y0 + 8), (dam_left + 38, ground - 17)], ink=_INK, width=0.6)
    canvas.label("peat plug, turf on top", (dam_left - 40, y0 + 14), size=7.6, anchor="right", face=face)
    canvas.line([(dam_left - 37, y0 + 14), (dam_left + 5, ground - 6)], ink=_INK, width=0.6)
    canvas.label("2.4 m", ((x1 - 20), (floor + clay) / 2), size=7.6, anchor="right", ink="#ffffff", face=face)
    canvas.arrow((x1 - 14, (floor + clay) / 2), (x1 - 14, floor), ink="#ffffff", width=0.7)
    canvas.arrow((x1 - 14, (floor + clay) / 2), (x1 - 14, clay), ink="#ffffff", width=0.7)


def _dimension(canvas: Canvas, top: Point, bottom: Point, text: str, face: str) -> None:
    """A measured height, with its value to the right."""
    middle = (top[1] + bottom[1]) / 2
    for end in (top, bottom):
        canvas.line([(end[0] - 4, end[1]), (end[0] + 4, end[1])], width=0.7)
    canvas.line([top, bottom], width=0.7)
    canvas.label(text, (top[0] + 7, middle), size=7.6, anchor="left", face=face)


def draw_khettara(canvas: Canvas, box: Box, face: str) -> None:
    """An underground gallery that leads groundwater from the foot of a mountain to a date grove."""
    x0, y0, x1, y1 = box
    span = x1 - x0

    def surface(x: float) -> float:
        """Height of the ground at ``x``: a plain on the left that climbs to a mountain on the right."""
        share = (x - x0) / span
        return y0 + (0.56 - 0.46 * math.pow(share, 2.3)) * (y1 - y0) - 2 * math.sin(share * 23)

    steps = [x0 + span * number / 60 for number in range(61)]
    canvas.area([*((x, surface(x)) for x in steps), (x1, y1), (x0, y1)], "#dcb98a")
    table = [(x, y1 - 26 - 0.36 * (y1 - y0) * max(0.0, (x - x0) / span - 0.3)) for x in steps]
    canvas.area([*table, (x1, y1), (x0, y1)], "#a9c9d8")
    canvas.line(table, ink="#2f6f9a", width=1, dashes="[4 2] 0")
    mouth, head = (x0 + 0.17 * span, surface(x0 + 0.17 * span) + 4), (x0 + 0.86 * span, y1 - 26 - 0.1 * (y1 - y0))
    canvas.line([mouth, head], ink="#1f5f8b", width=3.2)
    for number in range(1, 7):
        share = number / 6
        x, y = mouth[0] + share * (head[0] - mouth[0]), mouth[1] + share * (head[1] - mouth[1])
        last = number == 6
        canvas.line([(x, surface(x) - 4), (x, y + (12 if last else 0))], ink="#5a3d22", width=3.4 if last else 2)
        canvas.area([(x - 7, surface(x) + 1), (x, surface(x) - 7), (x + 7, surface(x) + 1)], "#b58954")
    for x in (x0 + 16, x0 + 34, x0 + 52):
        y = surface(x)
        canvas.line([(x, y), (x + 1, y - 24)], ink="#4d3420", width=2)
        for angle in (-2.7, -2.1, -1.57, -1.0, -0.4):
            tip = (x + 1 + 12 * math.cos(angle), y - 22 + 10 * math.sin(angle) + 6)
            canvas.curve((x + 1, y - 24), (x + 1 + 7 * math.cos(angle), y - 32), tip, ink="#2f5d3a", width=1.4)
    canvas.rect((mouth[0] - 22, mouth[1] - 3, mouth[0] - 2, mouth[1] + 4), fill=_WATER, ink=_INK, width=0.6)
    canvas.label("البستان", (x0 + 32, y0 + 0.18 * (y1 - y0)), size=9, face=face)
    canvas.label("حوض التوزيع", (mouth[0] + 6, mouth[1] + 22), size=9, face=face)
    canvas.label("النفق: 3.8 كم", ((mouth[0] + head[0]) / 2 - 10, (mouth[1] + head[1]) / 2 + 16), size=9, face=face)
    canvas.label("آبار التهوية", (x0 + 0.47 * span, y0 + 0.2 * (y1 - y0)), size=9, face=face)
    canvas.label("البئر الأم: 31 م", (head[0] - 34, y0 + 4), size=9, face=face)
    canvas.line([(head[0] - 20, y0 + 12), (head[0], surface(head[0]) - 8)], width=0.6)
    canvas.label("منسوب المياه الجوفية", (x0 + 0.28 * span, y1 - 12), size=9, face=face)
