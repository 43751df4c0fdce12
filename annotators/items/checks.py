"""What a value of a row may be: each check gives the value as an item keeps it, or says what is wrong and allowed."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from annotators.errors import InvalidInput

Check = Callable[[Any, str], Any]
"""A value and the name of its field → the value as it is kept; InvalidInput names the field."""

LONGEST_KEY = 500

_UNSEEN = r"\x00-\x1f\x7f\ud800-\udfff\ufffe\uffff"
_CONTROL = re.compile(f"[{_UNSEEN}]").search
_HALF = re.compile("[\ud800-\udfff]").search
_PART_KEY = re.compile(rf"[^|:\s{_UNSEEN}][^|\s{_UNSEEN}]*").fullmatch
_HOP_KEY = re.compile(rf"[^|\s{_UNSEEN}]+").fullmatch
_LARGEST = 2**31 - 1
_TEXT = frozenset({str})


def called(value: object) -> str:
    """A value as it is named in a message: its beginning, when it is long."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def canonical(value: Any) -> Any:
    """A JSON value with the keys of its objects sorted: PostgreSQL keeps no order of keys.

    InvalidInput for what no JSON of ours can hold, such as a whole number of a list from Python with more than 64 bits.
    """
    try:
        return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))
    except TypeError as error:
        raise unkept(error, value) from None


def unkept(error: TypeError, value: object) -> InvalidInput:
    """What is told of a value that cannot be written as JSON for this reason."""
    remedy = "Remove the half of a character" if "surrogates" in str(error) else "Write such values as texts"
    return InvalidInput(f"{called(value)} cannot be kept ({error}). {remedy}.")


def anything(value: Any, _name: str) -> Any:
    """Whatever it is: parts, scores and metadata are checked by what reads them."""
    return value


# Texts ----------------------------------------------------------------------------------------------------------------


def text(value: Any, name: str) -> str:
    """Any text."""
    if isinstance(value, str):
        return value
    raise InvalidInput(f"`{name}` is {called(value)}, not a text. Put it in quotes.")


def text_or_none(value: Any, name: str) -> str | None:
    """A text; an empty one is none."""
    return (value if isinstance(value, str) else text(value, name)) or None


def statement(value: Any, name: str) -> str:
    """The text of a claim, which says something."""
    found = "" if value is None else text(value, name)
    if not found.strip():
        raise InvalidInput(f"`{name}` is missing or empty. A claim is one statement in words.")
    return found


def check_seen(text: str, what: str) -> None:
    """InvalidInput, which begins with `what`, for a word or name that has a character which is not seen."""
    if (unseen := _CONTROL(text)) is not None:
        raise InvalidInput(
            f"{what} {called(text)} has the character U+{ord(unseen[0]):04X}, which is not seen. Take it out."
        )


def key(value: Any, name: str) -> str:
    """What something is known by: one line without space around it. A whole number is taken as text."""
    if type(value) is int:
        value = str(value)
    found = value if isinstance(value, str) else text(value, name)
    if len(found) > LONGEST_KEY or _CONTROL(found) or found != found.strip():
        raise InvalidInput(
            f"`{name}` is {called(found)}. Use up to {LONGEST_KEY} characters on one line without space around them."
        )
    return found


def document_key(value: Any, name: str) -> str:
    """A document's key: one line, no `|` (which separates the parts of a target)."""
    if not isinstance(value, str) or not value or len(value) > LONGEST_KEY or "|" in value or _CONTROL(value):
        raise InvalidInput(
            f"`{name}` names the document {called(value)}. A document's key is a text of one line, up to "
            f"{LONGEST_KEY} characters, without |."
        )
    return value


def part_key(value: Any, name: str) -> str:
    """The key of a part that labels can be about; `name` is the list it stands in."""
    # Letters and digits alone are the quick case, and the usual one.
    if isinstance(value, str) and len(value) <= LONGEST_KEY and (value.isalnum() or _PART_KEY(value)):
        return value
    raise _no_key(value, name)


def hop_key(value: Any, name: str) -> str:
    """The key of a hop, which may begin with a colon."""
    if isinstance(value, str) and len(value) <= LONGEST_KEY and _HOP_KEY(value):
        return value
    raise _no_key(value, name)


def _no_key(value: Any, name: str) -> InvalidInput:
    return InvalidInput(f"a key in `{name}` is {called(value)}. Use a text without space, | or leading colon.")


def one_of(allowed: tuple[str, ...], instead: str | None = None) -> Check:
    """One of these texts; `instead` is what an empty value stands for, where it may be empty."""

    def check(value: Any, name: str) -> str:
        if value in allowed and isinstance(value, str):
            return value
        if instead is not None and not value:
            return instead
        raise InvalidInput(f"`{name}` is {called(value)}. Allowed: {', '.join(allowed)}.")

    return check


# Numbers and places ---------------------------------------------------------------------------------------------------


def whole_number(lowest: int) -> Check:
    """A whole number from `lowest` that a database can store."""

    def check(value: Any, name: str) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= _LARGEST:
            return value
        raise InvalidInput(f"`{name}` is {called(value)}. Write a whole number from {lowest}, or leave it out.")

    return check


def hop(value: Any, name: str) -> int | str:
    """A step of the question: its number from 1, or its key, which `read_item` takes for the number."""
    if isinstance(value, int) and not isinstance(value, bool) and 1 <= value <= _LARGEST:
        return value
    if isinstance(value, str) and value:
        return hop_key(value, name)
    raise InvalidInput(
        f"`{name}` is {called(value)}. Steps of a question count from 1: write the number of the step, or its key in "
        "`hops`. Where a file counts from 0, add 1 to each."
    )


def flag(value: Any, name: str) -> bool:
    """True or false."""
    if value is True or value is False:
        return value
    raise InvalidInput(f"`{name}` is {called(value)}. Write true, false or null.")


def pages(value: Any, name: str) -> tuple[int, ...]:
    """Page numbers from 1; one alone may stand without brackets."""
    if not value:
        return ()
    numbers = [value] if isinstance(value, int) else value
    if not isinstance(numbers, list):
        raise InvalidInput(f"`{name}` is {called(value)}, not a list of page numbers.")
    for page in numbers:
        if not isinstance(page, int) or isinstance(page, bool) or not 1 <= page <= _LARGEST:
            raise InvalidInput(f"`{name}` holds {called(page)}. Pages are whole numbers from 1.")
    return tuple(numbers)


def box(value: Any, name: str) -> tuple[float, ...]:
    """[x0, y0, x1, y1] in fractions of a page, from its top left corner."""
    if isinstance(value, list) and len(value) == 4 and all(type(edge) in (int, float) for edge in value):
        x0, y0, x1, y1 = (float(edge) for edge in value)
        if 0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1:
            return x0, y0, x1, y1
    raise InvalidInput(
        f"`{name}` is {called(value)}. Write [x0, y0, x1, y1] as fractions 0..1 of the page, from its top left corner."
    )


# Lists and objects ----------------------------------------------------------------------------------------------------


def references(value: Any, name: str) -> tuple[str | list[str], ...]:
    """Reference answers: each a text, or a list of required phrases."""
    if not value:
        return ()
    if isinstance(value, str):
        return (value,)
    if not isinstance(value, list):
        raise InvalidInput(f"`{name}` is {called(value)}, not a list of texts or of lists of required phrases.")
    for reference in value:
        if isinstance(reference, str):
            continue
        if not isinstance(reference, list) or not reference or not all(isinstance(text, str) for text in reference):
            raise InvalidInput(f"`{name}` holds {called(reference)}. Each is a text or a list of required phrases.")
    return tuple(value)


def document_keys(value: Any, name: str) -> tuple[str, ...]:
    """Keys of documents, each once, in their order."""
    if not value:
        return ()
    if not isinstance(value, list):
        raise InvalidInput(f"`{name}` is {called(value)}, not a list of document keys.")
    return tuple(sorted({document_key(key, name) for key in value}))


def metadata(row: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    """What stands in the `metadata` of a row, and whatever other fields it has than those `known`."""
    kept, has_others = row.get("metadata"), not row.keys() <= known
    if not kept and not has_others:
        return {}
    kept = {} if kept is None else kept
    if not isinstance(kept, dict):
        raise InvalidInput(f"`metadata` is {called(kept)}, not an object.")
    if has_others:
        kept = dict(kept)
        for name in row.keys() - known:
            if name in kept:
                raise InvalidInput(f"`{name}` stands both in the row and in its metadata. Keep one of them.")
            kept[name] = row[name]
    if _is_of_texts(kept):
        return dict(sorted(kept.items())) if len(kept) > 1 else dict(kept)
    found: dict[str, Any] = canonical(kept)
    return found


def _is_of_texts(kept: dict[str, Any]) -> bool:
    """Whether an object holds only texts and lists of texts: it is canonical when its keys are sorted."""
    for value in kept.values():
        kind = type(value)
        if kind is not str and not (kind is list and set(map(type, value)) <= _TEXT):
            return False
    return True


def has_half(text: str) -> bool:
    """Whether a text has half a character (a surrogate), which no file or database keeps."""
    return not text.isascii() and _HALF(text) is not None


def has_nul(value: object) -> bool:
    """Whether a text or name anywhere in a JSON value has the character NUL, which cannot be stored."""
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or has_nul(inner) for name, inner in value.items())
    return isinstance(value, list | tuple) and any(has_nul(inner) for inner in value)
