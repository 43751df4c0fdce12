"""Plain text and Markdown laid out on A4 pages: the HTML that MuPDF breaks into pages. Runs in a worker.

MuPDF's own HTML layout is used rather than one of ours: it shapes Arabic and Indic scripts, orders mixed directions,
falls back to its bundled Noto and Droid fonts (Chinese, Japanese and Korean included), and keeps the original
characters, so that the text of a page can be searched and copied. The same text gives the same pages with the same
MuPDF.
"""

from __future__ import annotations

import html
import itertools
import re
import unicodedata
from collections.abc import Iterator

from annotators.pages.documents.kinds import MARKDOWN

PAGE_SIZE = (595.0, 842.0)  # A4, in points
FONT_SIZE = 11.0

_STYLE = """
@page{margin:56pt 56pt 50pt 56pt}
body{font-family:sans-serif;font-size:11pt;line-height:1.35;margin:0}
p.line{margin:0;white-space:pre-wrap;overflow-wrap:break-word}
p.mono{font-family:monospace;font-size:9pt}
.last{page-break-after:always}
pre,code{font-size:9.5pt}
pre{white-space:pre-wrap;overflow-wrap:break-word;background-color:#f2f2f2}
table{border-collapse:collapse}
td,th{border:0.5pt solid #888;padding:2pt 5pt}
blockquote{margin-left:16pt;color:#444}
"""

# A line is broken only between words, and finding a place inside an endless word takes quadratic time (200,000
# characters: 42 s; with a permitted break every 80 characters: 0.07 s). Such words are encoded data, in ASCII.
_ENDLESS_WORD = re.compile(r"[!-~]{160,}")
_BREAK = "\u200b"
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]")
_COLUMNS = re.compile(r"\S(?: {3,}|\t)\S")


def to_html(text: str, media_type: str) -> bytes:
    """The HTML of a whole document whose text is given, for `MuPDF`'s layout at PAGE_SIZE and FONT_SIZE.

    Markup inside the text shows as text; pictures that a Markdown document points at show as their description, because
    nothing outside the document is ever read.
    """
    text = _ENDLESS_WORD.sub(_with_breaks, _UNPRINTABLE.sub("", text))
    body = _markdown(text) if media_type == MARKDOWN else "".join(_lines(text))
    return f"<html><head><style>{_STYLE}</style></head><body>{body}</body></html>".encode()


def without_breaks(text: str) -> str:
    """The text of a laid-out page as it was in the document."""
    return text.replace(_BREAK, "")


def _with_breaks(match: re.Match[str]) -> str:
    word = match.group()
    return _BREAK.join(word[at : at + 80] for at in range(0, len(word), 80))


def _lines(text: str) -> Iterator[str]:
    """One paragraph a line; a form feed (as pdftotext writes between pages) ends a page."""
    filled = [line for line in text.split("\n") if line.strip()]
    # Text whose lines have columns keeps them only in letters of one width.
    mono = sum(1 for line in filled if _COLUMNS.search(line)) * 10 >= len(filled)
    style = "line mono" if mono else "line"
    sheets = text.rstrip("\f\n").split("\f")
    for number, sheet in enumerate(sheets, start=1):
        lines = sheet.split("\n")
        for at, line in enumerate(lines, start=1):
            ends = " last" if at == len(lines) and number < len(sheets) else ""
            shown = html.escape(line.expandtabs(8).rstrip()) or "&#160;"
            yield f'<p class="{style}{ends}"{_direction(line)}>{shown}</p>'


def _markdown(text: str) -> str:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - 30 ms that most workers never need

    reader = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
    tokens = reader.parse(text)
    for opening, inline in itertools.pairwise(tokens):
        if inline.type == "inline" and opening.nesting == 1 and _direction(inline.content):
            opening.attrSet("dir", "rtl")
    for token in tokens:
        for child in token.children or ():
            if child.type == "image":
                child.type, child.tag = "text", ""
                child.content = f"[{child.content or 'picture'}]"
    return str(reader.renderer.render(tokens, reader.options, {}))


def _direction(line: str) -> str:
    """The attribute that sets a paragraph from right to left when its first letter is of such a script."""
    for character in line:
        kind = unicodedata.bidirectional(character)
        if kind == "L":
            return ""
        if kind in {"R", "AL"}:
            return ' dir="rtl"'
    return ""
