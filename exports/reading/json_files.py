"""Reading JSON from strangers: lines of bounded length, files of bounded size, and where in them an error is."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

import orjson

from annotators.errors import shown
from annotators.items.parsed import Rejected
from exports.reading.encodings import Utf8Lines, encoding_of, read_utf8
from exports.reading.sources import SourceFile

LONGEST_LINE = 16 << 20
LARGEST_FILE = 256 << 20
"""Bytes that one line of a JSONL file, and one JSON file that is read whole, may have."""


@dataclass(slots=True)
class Meter:
    """How far reading has come, in bytes."""

    done: int = 0
    of: int = 0


_FREE, _EACH_BYTE = 64 << 20, 4
"""Bytes of memory that the values of a text of JSON may take, and how many more for each of its bytes."""

_OBJECT, _ARRAY, _VALUE = 232, 72, 64
"""Bytes of memory that an object, an array and any value in one take, be they ever so short."""


def too_many_values(data: bytes, free: int = _FREE) -> str | None:
    """What is said of a text of JSON that is small and has so many values that memory would be full of them; or None.

    They may take `free` bytes, and some more for each byte of the text. Signs are counted, also those within texts:
    there are no more values than those.
    """
    room = free + _EACH_BYTE * len(data)
    if _OBJECT * len(data) <= room:
        return None
    takes = _OBJECT * data.count(b"{") + _ARRAY * data.count(b"[") + _VALUE * data.count(b",")
    if takes <= room:
        return None
    return (
        f"it has {len(data) / 1e6:,.0f} MB and so many values that they take {takes / 1e6:,.0f} MB of memory. Split "
        "it, or leave out what is no part of an item."
    )


_DIGITS = bytes(48 if 48 <= sign < 58 else 32 for sign in range(256))
_LONG_RUN = b"0" * 19
_PART = 1 << 20
_MOST_DIGITS = 20
"""Digits from which, and signs up to which a whole number may have 64 bits."""

_LONG_NUMBER = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|(?<![\d.eE+-])(-?\d{19,})(?![\d.eE])')
"""A text, which is passed over, or a whole number of so many digits."""

_KEY_OR_BRACE = re.compile(rb'("[^"\\]*(?:\\.[^"\\]*)*")(\s*:)?|[{}]')
"""A text, with the colon behind it where it is a key, or where an object begins or ends."""

_NO_JSON = re.compile("NaN|Infinity")
"""What Python writes for numbers that JSON does not have."""

_FIRST_OBJECT = re.compile(rb"\s*?\n([ \t]+)(?=\{)")


def json_lines(
    file: SourceFile, meter: Meter | None = None, *, may_be_empty: bool = False, encoding: str | None = None
) -> Iterator[tuple[int, Any] | Rejected]:
    """(line from 1, parsed value) of every line that is not blank; a bad line is a Rejected, and reading goes on.

    A line longer than `LONGEST_LINE` is passed over without ever being in memory.
    """
    found = False
    with file.path.open("rb", buffering=1 << 20) as opened:
        stream = Utf8Lines(opened, encoding_of(file.path, encoding))
        number = 0
        while line := stream.readline(LONGEST_LINE + 1):
            number += 1
            if meter is not None:
                meter.done += len(line)
            if number == 1:
                line = line.removeprefix(b"\xef\xbb\xbf")
            if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
                _pass_over(stream)
                found = True
                yield Rejected(
                    file.name, number,
                    f"the line is longer than {LONGEST_LINE >> 20} MB. Write one item a line, and keep long documents "
                    "as documents of their own.",
                )  # fmt: skip
                continue
            if line.isspace():
                continue
            found = True
            if said := too_many_values(line):
                yield Rejected(file.name, number, said)
                continue
            try:
                value = orjson.loads(line)
            except orjson.JSONDecodeError as error:
                yield Rejected(file.name, number, _why(error))
                continue
            lost = lost_of(line, value)
            yield Rejected(file.name, number, lost[1]) if lost else (number, value)
    if not found and not may_be_empty:
        yield Rejected(file.name, 1, "the file is empty. Supply it again, or leave it out.")


def _pass_over(stream: Utf8Lines) -> None:
    while rest := stream.readline(1 << 20):
        if rest.endswith(b"\n"):
            return


def _why(error: orjson.JSONDecodeError) -> str:
    if "UTF-8" in error.msg:
        return "the text is not in UTF-8. Save it as UTF-8."
    word = _NO_JSON.match(error.doc, error.pos)
    if word:
        return f"not JSON: {word[0]} at column {error.colno} is no number there. Write null where there is none."
    at_end = error.pos >= len(error.doc.rstrip()) - 1
    remedy = "It seems cut off: supply it again, or leave it out." if at_end else "Correct it, or leave it out."
    return f"not JSON: {error.msg} at column {error.colno}. {remedy}"


def json_file(file: SourceFile, encoding: str | None = None) -> Any | Rejected:
    """The value of a whole JSON file, or why it cannot be read, with the line."""
    size = file.path.stat().st_size
    if size > LARGEST_FILE:
        reason = f"the file has {size >> 20} MB, more than the {LARGEST_FILE >> 20} MB of a JSON file. Split it."
        return Rejected(file.name, 1, reason)
    data = read_utf8(file.path, encoding)
    if not data or data.isspace():
        return Rejected(file.name, 1, "the file is empty. Supply it again, or leave it out.")
    if said := too_many_values(data):
        return Rejected(file.name, 1, said)
    try:
        value = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        return Rejected(file.name, error.lineno, _why(error))
    lost = lost_of(data, value)
    return Rejected(file.name, data.count(b"\n", 0, lost[0]) + 1, lost[1]) if lost else value


def lost_of(data: bytes, value: Any) -> tuple[int, str] | None:
    """Where in a text of JSON something begins that is not whole in the `value` it was read as, and what it is."""
    return _beyond_64_bits(data) or _repeated_key(data, value)


def _beyond_64_bits(data: bytes) -> tuple[int, str] | None:
    """Where in a text of JSON the first whole number begins that is longer than 64 bits, and what is wrong with it.

    The parser makes a fraction of it, without its last digits, and nothing that we write could hold it whole.
    """
    if not _has_long_run(data):  # as good as all have none; a pattern takes ten times as long as the parser
        return None
    for found in _LONG_NUMBER.finditer(data):
        text = found[1] and found[1].decode()
        if text and (len(text) > _MOST_DIGITS or not -(1 << 63) <= int(text) < 1 << 64):
            short = text if len(text) <= 2 * _MOST_DIGITS else f"{text[: 2 * _MOST_DIGITS]}…"
            return found.start(), f"the whole number {short} is longer than 64 bits. Put it in quotes, or leave it out."
    return None


def _has_long_run(data: bytes) -> bool:
    """Whether a text has so many digits in a row; a part of it at a time, as each part is copied."""
    return any(
        _LONG_RUN in data[start : start + _PART + len(_LONG_RUN)].translate(_DIGITS)
        for start in range(0, len(data), _PART)
    )


def _quotes(value: Any, size: int) -> int:
    """The quotes of a value as it is written; of a large list one element at a time, as what is written is a copy."""
    if size > _PART and isinstance(value, list):
        return sum(orjson.dumps(element).count(b'"') for element in value)
    if size > _PART and isinstance(value, dict):
        keys = sum(orjson.dumps(key).count(b'"') for key in value)
        return keys + sum(_quotes(element, size) for element in value.values())
    return orjson.dumps(value).count(b'"')


def _repeated_key(data: bytes, value: Any) -> tuple[int, str] | None:
    """Where in a text of JSON, read as `value`, a key stands that its object has already, and what is wrong with it.

    The parser keeps the last of them without a word; what it read then has fewer quotes than the text, which is seen
    in a fraction of the time that the text takes to be gone through.
    """
    try:
        if data.count(b'"') <= _quotes(value, len(data)):
            return None
    except orjson.JSONEncodeError:
        pass  # more objects within each other than are written
    keys: list[set[str]] = []
    for found in _KEY_OR_BRACE.finditer(data):
        if found[0] == b"{":
            keys.append(set())
        elif found[0] == b"}":
            keys.pop()
        elif found[2]:
            key = orjson.loads(found[1])
            if key in keys[-1]:
                said = f"the key {shown(key)} stands twice in one object. Rename one of the two, or take it out."
                return found.start(), said
            keys[-1].add(key)
    return None


def element_lines(file: SourceFile, field: str | None, n: int) -> Iterator[int]:
    """The line (from 1) on which each of the n elements of the list in `field` begins.

    `field` None: the list that the file is.

    The parser that is quick does not say where things stand, so this goes through the file a second time.
    """
    data = read_utf8(file.path)
    found = re.search(rb"%b\s*:\s*\[" % re.escape(json.dumps(field).encode()), data) if field is not None else None
    found = found or re.search(rb"\[", data)
    start = found.end() if found else 0
    return islice(_indented_lines(data, start, n) or _parsed_lines(data, start), n)


def _indented_lines(data: bytes, start: int, n: int) -> list[int] | None:
    """The lines of the n objects of a list from there on, where each begins one and all are indented alike.

    No text of JSON holds a line break, so the lines of its layout can be told without parsing it, or even decoding it.
    None where there are more or fewer such lines than objects.
    """
    first = _FIRST_OBJECT.match(data, start)
    if first is None:
        return None
    indent = first[1]
    lines, line, counted = [], 1, 0
    beginning, outside = rb"\n%b(?=\{)" % indent, rb"\n(?!%b)[ \t]*(\S)" % indent
    for found in re.compile(beginning + b"|" + outside).finditer(data, start):
        if found[1]:
            break
        line += data.count(b"\n", counted, found.end())
        counted = found.end()
        lines.append(line)
    return lines if len(lines) == n else None


def _parsed_lines(data: bytes, start: int) -> Iterator[int]:
    """The line of each element of a list from there on, then its last line for ever."""
    decoder, space = json.JSONDecoder(), re.compile(r"[\s,]*")
    text, at = data[start:].decode(errors="replace"), 0
    line, counted = 1 + data.count(b"\n", 0, start), 0
    while True:
        gap = space.match(text, at)
        at = gap.end() if gap else at
        line += text.count("\n", counted, at)
        counted = at
        yield line
        with contextlib.suppress(ValueError):
            _, at = decoder.raw_decode(text, at)
