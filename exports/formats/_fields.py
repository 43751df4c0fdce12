"""Fields of records that are not ours as the fields of an item: known by their names, as the columns of tables are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import orjson

from annotators.items.normal import Normal
from exports.formats.table import guessed

_OF_METADATA = ("system", "category", "language")
_KNOWN = ("question", "answer", "references", "documents", "question_key", *_OF_METADATA)


def text_of_field(value: Any) -> str:
    """A field's value as a text: a conversation a turn a paragraph, what is no text as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and value and all(isinstance(one, dict) and "content" in one for one in value):
        return "\n\n".join(f"{one.get('role', '')}: {one['content']}" for one in value)
    return orjson.dumps(value).decode()


def item_of_fields(given: Mapping[str, Any], metadata: object, said: Mapping[str, str]) -> Normal:
    """What fields and metadata say as an item: the fields that are `said` to be one of ours, others by their names.

    Fields that are called as contexts are become evidence; what is no field of ours is kept as metadata.
    """
    fields = {name: text_of_field(value) for name, value in given.items() if value is not None}
    taken = set(said.values())
    guesses = {
        name: columns[0]
        for name, columns in guessed([name for name in fields if name not in taken]).items()
        if name in _KNOWN and name not in said
    }
    row: Normal = {}
    for name, field in {**guesses, **said}.items():
        value = fields.pop(field, "")
        row[name] = [value] if name in ("references", "documents") else value
    contexts = [fields.pop(name) for name in list(fields) if guessed([name]).keys() == {"evidence"}]
    if contexts:
        row["evidence"] = [{"text": text} for text in contexts]
    kept = {name: given[name] for name in fields} | (metadata if isinstance(metadata, dict) else {})
    for name in _OF_METADATA:
        if isinstance(kept.get(name), str) and name not in row:
            row[name] = kept.pop(name)
    return {**row, "metadata": kept}
