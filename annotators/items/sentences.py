"""Sentences: where one ends, in Latin, Arabic, Indic, Chinese and Japanese punctuation."""

from __future__ import annotations

import re

_END = re.compile(
    r"(?<=[.!?…؟۔।॥])[\"'”’)\]»]*\s+(?=[^a-z\s])"  # a mark, then space, then no small letter
    "|(?<=[。!?。])(?=[^」』”’)】])|(?<=[。!?。][」』”’)】])"  # full-width marks need no space
    r"|\n+"
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(])(?:e\.g|i\.e|cf|vs|etc|al|Fig|Figs|Eq|Eqs|No|Nos|Dr|Mr|Mrs|Ms|Prof|St|Sec|Tab|Ref|approx|ca|p|pp|[A-Z])\.$"
)

_LONGEST_ABBREVIATION = 12  # with what stands before it


def sentences(text: str) -> list[str]:
    """The sentences of a text in order, stripped, none empty. A line break ends one; an abbreviation does not."""
    parts: list[str] = []
    start = 0
    for end in _END.finditer(text):
        part = text[start : end.end()].strip()
        if "\n" not in end[0] and _ABBREVIATION.search(part[-_LONGEST_ABBREVIATION:]):
            continue
        if part:
            parts.append(part)
        start = end.end()
    last = text[start:].strip()
    return [*parts, last] if last else parts
