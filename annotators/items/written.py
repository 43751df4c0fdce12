"""An item as it is written in fields: texts to edit, and what of the item differs once they are edited."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from annotators.errors import InvalidInput, shown
from annotators.items.item import CLAIM_SIDES, ItemClaim, ItemContent
from annotators.items.normal import Normal
from annotators.items.revising import OF_A_VERSION, as_row, claims_of

TEXTS = ("question", "answer", "references", "answer_claims", "reference_claims", "others")
"""What is written as one text; `references` and claims are one a line, `others` is JSON.

Where a reference answer has several lines, a line `---` stands behind each of them.
"""

_BEHIND = "---"

PARTS = ("evidence", "images")
"""What is edited part by part, in normal form."""

_OTHERS = tuple(name for name in OF_A_VERSION if name not in ("question", "answer", "references", "claims", *PARTS))


def as_written(item: ItemContent) -> dict[str, Any]:
    """The item's texts and parts under the names of `TEXTS` and `PARTS`."""
    row = as_row(item)
    return {
        "question": row.get("question", ""),
        "answer": row.get("answer", ""),
        "references": _references(row.get("references", [])),
        **{
            f"{side}_claims": "\n".join(_line(claim.text) for claim in item.claims if claim.of == side)
            for side in CLAIM_SIDES
        },
        **{name: row.get(name, []) for name in PARTS},
        "others": _json({name: row[name] for name in _OTHERS if name in row}),
    }


def from_written(item: ItemContent, given: Mapping[str, Any]) -> Normal:
    """The fields of an item's normal form in which it differs from what is written; null for one that is emptied.

    Names that are left out are as they were. Raises InvalidInput for a name that is none, a value that is neither a
    text nor, of parts, a list, and for what is no JSON where JSON is written.
    """
    for name, value in given.items():
        if name not in (*TEXTS, *PARTS):
            raise InvalidInput(f"{shown(name)} is nothing that is written. Known: {', '.join((*TEXTS, *PARTS))}.")
        if not isinstance(value, str if name in TEXTS else list):
            raise InvalidInput(f"{name!r} must be a {'text' if name in TEXTS else 'list'}. Reload the page.")
    before, as_it_was = as_row(item), as_written(item)
    # What was not touched stays to the letter: a text of several lines is not read again as one a line.
    changed = {name: value for name, value in given.items() if value != as_it_was[name]}
    fields: Normal = {name: changed[name] for name in ("question", "answer", *PARTS) if name in changed}
    if "references" in changed:
        fields["references"] = [_parsed(one) for one in _apart(changed["references"]) if one.strip()]
    after = item
    for side in CLAIM_SIDES:
        if (name := f"{side}_claims") in changed:
            lines = dict.fromkeys(line.strip() for line in changed[name].splitlines() if line.strip())
            whole = {_line(claim.text): claim.text for claim in item.claims if claim.of == side}
            rows = claims_of(after, side, [whole.get(line, line) for line in lines])
            fields["claims"] = rows
            after = after._replace(claims=tuple(ItemClaim(**row) for row in rows))
    if "others" in changed:
        fields |= {**dict.fromkeys(_OTHERS), **_object(changed["others"])}
    return {name: value or None for name, value in fields.items() if (value or None) != (before.get(name) or None)}


def _line(text: str) -> str:
    return " ".join(text.split())


def _json(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _references(references: Sequence[object]) -> str:
    if any(isinstance(one, str) and "\n" in one for one in references):
        return "\n".join(f"{_reference(one)}\n{_BEHIND}" for one in references)
    return "\n".join(map(_reference, references))


def _reference(reference: object) -> str:
    # JSON for what would be read otherwise than it is: what looks like a list, or has the line that stands behind one.
    if not isinstance(reference, str) or reference.lstrip().startswith(("[", '"')):
        return orjson.dumps(reference).decode()
    if _BEHIND not in map(str.strip, reference.split("\n")):
        return reference
    return orjson.dumps(reference).decode()


def _apart(written: str) -> list[str]:
    """The reference answers in a text: one a line or, where the line `---` stands behind them, each with its lines."""
    lines = written.replace("\r\n", "\n").split("\n")
    if _BEHIND not in map(str.strip, lines):
        return written.splitlines()
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip() == _BEHIND:
            found.append([])
        else:
            found[-1].append(line)
    return ["\n".join(one) for one in found]


def _parsed(line: str) -> Any:
    if not line.lstrip().startswith(("[", '"')):
        return line.strip()
    try:
        return orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f'Reference answers: {line.strip()!r} is no list ({error}). Write ["…", "…"].') from None


def _object(written: str) -> dict[str, Any]:
    try:
        found = orjson.loads(written or "{}")
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"Fields, line {error.lineno}: this is no JSON ({error.msg}). Correct it.") from None
    if not isinstance(found, dict):
        raise InvalidInput("Fields: write an object, {…}.")
    return found
