"""Sets the written content of a sample document, block after block, into pages, and remembers where each block went."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from annotators.errors import InvalidInput
from exports.sample.canvas import HEIGHT, WIDTH, Box, Canvas, escape
from exports.sample.charts import chart_text, draw_chart
from exports.sample.covers import draw_cover
from exports.sample.figures import FIGURES
from exports.sample.scan import draw_scan
from exports.sample.tables import draw_table, table_height, table_text

_TOP, _BOTTOM = 82.0, 772.0  # of the text on a page
_KEEP = 54.0  # a heading stays with at least this much of a list, a table or a figure; with a paragraph, with all of it
_GREY = "#5b6470"


@dataclass(frozen=True)
class Placed:
    """Where a named block stands: its page (from 1), its box in points, and what it says.

    A chart also has its series as ``data``, which a reader can only take from the drawing.
    """

    kind: str
    page: int
    box: Box
    text: str
    data: str = ""


@dataclass
class Flow:
    """A document being set: ``content`` is the whole of its YAML file."""

    content: Mapping[str, Any]
    canvas: Canvas = field(init=False)
    placed: dict[str, Placed] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Take the style of the document."""
        style = self.content["style"]
        self.accent: str = style["accent"]
        self.face: str = style["face"]
        self.label_face: str = style["label_face"]
        self.size: float = style["size"]
        self.leading: float = style["leading"]
        self.align: str = style["align"]
        self.margin: float = style["margin"]
        self.columns: int = style.get("columns", 1)
        self.canvas = Canvas(face=self.face, rtl=self.content["language"] == "ar")
        self._column = 0
        self._y = _TOP
        self._ceiling = _TOP  # where the columns of this page begin
        self._keep = _KEEP

    def run(self) -> None:
        """Set every block of the document."""
        blocks = [next(iter(block.items())) for block in self.content["blocks"]]
        for number, (kind, value) in enumerate(blocks):
            following = blocks[number + 1] if number + 1 < len(blocks) else ("", "")
            self._keep = self._height(following[1]) if following[0] in {"p", "np"} else _KEEP
            getattr(self, f"_set_{kind}")(value)

    # Pages and columns ----------------------------------------------------------------------------------

    @property
    def _frame(self) -> tuple[float, float]:
        """Left and right edge of the column that is being filled."""
        gutter = 22.0
        room = WIDTH - 2 * self.margin
        width = (room - gutter * (self.columns - 1)) / self.columns
        left = self.margin + self._column * (width + gutter)
        return left, left + width

    def _turn(self) -> None:
        """Go to the next column, or to the next page after the last column."""
        if self._column + 1 < self.columns and self.canvas.page:
            self._column += 1
            self._y = self._ceiling
        else:
            self._set_page(None)

    def _set_page(self, _: object) -> None:
        self.canvas.new_page()
        self._column, self._y, self._ceiling = 0, _TOP, _TOP
        left, right = self.margin, WIDTH - self.margin
        near, far = ("left", "right") if not self.canvas.rtl else ("right", "left")
        head, foot = self.content["header"], self.content["footer"]
        self._furniture(head, (left, 46, right, 70), near)
        self.canvas.line([(left, 62), (right, 62)], ink=self.accent, width=0.7)
        self._furniture(foot, (left, HEIGHT - 46, right, HEIGHT - 20), near)
        self._furniture(str(self.canvas.page), (left, HEIGHT - 46, right, HEIGHT - 20), far)

    def _furniture(self, text: str, box: Box, align: str) -> None:
        self.canvas.text(escape(text), box, size=7.8, ink=_GREY, align=align, face=self.label_face)

    def _make_room(self, height: float) -> None:
        if not self.canvas.page or self._y + height > _BOTTOM:
            self._turn()
        if self._y + height > _BOTTOM:
            raise InvalidInput(f"A block of {height:.0f} points is higher than a page of {self.content['key']}.")

    def _set_text(
        self, markup: str, *, size: float, after: float, indent: float = 0, align: str | None = None, **look: Any
    ) -> Box:
        """Set a block of text in the current column, or in the next one when it does not fit."""
        whole: dict[str, Any] = {"size": size, "align": align or self._near, "leading": self.leading} | look
        for _ in range(2):
            left, right = self._frame
            left, right = (left + indent, right) if not self.canvas.rtl else (left, right - indent)
            top = self._y
            end = self.canvas.text(markup, (left, top, right, _BOTTOM), **whole) if top < _BOTTOM else None
            if end is not None:
                self._y = end + after
                return left, top, right, end
            self._turn()
        raise InvalidInput(f"A text is longer than a column of {self.content['key']}: {markup[:60]}…")

    def _height(self, paragraph: str) -> float:
        left, right = self._frame
        return self.canvas.height(paragraph, right - left, size=self.size, leading=self.leading)

    @property
    def _near(self) -> str:
        return "right" if self.canvas.rtl else "left"

    def _name(self, spec: Mapping[str, Any], kind: str, box: Box, text: str, data: str = "") -> None:
        self.placed[spec["name"]] = Placed(kind, self.canvas.page, box, text, data)

    # Blocks ---------------------------------------------------------------------------------------------

    def _set_cover(self, spec: Mapping[str, Any]) -> None:
        self.canvas.new_page()
        self._column, self._ceiling = 0, draw_cover(self.canvas, spec, self.content["style"])
        self._y = self._ceiling

    def _set_h1(self, text: str) -> None:
        spaced = re.sub(r"^(\d+\.?) +", "\\1\u00a0\u00a0\u00a0", text)  # a number stands apart from its title
        self._heading(spaced, size=self.size + 6.2, before=14, after=7)

    def _set_h2(self, text: str) -> None:
        self._heading(text, size=self.size + 1.8, before=6, after=3.5)

    def _heading(self, text: str, *, size: float, before: float, after: float) -> None:
        if self.canvas.page and self._y > self._ceiling:
            self._y += before
        self._make_room(size * 1.3 + after + self._keep)
        weight = "normal" if self.canvas.rtl else "bold"
        look: dict[str, Any] = {"ink": self.accent, "weight": weight, "leading": 1.2, "face": self.label_face}
        self._set_text(text, size=size, after=after, **look)

    def _set_p(self, text: str) -> None:
        self._set_text(text, size=self.size, after=self.size * 0.72, align=self.align)

    def _set_lead(self, text: str) -> None:
        self._set_text(text, size=self.size + 1.6, after=self.size, ink="#36404b")

    def _set_np(self, numbered: str) -> None:
        """A numbered paragraph: its number, the first word, hangs in the margin of the text."""
        number, text = numbered.split(maxsplit=1)
        left, top, *_ = self._set_text(text, size=self.size, after=self.size * 0.72, indent=34, align=self.align)
        look: dict[str, Any] = {"size": self.size, "leading": self.leading, "ink": self.accent}
        self.canvas.text(escape(number), (left - 34, top, left - 2, top + 40), **look)

    def _set_bullets(self, texts: list[str]) -> None:
        for text in texts:
            left, top, right, _ = self._set_text(text, size=self.size, after=self.size * 0.34, indent=13)
            x = left - 8 if not self.canvas.rtl else right + 8
            self.canvas.circle((x, top + self.size * self.leading * 0.52), 1.5, fill=self.accent)
        self._y += self.size * 0.4

    def _set_note(self, spec: Mapping[str, str]) -> None:
        """A tinted box with a title."""
        room = self._frame[1] - self._frame[0]
        title = f'<p style="color:{self.accent}"><b>{spec["title"]}</b></p>'
        markup = f"{title}<p>{spec['text']}</p>"
        height = self.canvas.height(markup, room - 24, size=self.size - 0.6, leading=1.38)
        self._make_room(height + 20)
        left, right = self._frame
        box = (left, self._y, right, self._y + height + 20)
        self.canvas.rect(box, fill="#f2f4f6")
        edge = (left, left + 2.5) if not self.canvas.rtl else (right - 2.5, right)
        self.canvas.rect((edge[0], box[1], edge[1], box[3]), fill=self.accent)
        inner = (left + 12, self._y + 9, right - 12, box[3] + 20)
        self.canvas.text(markup, inner, size=self.size - 0.6, leading=1.38, align=self._near)
        self._y = box[3] + 12

    def _set_numbers(self, pairs: list[list[str]]) -> None:
        """A strip of large numbers, each with what it counts."""
        self._make_room(62)
        left, right = self._frame
        room = (right - left) / len(pairs)
        for place, (value, what) in enumerate(reversed(pairs) if self.canvas.rtl else pairs):
            x = left + place * room
            box = (x, self._y, x + room - 10, self._y + 60)
            self.canvas.line([(x, self._y), (x + room - 10, self._y)], ink=self.accent, width=1.4)
            look: dict[str, Any] = {"align": self._near, "face": self.label_face, "leading": 1.2}
            self.canvas.text(escape(value), (x, self._y + 5, *box[2:]), size=18, ink=self.accent, **look)
            self.canvas.text(escape(what), (x, self._y + 29, *box[2:]), size=7.8, ink=_GREY, **look)
        self._y += 68

    def _set_table(self, spec: Mapping[str, Any]) -> None:
        size = self.size - 1.2
        room = self._frame[1] - self._frame[0]
        height = table_height(self.canvas, spec, room, size=size, face=self.label_face)
        height += self._small_print(spec["caption"]) + self._small_print(spec.get("note", ""))
        self._make_room(height + 20)
        left, right = self._frame
        self._air()
        top = self._y
        self._caption(spec["caption"])
        look: dict[str, Any] = {"size": size, "face": self.label_face, "accent": self.accent}
        self._y = draw_table(self.canvas, spec, (left, self._y), right - left, **look) + 4
        if "note" in spec:
            self._set_text(spec["note"], size=size - 0.8, after=0, ink=_GREY, leading=1.3, face=self.label_face)
        text = f"{spec['caption']}\n{table_text(spec)}"
        self._name(spec, "table", (left, top, right, self._y), text)
        self._y += 13

    def _set_chart(self, spec: Mapping[str, Any]) -> None:
        self._drawing(spec, lambda box: draw_chart(self.canvas, spec, box, face=self.label_face), chart_text(spec))

    def _set_figure(self, spec: Mapping[str, Any]) -> None:
        draw = FIGURES[spec["draw"]]
        self._drawing(spec, lambda box: draw(self.canvas, box, self.label_face))

    def _drawing(self, spec: Mapping[str, Any], draw: Callable[[Box], None], data: str = "") -> None:
        self._make_room(spec["height"] + self._small_print(spec["caption"]) + 20)
        left, right = self._frame
        self._air()
        top = self._y
        draw((left, top, right, top + spec["height"]))
        self._y = top + spec["height"] + 5
        self._caption(spec["caption"])
        self._name(spec, "figure", (left, top, right, self._y), spec["caption"], data)
        self._y += 10

    def _air(self) -> None:
        """Set a table or a figure apart from the text above it."""
        if self._y > self._ceiling:
            self._y += 6

    def _caption(self, text: str) -> None:
        self._set_text(text, size=self.size - 1.2, after=4, ink=_GREY, leading=1.3, face=self.label_face)

    def _small_print(self, text: str) -> float:
        """Height of a caption or a note."""
        left, right = self._frame
        return self.canvas.height(text, right - left, size=self.size - 1.2, face=self.label_face, leading=1.3)

    def _set_signature(self, text: str) -> None:
        self._set_text(text, size=self.size, after=self.size, ink=_GREY, leading=1.35)

    def _set_scan(self, spec: Mapping[str, Any]) -> None:
        """A page of its own that is a picture of paper, with no text layer."""
        self.canvas.new_page()
        self._y = _BOTTOM  # nothing else goes onto this page
        self._column = self.columns - 1
        box = draw_scan(self.canvas, spec)
        text = "\n".join([spec["title"], table_text(spec)])
        self._name(spec, "table", box, text)
