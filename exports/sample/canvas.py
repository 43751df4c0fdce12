"""The sheet that the sample documents are drawn on: shaped text above vector shapes, page after page."""

import html
import io
from collections.abc import Callable, Sequence
from typing import Any

from exports.sample.textlayer import glyph_texts, mupdf, write_text_layer

WIDTH, HEIGHT = 595.0, 842.0  # A4 in points

Point = tuple[float, float]
Box = tuple[float, float, float, float]
_RESET = "body, div, p, ul, ol, li, h1, h2, h3 { margin: 0; padding: 0; } ul, ol { padding-left: 14px; }"
_TALL = 10_000.0


def colour(value: str) -> tuple[float, float, float]:
    """Red, green and blue in 0..1 of a colour written ``#rrggbb``."""
    red, green, blue = (int(value[start : start + 2], 16) / 255 for start in (1, 3, 5))
    return red, green, blue


def escape(text: str) -> str:
    """Plain ``text`` as HTML."""
    return html.escape(text, quote=False)


class Canvas:
    """Pages of one document. Lengths are points, the origin is the top left corner of the page.

    Text may be drawn before or after the shapes it stands on: shapes are always laid underneath.
    """

    def __init__(self, *, face: str = "serif", rtl: bool = False) -> None:
        """``face`` is the CSS family of text that names none; ``rtl`` turns the direction of all text."""
        self.face = face
        self.rtl = rtl
        self._bytes = io.BytesIO()
        self._writer = mupdf.DocumentWriter(self._bytes)
        self._device: Any = None
        self._shapes: list[list[Callable[[Any], None]]] = []
        self._images: list[tuple[int, Box, bytes]] = []
        self._fragments: list[str] = []

    @property
    def page(self) -> int:
        """Number of the page that is being drawn, from 1."""
        return len(self._shapes)

    def new_page(self) -> None:
        """Begin the next page."""
        if self._device is not None:
            self._writer.end_page()
        self._device = self._writer.begin_page(mupdf.Rect(0, 0, WIDTH, HEIGHT))
        self._shapes.append([])

    def text(
        self,
        markup: str,
        box: Box,
        *,
        size: float,
        ink: str = "#1c1f23",
        align: str = "left",
        face: str | None = None,
        leading: float = 1.25,
        weight: str = "normal",
    ) -> float | None:
        """Set ``markup`` (HTML) into ``box`` and return where it ended (y).

        None, and nothing drawn, when it does not fit. ``leading`` is the line height in multiples of ``size``.
        """
        story = self._story(markup, size=size, ink=ink, align=align, face=face, leading=leading, weight=weight)
        more, filled = story.place(mupdf.Rect(box))
        if more:
            return None
        story.draw(self._device)
        return float(filled[3])

    def height(
        self, markup: str, width: float, *, size: float, face: str | None = None, leading: float = 1.25
    ) -> float:
        """Height that ``markup`` takes when set to ``width``."""
        story = self._story(markup, size=size, face=face, leading=leading)
        _, filled = story.place(mupdf.Rect(0, 0, width, _TALL))
        return float(filled[3])

    def label(
        self,
        text: str,
        at: Point,
        *,
        size: float = 8,
        ink: str = "#1c1f23",
        anchor: str = "centre",
        face: str | None = None,
        weight: str = "normal",
    ) -> None:
        """One line of plain ``text``, centred on the height of ``at``; ``anchor`` is left, centre or right."""
        x, y = at
        reach = 300.0
        left = {"left": x, "centre": x - reach / 2, "right": x - reach}[anchor]
        align = {"left": "left", "centre": "center", "right": "right"}[anchor]
        box = (left, y - size * 0.62, left + reach, y + size * 3)
        self.text(escape(text), box, size=size, ink=ink, align=align, face=face, leading=1.2, weight=weight)

    def _story(
        self,
        markup: str,
        *,
        size: float,
        leading: float,
        face: str | None,
        ink: str = "#000000",
        align: str = "left",
        weight: str = "normal",
    ) -> Any:
        way = "rtl" if self.rtl else "ltr"
        if self.rtl:  # MuPDF takes left and right for start and end
            align = {"left": "right", "right": "left"}.get(align, align)
        style = (
            f"font-family: {face or self.face}; font-size: {size}px; color: {ink}; text-align: {align}; "
            f"line-height: {leading}; font-weight: {weight};"
        )
        fragment = f'<div dir="{way}" style="{style}">{markup}</div>'
        self._fragments.append(fragment)
        return mupdf.Story(f'<body dir="{way}">{fragment}</body>', user_css=_RESET)

    # Shapes ---------------------------------------------------------------------------------------------

    def line(
        self,
        points: Sequence[Point],
        *,
        ink: str = "#1c1f23",
        width: float = 0.8,
        dashes: str | None = None,
        close: bool = False,
    ) -> None:
        """A polyline through ``points``; closed on request."""
        path = list(points)

        def draw(shape: Any) -> None:
            shape.draw_polyline(path)
            _finish(shape, ink=ink, width=width, dashes=dashes, close=close)

        self._shapes[-1].append(draw)

    def area(self, points: Sequence[Point], fill: str) -> None:
        """A filled polygon without an outline."""
        path = list(points)

        def draw(shape: Any) -> None:
            shape.draw_polyline(path)
            shape.finish(color=None, fill=colour(fill), width=0, closePath=True)

        self._shapes[-1].append(draw)

    def rect(
        self,
        box: Box,
        *,
        fill: str | None = None,
        ink: str | None = None,
        width: float = 0.8,
        radius: float = 0,
    ) -> None:
        """A rectangle; ``radius`` rounds its corners (a share of the shorter side, 0 to 0.5)."""

        def draw(shape: Any) -> None:
            shape.draw_rect(mupdf.Rect(box), radius=radius or None)
            _finish(shape, ink=ink, fill=fill, width=width)

        self._shapes[-1].append(draw)

    def circle(
        self, at: Point, radius: float, *, fill: str | None = None, ink: str | None = None, width: float = 0.8
    ) -> None:
        """A circle around ``at``."""

        def draw(shape: Any) -> None:
            shape.draw_circle(at, radius)
            _finish(shape, ink=ink, fill=fill, width=width)

        self._shapes[-1].append(draw)

    def curve(self, start: Point, pull: Point, end: Point, *, ink: str = "#1c1f23", width: float = 0.8) -> None:
        """A curve from ``start`` to ``end`` bent towards ``pull``."""

        def draw(shape: Any) -> None:
            shape.draw_curve(start, pull, end)
            _finish(shape, ink=ink, width=width)

        self._shapes[-1].append(draw)

    def arrow(self, start: Point, end: Point, *, ink: str = "#1c1f23", width: float = 1) -> None:
        """A straight line with a head at ``end``."""
        (x0, y0), (x1, y1) = start, end
        length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
        dx, dy = (x1 - x0) / length, (y1 - y0) / length
        head, half = 3.2 + 2.2 * width, 1.4 + 1.1 * width
        base = (x1 - dx * head, y1 - dy * head)
        self.line([start, base], ink=ink, width=width)
        self.area([end, (base[0] - dy * half, base[1] + dx * half), (base[0] + dy * half, base[1] - dx * half)], ink)

    def image(self, data: bytes, box: Box) -> None:
        """An encoded picture filling ``box``."""
        self._images.append((self.page, box, data))

    # Result ---------------------------------------------------------------------------------------------

    def finish(self, *, title: str, author: str, date: str) -> bytes:
        """The PDF. The same drawing gives the same bytes; ``date`` (YYYY-MM-DD) stands in its metadata."""
        self._writer.end_page()
        self._writer.close()
        stamp = f"D:{date.replace('-', '')}090000Z"
        with mupdf.open(stream=self._bytes.getvalue(), filetype="pdf") as document:
            for number, draws in enumerate(self._shapes):
                shape = document[number].new_shape()
                for draw in draws:
                    draw(shape)
                if draws:
                    shape.commit(overlay=False)
            for number, box, data in self._images:
                document[number - 1].insert_image(mupdf.Rect(box), stream=data, overlay=False)
            document.subset_fonts()
            write_text_layer(document, glyph_texts(self._fragments, _RESET))
            document.set_metadata(
                {"title": title, "author": author, "creationDate": stamp, "modDate": stamp, "producer": "Assay"}
            )
            return bytes(document.tobytes(garbage=3, deflate=True, no_new_id=True))


def _finish(
    shape: Any,
    *,
    ink: str | None,
    width: float,
    fill: str | None = None,
    dashes: str | None = None,
    close: bool = False,
) -> None:
    shape.finish(
        color=colour(ink) if ink else None,
        fill=colour(fill) if fill else None,
        width=width if ink else 0,
        dashes=dashes,
        closePath=close,
        lineJoin=1,
        lineCap=1 if dashes is None else 0,
    )
