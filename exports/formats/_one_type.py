"""An item in columns that have one type each, as Parquet and `datasets` keep them: how it is put there, and read back.

A reference is an object that has a text or phrases; metadata, and the parameters of scores, are JSON written as texts.
A file may hold such rows without saying so: whatever reads columns of items takes them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import orjson

from annotators.errors import InvalidInput
from annotators.items.item import FIELDS
from annotators.items.normal import Normal
from exports.formats._writing import parts_of
from exports.reading.json_files import lost_of

PICTURES = "pictures"
"""The column of pictures of what items point at, where they were asked for."""

_REFERENCE = frozenset(("text", "phrases"))
_TEXTS = dict.fromkeys(("evidence", "claims", "images", "hops"), "metadata") | {"scores": "parameters"}
"""What is a text of JSON in the parts of a field."""


def has_own_pictures(columns: Collection[str]) -> bool:
    """Whether a table has all columns of items, and pictures of what they point at, which are no evidence of theirs."""
    return PICTURES in columns and set(FIELDS) <= set(columns)


# Writing --------------------------------------------------------------------------------------------------------------


def in_columns(item: Normal) -> Normal:
    """An item in normal form as a row of such columns; what it lacks is left out."""
    row = dict(item)
    if "references" in item:
        row["references"] = [{"text": one} if isinstance(one, str) else {"phrases": one} for one in item["references"]]
    for name, of_part in _TEXTS.items():
        if name in item:
            row[name] = [
                {**part, of_part: _json(part[of_part])} if of_part in part else part for part in parts_of(item, name)
            ]
    if "metadata" in item:
        row["metadata"] = _json(item["metadata"])
    return row


def _json(value: Any) -> str:
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


# Reading --------------------------------------------------------------------------------------------------------------


def item_of_columns(row: Normal) -> Normal:
    """A row of such columns as people write it; InvalidInput for a text of JSON of which something would be lost."""
    found: Normal = {}
    for name, value in row.items():
        if name == "metadata" and isinstance(value, str):
            found[name] = _decoded("`metadata`", value)
        elif name in FIELDS and isinstance(value, list):
            found[name] = [without_nulls(part_of_columns(name, part)) for part in value]
        elif value is not None:
            found[name] = value
    return found


def part_of_columns(name: str, part: Any) -> Any:
    """One of the values of a field as people write it; any that is not as in such columns as it is.

    InvalidInput for a text of JSON of which something would be lost.
    """
    if not isinstance(part, dict):
        return part
    if name == "references" and part.keys() <= _REFERENCE:
        given = [value for value in part.values() if value is not None]
        return given[0] if len(given) == 1 else part
    of_part = _TEXTS.get(name, "")
    text = part.get(of_part)
    return {**part, of_part: _decoded(f"`{of_part}` of `{name}`", text)} if isinstance(text, str) else part


def without_nulls(part: Any) -> Any:
    """An object without what is null in it: in such columns each has all fields that any of them has."""
    return {name: value for name, value in part.items() if value is not None} if isinstance(part, dict) else part


def _decoded(where: str, text: str) -> Any:
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return text  # whoever reads the item says what it should be
    if lost := lost_of(text.encode(), value):
        raise InvalidInput(f"{where}: {lost[1]}")
    return value
