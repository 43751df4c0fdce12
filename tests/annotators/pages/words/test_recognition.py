"""Scanned pages get words by reading their picture, upright or turned, and only once."""

from __future__ import annotations

import importlib.util
import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pymupdf
import pytest
from PIL import Image
from rapidfuzz.distance import Levenshtein

from annotators.errors import InvalidInput
from annotators.pages import PageNotDrawn, Renderer
from annotators.pages.documents.words import PageWords
from annotators.pages.finding.matching import Searchable
from annotators.pages.normal import normalise
from annotators.pages.words import recognition as recognition_module
from annotators.pages.words.index import Source, WordIndex
from annotators.pages.words.recognition import pages_without_text, recognise
from exports.sample.documents import draw_document, read_data
from tests.annotators.pages import makers

mupdf: Any = pymupdf
PDF = "application/pdf"
NEEDS_OCR = pytest.mark.skipif(
    importlib.util.find_spec("rapidocr_onnxruntime") is None, reason="needs the extra ocr (rapidocr-onnxruntime)"
)

LINES = ["The tide gauge at Harrow Bay", "measured 4.27 m on 14 March", "and 3.95 m one week later."]


HOW_IT_LIES = [(0, 0), (90, 0), (0, 90), (180, 0), (270, 180)]
"""(how a PDF displays the page, how the paper lay when it was scanned), in degrees."""


def scans(how_they_lie: Sequence[tuple[int, int]] = ((0, 0),)) -> bytes:
    """A document whose pages are only pictures of LINES, each of which lies as it is told."""
    typed = mupdf.open()
    page = typed.new_page(width=420, height=300)
    for number, line in enumerate(LINES):
        page.insert_text((40, 80 + 40 * number), line, fontsize=18)
    pixels = page.get_pixmap(dpi=150)
    upright = Image.frombytes("RGB", (pixels.width, pixels.height), pixels.samples)
    document = mupdf.open()
    for rotate, turned in how_they_lie:
        picture = upright.rotate(turned, expand=True)
        data = io.BytesIO()
        picture.save(data, "JPEG", quality=80)
        made = document.new_page(width=picture.width * 0.48, height=picture.height * 0.48)
        made.insert_image(made.rect, stream=data.getvalue())
        made.set_rotation(rotate)
    return bytes(document.tobytes())


def put(folder: Path, data: bytes) -> Source:
    digest = makers.sha256(data)
    return Source(digest, makers.put(folder, f"{digest[:8]}.pdf", data), PDF)


@NEEDS_OCR
@pytest.mark.slow
def test_scans_are_read_and_their_words_lie_on_the_ink(renderer: Renderer, tmp_path: Path) -> None:
    source, count = put(tmp_path, scans(HOW_IT_LIES)), len(HOW_IT_LIES)
    pages = list(range(1, count + 1))
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", renderer)
    assert pages_without_text(index, source, count) == pages
    progress = [(step.page, step.done, step.of, step.reason) for step in recognise(index, source, count)]
    assert progress == [(page, page, count, "") for page in pages]
    expected = normalise(" ".join(LINES)).text
    for page, (rotate, turned) in zip(pages, HOW_IT_LIES, strict=True):
        words = index.get(source, [page])[page]
        assert isinstance(words, PageWords)
        assert words.ocr
        assert Levenshtein.normalized_similarity(words.normal.text, expected) >= 0.95, (rotate, turned)
        # The box of a word has its ink: dark pixels of "measured" lie where the highlight says.
        [span] = Searchable([(page, words.normal)]).find(normalise("measured"))
        [box] = words.boxes_between(span.start, span.end)
        shown = makers.shown(renderer.render(source.path, PDF, page, 1200).data).convert("L")
        (x0, x1), (y0, y1) = (
            [int(edge * shown.width) for edge in box[::2]],
            [int(edge * shown.height) for edge in box[1::2]],
        )
        part = shown.crop((x0, y0, x1, y1))
        dark = sum(part.histogram()[:128]) / (part.width * part.height)
        assert dark > 0.08, (rotate, turned)
        upright = (rotate - turned) % 180 == 0
        assert (part.width > part.height) == upright, (rotate, turned)
    assert list(recognise(index, source, count)) == []


@NEEDS_OCR
@pytest.mark.slow
def test_the_sample_projects_scanned_form_is_read(renderer: Renderer, tmp_path: Path, record_property: Any) -> None:
    drawn = draw_document("mossgate")
    source = put(tmp_path, drawn.data)
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", renderer)
    progress = list(recognise(index, source, len(drawn.pages)))
    scanned = [number for number, (characters, _) in enumerate(drawn.pages, start=1) if not characters]
    assert [page.page for page in progress] == scanned
    words = index.get(source, scanned)[scanned[0]]
    assert isinstance(words, PageWords)
    spec = _scan_spec(read_data("mossgate"))
    rows = [" ".join(map(str, row)) for row in (spec["columns"], *spec["rows"])]
    typed = [spec["heading"], *spec["stamp"], spec["title"], *spec["fields"], *rows, *spec["remarks"], spec["signed"]]
    pieces = [normalise(text).text for text in typed]
    # Order apart (the stamp stands beside the heading): how much of each typed line is on the page.
    right = sum(_found_of(piece, words.normal.text) for piece in pieces)
    accuracy = right / sum(map(len, pieces))
    record_property("ocr_character_accuracy", f"{accuracy:.3f}")
    print(f"\nsample scan: character accuracy {accuracy:.1%}, {progress[0].seconds:.0f} s")
    assert accuracy >= 0.95


def _scan_spec(content: Any) -> dict[str, Any]:
    """The part of the document's content that is drawn as a scan."""
    if isinstance(content, dict):
        if {"columns", "rows", "stamp", "tilt"} <= set(content):
            return content
        content = list(content.values())
    if isinstance(content, list):
        for page in content:
            if found := _scan_spec(page):
                return found
    return {}


def _found_of(piece: str, text: str) -> float:
    """How many of the piece's characters stand in the most alike place of the text."""
    from rapidfuzz import fuzz

    return len(piece) * fuzz.partial_ratio(piece, text) / 100 if piece else 0.0


@NEEDS_OCR
def test_a_scan_with_nothing_on_it_and_a_broken_one_are_reported(renderer: Renderer, tmp_path: Path) -> None:
    blank = io.BytesIO()
    Image.new("RGB", (300, 400), "white").save(blank, "PNG")
    data = blank.getvalue()
    source = Source(makers.sha256(data), makers.put(tmp_path, "blank.png", data), "image/png")
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", renderer)
    [progress] = recognise(index, source, 1)
    assert (progress.words, progress.reason) == (0, "no text was found on it")
    assert pages_without_text(index, source, 1) == []  # it has been read; there is nothing on it
    source.path.write_bytes(data[:60])
    with pytest.raises(PageNotDrawn):
        renderer.recognise(source.path, "image/png", 1)


def test_without_the_extra_people_are_told_what_to_install(
    renderer: Renderer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recognition_module.importlib.util, "find_spec", lambda name: None)
    index = WordIndex(tmp_path / "cache", tmp_path / "ocr", renderer)
    with pytest.raises(InvalidInput, match=r"assay\[ocr\]"):
        list(recognise(index, put(tmp_path, makers.pdf("x")), 1))
