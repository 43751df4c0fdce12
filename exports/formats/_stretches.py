"""Stretches of answers in files of other programs: which lie apart, and what stands there."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Collection

import orjson

from annotators.errors import InvalidInput, shown
from annotators.items.parsed import ForeignLabel


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
