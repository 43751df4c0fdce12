"""The reply of a judge read: strictly, all of it or nothing."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from annotators.errors import InvalidInput, shown
from annotators.judges.base import Call, Judged
from annotators.judges.prompts.writing import CANNOT, JUDGEMENT, LABEL, RATIONALE, names_of
from annotators.protocols.base import Protocol

_FENCE = re.compile(r"\s*```(?:json)?[ \t]*\n(.*)\n[ \t]*```\s*", re.DOTALL)
MOST_RATIONALE = 2_000
NO_CHANCES: Mapping[str, Mapping[str, float]] = {}


def read(
    call: Call,
    protocol: Protocol,
    text: str,
    material: Mapping[str, Any],
    chances: Mapping[str, Mapping[str, float]] = NO_CHANCES,
) -> tuple[list[Judged], str | None]:
    """The labels of a reply, by the targets of the call; or none, and why the reply cannot be read.

    It has to be one JSON object, alone or in one code fence, that keeps the call's schema. A criterion that is not
    required may be left without a label. `chances` are those of the reply (`Reply.chances`).
    """
    try:
        return list(_labels(call, protocol, reply_object(text), material, chances)), None
    except InvalidInput as error:
        return [], str(error)


def reply_object(text: str) -> dict[str, Any]:
    """The one JSON object that a reply is, alone or in one code fence; InvalidInput for anything else."""
    fenced = _FENCE.fullmatch(text)

    def once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            raise InvalidInput("The reply says a name twice.")
        return found

    try:
        found = json.loads(fenced[1] if fenced else text, object_pairs_hook=once, parse_constant=_no_number)
    except (ValueError, RecursionError):  # ValueError also for a number of thousands of digits
        raise InvalidInput(f"The reply is not one JSON object: {shown(text)}.") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"The reply is not a JSON object: {shown(text)}.")
    return found


def _no_number(word: str) -> Any:
    raise InvalidInput(f"The reply has {word}, which is no number.")


def _labels(
    call: Call,
    protocol: Protocol,
    said: Mapping[str, Any],
    material: Mapping[str, Any],
    chances: Mapping[str, Mapping[str, float]],
) -> Iterator[Judged]:
    names = names_of(call.asks, material)
    only_fields("The reply", said, names.values())
    for (criterion_name, target), name in names.items():
        criterion = protocol.criterion(criterion_name)
        properties: Mapping[str, Any] = call.schema["properties"][name]["properties"]
        one = said[name]
        if not isinstance(one, dict):
            raise InvalidInput(f"{name!r} of the reply is {shown(one)}. It needs {', '.join(properties)}.")
        whose = f"{name!r} of the reply"
        only_fields(whose, one, properties)
        rationale = words_of(whose, RATIONALE, one[RATIONALE]) or None if RATIONALE in one else None
        judgement = one[JUDGEMENT]
        if not isinstance(judgement, dict) or len(judgement) != 1 or not judgement.keys() <= {LABEL, CANNOT}:
            raise InvalidInput(f"{whose} has the {JUDGEMENT} {shown(judgement)}. It needs {LABEL} or {CANNOT}, alone.")
        if CANNOT in judgement:
            why = words_of(whose, CANNOT, judgement[CANNOT])
            if not why:
                raise InvalidInput(f"{whose} cannot be judged, and does not say why.")
            yield Judged(criterion_name, target, None, True, why, rationale)
            continue
        value = judgement[LABEL]
        if value is None or value == "":
            if criterion.required:
                raise InvalidInput(f"{whose} has no label.")
            continue
        if call.letters:
            value = _of_letter(name, value, call.letters)
        _check_type(name, value, criterion.reply_schema(material))
        found = criterion.from_reply(value, material)
        criterion.check(found)
        sure = chances.get(f"{name}/{JUDGEMENT}/{LABEL}", {})
        of_labels = tuple(
            (criterion.from_reply(call.letters.get(label, label), material), chance) for label, chance in sure.items()
        )
        yield Judged(criterion_name, target, found, rationale=rationale, chances=of_labels)


def _of_letter(name: str, value: object, letters: Mapping[str, str]) -> str:
    """The label that a letter stands for; InvalidInput for anything else, the label itself among it."""
    if not isinstance(value, str) or value not in letters:
        known = ", ".join(f"{letter} ({label})" for letter, label in letters.items())
        raise InvalidInput(f"{name!r} of the reply is {shown(value)}. Allowed: {known}.")
    return letters[value]


def only_fields(whose: str, said: Mapping[str, Any], fields: Iterable[str]) -> None:
    """InvalidInput unless these fields are there, each, and no others."""
    wanted = list(fields)
    if missing := [name for name in wanted if name not in said]:
        raise InvalidInput(f"{whose} has no {missing[0]!r}. It needs {', '.join(wanted)}.")
    if more := [name for name in said if name not in wanted]:
        raise InvalidInput(f"{whose} has {shown(more[0])}, which nobody asked for.")


def words_of(whose: str, field: str, said: object) -> str:
    """A text of a reply on one line, cut to what is kept; InvalidInput for anything else."""
    if not isinstance(said, str):
        raise InvalidInput(f"{whose} has the {field} {shown(said)}, which is no text.")
    return " ".join(_storable(whose, said).split())[:MOST_RATIONALE]


def _storable(whose: str, text: str) -> str:
    if "\x00" in text or any("\ud800" <= letter <= "\udfff" for letter in text):
        raise InvalidInput(f"{whose} has a character that cannot be stored.")
    return text


_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "array": (list,), "object": (dict,),
}  # fmt: skip


def _check_type(name: str, value: Any, schema: Mapping[str, Any]) -> None:
    """InvalidInput for a value that does not keep what its schema says: type, words, parts."""
    if isinstance(value, bool) or not isinstance(value, _TYPES[schema["type"]]):
        raise InvalidInput(f"{name!r} of the reply is {shown(value)}, which is no {schema['type']}.")
    if isinstance(value, str):
        _storable(f"{name!r} of the reply", value)
    if "enum" in schema and value not in schema["enum"]:
        raise InvalidInput(f"{name!r} of the reply is {shown(value)}. Allowed: {', '.join(schema['enum'])}.")
    if isinstance(value, list):
        if not schema.get("minItems", 0) <= len(value) <= schema.get("maxItems", len(value)):
            raise InvalidInput(f"{name!r} of the reply has {len(value)} parts, and not {schema['minItems']}.")
        for part in value:
            _check_type(name, part, schema["items"])
    if isinstance(value, dict):
        if value.keys() != schema["properties"].keys():
            raise InvalidInput(f"{name!r} of the reply has a part {shown(value)}. It needs {schema['required']}.")
        for field, inner in schema["properties"].items():
            _check_type(name, value[field], inner)
