"""Probabilities of the labels in a reply, from the log-probabilities of its tokens that a server gives.

A label is a word of a list in the schema, so that a probability of it is that of the tokens that tell it from the
others. Walking along the label that was given, token by token, each other token that the server lists in the place of
one belongs to the labels that could still begin so: where that is one label, it gets the probability of the way so far
times that of the token (the chain rule); where the token was taken, the walk goes on with the labels that are left. A
listed token that several labels could begin with, none of which was given, says nothing about either, so that the reply
has no probabilities then; labels that begin alike are therefore given as letters (prompts/letters.py). What goes to no
label (a space, a tail that is not listed) is left out and the rest divided by its sum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import Any

LEAST = 0.5
"""So much of the probability has to go to labels, or the tokens are taken to mean something else."""

MOST_TOKENS = 20_000
"""A reply of more tokens has no probabilities: each label is looked for among all of them."""

UNCLEAR = 0.01
"""So much may at most go to tokens that several labels could begin with."""

_SPACE = " \t\r\n"
_JSON = JSONDecoder()
_DEEPEST = 20


@dataclass(frozen=True)
class Token:
    """A token of a reply with its log-probability, and those (token, log-probability) that stood in its place.

    Texts have a letter for each byte.
    """

    text: str
    logprob: float
    others: tuple[tuple[str, float], ...]


def tokens_of(logprobs: Any) -> list[Token]:
    """The tokens of a choice's `logprobs`, as OpenAI words them; none for anything else."""
    content = logprobs.get("content") if isinstance(logprobs, Mapping) else None
    found = []
    for one in content if isinstance(content, Sequence) and not isinstance(content, str) else ():
        said = _said(one)
        if said is None:
            return []
        beside = one.get("top_logprobs") if isinstance(one, Mapping) else None
        listed = beside if isinstance(beside, list) else ()
        others = [other for entry in listed if (other := _said(entry)) is not None]
        found.append(Token(*said, tuple(others)))
        if len(found) > MOST_TOKENS:
            return []
    return found


def _said(entry: Any) -> tuple[str, float] | None:
    if not isinstance(entry, Mapping):
        return None
    token, logprob, given = entry.get("token"), entry.get("logprob"), entry.get("bytes")
    if not isinstance(token, str) or isinstance(logprob, bool) or not isinstance(logprob, int | float):
        return None
    try:
        text = bytes(given).decode("latin-1") if isinstance(given, list) else _as_bytes(token)
        return text, float(logprob)
    except (TypeError, ValueError, OverflowError, UnicodeEncodeError):
        return None


def _as_bytes(text: str) -> str:
    """A text with a letter for each of its bytes: a token may end within a character."""
    return text.encode().decode("latin-1")


def chances_of(text: str, tokens: Sequence[Token], schema: Mapping[str, Any]) -> dict[str, dict[str, float]]:
    """Place in the reply (`item/judgement/label`) → label → its probability (0..1, in all 1).

    `text` is the reply as it came, `schema` the one that it keeps; places that have no list of words, or whose labels
    cannot be told apart, are left out, and so are all of a text that does not stand in those tokens. More may stand
    before it and behind: servers give the tokens of thoughts, of spaces at the ends (llama.cpp) and of the end, and
    leave them out of the text.
    """
    try:
        said, reply = "".join(token.text for token in tokens), _as_bytes(text).strip(_SPACE)
        begin = said.rfind(reply)
        if begin < 0 or not reply:
            return {}
        found = list(_words(said, begin, begin + len(reply), schema))
    except (UnicodeEncodeError, JSONDecodeError, IndexError, RecursionError):
        return {}
    starts, at = [], 0
    for token in tokens:
        starts.append(at)
        at += len(token.text)
    made = {}
    for place, start, label, labels in found:
        chances = _walked(tokens, starts, start, label, [_as_bytes(one) for one in labels])
        if chances is not None:
            made[place] = dict(zip(labels, chances, strict=True))
    return made


# The walk -------------------------------------------------------------------------------------------------------------


def _walked(
    tokens: Sequence[Token], starts: Sequence[int], start: int, label: str, labels: Sequence[str]
) -> list[float] | None:
    """Probabilities of the labels, of which this one begins at a letter of the text; None where they are unclear."""
    if label not in labels or len(labels) < 2:
        return None
    ends = {one: f'{one}"' for one in labels}
    left, way, unclear = list(labels), 1.0, 0.0
    found = dict.fromkeys(labels, 0.0)
    at, taken = start, 1.0  # the first letter that is not told yet
    for place, token in enumerate(tokens):
        if starts[place] + len(token.text) <= at:
            continue
        if len(left) < 2:
            break
        before, told, goes_on = token.text[: at - starts[place]], ends[label][: at - start], list[str]()
        for text, chance in _in_its_place(token):
            if not text.startswith(before):
                continue
            rest = told + text[len(before) :]
            fits = [one for one in left if len(rest) > len(told) and _begins(ends[one], rest)]
            if text == token.text:
                if label not in fits:
                    return None
                taken, goes_on = chance, fits
            elif len(fits) == 1:
                found[fits[0]] += way * chance
            elif fits:
                unclear += way * chance
        way, left = way * taken, goes_on
        at = starts[place] + len(token.text)
    if len(left) > 1:
        return None
    found[label] += way
    total = sum(found.values())
    if total < LEAST or unclear > UNCLEAR:
        return None
    return [found[one] / total for one in labels]


def _begins(whole: str, said: str) -> bool:
    """Whether a text may be the beginning of a label with the quote behind it, or goes on behind that."""
    return whole.startswith(said) or said.startswith(whole)


def _in_its_place(token: Token) -> Iterator[tuple[str, float]]:
    """The token and those listed in its place, each once, with their probabilities."""
    yield token.text, math.exp(min(0.0, token.logprob))
    seen = {token.text}
    for text, logprob in token.others:
        if text not in seen:
            seen.add(text)
            yield text, math.exp(min(0.0, logprob))


# Where labels stand ---------------------------------------------------------------------------------------------------

_Word = tuple[str, int, str, list[str]]
"""A word of a list: its place in the reply, where its first letter stands in the text, the word, and the list."""


def _words(text: str, begin: int, end: int, schema: Mapping[str, Any]) -> Iterator[_Word]:
    """Every word of a list in a reply, the part of a text between two letters, which may stand in a code fence.

    JSONDecodeError for what is no object.
    """
    begin = text.find("{", begin, end)
    if begin < 0:
        raise JSONDecodeError("no object", text, 0)
    found: list[_Word] = []
    _value(text, begin, (schema,), (), found)
    yield from found


def _value(text: str, at: int, schemas: Sequence[Mapping[str, Any]], path: tuple[str, ...], found: list[_Word]) -> int:
    """Read the value at a character, which keeps one of the schemas; the character behind it."""
    if len(path) > _DEEPEST:
        raise JSONDecodeError("too deep", text, at)
    if text[at] == "{":
        return _object(text, at, schemas, path, found)
    if text[at] == "[":
        inner, at, number = [one["items"] for one in schemas if "items" in one], _skip(text, at + 1), 0
        while text[at] != "]":
            at = _skip(text, _value(text, at, _alternatives(inner), (*path, str(number)), found))
            number, at = number + 1, _skip(text, at + 1) if text[at] == "," else at
        return at + 1
    if text[at] == '"':
        word, end = _text(text, at)
        lists = [[str(one) for one in schema["enum"]] for schema in schemas if "enum" in schema]
        if lists and text[at + 1 : end - 1] == word:  # an escaped word is not told letter by letter
            found.append(("/".join(path), at + 1, word, lists[0]))
        return end
    end = at
    while text[end] not in ",]}" + _SPACE:
        end += 1
    if end == at:
        raise JSONDecodeError("no value", text, at)
    return end


def _object(text: str, at: int, schemas: Sequence[Mapping[str, Any]], path: tuple[str, ...], found: list[_Word]) -> int:
    at = _skip(text, at + 1)
    while text[at] != "}":
        name, end = _text(text, at)
        at = _skip(text, end)
        if text[at] != ":":
            raise JSONDecodeError("no value", text, at)
        inner = [one["properties"][name] for one in schemas if name in one.get("properties", ())]
        at = _skip(text, _value(text, _skip(text, at + 1), _alternatives(inner), (*path, name), found))
        at = _skip(text, at + 1) if text[at] == "," else at
    return at + 1


def _alternatives(schemas: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The schemas, with the alternatives of each in its place."""
    found: list[Mapping[str, Any]] = []
    for schema in schemas:
        found += _alternatives(schema["anyOf"]) if "anyOf" in schema else [schema]
    return found


def _text(text: str, at: int) -> tuple[str, int]:
    """The word that stands between quotes from a character on, and the character behind it."""
    found, end = _JSON.raw_decode(text, at)
    if not isinstance(found, str):
        raise JSONDecodeError("no word", text, at)
    return found, end


def _skip(text: str, at: int) -> int:
    while text[at] in _SPACE:
        at += 1
    return at
