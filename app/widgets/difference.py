"""Two texts as one, with what is gone struck out and what is new underlined, word by word."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from html import escape

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_WORDS = 4_000
"""Texts of more parts are compared by line: comparing takes time with the square of the parts."""


def difference_html(before: str, after: str) -> str:
    """The two texts as one paragraph of HTML; `<del>` is only in the first, `<ins>` only in the second."""
    return f'<p class="assay-text assay-difference" dir="auto">{"".join(_marked(before, after))}</p>'


def _marked(before: str, after: str) -> Iterator[str]:
    parts = _WORDS
    if len(before) + len(after) > 12 * _MOST_WORDS or len(_WORDS.findall(before)) > _MOST_WORDS:
        parts = _LINES
    old, new = parts.findall(before), parts.findall(after)
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield escape("".join(old[a:b]))
            continue
        if b > a:
            yield f"<del>{escape(''.join(old[a:b]))}</del>"
        if d > c:
            yield f"<ins>{escape(''.join(new[c:d]))}</ins>"
