"""Which systems are of a judge's own family: models by the same maker, known by a word of their names."""

from __future__ import annotations

import re
from collections.abc import Sequence

_FIRST = re.compile(r"[a-z]+")
_SHORT = 3


def family_of(model: str) -> str:
    """The word that a family of models shares in its names: `qwen` of `Qwen/Qwen2.5-VL-72B`, `gpt` of `gpt-4o-mini`.

    It is the first run of letters of the name behind the last slash; where that is too short to tell anything (`o3`),
    all up to the first sign that is neither letter nor digit.
    """
    name = model.rpartition("/")[2].lower() or model.lower()
    found = _FIRST.match(name)
    if found is not None and len(found[0]) >= _SHORT:
        return found[0]
    return re.split(r"[^a-z0-9]", name, maxsplit=1)[0] or name


def is_of_family(system: str, words: Sequence[str]) -> bool:
    """Whether the name of a system has one of the words, with no letter right before or behind it."""
    name = system.lower()
    return any(_stands_in(word.lower(), name) for word in words if word)


def _stands_in(word: str, name: str) -> bool:
    place = name.find(word)
    while place >= 0:
        around = name[max(0, place - 1) : place], name[place + len(word) :][:1]
        if not any(letter.isalpha() for letter in around):
            return True
        place = name.find(word, place + 1)
    return False
