"""In which encoding a text file is written: UTF-8, UTF-16, UTF-32, Windows-1252, Latin-1, Shift-JIS or GB18030.

A byte order mark says so; a file that is whole UTF-8 is that; of what is left the likeliest is taken, and said. Another
one can be named.
"""

from __future__ import annotations

import codecs
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import lru_cache
from io import TextIOWrapper
from pathlib import Path
from typing import IO

from annotators.errors import InvalidInput, shown

_TITLES = {
    "utf-8-sig": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 without a byte order mark",
    "utf-16-be": "UTF-16 without a byte order mark",
    "utf-32": "UTF-32",
    "cp1252": "Windows-1252",
    "iso8859-1": "Latin-1",
    "cp932": "Shift-JIS",
    "gb18030": "GB18030",
}
"""Encodings that are recognised, by the name that Python has for them, and as people call them."""

_MARKS = {
    codecs.BOM_UTF8: "utf-8-sig",
    codecs.BOM_UTF32_LE: "utf-32",  # it begins as UTF-16 does
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}

_LOOKED_AT = 256 << 10
"""Bytes from the first that is not UTF-8 by which an encoding is recognised."""

_BLOCK = 1 << 20
_OTHERWISE = re.compile(rb"[\x80-\xff]+")
_OF_UTF8 = re.compile(rb"(?:[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3})+")
_NO_CP1252 = re.compile(rb"[\x81\x8d\x8f\x90\x9d]")
_HALF_WIDTH = re.compile("[\uff61-\uff9f]")
_KANA = re.compile("[\u3040-\u30ff]")


@dataclass(frozen=True)
class Encoding:
    """An encoding by the name that Python has for it. `guessed` says that nothing but what the text looks like did."""

    codec: str = "utf-8-sig"
    guessed: bool = False

    @property
    def title(self) -> str:
        """As people call it."""
        return _TITLES.get(self.codec, self.codec)

    @property
    def is_utf8(self) -> bool:
        """Whether there is nothing to say of it."""
        return self.codec == "utf-8-sig"

    def note(self, name: str) -> str | None:
        """What is to be said of a file of this name that is read so; None of UTF-8."""
        if self.is_utf8:
            return None
        how = ", which its bytes look like. If words look wrong, name another with --encoding" if self.guessed else ""
        return f"{name} is read as {self.title}{how}."


UTF8 = Encoding()


def named_encoding(name: str) -> Encoding:
    """The encoding of this name, whatever its spelling; InvalidInput for one that there is not."""
    try:
        codec = codecs.lookup(name.strip())
        "".encode(codec.name)
    except (LookupError, ValueError):
        raise InvalidInput(
            f"The encoding {shown(name)} is unknown. Name one such as utf-8, utf-16, windows-1252, latin-1, shift-jis "
            "or gb18030."
        ) from None
    if codec.name == "utf-8":
        return UTF8
    return Encoding({"shift_jis": "cp932", "gb2312": "gb18030", "gbk": "gb18030"}.get(codec.name, codec.name))


_ENCODED_AS: ContextVar[str | None] = ContextVar("encoded_as", default=None)


@contextmanager
def encoded_as(name: str | None) -> Iterator[None]:
    """In the block text files are in this encoding, where one is named."""
    token = _ENCODED_AS.set(name)
    try:
        yield
    finally:
        _ENCODED_AS.reset(token)


def encoding_of(path: Path, named: str | None = None) -> Encoding:
    """In which encoding a text file is written; `named` says so."""
    named = named or _ENCODED_AS.get()
    if named is not None:
        return named_encoding(named)
    about = path.stat()
    return _encoding_of(os.fspath(path), about.st_size, about.st_mtime_ns)


@lru_cache(256)
def _encoding_of(path: str, _size: int, _changed: int) -> Encoding:
    with Path(path).open("rb") as file:
        head = file.read(_LOOKED_AT)
        if found := _by_mark(head):
            return found
        file.seek(0)
        decoder = codecs.getincrementaldecoder("utf-8")()
        at = 0
        while True:
            block = file.read(_BLOCK)
            try:
                decoder.decode(block, final=not block)
            except UnicodeDecodeError as error:
                file.seek(max(0, at + error.start - _LOOKED_AT // 2))
                return encoding_of_bytes(head + b"\n" + file.read(_LOOKED_AT))
            at += len(block)
            if not block:
                return UTF8


def encoding_of_bytes(data: bytes) -> Encoding:
    """The encoding of what begins so, or of a part of it in which something is not UTF-8."""
    if (named := _ENCODED_AS.get()) is not None:
        return named_encoding(named)
    if found := _by_mark(data):
        return found
    parts = _OTHERWISE.findall(data)
    good = sum(len(found) for part in parts for found in _OF_UTF8.findall(part))
    bad = sum(map(len, parts)) - good
    if not bad or good > bad:
        return UTF8  # a row or two of another encoding are bad rows of it
    return Encoding(_likeliest(data), guessed=True)


def _by_mark(data: bytes) -> Encoding | None:
    """What a mark says, or zeros in every other place, as UTF-16 of any European text has them."""
    for mark, codec in _MARKS.items():
        if data.startswith(mark):
            return Encoding(codec)
    head = data[:4096]
    even, odd = head[::2].count(0), head[1::2].count(0)
    if even + odd < max(2, len(head) // 5):
        return None
    if odd > 4 * even:
        return Encoding("utf-16-le", guessed=True)
    return Encoding("utf-16-be", guessed=True) if even > 4 * odd else None


def _likeliest(data: bytes) -> str:
    """The likeliest of the encodings of one byte or several, by charset-normalizer, checked where it errs.

    Latin-1 and Windows-1252 differ only in bytes that are signs there and control characters here.
    """
    western = "iso8859-1" if _NO_CP1252.search(data) else "cp1252"
    asian = [codec for codec in ("cp932", "gb18030") if _decodes(data, codec)]
    if not asian:
        return western
    from charset_normalizer import from_bytes  # noqa: PLC0415 - only where a file is not UTF-8

    texts = b"\n".join(line for line in data.split(b"\n") if _OTHERWISE.search(line))[:_LOOKED_AT]
    found = from_bytes(texts, cp_isolation=["cp1252", "latin_1", *asian])
    chaos = {match.encoding: match.chaos for match in found}
    known = [codec for codec in asian if codec in chaos]
    if not known or (_is_western(data) and chaos.get("cp1252", chaos.get("latin_1", 1.0)) <= 0.2):
        return western
    if len(known) == 2:
        as_japanese = texts.decode("cp932", errors="replace")
        if _KANA.search(as_japanese):
            return "cp932"
        # Two bytes of GB18030 are two signs of half width there, of which nobody writes a text.
        if len(_HALF_WIDTH.findall(as_japanese)) > len(as_japanese) // 8:
            return "gb18030"
    return min(known, key=lambda codec: chaos[codec])


def _is_western(data: bytes) -> bool:
    """Whether most bytes that are not ASCII stand alone, as letters with accents and quotation marks do."""
    parts = _OTHERWISE.findall(data)
    return 2 * sum(len(part) == 1 for part in parts) > len(parts)


def _decodes(data: bytes, codec: str) -> bool:
    """Whether this is text of the encoding throughout, but for a character that is cut off at an end."""
    text = data.decode(codec, errors="replace")
    return text.count("\ufffd") <= 2 and not re.search("[\x80-\x9f]", text)


def as_utf8(data: bytes, encoding: Encoding) -> bytes:
    """The bytes of a text in UTF-8, without a mark."""
    if encoding.is_utf8:
        return data.removeprefix(codecs.BOM_UTF8)
    return data.decode(encoding.codec, errors="replace").removeprefix("\ufeff").encode(errors="replace")


def read_utf8(path: Path, named: str | None = None) -> bytes:
    """A whole text file in UTF-8, in whatever encoding it is."""
    return as_utf8(path.read_bytes(), encoding_of(path, named))


@contextmanager
def opened_text(path: Path, named: str | None = None) -> Iterator[TextIOWrapper]:
    """A text file, in whatever encoding it is, with its line ends; what cannot be read is U+FFFD."""
    encoding = encoding_of(path, named)
    with TextIOWrapper(path.open("rb"), encoding.codec, errors="replace", newline="") as text:
        if text.read(1) != "\ufeff":
            text.seek(0)
        yield text


class Utf8Lines:
    """The lines of a text file in UTF-8, one after another, none longer than is asked for."""

    def __init__(self, stream: IO[bytes], encoding: Encoding) -> None:
        self._stream = stream
        self._text = None if encoding.is_utf8 else TextIOWrapper(stream, encoding.codec, errors="replace", newline="\n")

    def readline(self, most: int) -> bytes:
        """The next line with its end, or its first so many bytes (characters, where it is not UTF-8)."""
        return self._stream.readline(most) if self._text is None else self._text.readline(most).encode(errors="replace")
