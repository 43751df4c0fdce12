"""What no database keeps is refused before an operation begins: NUL, halves of surrogate pairs, numbers of 65 bits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from pydantic import BaseModel

from annotators.errors import InvalidInput, shown

_UNFIT = re.compile("[\x00\ud800-\udfff]").search
_LARGEST = 2**63 - 1
_SECRET = frozenset({"password", "token"})
_DRAFT = "content"
"""The argument that holds a draft: it is kept as it was typed, and what it becomes is checked when it is submitted."""
_PLAIN = (list, tuple, set, frozenset)


def refuse_unfit(arguments: Mapping[str, object]) -> None:
    """Raise InvalidInput for the first text or number in an operation's arguments (by name) that cannot be stored.

    Looked at are texts, whole numbers and lists of them, by themselves and as fields of a dataclass, and everything in
    a protocol and in fields of an item. What files bring is checked by its readers, with the place where it stands.
    """
    for name, value in arguments.items():
        for path, inner in _parts(name, value):
            if isinstance(inner, str):
                if found := _UNFIT(inner):
                    is_ = "" if _SECRET.intersection(name.split("_")) else f" is {shown(inner)} and"
                    raise InvalidInput(
                        f"{_named(path)}{is_} has the character U+{ord(found[0]):04X}, which cannot be stored. Type it "
                        "anew without it."
                    )
            elif isinstance(inner, int) and not -_LARGEST <= inner <= _LARGEST:
                digits = f"a number of {len(str(abs(inner)))} digits" if abs(inner) < 10**4000 else "a huge number"
                raise InvalidInput(f"{_named(path)} is {digits}, which cannot be stored. Give one below 2^63.")


def _named(path: str) -> str:
    words = path.replace("_", " ")
    return words[:1].upper() + words[1:]


def _parts(name: str, value: object) -> Iterator[tuple[str, object]]:
    """The texts and numbers of an argument, each with what it is called."""
    if isinstance(value, BaseModel):
        yield from _all(name, value.model_dump())
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            yield from _flat(field.name, getattr(value, field.name))
    elif isinstance(value, Mapping) and name != _DRAFT:
        yield from _all(name, value)
    else:
        yield from _flat(name, value)


def _flat(name: str, value: object) -> Iterator[tuple[str, object]]:
    if isinstance(value, _PLAIN):
        for inner in value:
            if isinstance(inner, str | int):
                yield name, inner
    else:
        yield name, value


def _all(name: str, value: Any) -> Iterator[tuple[str, object]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            yield name, key
            yield from _all(f"{name}, {key}" if isinstance(key, str) and not _UNFIT(key) else name, inner)
    elif isinstance(value, _PLAIN):
        for inner in value:
            yield from _all(name, inner)
    else:
        yield name, value
