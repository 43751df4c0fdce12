"""Labels that a protocol declares: their values, titles, keys and definitions, and which one a value means."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict


def _as_label_value(value: object) -> object:
    """Label values are words or whole numbers: YAML's and JSON's `true` is the word "true", 0.5 the word "0.5"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return int(value) if value.is_integer() else str(value)
    return value


LabelValue = Annotated[str | int, BeforeValidator(_as_label_value)]


class Label(BaseModel):
    """One label that can be given: its value in the data, its title on the button, its key, its definition."""

    model_config = ConfigDict(extra="forbid", frozen=True, coerce_numbers_to_str=True)

    value: LabelValue
    title: str = ""
    key: str = ""
    definition: str = ""


def with_keys(labels: Sequence[Label]) -> list[Label]:
    """Labels without a key get 1, 2, 3 … by position; a missing title is the value in words."""
    return [
        label.model_copy(
            update={
                "key": label.key or (str(position) if position <= 9 else ""),
                "title": label.title or str(label.value).replace("_", " ").capitalize(),
            }
        )
        for position, label in enumerate(labels, start=1)
    ]


def declared(labels: Sequence[Label], value: object, *, ordered: bool) -> Label | None:
    """The label that `value` writes, or None: letter for letter, or the same number (4.0 in a table is 4).

    Without order, texts that look like numbers are codes: "01" is not "1".
    """
    text = str(value).lower() if isinstance(value, bool) else str(value)
    for label in labels:
        if str(label.value) == text:
            return label
    number = _number(text)
    if number is None:
        return None
    same = (
        label for label in labels if (ordered or isinstance(label.value, int)) and _number(str(label.value)) == number
    )
    return next(same, None)


def entitled(labels: Sequence[Label], text: str) -> LabelValue | None:
    """The value of the one label that the screen calls `text`, in capitals or small letters; None where none is."""
    wanted = text.strip().casefold()
    values = [label.value for label in with_keys(labels) if label.title.casefold() == wanted]
    return values[0] if len(values) == 1 else None


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) and "_" not in text else None
