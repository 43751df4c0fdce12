"""Fields of records that are not ours as the fields of an item: known by their names, as the columns of tables are."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection, Mapping
from typing import Any

import orjson

from annotators.errors import InvalidInput, shown
from annotators.items.normal import Normal
from annotators.items.parsed import ForeignLabel
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


class Apart:
    """Stretches of one text, of which none lies over another."""

    def __init__(self) -> None:
        self._kept: list[tuple[int, int]] = []

    def takes(self, start: int, end: int) -> bool:
        """Whether a stretch lies over none of those before, among which it is then."""
        place = bisect(self._kept, (start, end))
        beside = self._kept[max(0, place - 1) : place + 1]  # those that are kept lie apart
        if any(start < other_end and other_start < end for other_start, other_end in beside):
            return False
        self._kept.insert(place, (start, end))
        return True


def in_answer(label: ForeignLabel, answer: str, spans: Collection[str]) -> ForeignLabel:
    """A label of one of the criteria `spans`, whose stretches say what stands there in the answer; others as they are.

    InvalidInput for what is no stretch, and for one that ends beyond the answer.
    """
    if label.criterion not in spans:
        return label
    try:
        said = orjson.loads(label.value)
    except orjson.JSONDecodeError:
        said = label.value
    stretches = said if isinstance(said, list) else [said]
    whose = f"{label.annotator} marked {label.criterion!r} of {label.item}"
    for one in stretches:
        if not isinstance(one, dict) or not all(isinstance(one.get(name), int) for name in ("start", "end")):
            raise InvalidInput(f"{whose} at {shown(one)}. A stretch has a start and an end: whole numbers.")
        if one["end"] > len(answer):
            raise InvalidInput(
                f"{whose} up to character {one['end']:,}, and the answer has {len(answer):,}. Take the texts as they "
                "were when they were marked."
            )
        one["text"] = answer[one["start"] : one["end"]]
    return label._replace(value=orjson.dumps(stretches).decode())
