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
    shown = "".join(f"<{tag}>{escape(words)}</{tag}>" if tag else escape(words) for tag, words in marked(before, after))
    return f'<p class="assay-text assay-difference" dir="auto">{shown}</p>'


def marked(before: str, after: str) -> Iterator[tuple[str, str]]:
    """The two texts as one, in stretches: ('del', what is gone), ('ins', what is new), and ('', what stays)."""
    parts = _WORDS
    if len(before) + len(after) > 12 * _MOST_WORDS or len(_WORDS.findall(before)) > _MOST_WORDS:
        parts = _LINES
    old, new = parts.findall(before), parts.findall(after)
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            yield "", "".join(old[a:b])
            continue
        if b > a:
            yield "del", "".join(old[a:b])
        if d > c:
            yield "ins", "".join(new[c:d])
