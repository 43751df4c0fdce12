"""Makes the text layer of a drawn PDF say what was written, ligature by ligature and letter by letter.

MuPDF shapes text well but maps the shaped glyphs back to presentation forms and ligature code points, so
that a copied Arabic word is not the word that was written. The same shaping engine, run over the same text
without a PDF in between, still knows which characters each glyph stands for; that table replaces the
ToUnicode map of every font.
"""

from collections.abc import Iterable
from typing import Any

import pymupdf

mupdf: Any = pymupdf  # its own annotations are incomplete

_HEAD = """/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo <</Registry(Adobe)/Ordering(UCS)/Supplement 0>> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
"""
_TAIL = "endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n"
_MAX_ROWS = 100  # a CMap block holds at most this many rows (Adobe Technical Note 5014)
_CONTINUES = -1  # glyph number of a character that the glyph before it already shows


def glyph_texts(fragments: Iterable[str], css: str) -> dict[str, dict[int, str]]:
    """Characters behind each glyph that shaping ``fragments`` (HTML) under ``css`` produces.

    Returns font name → glyph number → characters in logical order.
    """
    html = f"<html><head><style>{css}</style></head><body>{''.join(fragments)}</body></html>"
    texts: dict[str, dict[int, str]] = {}
    with mupdf.open(stream=html.encode(), filetype="html") as document:
        for page in document:
            for span in page.get_texttrace():
                glyphs = texts.setdefault(span["font"], {})
                shown = 0
                for char, glyph, *_ in span["chars"]:
                    if glyph != _CONTINUES:
                        shown = glyph
                        glyphs[shown] = ""
                    glyphs[shown] += chr(char)
    return texts


def write_text_layer(document: Any, texts: dict[str, dict[int, str]]) -> None:
    """Replace the ToUnicode map of each font of the open ``document`` by ``texts``, as `glyph_texts` gives them."""
    seen: set[int] = set()
    for page in document:
        for xref, _, _, name, *_ in page.get_fonts():
            if xref in seen:
                continue
            seen.add(xref)
            glyphs = texts.get(name.split("+")[-1], {})
            kind, target = document.xref_get_key(xref, "ToUnicode")
            if glyphs and kind == "xref":
                document.update_stream(int(target.split()[0]), _cmap(glyphs).encode())


def _cmap(glyphs: dict[int, str]) -> str:
    rows = [f"<{glyph:04X}> <{text.encode('utf-16-be').hex().upper()}>" for glyph, text in sorted(glyphs.items())]
    blocks = [rows[start : start + _MAX_ROWS] for start in range(0, len(rows), _MAX_ROWS)]
    body = "".join(f"{len(block)} beginbfchar\n" + "\n".join(block) + "\nendbfchar\n" for block in blocks)
    return _HEAD + body + _TAIL
