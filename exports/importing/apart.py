"""Uploads are read in a process of its own: it may take so much memory and so long, and what it meets stays with it.

A file is no larger than what was uploaded, and still may be one that takes all memory there is, or for ever. What the
process has read it writes down as plain JSON, which the web process then takes in a line at a time.
"""

from __future__ import annotations

import logging
import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from annotators.apart.process import Apart, Gone, Late
from annotators.apart.wire import Message
from annotators.errors import AssayError, InvalidInput, shown
from annotators.items.item import held
from annotators.items.normal import read_item
from annotators.items.parsed import ForeignLabel, ParsedDocument, ParsedItem, Rejected
from annotators.progress import Progress
from exports.formats.base import Columns
from exports.reading.budget import FREE_SECONDS, seconds_for
from exports.reading.json_files import Meter
from exports.reading.uploaded import Ask

if TYPE_CHECKING:
    from annotators.protocols import Protocol

log = logging.getLogger(__name__)

MEMORY_BYTES = 240 << 20
"""What reading one upload may take, beside the program itself."""

_WAIT_SECONDS = 60.0
_IDLE_SECONDS = 120.0
_LARGEST_IDLE = 160 << 20
"""Bytes of memory with which a process waits for the next upload; a larger one makes room."""

_RECYCLE_AFTER = 10
"""Requests after which a process is replaced, so that nothing a library leaks adds up, nor what a file left there."""

_BY_COMMAND = "Split it, or have whoever runs the server take it in by the command line, which has no such limit."
_HEAVIEST_DOCUMENTS = 128 << 20
DOCUMENTS, ITEMS, FOUND = "documents.jsonl", "items.jsonl", "found.json"
"""The files of what was read."""

LONGEST_LINE = 24 << 20
"""Bytes that one line of these may have."""

LARGEST_FOUND, MOST_VALUES = 32 << 20, 2_500_000
"""Bytes, and values, of what one file says, all of which is in memory together: of labels some 200,000."""


def read_apart(
    paths: Sequence[Path],
    folder: Path,
    *,
    format_name: str | None = None,
    columns: Columns | None = None,
    opened: Mapping[str, Any] | None = None,
    labels: bool = False,
    progress: Progress | None = None,
) -> ReadApart:
    """What a format reads of uploads, read by a process of its own; `labels`: also what is asked by their labels.

    `opened` is how tables are opened (`Opening.to_json`) where it is not as they look.

    `folder` is an empty one that stays until all of it is taken in: archives are unpacked into it. Raises InvalidInput
    for what no format reads, and for what takes too much memory or too long.
    """
    given = {name: list(of) for name, of in columns.items()} if columns else None
    more = {"format": format_name, "columns": given, "labels": labels, "opened": dict(opened or {})}
    return ReadApart(_asked("read", paths, folder, more, progress), folder, paths)


def file_apart(path: Path, folder: Path) -> Ask:
    """What says what a reader (`exports.reading.uploaded`) finds in a file, read by a process of its own.

    Raises what that raises of the file, and as `read_apart`.
    """

    def ask(reader: str, given: Sequence[Any]) -> bytes:
        _asked("file", [path], folder, {"reader": reader, "given": list(given)}, None)
        found = folder / FOUND
        if found.stat().st_size <= LARGEST_FOUND and (said := found.read_bytes()).count(b",") <= MOST_VALUES:
            return said
        raise InvalidInput(f"{path.name} says too much to be uploaded. {_BY_COMMAND}")

    return ask


def _asked(operation: str, paths: Sequence[Path], folder: Path, more: Message, progress: Progress | None) -> Message:
    size = sum(path.stat().st_size for path in paths)
    named = ", ".join(path.name for path in paths)
    # Of a processor that others use as well.
    within = 3 * seconds_for(size)
    request: Message = {
        "operation": operation, "paths": [str(path.resolve()) for path in paths], "folder": str(folder.resolve()),
        "within": within, **more,
    }  # fmt: skip

    def told(message: Message) -> None:
        done, of = message["told"]
        if progress is not None and of:
            progress(min(int(done), int(of)), int(of))

    with _READERS.one() as process:
        try:
            answer, _ = process.ask(request, within, told)
        except Late:
            raise InvalidInput(f"{named} takes longer to read than {within:,.0f} s. {_BY_COMMAND}") from None
        except Gone:
            log.warning("the process that reads uploads ended with status %s over %s", process.exit_status(), named)
            raise InvalidInput(
                f"{named}: the program that reads files stopped while it was reading this. Save it again with another "
                "program, or as CSV or JSONL in UTF-8."
            ) from None
    if answer.get("ok") is True:
        return answer
    if "refused" in answer:
        raise InvalidInput(str(answer["refused"]))
    if answer.get("why") == "memory":
        raise InvalidInput(
            f"{named} takes more than the {MEMORY_BYTES >> 20} MB of memory that reading an upload may take. "
            f"{_BY_COMMAND}"
        )
    log.error("reading %s failed: %s", named, answer.get("said"))
    raise Unread(
        f"{named} cannot be read ({answer.get('said')}). That is a fault of the program: tell whoever runs the server."
    )


class _Readers:
    """The processes that read: two at once, of which one waits for the next upload, as starting one takes a second."""

    def __init__(self) -> None:
        self._at_once = threading.BoundedSemaphore(2)
        self._lock = threading.Lock()
        self._idle: tuple[Apart, int] | None = None
        self._since = 0.0

    @contextmanager
    def one(self) -> Iterator[Apart]:
        """A process that is ready; one over which the block fails is ended with it."""
        if not self._at_once.acquire(timeout=_WAIT_SECONDS):
            raise Unread("Files of others are being read just now. Try again in a minute.")
        try:
            process, served = self._taken()
            try:
                process.start()
                yield process
            except BaseException:
                process.end()
                raise
            self._give_back(process, served + 1)
        except (Late, Gone):
            raise Unread("The program that reads files does not start; the server's log says why.") from None
        finally:
            self._at_once.release()

    def _taken(self) -> tuple[Apart, int]:
        with self._lock:
            found, self._idle = self._idle, None
        if found is not None:
            if found[0].alive():
                return found
            found[0].end()
        return Apart("exports.importing.apart_worker", FREE_SECONDS, MEMORY_BYTES), 0

    def _give_back(self, process: Apart, served: int) -> None:
        with self._lock:
            before, self._idle, self._since = self._idle, (process, served), time.monotonic()
            if is_last := served >= _RECYCLE_AFTER or _size(process) > _LARGEST_IDLE:
                self._idle = None
        if before is not None:
            before[0].end()
        if is_last:
            process.end()
            return
        later = threading.Timer(_IDLE_SECONDS, self._end_idle)
        later.daemon = True
        later.start()

    def _end_idle(self) -> None:
        with self._lock:
            if self._idle is None or time.monotonic() - self._since < _IDLE_SECONDS:
                return
            (process, _), self._idle = self._idle, None
        process.end()


_READERS = _Readers()


def _size(process: Apart) -> int:
    """Bytes of memory that a process has; 0 where the system does not say."""
    try:
        return int(Path(f"/proc/{process.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0


class Unread(AssayError):
    """An upload could not be read, and the file is not the reason."""

    status = 503


class ReadApart:
    """What was read, as a reading (`FileReading`): its files have one document or item a line."""

    def __init__(self, about: Message, folder: Path, paths: Sequence[Path]) -> None:
        self._about, self._folder = about, folder.resolve()
        self._given = {path.resolve() for path in paths}
        self.source = ", ".join(path.name for path in paths)
        self.columns: dict[str, list[str]] = about["columns"]
        self.headings: list[str] = about["headings"]
        self.meter = Meter(of=(folder / ITEMS).stat().st_size)

    @property
    def format(self) -> str:
        """The name of the format that has read it."""
        return str(self._about["format"])

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """The documents; the bytes of each lie below the folder, or are an upload."""
        weight = 0
        for row, size in self._rows(DOCUMENTS):
            if (bad := _rejected(row)) is not None:
                yield bad
                continue
            weight += size + held(row["metadata"])  # all documents of a source are in memory together
            if weight > _HEAVIEST_DOCUMENTS:
                raise InvalidInput(f"{self.source} says too much of its documents to be uploaded. {_BY_COMMAND}")
            path = None if row["path"] is None else Path(row["path"]).resolve()
            if path is not None and path not in self._given and not path.is_relative_to(self._folder):
                raise InvalidInput(
                    f"{self.source}: {shown(row['key'])} lies elsewhere. Supply its bytes with the rest."
                )
            yield ParsedDocument(row["file"], row["line"], row["key"], row["title"], row["metadata"], path, row["kept"])

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items, checked once more."""
        self.meter.done = 0
        for row, size in self._rows(ITEMS):
            self.meter.done += size
            if (bad := _rejected(row)) is not None:
                yield bad
                continue
            try:
                item = read_item(row["item"])
            except InvalidInput as error:
                yield Rejected(row["file"], row["line"], str(error))
                continue
            yield ParsedItem(row["file"], row["line"], item, tuple(map(_label, row["labels"])))

    def notes(self) -> Sequence[str]:
        """What is worth reading about the files as a whole."""
        return [str(note) for note in self._about["notes"]]

    def label_protocol(self) -> Protocol | None:
        """What a study asks that is made for the labels; None where that was not asked for."""
        from annotators.protocols import Protocol  # noqa: PLC0415 - loads pydantic, which the process that reads lacks

        found = self._about["protocol"]
        return Protocol.model_validate(found) if found else None

    def _rows(self, name: str) -> Iterator[tuple[Message, int]]:
        with (self._folder / name).open("rb", buffering=1 << 20) as lines:
            while line := lines.readline(LONGEST_LINE + 1):
                if len(line) > LONGEST_LINE:
                    raise InvalidInput(f"{self.source} has an item that is too large to be uploaded. {_BY_COMMAND}")
                yield orjson.loads(line), len(line)


def _rejected(row: Message) -> Rejected | None:
    bad = row.get("rejected")
    return None if bad is None else Rejected(bad["file"], bad["line"], bad["reason"])


def _label(given: list[Any]) -> ForeignLabel:
    label = ForeignLabel(*given)
    return label._replace(time=datetime.fromisoformat(str(label.time))) if label.time else label
