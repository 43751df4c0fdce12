"""Forty damaged and hostile PDFs, made anew from fixed seeds: what strangers send, and what they might."""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from typing import Any

import pymupdf

from tests.annotators.pages.makers import endless_pdf, pdf_with_damaged_content, raw_pdf

mupdf: Any = pymupdf

N_DOCUMENTS = 40


def ordinary(pages: int = 6) -> bytes:
    """A PDF with text and lines on every page: what is then damaged."""
    document = mupdf.open()
    for number in range(pages):
        page = document.new_page(width=400, height=500)
        for line in range(20):
            page.insert_text((40, 60 + 20 * line), f"Page {number + 1}, line {line}: the tide rose {line * 7} cm.")
        page.draw_rect(mupdf.Rect(30, 30, 370, 470))
    return bytes(document.tobytes(deflate=True, no_new_id=True))


def hostile_pdfs() -> dict[str, bytes]:
    """Name → bytes of N_DOCUMENTS documents; the same on every call with the same MuPDF."""
    made: dict[str, bytes] = {}
    sound = ordinary()
    for seed in range(8):
        made[f"cut-{seed}"] = _cut(sound, seed)
    for seed in range(8):
        made[f"flipped-{seed}"] = _flipped(sound, seed)
    for name, make in _MAKERS.items():
        made[name] = make()
    assert len(made) == N_DOCUMENTS, len(made)
    return made


def _cut(data: bytes, seed: int) -> bytes:
    return data[: random.Random(seed).randrange(60, len(data))]


def _flipped(data: bytes, seed: int) -> bytes:
    rng = random.Random(1000 + seed)
    flipped = bytearray(data)
    for _ in range(2 ** (seed + 2)):
        flipped[rng.randrange(9, len(flipped))] ^= 1 << rng.randrange(8)
    return bytes(flipped)


def _objects(*objects: bytes, root: int = 1) -> bytes:
    """A PDF of these objects, numbered from 1, without a cross-reference table."""
    body = b"".join(b"%d 0 obj%s endobj\n" % (number, made) for number, made in enumerate(objects, start=1))
    return b"%PDF-1.4\n" + body + b"trailer<</Root %d 0 R>>\n" % root


def _stream(content: bytes, *, entries: bytes = b"") -> bytes:
    return b"<<%s/Length %d>>stream\n%s\nendstream" % (entries, len(content), content)


_CATALOG = b"<</Type/Catalog/Pages 2 0 R>>"
_FONT = b"/Font<</F 5 0 R>>"
_HELVETICA = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>"


def _page(content: bytes, *, box: bytes = b"0 0 600 800", entries: bytes = b"") -> bytes:
    return _objects(
        _CATALOG,
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[%s]/Contents 4 0 R/Resources<<%s>>%s>>" % (box, _FONT, entries),
        _stream(content),
        _HELVETICA,
    )


def _page_tree_that_is_its_own_child() -> bytes:
    return _objects(_CATALOG, b"<</Type/Pages/Kids[2 0 R]/Count 5/Parent 2 0 R>>")


def _two_page_trees_that_hold_each_other() -> bytes:
    return _objects(
        _CATALOG,
        b"<</Type/Pages/Kids[3 0 R]/Count 1000/Parent 3 0 R>>",
        b"<</Type/Pages/Kids[2 0 R 2 0 R]/Count 1000/Parent 2 0 R>>",
    )


def _deep_page_tree(depth: int = 3000) -> bytes:
    nodes = [b"<</Type/Pages/Kids[%d 0 R]/Count 1>>" % (number + 3) for number in range(depth)]
    return _objects(_CATALOG, *nodes, b"<</Type/Page/MediaBox[0 0 300 300]>>")


def _page_count_that_lies() -> bytes:
    leaf = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 300]>>"
    return _objects(_CATALOG, b"<</Type/Pages/Kids[3 0 R]/Count 2000000000>>", leaf)


def _thousands_of_tiny_pages(count: int = 10_000) -> bytes:
    kids = b" ".join(b"%d 0 R" % (number + 3) for number in range(count))
    leaf = b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 3 3]>>"
    return _objects(_CATALOG, b"<</Type/Pages/Kids[%s]/Count %d>>" % (kids, count), *[leaf] * count)


def _form_that_draws_itself() -> bytes:
    content = b"/F Do /F Do"
    form = _stream(content, entries=b"/Type/XObject/Subtype/Form/BBox[0 0 600 800]/Resources<</XObject<</F 5 0 R>>>>")
    return raw_pdf(b"/F Do", resources=b"/XObject<</F 5 0 R>>", more=[form])


def _pattern_in_a_pattern() -> bytes:
    content = b"/Pattern cs /P scn 0 0 600 800 re f"
    tile = _stream(
        content,
        entries=b"/Type/Pattern/PatternType 1/PaintType 1/TilingType 1/BBox[0 0 2 2]/XStep 0.01/YStep 0.01"
        b"/Resources<</Pattern<</P 5 0 R>>>>",
    )
    return raw_pdf(content, resources=b"/Pattern<</P 5 0 R>>", more=[tile])


def _packed_bomb(size: int, times: int = 1) -> bytes:
    """A content stream that unpacks to `size` bytes, packed `times` over."""
    packed = zlib.compress(b"0 0 9 9 re f " * (size // 13), 1)
    for _ in range(times - 1):
        packed = zlib.compress(packed, 9)
    filters = b"/Filter[" + b"/FlateDecode" * times + b"]"
    return _objects(
        _CATALOG,
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R>>",
        _stream(packed, entries=filters),
    )


def _picture(width: int, height: int) -> bytes:
    """A page with a picture that claims to be so large."""
    packed = zlib.compress(b"\0" * 100_000, 9)
    image = _stream(
        packed,
        entries=b"/Type/XObject/Subtype/Image/Width %d/Height %d/BitsPerComponent 8/ColorSpace/DeviceRGB"
        b"/Filter/FlateDecode" % (width, height),
    )
    return raw_pdf(b"600 0 0 800 0 0 cm /I Do", resources=b"/XObject<</I 5 0 R>>", more=[image])


def _a_million_words() -> bytes:
    return _page(b"BT /F 1 Tf 1 800 Td " + b"(word ) Tj 0 -0.001 Td " * 400_000 + b"ET")


def _one_endless_line() -> bytes:
    return _page(b"BT /F 1 Tf 10 400 Td (" + b"x" * 3_000_000 + b") Tj ET")


def _deep_brackets(depth: int = 200_000) -> bytes:
    return _objects(b"[" * depth + b"]" * depth, _CATALOG, root=2)


def _references_in_a_ring() -> bytes:
    return _objects(b"<</Type/Catalog/Pages 2 0 R>>", b"3 0 R", b"4 0 R", b"2 0 R")


def _bad_table() -> bytes:
    """A cross-reference table whose every place is wrong, and which names itself as the one before."""
    body = ordinary(2)
    at = body.rfind(b"startxref")
    return (
        body[:at]
        + b"xref\n0 3\n"
        + b"9999999999 00000 n \n" * 3
        + b"trailer<</Prev %d>>\nstartxref\n%d\n%%%%EOF" % (at, at)
    )


def _deep_graphics_states() -> bytes:
    return _page(b"q 1 0 0 1 0.001 0 cm " * 500_000)


def _many_lines() -> bytes:
    rng = random.Random(5)
    return _page(b"".join(b"%d %d m %d %d l S\n" % tuple(rng.randrange(800) for _ in range(4)) for _ in range(100_000)))


_MAKERS: dict[str, Callable[[], bytes]] = {
    "page-tree-loop": _page_tree_that_is_its_own_child,
    "page-tree-ring": _two_page_trees_that_hold_each_other,
    "page-tree-deep": _deep_page_tree,
    "page-count-lies": _page_count_that_lies,
    "pages-tiny-10000": _thousands_of_tiny_pages,
    "box-huge": lambda: _page(b"BT /F 99 Tf 9 9 Td (far) Tj ET", box=b"0 0 100000000 100000000"),
    "box-empty": lambda: _page(b"BT /F 9 Tf 9 9 Td (no room) Tj ET", box=b"0 0 0 0"),
    "box-backwards": lambda: _page(b"BT /F 9 Tf 9 9 Td (backwards) Tj ET", box=b"600 800 0 0"),
    "box-not-numbers": lambda: _page(b"BT /F 9 Tf 9 9 Td (names) Tj ET", box=b"/a /b (c) null"),
    "unit-absurd": lambda: _page(b"BT /F 9 Tf 9 9 Td (units) Tj ET", entries=b"/UserUnit 1e30/Rotate 77"),
    "forms-nested": endless_pdf,
    "form-loop": _form_that_draws_itself,
    "pattern-loop": _pattern_in_a_pattern,
    "bomb-100-MB": lambda: _packed_bomb(100 << 20),
    "bomb-packed-twice": lambda: _packed_bomb(200 << 20, times=2),
    "picture-huge": lambda: _picture(60_000, 60_000),
    "words-400000": _a_million_words,
    "line-endless": _one_endless_line,
    "brackets-deep": _deep_brackets,
    "references-ring": _references_in_a_ring,
    "table-bad": _bad_table,
    "states-deep": _deep_graphics_states,
    "lines-100000": _many_lines,
    "content-damaged": pdf_with_damaged_content,
}
