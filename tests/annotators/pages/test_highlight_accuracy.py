"""How well highlights cover the words they mean, on real reports and papers and on rotated copies of them.

Phrases are taken from a plain reading of each page (PyMuPDF's characters put together here, apart from the code under
test), and looked for through the index. A highlight is right when its boxes cover the boxes of those characters.
"""

from __future__ import annotations

import random
import unicodedata
from bisect import bisect_left
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest

from annotators.pages import Renderer
from annotators.pages.documents.words import PageWords
from annotators.pages.finding.matching import Searchable
from annotators.pages.normal import normalise
from tests.annotators.pages import makers

mupdf: Any = pymupdf
DATA = Path(__file__).parents[4] / "shared" / "data"
DOCUMENTS = sorted([*(DATA / "mmlongbench" / "documents").glob("*.pdf"), *(DATA / "fathoms" / "papers").glob("*.pdf")])
PDF = "application/pdf"
PAGES_A_DOCUMENT = 5
PHRASES_A_PAGE = 20

pytestmark = pytest.mark.skipif(not DOCUMENTS, reason="needs ../shared/data beside the checkout")

Box = tuple[float, float, float, float]


@dataclass
class Row:
    """A word as it is read here: its characters and the box around them, as the page is displayed, in points."""

    text: str
    box: Box
    line: tuple[int, int]


@dataclass
class Figures:
    """What was found of what was looked for."""

    looked_for: int = 0
    found: int = 0
    overlaps: list[float] = field(default_factory=list)

    def share(self, least: float) -> float:
        return sum(overlap >= least for overlap in self.overlaps) / max(1, len(self.overlaps))


def plain_rows(page: Any) -> list[Row]:
    """The page's words from its single characters."""
    rows: list[Row] = []
    # Same order of characters; the places are turned here with a matrix of our own making.
    turn = _turn(page.rotation, page.cropbox.width, page.cropbox.height)
    for block in page.get_text("rawdict", flags=mupdf.TEXT_PRESERVE_WHITESPACE | mupdf.TEXT_MEDIABOX_CLIP)["blocks"]:
        for number, line in enumerate(block.get("lines", ())):
            text, boxes = "", []
            for char in [c for span in line["spans"] for c in span["chars"]] + [{"c": " ", "bbox": None}]:
                if not char["c"].isspace() and char["c"] != "\u200b":
                    text += char["c"]
                    boxes.append(turn(char["bbox"]))
                elif text:
                    rows.append(Row(text, _around(boxes), (block["number"], number)))
                    text, boxes = "", []
    return rows


def _turn(rotation: int, width: float, height: float) -> Any:
    """A box on the page before its rotation → the box as displayed."""

    def turned(box: Box) -> Box:
        x0, y0, x1, y1 = box
        match rotation:
            case 90:
                return height - y1, x0, height - y0, x1
            case 180:
                return width - x1, height - y1, width - x0, height - y0
            case 270:
                return y0, width - x1, y1, width - x0
        return box

    return turned


def _around(boxes: list[Box]) -> Box:
    return (
        min(box[0] for box in boxes),
        min(box[1] for box in boxes),
        max(box[2] for box in boxes),
        max(box[3] for box in boxes),
    )


def _is_plain(text: str) -> bool:
    """Words that any reader takes for the same: letters and digits, perhaps with a comma or full stop behind."""
    kept = text.rstrip(".,;:")
    return kept.isalnum() and all(unicodedata.category(c)[0] in "LN" for c in kept)


def overlap(ours: list[Box], theirs: list[Box]) -> float:
    """Intersection over union of what two sets of boxes cover."""
    xs = sorted({edge for box in (*ours, *theirs) for edge in (box[0], box[2])})
    ys = sorted({edge for box in (*ours, *theirs) for edge in (box[1], box[3])})

    def covered(boxes: list[Box]) -> Any:
        cells = np.zeros((len(ys) - 1, len(xs) - 1), dtype=bool)
        for x0, y0, x1, y1 in boxes:
            cells[bisect_left(ys, y0) : bisect_left(ys, y1), bisect_left(xs, x0) : bisect_left(xs, x1)] = True
        return cells

    areas = np.outer(np.diff(ys), np.diff(xs))
    area, other = covered(ours), covered(theirs)
    return float(areas[area & other].sum() / areas[area | other].sum())


def check(page: Any, words: PageWords, rng: random.Random, figures: Figures) -> None:
    """Look for phrases of one to eight words of this page, and compare their highlights with the characters' boxes."""
    rows = plain_rows(page)
    searchable = Searchable([(1, words.normal)])
    width, height = page.rect.width, page.rect.height
    for _ in range(PHRASES_A_PAGE):
        length = rng.randint(1, 8)
        begin = rng.randrange(0, max(1, len(rows) - length))
        phrase = rows[begin : begin + length]
        text = " ".join(row.text for row in phrase)
        if not phrase or not all(_is_plain(row.text) for row in phrase) or len(text) < 4:
            continue
        figures.looked_for += 1
        expected = [
            tuple(
                edge / (width, height)[at % 2]
                for at, edge in enumerate(_around([r.box for r in phrase if r.line == line]))
            )
            for line in dict.fromkeys(row.line for row in phrase)
        ]
        found = [words.boxes_between(span.start, span.end) for span in searchable.find(normalise(text))]
        if found:
            figures.found += 1
            # The phrase may stand on the page more than once: the place that was meant must be among the hits.
            best = max(overlap([(box[0], box[1], box[2], box[3]) for box in boxes], expected) for boxes in found)
            figures.overlaps.append(best)


@pytest.mark.parametrize("rotation", [0, 90, 180, 270])
@pytest.mark.slow
def test_highlights_cover_the_words_they_mean(
    renderer: Renderer, tmp_path: Path, rotation: int, record_property: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    figures = Figures()
    rng = random.Random(42)
    for path in DOCUMENTS:
        with mupdf.open(path) as document:
            chosen = sorted(rng.sample(range(len(document)), min(PAGES_A_DOCUMENT, len(document))))
            document.select(chosen)
            for page in document:
                page.set_rotation((page.rotation + rotation) % 360)
            copy = makers.put(tmp_path, path.name, bytes(document.tobytes()))
        with mupdf.open(copy) as document:
            for number, page in enumerate(document, start=1):
                words = renderer.words(copy, PDF, [number], 5.0)[number]
                assert isinstance(words, PageWords)
                check(page, words, rng, figures)
    mean = sum(figures.overlaps) / len(figures.overlaps)
    line = (
        f"highlights, pages turned by {rotation}: {figures.looked_for} phrases, found {figures.found}, IoU >= 0.8: "
        f"{figures.share(0.8):.1%}, mean IoU {mean:.3f}, least {min(figures.overlaps):.3f}"
    )
    record_property("highlight_accuracy", line)
    with capsys.disabled():
        print(f"\n{line}")
    assert figures.looked_for > 200
    assert figures.found / figures.looked_for >= 0.99
    assert figures.share(0.8) >= 0.99


@pytest.mark.slow
def test_another_program_puts_the_words_in_the_same_places(renderer: Renderer, record_property: Any) -> None:
    """PDFium reads the same pages with code of its own: its boxes of characters are put together to words here."""
    pdfium = pytest.importorskip("pypdfium2", reason="needs pypdfium2, which reads PDFs apart from MuPDF")
    rng = random.Random(1)
    overlaps: list[float] = []
    missing = 0
    for path in DOCUMENTS:
        document = pdfium.PdfDocument(path)
        for number in rng.sample(range(len(document)), min(3, len(document))):
            words = renderer.words(path, PDF, [number + 1], 5.0)[number + 1]
            assert isinstance(words, PageWords)
            ours: dict[str, list[Box]] = {}
            for text, (x0, y0, x1, y1) in zip(words.texts, words.boxes.tolist(), strict=True):
                ours.setdefault(text, []).append((x0, y0, x1, y1))
            for text, box in _words_of_pdfium(pdfium, document[number]):
                if text not in ours:
                    missing += 1
                    continue
                overlaps.append(max(overlap([found], [box]) for found in ours[text]))
        document.close()
    figures = Figures(len(overlaps) + missing, len(overlaps), overlaps)
    line = f"against PDFium: {figures.looked_for} words, {missing} missing, IoU >= 0.8: {figures.share(0.8):.1%}"
    record_property("highlight_accuracy", line)
    print(f"\n{line}")
    assert len(overlaps) > 2000
    assert missing / figures.looked_for < 0.02
    assert figures.share(0.8) >= 0.98


def _words_of_pdfium(pdfium: Any, page: Any) -> list[tuple[str, Box]]:
    """Words of at least four letters or digits, with the box around their characters in fractions of the page."""
    width, height = page.get_size()
    textpage = page.get_textpage()
    out: list[tuple[str, Box]] = []
    text, boxes = "", []
    for at in range(textpage.count_chars() + 1):
        last = at == textpage.count_chars()
        character = " " if last else chr(pdfium.raw.FPDFText_GetUnicode(textpage.raw, at))
        if not character.isspace() and character.isprintable():
            left, bottom, right, top = textpage.get_charbox(at, loose=True)
            text += character
            boxes.append((left / width, 1 - top / height, right / width, 1 - bottom / height))
            continue
        if len(text) >= 4 and text.isalnum():
            out.append((text, _around(boxes)))
        text, boxes = "", []
    return out
