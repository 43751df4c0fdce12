"""Cells of CSV files: written so that no spreadsheet runs them as a formula, and read back as they were.

A text that begins with = + - @, a tab or a line break gets an apostrophe before it, unless it is a number. So does one
that begins with apostrophes followed by such a character, so that taking one apostrophe away gives back what was there.
"""

from __future__ import annotations

import re
from typing import Any

import orjson

SUSPECT = frozenset("=+-@\t\r\n'＝＋－＠")
"""First characters for which a cell has to be looked at."""

_RUNS = re.compile(r"'*[=+\-@\t\r\n＝＋－＠]").match
_WRITTEN = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]").match
_NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?").fullmatch


def safe(text: str) -> str:
    """The text as a cell."""
    if text and text[0] in SUSPECT and _RUNS(text) and not _NUMBER(text):
        return "'" + text
    return text


def original(cell: str) -> str:
    """The text that `safe` made this cell of."""
    return cell[1:] if _WRITTEN(cell) else cell


def value_cell(value: Any) -> str:
    """A label's value as a cell: a word as it is, a number in digits, a list as a JSON array."""
    if value is None:
        return ""
    if isinstance(value, str):
        return safe(value)
    return orjson.dumps(value).decode()
