"""The paragraphs of an answer: what an image belongs after, and what labels can be about."""

from __future__ import annotations

import re

_SAYS_SOMETHING = re.compile(r"[^ \t\r\n]")
IMAGE = re.compile(r"<PIC>|!\[[^\[\]\n]*\]\([^() \t\r\n]*\)")
"""Where an image stands in the text of an answer: its mark, or Markdown's `![caption](name)`."""


def blocks_of(answer: str) -> list[str]:
    """The blocks of an answer: its paragraphs, that is what stands between lines that are empty, in order.

    What holds nothing but images is no block: it has its place by one.

    The browser has the same rule (app/widgets/shared/blocks.js); tests/data/blocks.json holds both to it.
    """
    found: list[list[str]] = [[]]
    for line in answer.split("\n"):
        if _SAYS_SOMETHING.search(line):
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    texts = ("\n".join(lines) for lines in found)
    return [text for text in texts if _SAYS_SOMETHING.search(IMAGE.sub("", text))]
