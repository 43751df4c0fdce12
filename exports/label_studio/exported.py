"""The JSON of an export, read also where a value of it is none that JSON has, so that what holds it can be named."""

from __future__ import annotations

import json
from typing import Any

import orjson

_MOST_DIGITS = 20
"""Signs that a whole number of 64 bits has at most."""


def parsed(content: bytes) -> Any:
    """The value of a text of JSON; orjson.JSONDecodeError for what is none.

    Numbers beyond every other, and `NaN`, are such here too, and half a character is one: what holds them fits no
    criterion and is kept nowhere, and everything else of the export can be read.
    """
    try:
        return orjson.loads(content)
    except orjson.JSONDecodeError as error:
        try:
            return json.loads(content, parse_int=_whole)
        except (ValueError, RecursionError):
            raise error from None


def _whole(text: str) -> int | float:
    return int(text) if len(text) <= _MOST_DIGITS else float(text)
