"""The normal form of an item: the one shape every format reads into, the native format writes, and hashes are taken of.

It is a JSON object with its keys in a fixed order; what is empty or at its default is left out. `normal_item` makes it
from a row as people write it (docs/importing.md), so that whatever passes can be stored and comes back byte for byte.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable
from typing import Any, cast

import orjson

from annotators.errors import InvalidInput
from annotators.items.targets import TargetKind, target_kind

Normal = dict[str, Any]
"""A JSON object in normal form."""

FIELDS = (
    "id", "question_key", "question", "answer", "system", "category", "language", "references", "documents",
    "evidence", "claims", "images", "hops", "scores", "metadata",
)  # fmt: skip
"""The fields of an item in their order. Any other field of a row is kept in `metadata`."""

EVIDENCE_KINDS = ("passage", "table", "figure", "page")
EVIDENCE_ROLES = ("gold", "retrieved", "distractor")
CLAIM_SIDES = ("answer", "reference")
DEFAULT_SYSTEM = "reference"
LONGEST_KEY = 500

_KNOWN = frozenset(FIELDS)
_CONTROL = re.compile(r"[\x00-\x1f\x7f]").search
_PART_KEY = re.compile(r"[^|:\s][^|\s]*").fullmatch
_HOP_KEY = re.compile(r"[^|\s]+").fullmatch
_LARGEST = 2**31 - 1


def question_key(question: str, category: str | None = None) -> str:
    """The key of a question that has none of its own: the same text (and category) gives the same key."""
    text = question if category is None else f"{category}\x00{question}"
    return "q-" + hashlib.sha256(text.encode()).hexdigest()[:12]


def external_id(key: str, system: str) -> str:
    """The id of an item that has none of its own."""
    return f"{key}:{system}"


def normal_item(raw: object, *, scorer: str = "imported:native") -> Normal:
    """A row in normal form; InvalidInput says which field is wrong and what it may be.

    `scorer` is the name under which scores are kept that do not name one. Scores of other scorers get the prefix
    `imported:`, because a score that comes with an import was not computed here.
    """
    if not isinstance(raw, dict):
        raise InvalidInput(
            f"the row is {_called(raw)}, not an object. Write one {{…}} with at least a question a line."
        )
    question = _text(raw, "question")
    if not question.strip():
        raise InvalidInput("`question` is missing or empty. It is the one field that every item needs.")
    system = _key(raw, "system") or DEFAULT_SYSTEM
    key = _key(raw, "question_key") or question_key(question)
    item: Normal = {
        "id": _key(raw, "id") or external_id(key, system),
        "question_key": key,
        "question": question,
        "answer": _text(raw, "answer"),
        "system": system,
    }
    if category := _text(raw, "category"):
        item["category"] = category
    if language := _text(raw, "language"):
        item["language"] = language
    if raw.get("references"):
        item["references"] = _references(raw["references"])
    if raw.get("documents"):
        item["documents"] = _documents(raw["documents"])
    for field, normal in _PARTS.items():
        if raw.get(field):
            item[field] = _parts(raw[field], field, normal)
    if raw.get("scores"):
        item["scores"] = _scores(raw["scores"], item, scorer)
    if metadata := _metadata(raw, _KNOWN):
        item["metadata"] = metadata
    return item


def content_of(item: Normal) -> bytes:
    """What an item says, without its id and its scores, as canonical JSON; InvalidInput for text nobody can store."""
    content = {name: value for name, value in item.items() if name not in ("id", "scores")}
    data = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    if b"\\u0000" in data and _has_nul(content):
        raise InvalidInput("a text contains the character NUL (\\u0000), which cannot be stored. Remove it.")
    return data


def content_hash(item: Normal) -> str:
    """SHA-256 of `content_of`: equal exactly when two rows say the same."""
    return hashlib.sha256(content_of(item)).hexdigest()


def canonical(value: Any) -> Any:
    """A JSON value with the keys of its objects sorted: PostgreSQL keeps no order of keys."""
    return orjson.loads(orjson.dumps(value, option=orjson.OPT_SORT_KEYS))


# Fields ---------------------------------------------------------------------------------------------------------------


def _called(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"


def _text(raw: dict[str, Any], field: str) -> str:
    value = raw.get(field)
    if value is None:
        return ""
    if isinstance(value, str):
        return value
    raise InvalidInput(f"`{field}` is {_called(value)}, not a text. Put it in quotes.")


def _key(raw: dict[str, Any], field: str) -> str:
    value = raw.get(field)
    if value is None:
        return ""
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)
    if not isinstance(value, str):
        raise InvalidInput(f"`{field}` is {_called(value)}, not a text. Put it in quotes.")
    if len(value) > LONGEST_KEY or _CONTROL(value) or value != value.strip():
        raise InvalidInput(
            f"`{field}` is {_called(value)}. Use up to {LONGEST_KEY} characters on one line without space around them."
        )
    return value


def document_key(value: object, field: str) -> str:
    """A document's key, checked: one line, no `|` (which separates the parts of a target)."""
    if not isinstance(value, str) or not value or len(value) > LONGEST_KEY or "|" in value or _CONTROL(value):
        raise InvalidInput(
            f"`{field}` names the document {_called(value)}. A document's key is a text of one line, up to "
            f"{LONGEST_KEY} characters, without |."
        )
    return value


def _references(value: object) -> list[Any]:
    if isinstance(value, str):
        return [value]
    if not isinstance(value, list):
        raise InvalidInput(f"`references` is {_called(value)}, not a list of texts or of lists of required phrases.")
    for one in value:
        if isinstance(one, str):
            continue
        if not isinstance(one, list) or not one or not all(isinstance(phrase, str) for phrase in one):
            raise InvalidInput(f"`references` holds {_called(one)}. Each is a text or a list of required phrases.")
    return value


def _documents(value: object) -> list[str]:
    if not isinstance(value, list):
        raise InvalidInput(f"`documents` is {_called(value)}, not a list of document keys.")
    return sorted({document_key(one, "documents") for one in value})


def _metadata(raw: dict[str, Any], known: frozenset[str]) -> dict[str, Any]:
    metadata = raw.get("metadata")
    if raw.keys() <= known:
        if not metadata:
            return {}
        if not isinstance(metadata, dict):
            raise InvalidInput(f"`metadata` is {_called(metadata)}, not an object.")
        return cast("dict[str, Any]", canonical(metadata))
    if metadata is not None and not isinstance(metadata, dict):
        raise InvalidInput(f"`metadata` is {_called(metadata)}, not an object.")
    kept = dict(metadata or {})
    for name in raw.keys() - known:
        if name in kept:
            raise InvalidInput(f"`{name}` stands both in the row and in its metadata. Keep one of them.")
        kept[name] = raw[name]
    return cast("dict[str, Any]", canonical(kept))


def _number(raw: dict[str, Any], field: str, lowest: int) -> int | None:
    value = raw.get(field)
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool) and lowest <= value <= _LARGEST:
        return value
    raise InvalidInput(f"`{field}` is {_called(value)}. Write a whole number from {lowest}, or leave it out.")


def _one_of(raw: dict[str, Any], field: str, allowed: tuple[str, ...]) -> str | None:
    value = raw.get(field)
    if value is None:
        return None
    if isinstance(value, str) and value in allowed:
        return value
    raise InvalidInput(f"`{field}` is {_called(value)}. Allowed: {', '.join(allowed)}.")


def _pages(value: object) -> list[int]:
    pages = [value] if isinstance(value, int) else value
    if not isinstance(pages, list):
        raise InvalidInput(f"`pages` is {_called(value)}, not a list of page numbers.")
    for page in pages:
        if not isinstance(page, int) or isinstance(page, bool) or not 1 <= page <= _LARGEST:
            raise InvalidInput(f"`pages` holds {_called(page)}. Pages are whole numbers from 1.")
    return pages


def _box(value: object) -> list[float]:
    if isinstance(value, list) and len(value) == 4 and all(type(one) in (int, float) for one in value):
        x0, y0, x1, y1 = (float(one) for one in value)
        if 0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1:
            return [x0, y0, x1, y1]
    raise InvalidInput(
        f"`box` is {_called(value)}. Write [x0, y0, x1, y1] as fractions 0..1 of the page, from its top left corner."
    )


# Parts ----------------------------------------------------------------------------------------------------------------


def _parts(value: object, field: str, normal: Callable[[dict[str, Any], str], Normal]) -> list[Normal]:
    if not isinstance(value, list):
        raise InvalidInput(f"`{field}` is {_called(value)}, not a list of objects.")
    given: set[str] = set()
    for one in value:
        if not isinstance(one, dict):
            raise InvalidInput(f"`{field}` holds {_called(one)}, not an object.")
        key = one.get("key")
        if key is None:
            continue
        if not isinstance(key, str) or len(key) > LONGEST_KEY or not (_HOP_KEY if field == "hops" else _PART_KEY)(key):
            raise InvalidInput(f"a key in `{field}` is {_called(key)}. Use a text without space, | or leading colon.")
        if key in given:
            raise InvalidInput(f"two of `{field}` have the key {key!r}. Keys differ within an item.")
        given.add(key)
    number, parts = 0, []
    for one in value:
        key = one.get("key")
        while key is None:
            number += 1
            free = f"{field[0]}{number}"
            key = None if free in given else free
        try:
            parts.append(normal(one, key))
        except InvalidInput as error:
            raise InvalidInput(f"{field} {key!r}: {error}") from None
    return parts


_EVIDENCE = frozenset(
    ("key", "kind", "role", "document", "pages", "box", "text", "used", "hop", "rank", "metadata"),
)
_CLAIM = frozenset(("key", "text", "of", "metadata"))
_IMAGE = frozenset(("key", "document", "page", "box", "caption", "metadata"))
_HOP = frozenset(("key", "question", "answer", "metadata"))
_SCORE = frozenset(("scorer", "name", "value", "target", "parameters", "reason"))


def _evidence(raw: dict[str, Any], key: str) -> Normal:
    # Imports spend most of their time here: what is as it should be is taken without a call.
    get = raw.get
    kind, role, text, used = get("kind") or "passage", get("role"), get("text"), get("used")
    part: Normal = {"key": key, "kind": kind if kind in EVIDENCE_KINDS else _one_of(raw, "kind", EVIDENCE_KINDS)}
    if role is not None:
        part["role"] = role if role in EVIDENCE_ROLES else _one_of(raw, "role", EVIDENCE_ROLES)
    if (document := get("document")) is not None:
        part["document"] = document_key(document, "document")
    if pages := get("pages"):
        part["pages"] = _pages(pages)
    if (box := get("box")) is not None:
        part["box"] = _box(box)
    if text is not None:
        part["text"] = text if type(text) is str else _text(raw, "text")
    if used is not None:
        if used is not True and used is not False:
            raise InvalidInput(f"`used` is {_called(used)}. Write true, false or null.")
        part["used"] = used
    for name in ("hop", "rank"):
        if get(name) is not None:
            part[name] = _number(raw, name, 0)
    if "metadata" in raw or not raw.keys() <= _EVIDENCE:
        metadata = _metadata(raw, _EVIDENCE)
        if metadata:
            part["metadata"] = metadata
    return part


def _claim(raw: dict[str, Any], key: str) -> Normal:
    text = _text(raw, "text")
    if not text.strip():
        raise InvalidInput("`text` is missing or empty. A claim is one statement in words.")
    part: Normal = {"key": key, "text": text}
    if (side := _one_of(raw, "of", CLAIM_SIDES) or "answer") != "answer":
        part["of"] = side
    if metadata := _metadata(raw, _CLAIM):
        part["metadata"] = metadata
    return part


def _image(raw: dict[str, Any], key: str) -> Normal:
    part: Normal = {"key": key}
    if (document := raw.get("document")) is not None:
        part["document"] = document_key(document, "document")
    if (page := _number(raw, "page", 1)) not in (None, 1):
        part["page"] = page
    if raw.get("box") is not None:
        part["box"] = _box(raw["box"])
    if caption := _text(raw, "caption"):
        part["caption"] = caption
    if metadata := _metadata(raw, _IMAGE):
        part["metadata"] = metadata
    return part


def _hop(raw: dict[str, Any], key: str) -> Normal:
    part: Normal = {"key": key, "question": _text(raw, "question")}
    if answer := _text(raw, "answer"):
        part["answer"] = answer
    if metadata := _metadata(raw, _HOP):
        part["metadata"] = metadata
    return part


_PARTS: dict[str, Callable[[dict[str, Any], str], Normal]] = {
    "evidence": _evidence,
    "claims": _claim,
    "images": _image,
    "hops": _hop,
}


# Scores ---------------------------------------------------------------------------------------------------------------


def _scores(value: object, item: Normal, scorer: str) -> list[Normal]:
    if not isinstance(value, list):
        raise InvalidInput(f"`scores` is {_called(value)}, not a list of objects.")
    scores, seen = [], set()
    for one in value:
        if not isinstance(one, dict):
            raise InvalidInput(f"`scores` holds {_called(one)}, not an object.")
        score = _score(one, scorer)
        _check_target(score.get("target", "item"), item)
        name = (score["scorer"], score["name"], score.get("target"), orjson.dumps(score.get("parameters")))
        if name in seen:
            raise InvalidInput(f"`scores` gives {score['scorer']} {score['name']!r} twice. Keep one of them.")
        seen.add(name)
        scores.append(score)
    if _has_nul(scores):
        raise InvalidInput("a score contains the character NUL (\\u0000), which cannot be stored. Remove it.")
    return scores


def _score(raw: dict[str, Any], scorer: str) -> Normal:
    name = _key(raw, "name")
    if not name:
        raise InvalidInput("a score has no `name`. Write what was scored, such as correctness.")
    unknown = raw.keys() - _SCORE
    if unknown:
        raise InvalidInput(f"score {name!r} has the unknown field {min(unknown)!r}. Put it into its `parameters`.")
    by = _key(raw, "scorer") or scorer
    score: Normal = {"scorer": by if by.startswith("imported:") else f"imported:{by}", "name": name}
    value, reason = raw.get("value"), _text(raw, "reason")
    if isinstance(value, bool):
        value = int(value)
    if value is None:
        reason = reason or "the import gives no value"
    elif not isinstance(value, int | float):
        raise InvalidInput(f"score {name!r} has the value {_called(value)}, not a number. Write null where unscored.")
    else:
        score["value"] = float(value)
    if (target := _text(raw, "target")) not in ("", "item"):
        score["target"] = target
    parameters = raw.get("parameters")
    if parameters:
        if not isinstance(parameters, dict):
            raise InvalidInput(f"score {name!r} has the parameters {_called(parameters)}, not an object.")
        score["parameters"] = canonical(parameters)
    if reason:
        score["reason"] = reason
    return score


def _check_target(target: str, item: Normal) -> None:
    if target_kind(target) in (TargetKind.ITEM, TargetKind.PAIR, TargetKind.PAGE):
        return
    for part in target.split("|"):
        kind, _, key = part.partition(":")
        field = {"evidence": "evidence", "claim": "claims", "image": "images"}[kind]
        if not any(one["key"] == key for one in item.get(field, ())):
            raise InvalidInput(f"a score is about {target!r}, but the item has no {kind} with the key {key!r}.")


def _has_nul(value: object) -> bool:
    if isinstance(value, str):
        return "\x00" in value
    if isinstance(value, dict):
        return any("\x00" in name or _has_nul(one) for name, one in value.items())
    return isinstance(value, list) and any(_has_nul(one) for one in value)
