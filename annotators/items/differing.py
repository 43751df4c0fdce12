"""What two texts do not share, word by word: what is gone and what is new, in one run of stretches."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher

_WORDS = re.compile(r"\s+|\w+|[^\w\s]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")
_MOST_WORDS = 4_000
"""Texts of more parts are compared by line: comparing takes time with the square of the parts."""


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
