"""The words of documents, kept on disk in a compact form so that hundreds of pages are searched in an instant.

Like the cache of pictures, whose folder it shares, the index may be deleted at any time and several processes may write
it: nothing in it is needed. What a program read off scanned pages took minutes and lies in a folder of its own.
"""

from __future__ import annotations

import contextlib
import logging
import os
import re
import struct
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from annotators.errors import InvalidInput
from annotators.files import store
from annotators.pages.documents.kinds import MEDIA_TYPES
from annotators.pages.documents.original import check_original
from annotators.pages.documents.renderer import Renderer
from annotators.pages.documents.results import PageNotDrawn, Why
from annotators.pages.documents.words import VERSION, PageWords, Unreadable

log = logging.getLogger(__name__)

PAGES_A_FILE = 64
MEMORY_BYTES = 64 << 20
# How long a worker reads before it answers: other requests get their turn in between.
_SLICE_SECONDS = 0.25
_FAILED_SECONDS = 600.0
_MOST_FAILURES = 10_000
# A document over whose pages workers died or hung so often is not tried again for a while.
_GIVE_UP_AFTER = 3
_HEAD = struct.Struct(">4sI")
_ENTRY = struct.Struct(">III")
_MAGIC = b"ASI1"
_MOST_UNPACKED = 64 << 20
_SHA256 = re.compile(r"[0-9a-f]{64}")

Found = PageWords | PageNotDrawn
"""The words of a page, or why there are none."""


@dataclass(frozen=True)
class Source:
    """A document to read: the SHA-256 of its bytes (64 lower-case hexadecimal digits), where they are, their type."""

    sha256: str
    path: Path
    media_type: str


@dataclass(frozen=True)
class _IndexFile:
    """One file of an index: a document and the number of the file."""

    sha256: str
    media_type: str
    number: int

    @property
    def name(self) -> str:
        return f"{self.sha256[:2]}/{self.sha256}-{MEDIA_TYPES[self.media_type]}-{self.number}"


class _Folder:
    """Files of packed pages under one folder; a file that is damaged counts as absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def state(self, part: _IndexFile) -> tuple[int, int] | None:
        """What changes when another file takes its place; None when there is none."""
        try:
            state = (self.folder / part.name).stat()
        except OSError:
            return None
        return state.st_size, state.st_ino

    def read(self, part: _IndexFile) -> dict[int, PageWords]:
        path = self.folder / part.name
        try:
            data = path.read_bytes()
            found = dict(_unpacked(data))
        except (OSError, struct.error, zlib.error, Unreadable):
            return {}
        with contextlib.suppress(OSError):
            # The sweep of the cache removes what was not looked at for longest.
            os.utime(path)
        return found

    def write(self, part: _IndexFile, pages: Mapping[int, PageWords]) -> None:
        """Keep these pages in place of those that are there; raises OSError."""
        store(self.folder / part.name, _packed(pages))


def _packed(pages: Mapping[int, PageWords]) -> bytes:
    blobs = {number: zlib.compress(page.data, 1) for number, page in sorted(pages.items())}
    entries = [_ENTRY.pack(number, len(blob), pages[number].size) for number, blob in blobs.items()]
    return b"".join((_HEAD.pack(_MAGIC, len(blobs)), *entries, *blobs.values()))


def _unpacked(data: bytes) -> Iterator[tuple[int, PageWords]]:
    magic, count = _HEAD.unpack_from(data)
    if magic != _MAGIC or count > PAGES_A_FILE:
        raise Unreadable("not an index")
    at = _HEAD.size + count * _ENTRY.size
    for entry in range(count):
        number, packed, size = _ENTRY.unpack_from(data, _HEAD.size + entry * _ENTRY.size)
        if size > _MOST_UNPACKED:
            raise Unreadable("too large")
        words = zlib.decompressobj().decompress(data[at : at + packed], size)
        if len(words) != size:
            raise Unreadable("cut off")
        yield number, PageWords(words)
        at += packed


class WordIndex:
    """The words of pages, from memory, from disk, or from the renderer. Safe to call from many threads.

    folder: of the cache of pictures. ocr_folder: where recognised words are kept. memory_bytes: how much of the index
    stays in memory.
    """

    def __init__(self, folder: Path, ocr_folder: Path, renderer: Renderer, *, memory_bytes: int = MEMORY_BYTES) -> None:
        self._renderer = renderer
        self._own = _Folder(folder / f"words-{VERSION}-{version('pymupdf')}")
        self._ocr = _Folder(ocr_folder)
        self._memory_bytes = memory_bytes
        self._lock = threading.Lock()
        self._kept: OrderedDict[tuple[str, _IndexFile], tuple[tuple[int, int], dict[int, PageWords]]] = OrderedDict()
        self._kept_bytes = 0
        self._failures: dict[tuple[str, str, int], tuple[float, PageNotDrawn]] = {}
        self._reading: dict[tuple[str, str], _Turn] = {}

    def get(self, source: Source, pages: Iterable[int], *, seconds: float | None = None) -> dict[int, Found]:
        """The words of these pages (from 1), or why there are none.

        seconds: after about so long no more pages are read, and those not read are absent from the answer; they are
        there when asked for again. None waits for all of them.
        """
        self._check(source)
        until = None if seconds is None else time.monotonic() + seconds
        wanted = sorted(set(pages))
        found = self._known(source, wanted)
        missing = [number for number in wanted if number not in found]
        if missing:
            with self._turn(source, until) as mine:
                if mine:
                    # Somebody else may have read them in the meantime.
                    found |= self._known(source, missing)
                    found |= self._read(source, [number for number in missing if number not in found], until)
        return found

    def keep_recognised(self, source: Source, pages: Mapping[int, PageWords]) -> None:
        """Keep words that were read off pictures; raises OSError when the disk is full or not to be written."""
        self._check(source)
        for part, numbers in _by_part(source, pages):
            before = self._ocr.read(part)
            after = before | {number: pages[number] for number in numbers}
            self._ocr.write(part, after)

    def recognised(self, source: Source, pages: Iterable[int]) -> dict[int, PageWords]:
        """The words that were read off the pictures of these pages, where that was done."""
        self._check(source)
        found: dict[int, PageWords] = {}
        for part, numbers in _by_part(source, pages):
            there = self._load(self._ocr, part)
            found |= {number: there[number] for number in numbers if number in there}
        return found

    def _check(self, source: Source) -> None:
        if not _SHA256.fullmatch(source.sha256) or source.media_type not in MEDIA_TYPES:
            raise InvalidInput(f"{source.sha256!r} ({source.media_type}) is no document whose words are kept.")

    def _known(self, source: Source, pages: list[int]) -> dict[int, Found]:
        found: dict[int, Found] = {}
        for part, numbers in _by_part(source, pages):
            own = self._load(self._own, part)
            for number in numbers:
                if number in own:
                    found[number] = own[number]
                elif (failure := self._failure(source, number)) is not None:
                    found[number] = failure
        empty = [number for number, page in found.items() if isinstance(page, PageWords) and page.n == 0]
        found.update(self.recognised(source, empty))
        return found

    def _load(self, folder: _Folder, part: _IndexFile) -> dict[int, PageWords]:
        key = (str(folder.folder), part)
        state = folder.state(part)
        with self._lock:
            kept = self._kept.get(key)
            if kept is not None and kept[0] == state:
                self._kept.move_to_end(key)
                return kept[1]
        if state is None:
            self._put(key, None, {})
            return {}
        pages = folder.read(part)
        self._put(key, state, pages)
        return pages

    def _put(self, key: tuple[str, _IndexFile], state: tuple[int, int] | None, pages: dict[int, PageWords]) -> None:
        with self._lock:
            before = self._kept.pop(key, None)
            if before is not None:
                self._kept_bytes -= _bytes_of(before[1])
            if state is None:
                return
            self._kept[key] = (state, pages)
            self._kept_bytes += _bytes_of(pages)
            while self._kept_bytes > self._memory_bytes and len(self._kept) > 1:
                _, (_, gone) = self._kept.popitem(last=False)
                self._kept_bytes -= _bytes_of(gone)

    @contextlib.contextmanager
    def _turn(self, source: Source, until: float | None) -> Iterator[bool]:
        """One reader a document at a time; False when the time ran out before it was this one's turn."""
        key = (source.sha256, source.media_type)
        with self._lock:
            turn = self._reading.setdefault(key, _Turn())
            turn.users += 1
        got = turn.lock.acquire(timeout=-1 if until is None else max(0.0, until - time.monotonic()))
        try:
            yield got
        finally:
            if got:
                turn.lock.release()
            with self._lock:
                turn.users -= 1
                if turn.users == 0:
                    self._reading.pop(key, None)

    def _read(self, source: Source, pages: list[int], until: float | None) -> dict[int, Found]:
        """Read pages in a worker, keeping what comes, until the time is up."""
        found: dict[int, Found] = {}
        left = list(pages)
        one_by_one = False
        while left and (until is None or time.monotonic() < until or not found):
            if self._gave_up(source):
                failure = PageNotDrawn(Why.BROKEN, "the text of the document's pages cannot be read")
                return found | dict.fromkeys(left, failure)
            batch = left[:1] if one_by_one else left[:PAGES_A_FILE]
            try:
                check_original(source.path, source.sha256)
                got = self._renderer.words(source.path, source.media_type, batch, _SLICE_SECONDS)
            except PageNotDrawn as failure:
                if failure.why is Why.BUSY:
                    return found | dict.fromkeys(left, failure)
                if failure.why in (Why.TIME, Why.CRASH, Why.MEMORY) and len(batch) > 1:
                    # One of them is to blame: from here on each is asked for alone.
                    one_by_one = True
                    continue
                whole = failure.why in (Why.PASSWORD, Why.MISSING, Why.BROKEN, Why.SIZE)
                got = dict.fromkeys(left if whole else batch, failure)
            self._keep(source, got)
            found |= got
            left = [number for number in left if number not in got]
        empty = [number for number, page in found.items() if isinstance(page, PageWords) and page.n == 0]
        found.update(self.recognised(source, empty))
        return found

    def _keep(self, source: Source, got: Mapping[int, Found]) -> None:
        words = {number: page for number, page in got.items() if isinstance(page, PageWords)}
        moment = time.monotonic()
        with self._lock:
            if len(self._failures) > _MOST_FAILURES:
                self._failures.clear()
            for number, page in got.items():
                if isinstance(page, PageNotDrawn) and page.why not in (Why.MISSING, Why.BUSY):
                    self._failures[source.sha256, source.media_type, number] = (moment + _FAILED_SECONDS, page)
        for part, numbers in _by_part(source, words):
            pages = self._load(self._own, part) | {number: words[number] for number in numbers}
            try:
                self._own.write(part, pages)
            except OSError as error:
                log.warning("the words of pages could not be kept in %s: %s", self._own.folder, error)

    def _failure(self, source: Source, number: int) -> PageNotDrawn | None:
        with self._lock:
            known = self._failures.get((source.sha256, source.media_type, number))
        return known[1].again() if known is not None and time.monotonic() < known[0] else None

    def _gave_up(self, source: Source) -> bool:
        moment = time.monotonic()
        with self._lock:
            costly = [
                key
                for key, (until, failure) in self._failures.items()
                if key[:2] == (source.sha256, source.media_type)
                and moment < until
                and failure.why in (Why.TIME, Why.CRASH, Why.MEMORY)
            ]
        return len(costly) >= _GIVE_UP_AFTER


class _Turn:
    """Whose turn it is to read a document, and how many wait."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.users = 0


def _by_part(source: Source, pages: Iterable[int]) -> Iterator[tuple[_IndexFile, list[int]]]:
    numbers: dict[int, list[int]] = {}
    for number in pages:
        numbers.setdefault((number - 1) // PAGES_A_FILE, []).append(number)
    for part, mine in numbers.items():
        yield _IndexFile(source.sha256, source.media_type, part), mine


def _bytes_of(pages: Mapping[int, PageWords]) -> int:
    return sum(page.size * 2 + 1000 for page in pages.values())
