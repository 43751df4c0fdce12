"""Lists that are written as texts: as JSON, or as Python and NumPy show lists, which is how pandas puts them in CSV."""

from __future__ import annotations

import ast
import re
from typing import Any

import orjson

_TEXT = re.compile(r"""\s*('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")\s*(?:,\s*)?""", re.DOTALL)
"""A text of a list as Python writes it, and the comma behind it, which NumPy leaves out."""

_STRUCTURED = re.compile(r"""(?:array\()?\[\s*(?:[{]\s*['"]\w+['"]\s*:|\[\s*[{]|(?:array|list)\([\[(])""")
"""How a list of objects, arrays or lists begins."""

_SHORTENED = re.compile(r"""['"]\s{1,2}\.\.\.\s{1,2}['"]""")
"""What NumPy prints of the texts in the middle of a long list."""

_LONGEST = 1 << 16
"""Characters of a list of anything but texts that is read as Python: what Python makes of them takes a hundred times as
many bytes."""


def list_in(text: str) -> list[Any] | None:
    """The list that a text is; None where it is none. Nothing in it is run."""
    text = text.strip()
    if not (text.startswith("[") and text.endswith("]")):
        return None
    try:
        found = orjson.loads(text)
    except orjson.JSONDecodeError:
        found = _texts(text[1:-1])
        if found is None and len(text) <= _LONGEST:
            found = _literal(text)
    return found if isinstance(found, list) else None


def is_unreadable_list(text: str) -> bool:
    """Whether a text in which `list_in` finds none looks like a list of objects or lists, or like a shortened one.

    Python and NumPy print lists so (`[{'pages': array([4])}]`, `['a' ... 'z']`), and JSON that is cut off begins so.
    """
    text = text.strip()
    shortened = text.startswith(("['", '["')) and text.endswith("]") and _SHORTENED.search(text) is not None
    return (shortened or _STRUCTURED.match(text) is not None) and list_in(text) is None


def _texts(inside: str) -> list[Any] | None:
    """The texts of a list of nothing else: Python would join those that have no comma between them."""
    found, at = [], 0
    while at < len(inside):
        match = _TEXT.match(inside, at)
        if match is None:
            return None
        text = match[1]
        plain = "\\" not in text
        found.append(text[1:-1] if plain else _literal(text.replace("\n", "\\n").replace("\r", "\\r")))
        at = match.end()
    return found if found and None not in found else None


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError, TypeError):
        return None
