"""The normal form of an item: the one shape every format reads into, the native format writes, and hashes are taken of.

It is a JSON object with its keys in a fixed order; what is empty or at its default is left out. `read_item` makes an
item of a row as people write it (docs/importing.md), `to_json` gives its normal form back, byte for byte.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import orjson

from annotators.errors import InvalidInput
from annotators.items import checks
from annotators.items.checks import Check, called, canonical
from annotators.items.item import DEFAULT_SYSTEM, FIELDS, NOTHING, Field, ItemContent, ItemHop, ItemScore, fields_of
from annotators.items.targets import TargetKind, target_kind

Normal = dict[str, Any]
"""A JSON object in normal form."""


def question_key(question: str, category: str | None = None) -> str:
    """The key of a question that has none of its own: the same text (and category) gives the same key."""
    text = question if category is None else f"{category}\x00{question}"
    try:
        return "q-" + hashlib.sha256(text.encode()).hexdigest()[:12]
    except UnicodeEncodeError:
        raise InvalidInput(f"{called(text)} has half a character, which cannot be kept. Remove it.") from None


def external_id(question: str, system: str) -> str:
    """What an item is known by that has no id of its own: the key of its question, and who answered."""
    return f"{question}:{system}"


# Writing --------------------------------------------------------------------------------------------------------------


Convert = Callable[[Any], Any]


class Written(NamedTuple):
    """How a value is written: under a name, unless it is at a default that is left out, and converted if need be."""

    name: str
    always: bool
    default: Any
    convert: Convert | None


def object_writer(fields: Iterable[Written]) -> Callable[..., Normal]:
    """A function of a value for each field, which gives the object that holds them; what follows is passed over.

    Imports and exports call it for every part of every item, so it is made of source, as a named tuple is: looking at
    the fields again for each object takes three times as long.
    """
    known: dict[str, Any] = {}
    lines, arguments = [], []
    for number, field in enumerate(fields):
        value, default, convert = f"value{number}", f"default{number}", f"convert{number}"
        known |= {default: field.default, convert: field.convert}
        given = f"{convert}({value})" if field.convert else value
        test = f"{value} is not None" if field.default is None else f"{value} != {default}"
        arguments.append(value)
        lines.append(f"    {'' if field.always else f'if {test}: '}written[{field.name!r}] = {given}")
    head = f"def write({', '.join(arguments)}, *_others):\n    written = {{}}\n"
    exec(head + "\n".join(lines) + "\n    return written", known)  # noqa: S102 - of names that are declared in code
    write: Callable[..., Normal] = known["write"]
    return write


def _writer(declared: Any) -> Callable[..., Normal]:
    def of_parts(part: Any) -> Convert:
        write = _writer(part)
        return lambda parts: [write(*part) for part in parts]

    return object_writer(
        Written(field.name, field.rule.always, field.default, of_parts(field.part) if field.part else None)
        for field in fields_of(declared)
    )


_WRITERS = {declared: _writer(declared) for declared in (ItemContent, ItemHop, ItemScore)}


def to_json(content: ItemContent | ItemHop | ItemScore) -> Normal:
    """An item, or one of the parts that are stored as JSON, in normal form."""
    return _WRITERS[type(content)](*content)


def content_of(item: Normal) -> bytes:
    """What an item says, without its id and its scores, as canonical JSON; InvalidInput for text nobody can store."""
    return _encoded({name: value for name, value in item.items() if name not in ("id", "scores")})


def _encoded(content: Normal) -> bytes:
    try:
        data = orjson.dumps(content, option=orjson.OPT_SORT_KEYS)
    except TypeError as error:
        raise checks.unkept(error, content) from None
    if b"\\u0000" in data and checks.has_nul(content):
        raise InvalidInput("a text contains the character NUL (\\u0000), which cannot be stored. Remove it.")
    return data


def content_hash(item: Normal) -> str:
    """SHA-256 of `content_of`: equal exactly when two rows say the same."""
    return hashlib.sha256(content_of(item)).hexdigest()


def item_hash(item: ItemContent) -> str:
    """The `content_hash` of an item that is not in normal form yet."""
    content = to_json(item)
    del content["id"]
    content.pop("scores", None)
    return hashlib.sha256(_encoded(content)).hexdigest()


# Reading --------------------------------------------------------------------------------------------------------------


def read_item(row: object, *, scorer: str = "imported:native") -> ItemContent:
    """The item of a row as people write it; InvalidInput says which field is wrong and what it may be.

    `scorer` is the name under which scores are kept that do not name one. Scores of other scorers get the prefix
    `imported:`, because a score that comes with an import was not computed here.
    """
    if not isinstance(row, dict):
        raise InvalidInput(f"the row is {called(row)}, not an object. Write one {{…}} with at least a question a line.")
    get = row.get
    item_id, key, question, answer, system = _read_own(get)
    if not (question and question.strip()):
        raise InvalidInput("`question` is missing or empty. It is the one field that every item needs.")
    system = system or DEFAULT_SYSTEM
    key = key or question_key(question)
    item_id = item_id or external_id(key, system)
    others = _read_others(get)
    if any(unit.hop is not None for unit in others[_EVIDENCE]):
        others = _with_hops(others)
    scores = _scores(row["scores"], dict(zip(_OTHERS, others, strict=True)), scorer) if get("scores") else ()
    metadata = NOTHING if "metadata" not in row and row.keys() <= _KNOWN else checks.metadata(row, _KNOWN)
    return ItemContent._make((item_id, key, question, answer, system, *others, scores, metadata, 0))


def _reader(fields: Iterable[tuple[Field, Check]]) -> Callable[[Callable[[str], Any]], tuple[Any, ...]]:
    """A function of a row's `get`, which gives the checked values of fields; made of source as `object_writer` is."""
    known: dict[str, Any] = {}
    values = []
    for number, (field, check) in enumerate(fields):
        known |= {f"default{number}": field.default, f"check{number}": check}
        given = f"value := get({field.name!r})"
        values.append(f"default{number} if ({given}) is None else check{number}(value, {field.name!r})")
    source = f"lambda get: ({', '.join(values)},)"
    read: Callable[[Callable[[str], Any]], tuple[Any, ...]] = eval(source, known)  # noqa: S307 - of declared names
    return read


class _PartReader:
    """Reads the parts of one kind: a list of objects, whose keys are given or made by position."""

    def __init__(self, part: Any) -> None:
        fields = fields_of(part)
        assert (fields[0].name, fields[-1].name) == ("key", "metadata")
        self._make = part._make
        self._check_key = fields[0].rule.check
        self._needed = tuple(field for field in fields[1:] if field.needed)
        self._read_fields = _reader((field, field.rule.check) for field in fields[1:-1])
        self._known = frozenset(field.name for field in fields)

    def __call__(self, value: Any, name: str) -> tuple[Any, ...]:
        if not value:
            return ()
        if not isinstance(value, list):
            raise InvalidInput(f"`{name}` is {called(value)}, not a list of objects.")
        given: set[str] = set()
        for row in value:
            if not isinstance(row, dict):
                raise InvalidInput(f"`{name}` holds {called(row)}, not an object.")
            key = row.get("key")
            if key is None:
                continue
            self._check_key(key, name)
            if key in given:
                raise InvalidInput(f"two of `{name}` have the key {key!r}. Keys differ within an item.")
            given.add(key)
        number, parts = 0, []
        needed, read_fields, known, make = self._needed, self._read_fields, self._known, self._make
        for row in value:
            # Imports spend most of their time here.
            get = row.get
            key = get("key")
            while key is None:
                number += 1
                free = f"{name[0]}{number}"
                key = None if free in given else free
            try:
                for field in needed:
                    if get(field.name) is None:
                        field.rule.check(None, field.name)
                values = read_fields(get)
                metadata = NOTHING if "metadata" not in row and row.keys() <= known else checks.metadata(row, known)
                parts.append(make((key, *values, metadata)))
            except InvalidInput as error:
                raise InvalidInput(f"{name} {key!r}: {error}") from None
        return tuple(parts)


_KNOWN = frozenset(FIELDS)
_OTHERS = FIELDS[5:-2]
"""The fields that need nothing but their own value to be read."""
_EVIDENCE, _HOPS = _OTHERS.index("evidence"), _OTHERS.index("hops")
_read_own = _reader((field, field.rule.check) for field in fields_of(ItemContent)[:5])
_read_others = _reader(
    (field, _PartReader(field.part) if field.part else field.rule.check) for field in fields_of(ItemContent)[5:-2]
)
assert (*FIELDS[:5], *FIELDS[-2:]) == ("id", "question_key", "question", "answer", "system", "scores", "metadata")


def _with_hops(others: tuple[Any, ...]) -> tuple[Any, ...]:
    """The fields with the number of its step for each unit that names the key; InvalidInput for a step that is none.

    Of a question whose steps the row does not have, any number from 1 may be right.
    """
    numbers = {hop.key: number for number, hop in enumerate(others[_HOPS], 1)}
    units = []
    for unit in others[_EVIDENCE]:
        number = numbers.get(unit.hop) if isinstance(unit.hop, str) else unit.hop
        is_none = isinstance(unit.hop, str) and number is None
        if is_none or (number is not None and numbers and number > len(numbers)):
            there = f"its steps are {', '.join(numbers)}" if numbers else "the row has no `hops` with keys"
            raise InvalidInput(
                f"evidence {unit.key!r}: `hop` is {called(unit.hop)}, which is no step of the question: {there}. Name "
                "one by its key, or by its number from 1."
            )
        units.append(unit if number is unit.hop else unit._replace(hop=number))
    return (*others[:_EVIDENCE], tuple(units), *others[_EVIDENCE + 1 :])


# Scores ---------------------------------------------------------------------------------------------------------------

_SCORE = frozenset(field.name for field in fields_of(ItemScore))
_read_score = _reader((field, field.rule.check) for field in fields_of(ItemScore))
_PARTS_OF_TARGETS = {"evidence": "evidence", "claim": "claims", "image": "images"}


def _scores(value: object, item: dict[str, Any], scorer: str) -> tuple[ItemScore, ...]:
    if not isinstance(value, list):
        raise InvalidInput(f"`scores` is {called(value)}, not a list of objects.")
    scores, seen = [], set()
    for row in value:
        if not isinstance(row, dict):
            raise InvalidInput(f"`scores` holds {called(row)}, not an object.")
        score = _score(row, scorer)
        _check_target(score.target, item)
        parameters = orjson.dumps(score.parameters) if score.parameters else b""
        name = (score.scorer, score.name, score.target, parameters)
        if name in seen:
            raise InvalidInput(f"`scores` gives {score.scorer} {score.name!r} twice. Keep one of them.")
        seen.add(name)
        scores.append(score)
    return tuple(scores)


def _score(row: dict[str, Any], scorer: str) -> ItemScore:
    by, name, value, target, parameters, reason = _read_score(row.get)
    if not name:
        raise InvalidInput("a score has no `name`. Write what was scored, such as correctness.")
    if not row.keys() <= _SCORE:
        unknown = min(row.keys() - _SCORE)
        raise InvalidInput(f"score {name!r} has the unknown field {unknown!r}. Put it into its `parameters`.")
    by = by or scorer
    if value is None:
        reason = reason or "the import gives no value"
    elif not isinstance(value, int | float):
        raise InvalidInput(f"score {name!r} has the value {called(value)}, not a number. Write null where unscored.")
    if "\x00" in target or (reason and "\x00" in reason) or (parameters and checks.has_nul(parameters)):
        raise InvalidInput("a score contains the character NUL (\\u0000), which cannot be stored. Remove it.")
    if checks.has_half(target) or (reason and checks.has_half(reason)):
        raise InvalidInput(f"score {name!r} has half a character in its reason or target. Remove it.")
    if parameters and not isinstance(parameters, dict):
        raise InvalidInput(f"score {name!r} has the parameters {called(parameters)}, not an object.")
    return ItemScore(
        scorer=by if by.startswith("imported:") else f"imported:{by}",
        name=name,
        value=None if value is None else float(value),
        target=target or "item",
        parameters=canonical(parameters) if parameters else {},
        reason=reason or None,
    )


def _check_target(target: str, item: dict[str, Any]) -> None:
    if target_kind(target) in (TargetKind.ITEM, TargetKind.PAIR, TargetKind.PAGE, TargetKind.BLOCK):
        return
    for piece in target.split("|"):
        kind, _, key = piece.partition(":")
        if key and not any(part.key == key for part in item.get(_PARTS_OF_TARGETS[kind], ())):
            raise InvalidInput(f"a score is about {target!r}, but the item has no {kind} with the key {key!r}.")
