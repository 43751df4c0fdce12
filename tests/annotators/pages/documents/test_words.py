"""The words of pages: where they stand as the page is displayed, and what bytes are not words."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pymupdf
import pytest
from PIL import Image

from annotators.pages import PageNotDrawn, Renderer
from annotators.pages.documents.words import DOWN, LEFT, RIGHT, UP, PageWords, Unreadable, Word, pack_words
from annotators.pages.finding.matching import Searchable
from annotators.pages.normal import normalise
from tests.annotators.pages import makers

mupdf: Any = pymupdf
PDF = "application/pdf"


def words_of(renderer: Renderer, path: Path, media_type: str = PDF, page: int = 1) -> PageWords:
    found = renderer.words(path, media_type, [page], 5.0)[page]
    assert isinstance(found, PageWords)
    return found


def ink_in(picture: Image.Image, box: list[float]) -> tuple[float, float]:
    """The share of the page's ink that lies in the box, and how much of the box's width the ink takes."""
    dark = np.asarray(picture.convert("L")) < 128
    height, width = dark.shape
    part = dark[int(box[1] * height) : int(box[3] * height) + 1, int(box[0] * width) : int(box[2] * width) + 1]
    columns = np.flatnonzero(part.any(axis=0))
    return part.sum() / max(1, dark.sum()), (np.ptp(columns) + 1) / part.shape[1] if len(columns) else 0.0


def upright(*, embedded: bool, rotate: int) -> bytes:
    """A page with one line of vertical writing, in a font that it has or only names."""
    text = "二号線は四月三日"
    document = mupdf.open()
    page = document.new_page(width=300, height=400)
    if embedded:
        page.insert_font(fontname="F1", fontbuffer=mupdf.Font("cjk").buffer)
        page.insert_text((150, 60), text, fontname="F1", fontsize=24)
        document.xref_set_key(page.get_fonts()[0][0], "Encoding", "/Identity-V")
    else:
        page.insert_text((150, 60), "x", fontname="helv", fontsize=24)
        font, cid, about = page.get_fonts()[0][0], document.get_new_xref(), document.get_new_xref()
        document.update_object(
            about,
            "<</Type/FontDescriptor/FontName/HeiseiMin-W3/Flags 4/FontBBox[0 -200 1000 900]/ItalicAngle 0"
            "/Ascent 900/Descent -200/StemV 80>>",
        )
        document.update_object(
            cid,
            f"<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/DW 1000/FontDescriptor {about} 0 R"
            "/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>>>",
        )
        named = f"<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/UniJIS-UTF16-V/DescendantFonts[{cid} 0 R]>>"
        document.update_object(font, named)
        shown = f"BT /helv 24 Tf 150 340 Td <{text.encode('utf-16-be').hex()}> Tj ET"
        document.update_stream(page.get_contents()[0], shown.encode())
    page.set_rotation(rotate)
    return bytes(document.tobytes())


@pytest.mark.parametrize("rotate", [0, 90])
@pytest.mark.parametrize("embedded", [True, False])
def test_vertical_writing_is_boxed_on_its_glyphs(
    renderer: Renderer, tmp_path: Path, embedded: bool, rotate: int
) -> None:
    path = makers.put(tmp_path, "upright.pdf", upright(embedded=embedded, rotate=rotate))
    words = words_of(renderer, path)
    assert "".join(words.texts) == "二号線は四月三日"
    picture = makers.shown(renderer.render(path, PDF, 1, 1200).data)
    shares = [ink_in(picture, box)[0] for box in words.boxes.tolist()]
    assert min(shares) > 0.03
    assert sum(shares) > 0.97  # one glyph too low, the first would be in no box


@pytest.mark.parametrize("crop", [None, (10, 20, 290, 380)])
@pytest.mark.parametrize("rotate", [0, 90, 180, 270])
def test_boxes_lie_on_the_ink_of_the_page_as_displayed(
    renderer: Renderer, tmp_path: Path, rotate: int, crop: tuple[float, float, float, float] | None
) -> None:
    document = mupdf.open()
    page = document.new_page(width=300, height=400)
    page.insert_text((60, 120), "Wonderful", fontsize=20)
    if crop:
        page.set_cropbox(mupdf.Rect(crop))
    page.set_rotation(rotate)
    path = makers.put(tmp_path, "one.pdf", bytes(document.tobytes()))
    words = words_of(renderer, path)
    assert words.texts == ["Wonderful"]
    picture = makers.shown(renderer.render(path, PDF, 1, 1200).data)
    share, _ = ink_in(picture, words.boxes[0].tolist())
    assert share > 0.99
    across, down = (
        (words.boxes[0][2] - words.boxes[0][0]) * picture.width,
        (words.boxes[0][3] - words.boxes[0][1]) * picture.height,
    )
    assert (across > down) == (rotate in (0, 180))


def test_text_outside_the_crop_box_is_not_read(renderer: Renderer, tmp_path: Path) -> None:
    document = mupdf.open()
    page = document.new_page(width=300, height=400)
    page.insert_text((60, 120), "inside")
    page.insert_text((60, 390), "outside")
    page.set_cropbox(mupdf.Rect(0, 0, 300, 300))
    path = makers.put(tmp_path, "one.pdf", bytes(document.tobytes()))
    assert words_of(renderer, path).texts == ["inside"]


def test_pages_of_mixed_sizes_each_have_fractions_of_their_own(renderer: Renderer, tmp_path: Path) -> None:
    document = mupdf.open()
    for width, height in ((300, 400), (1200, 200), (60, 900)):
        document.new_page(width=width, height=height).insert_text((10, 100), "here", fontsize=10)
    path = makers.put(tmp_path, "mixed.pdf", bytes(document.tobytes()))
    for number, (width, height) in enumerate(((300, 400), (1200, 200), (60, 900)), start=1):
        box = words_of(renderer, path, page=number).boxes[0]
        assert box[0] * width == pytest.approx(10, abs=0.6)
        assert box[1] * height < 100 < box[3] * height


def test_ligatures_fall_apart_and_lines_are_numbered_in_reading_order(renderer: Renderer, tmp_path: Path) -> None:
    path = makers.put(tmp_path, "text.txt", "The ﬁrst line\nand the second one\n".encode())
    words = words_of(renderer, path, "text/plain")
    assert "".join(words.texts) == "Thefirstlineandthesecondone"
    assert words.lines.tolist() == sorted(words.lines.tolist())
    assert len(set(words.lines.tolist())) == 2


def test_a_picture_has_no_words_and_a_page_that_is_not_there_says_so(renderer: Renderer, tmp_path: Path) -> None:
    picture = makers.put(tmp_path, "one.png", makers.picture("PNG"))
    assert words_of(renderer, picture, "image/png").n == 0
    path = makers.put(tmp_path, "one.pdf", makers.pdf("one"))
    found = renderer.words(path, PDF, [1, 2], 5.0)
    assert isinstance(found[1], PageWords)
    assert isinstance(found[2], PageNotDrawn)


@pytest.mark.parametrize(("media_type", "name"), [("text/plain", "a.txt"), ("text/markdown", "a.md")])
def test_the_words_of_text_and_markdown_are_read_where_they_are_drawn(
    renderer: Renderer, tmp_path: Path, media_type: str, name: str
) -> None:
    path = makers.put(tmp_path, name, b"# A heading\n\nSome body text here.\n")
    words = words_of(renderer, path, media_type)
    picture = makers.shown(renderer.render(path, media_type, 1, 1200).data)
    assert sum(ink_in(picture, box)[0] for box in words.boxes.tolist()) > 0.97


def one_line(
    text: str, direction: int = RIGHT, box: tuple[float, float, float, float] = (0.1, 0.5, 0.9, 0.6)
) -> PageWords:
    return PageWords(pack_words([Word(box, text, 0, direction)]))


@pytest.mark.parametrize(
    ("direction", "expected"),
    [
        (RIGHT, (0.5, 0.5, 0.7, 0.6)),
        (LEFT, (0.3, 0.5, 0.5, 0.6)),
        (DOWN, (0.1, 0.55, 0.9, 0.575)),
        (UP, (0.1, 0.525, 0.9, 0.55)),
    ],
)
def test_a_part_of_a_word_is_cut_along_its_direction(
    direction: int, expected: tuple[float, float, float, float]
) -> None:
    words = one_line("北京市区", direction)
    [box] = words.boxes_between(2, 3)
    assert box == pytest.approx(expected, abs=1e-3)


def test_a_hit_over_three_lines_has_a_box_for_each() -> None:
    rows = [
        Word((0.1, 0.1, 0.3, 0.15), "one", 0), Word((0.35, 0.1, 0.6, 0.15), "two", 0),
        Word((0.1, 0.2, 0.3, 0.25), "three", 1), Word((0.1, 0.3, 0.3, 0.35), "four", 2),
        Word((0.4, 0.3, 0.5, 0.35), "five", 2),
    ]  # fmt: skip
    words = PageWords(pack_words(rows))
    [span] = Searchable([(1, words.normal)]).find(normalise("two three four"))
    assert words.boxes_between(span.start, span.end) == [
        pytest.approx([0.35, 0.1, 0.6, 0.15], abs=1e-4),
        pytest.approx([0.1, 0.2, 0.3, 0.25], abs=1e-4),
        pytest.approx([0.1, 0.3, 0.3, 0.35], abs=1e-4),
    ]
    assert words.context(span.start, span.end, n_words=1) == "one two three four five"


def test_digits_of_two_cells_are_one_number_only_when_they_touch() -> None:
    near = [Word((0.1, 0.1, 0.12, 0.15), "1", 0), Word((0.125, 0.1, 0.2, 0.15), "234", 0)]
    far = [Word((0.1, 0.1, 0.12, 0.15), "1", 0), Word((0.3, 0.1, 0.4, 0.15), "234", 0)]
    for rows, hits in ((near, 1), (far, 0)):
        page = Searchable([(1, PageWords(pack_words(rows)).normal)])
        assert len(list(page.find(normalise("1,234")))) == hits


def test_words_survive_packing_and_hold_nothing_that_text_cannot() -> None:
    rows = [
        Word((-1, 0, 2, 1), "a\x00b\u2028c", 3),
        Word((0, 0, 1, 1), "\x07", 4),
        Word((0, 0, 1, 1), "d\ud800", 70_000),
    ]
    words = PageWords(pack_words(rows, ocr=True))
    assert words.texts == ["abc", "d"]
    assert words.ocr
    assert words.lines.tolist() == [3, 65_535]
    assert words.boxes.tolist()[0] == [0, 0, 1, 1]


def test_bytes_that_are_no_words_are_refused_and_never_crash() -> None:
    good = pack_words([Word((0.1, 0.1, 0.2, 0.2), "word", 0), Word((0.3, 0.1, 0.4, 0.2), "другое", 0)])
    assert PageWords(good).texts == ["word", "другое"]
    rng = random.Random(3)
    refused = 0
    for _ in range(3000):
        damaged = bytearray(good)
        for _ in range(rng.randint(1, 4)):
            damaged[rng.randrange(len(damaged))] = rng.randrange(256)
        if rng.random() < 0.3:
            damaged = damaged[: rng.randrange(len(damaged))]
        try:
            words = PageWords(bytes(damaged))
        except Unreadable:
            refused += 1
            continue
        words.listed()
        if words.normal.text:
            words.boxes_between(0, len(words.normal.text))
    assert refused > 300
