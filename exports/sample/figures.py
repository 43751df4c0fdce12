"""Draws the diagrams of the sample documents that show how parts are connected, and lists all diagrams by name."""

from collections.abc import Callable

from exports.sample.canvas import Box, Canvas, Point, escape
from exports.sample.sections import draw_ditch_dam, draw_ground_floor, draw_khettara

_INK = "#2b3440"


def _part(
    canvas: Canvas, box: Box, lines: list[str], face: str, *, fill: str = "#eef2f6", ink: str = _INK, size: float = 7.6
) -> None:
    """A labelled box: the first line is bold."""
    canvas.rect(box, fill=fill, ink=ink, width=0.8, radius=0.08)
    x = (box[0] + box[2]) / 2
    y = (box[1] + box[3]) / 2 - (len(lines) - 1) * size * 0.62
    for number, text in enumerate(lines):
        at = (x, y + number * size * 1.25)
        canvas.label(text, at, size=size, face=face, weight="bold" if number == 0 else "normal")


def draw_storage_system(canvas: Canvas, box: Box, face: str) -> None:
    """Sources, converter stations, stores and customers of a storage cooperative."""
    x0, y0, x1, y1 = box
    canvas.rect(box, fill="#fafbfc", ink="#d5dae0", width=0.6)
    for x, title in ((52, "Sources"), (168, "Converters"), (279, "Stores"), (393, "Customers")):
        canvas.label(title, (x0 + x, y0 + 13), size=8.2, ink="#5b6470", face=face)
    step = (y1 - y0 - 34) / 3
    rows = [y0 + 26 + step * number for number in range(3)]
    sources = [["Skerry wind park", "18 MW"], ["Tidal array", "6 MW"], ["Mainland cable", "20 MW"]]
    stations = [["Station A", "Harbour quay"], ["Station B", "Hill foot"], ["Station C", "Fish market"]]
    stores = [["Battery hall 1", "12 MWh"], ["Upper basin", "water, 96 MWh"], ["Battery hall 2", "8 MWh"]]
    customers = [
        ["Tern Sound terminal", "ferry charging"],
        ["Town and hospital", "2,940 meters"],
        ["Cold stores", "11 firms"],
    ]
    bus, wire = x0 + 113, "#c05a2e"
    canvas.line([(bus, rows[0] + 8), (bus, rows[2] + step - 16)], ink=wire, width=2.4)
    canvas.label("33 kV ring", (bus, y1 - 6), size=7.2, ink=wire, face=face)
    for y, source, station, store, customer in zip(rows, sources, stations, stores, customers, strict=True):
        low, middle = y + step - 12, y + (step - 12) / 2
        _part(canvas, (x0 + 8, y, x0 + 97, low), source, face, fill="#eaf3e6")
        _part(canvas, (x0 + 130, y, x0 + 206, low), station, face, fill="#e3edf6")
        _part(canvas, (x0 + 234, y, x0 + 324, low), store, face, fill="#fdf3dd")
        _part(canvas, (x0 + 352, y, x1 - 8, low), customer, face)
        canvas.line([(x0 + 97, middle), (x0 + 130, middle)], ink=wire, width=1.4)
        canvas.arrow((x0 + 206, middle - 5), (x0 + 234, middle - 5), width=0.8)
        canvas.arrow((x0 + 234, middle + 5), (x0 + 206, middle + 5), width=0.8)
        canvas.line([(x0 + 168, low), (x0 + 168, low + 5), (x0 + 338, low + 5), (x0 + 338, middle)], width=0.8)
        canvas.arrow((x0 + 337, middle), (x0 + 352, middle), width=0.8)


def draw_steering_gear(canvas: Canvas, box: Box, face: str) -> None:
    """The hydraulic circuit of a steering gear with two pumps and one change-over valve."""
    x0, y0, x1, y1 = box
    canvas.rect(box, fill="#fafbfc", ink="#d5dae0", width=0.6)
    top, low = y0 + 34, y1 - 74
    _part(canvas, (x0 + 14, top + 4, x0 + 92, low + 36), ["Oil reservoir", "180 litres"], face, fill="#fdf3dd")
    for y, name, note in ((top, "Pump 1", "in use"), (low, "Pump 2", "standby")):
        middle = y + 20
        fill = "#f7dfda" if name == "Pump 1" else "#e3edf6"
        _part(canvas, (x0 + 126, middle - 13, x0 + 176, middle + 13), ["Filter", "F1" if y == top else "F2"], face)
        canvas.arrow((x0 + 92, middle), (x0 + 126, middle), width=1)
        canvas.circle((x0 + 218, middle), 22, fill=fill, ink=_INK)
        canvas.label(name, (x0 + 218, middle - 4), size=7.6, face=face, weight="bold")
        canvas.label(note, (x0 + 218, middle + 6), size=7, face=face)
        canvas.arrow((x0 + 176, middle), (x0 + 196, middle), width=1)
    valve = (x0 + 278, (top + low) / 2 - 8, x0 + 334, (top + low) / 2 + 48)
    _part(canvas, valve, ["Change-over", "valve V3", "(by hand)"], face, fill="#fbe9c8", size=7.2)
    for y, into in ((top + 20, valve[1]), (low + 20, valve[3])):
        canvas.line([(x0 + 240, y), (x0 + 306, y)], width=1)
        canvas.arrow((x0 + 306, y), (x0 + 306, into), width=1)
    middle = (valve[1] + valve[3]) / 2
    for y, ram in ((middle - 40, "Port ram"), (middle + 18, "Starboard ram")):
        _part(canvas, (x0 + 358, y, x1 - 12, y + 22), [ram], face, fill="#e8ebef")
        canvas.arrow((valve[2], middle), (x0 + 358, y + 11), width=1)
    _sensor(canvas, (x0 + 262, top + 20), "low-pressure alarm, 35 bar", face)
    canvas.line([(x1 - 30, middle + 40), (x1 - 30, y1 - 20), (x0 + 53, y1 - 20)], ink="#7a8592", dashes="[4 2] 0")
    canvas.arrow((x0 + 53, y1 - 20), (x0 + 53, low + 36), ink="#7a8592")
    canvas.label("return line", (x0 + 190, y1 - 12), size=7.2, ink="#5b6470", face=face)


def _sensor(canvas: Canvas, at: Point, text: str, face: str) -> None:
    x, y = at
    canvas.circle((x, y), 4, fill="#ffffff", ink="#a33a2c", width=1.1)
    canvas.line([(x, y - 4), (x, y - 24), (x + 8, y - 24)], ink="#a33a2c", width=0.7)
    canvas.text(escape(text), (x + 11, y - 29, x + 140, y), size=7.2, ink="#a33a2c", face=face)


FIGURES: dict[str, Callable[[Canvas, Box, str], None]] = {
    "storage_system": draw_storage_system,
    "steering_gear": draw_steering_gear,
    "ground_floor": draw_ground_floor,
    "ditch_dam": draw_ditch_dam,
    "khettara": draw_khettara,
}
