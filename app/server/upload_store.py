"""Files on their way in: what a browser uploads goes to disk as it comes, so much a person, until its page is closed.

Streamlit's own endpoint reads a file into memory as a whole and knows no total. Ours takes its place (`Sessions` in
app/server/middleware.py hands over to `put`); pages get at a file by `app.uploads.stored`.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import BinaryIO

import anyio
from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from annotators.errors import OF_DISKS, InvalidInput, TooLarge
from annotators.files import locked_folder, remove_left
from db.faults import DatabaseRefuses

FRAME = 16 << 10
"""Bytes of a request that may be others than the file's."""


FIRST_SECONDS = 60.0
SLOWEST = 16 << 10
"""Bytes that have to come in a second, on average, once the first minute is over: less than any line has."""


async def in_time(chunks: AsyncIterator[bytes], clock: Callable[[], float] = time.monotonic) -> AsyncIterator[bytes]:
    """The chunks of a body as they come; InvalidInput once it comes slower than it may."""
    begun, taken = clock(), 0
    while True:
        left = FIRST_SECONDS + taken / SLOWEST - (clock() - begun)
        with anyio.move_on_after(left) as waiting:
            chunk = await anext(chunks, None)
        if waiting.cancelled_caught or left <= 0:
            raise InvalidInput(
                f"The upload comes slower than {SLOWEST >> 10} kB in a second, and was ended. Try again over another "
                "line, or have whoever runs the server import the file by the command `assay import`."
            )
        if chunk is None:
            return
        taken += len(chunk)
        yield chunk


@dataclass(frozen=True)
class HeldFile:
    """An uploaded file: whose it is, where it lies, how many bytes it has, and what it is called."""

    person_id: int
    path: Path
    size: int
    name: str
    media_type: str


class UploadStore:
    """The uploaded files of a server's open pages, in a folder of this process that goes with it."""

    def __init__(self, folder: Path, *, most: int, most_of_a_person: int) -> None:
        """`most` bytes a file, `most_of_a_person` bytes of one person at a time, those under way included."""
        self._all = folder
        self._own: tuple[Path, int] | None = None
        self.most, self.most_of_a_person = most, most_of_a_person
        self._lock = Lock()
        self._held: dict[tuple[str, str], HeldFile] = {}
        self._bytes: Counter[int] = Counter()

    def prepare(self) -> None:
        """Make the folder, and remove those that killed servers left behind."""
        self._all.mkdir(parents=True, exist_ok=True, mode=0o700)
        remove_left(self._all, "")
        self.own_folder()

    def close(self) -> None:
        """Remove every file: no page is open any more."""
        with self._lock:
            if self._own is not None:
                shutil.rmtree(self._own[0], ignore_errors=True)
                os.close(self._own[1])
                self._own = None

    def own_folder(self) -> Path:
        """The folder, which is locked as long as this process lives; made anew where somebody has removed it."""
        with self._lock:
            if self._own is None or not self._own[0].is_dir():
                if self._own is not None:
                    os.close(self._own[1])
                self._all.mkdir(parents=True, exist_ok=True, mode=0o700)
                self._own = locked_folder(self._all)
            return self._own[0]

    async def receive(self, request: Request, person_id: int, session_id: str, file_id: str) -> HeldFile:
        """Write the one file of a multipart request to disk as it comes.

        Raises TooLarge as soon as the file, or all files of the person, are too large, and InvalidInput for a request
        without just one file, DatabaseRefuses while the disk takes nothing. Nothing is left of a file that is refused,
        or whose connection ends half way.
        """
        try:
            return await self._received(request, person_id, session_id, file_id)
        except OSError as error:
            if error.errno not in OF_DISKS:
                raise
            raise DatabaseRefuses(
                f"The disk takes no uploads ({error.strerror}). Nothing was kept of this file. Have some space freed, "
                "then upload it again."
            ) from None

    async def _received(self, request: Request, person_id: int, session_id: str, file_id: str) -> HeldFile:
        announced = request.headers.get("content-length", "")
        if announced.isdigit():
            self._check(int(announced), self._of(person_id) + int(announced))
        handle, name = await anyio.to_thread.run_sync(lambda: tempfile.mkstemp(dir=self.own_folder()))
        path, taken = Path(name), 0
        try:
            with os.fdopen(handle, "wb") as target:
                part = _FilePart(request.headers.get("content-type", ""), target)
                async for chunk in in_time(request.stream()):
                    taken += len(chunk)
                    self._check(taken, self._grow(person_id, len(chunk)))
                    await anyio.to_thread.run_sync(part.write, chunk)
                part.end()
            held = HeldFile(person_id, path, path.stat().st_size, part.name, part.media_type)
            self._check(held.size, 0)
        except BaseException as error:
            self._grow(person_id, -taken)
            path.unlink(missing_ok=True)
            if isinstance(error, ClientDisconnect):
                raise InvalidInput("The connection ended before the whole file was here. Upload it again.") from error
            raise
        self._grow(person_id, held.size - taken)
        with self._lock:
            before = self._held.get((session_id, file_id))
            self._held[session_id, file_id] = held
        self._remove(before)
        return held

    def path_of(self, session_id: str, file_id: str) -> Path | None:
        """Where a file of a page lies; None for one that came by another way, or is gone."""
        with self._lock:
            held = self._held.get((session_id, file_id))
        return held.path if held is not None else None

    def drop(self, session_id: str, file_id: str | None = None) -> None:
        """Remove a file of a page, or all of them."""
        with self._lock:
            gone = [key for key in self._held if key[0] == session_id and file_id in (None, key[1])]
            held = [self._held.pop(key) for key in gone]
        for upload in held:
            self._remove(upload)

    def _of(self, person_id: int) -> int:
        with self._lock:
            return self._bytes[person_id]

    def _grow(self, person_id: int, by: int) -> int:
        with self._lock:
            self._bytes[person_id] += by
            now = self._bytes[person_id]
            if not now:
                del self._bytes[person_id]
            return now

    def _remove(self, held: HeldFile | None) -> None:
        if held is not None:
            with suppress(OSError):
                held.path.unlink(missing_ok=True)
            self._grow(held.person_id, -held.size)

    def _check(self, of_one: int, of_all: int) -> None:
        if of_one > self.most + FRAME:
            raise TooLarge(
                f"The file is larger than {self.most >> 20:,} MB, the most that is uploaded in the browser. Import it "
                "with the command `assay import`, or raise the setting `upload_mb`."
            )
        if of_all > self.most_of_a_person + FRAME:
            raise TooLarge(
                f"Your uploads would be larger than {self.most_of_a_person >> 20:,} MB together. Remove one, close a "
                "page that has some, or raise the setting `uploads_mb`."
            )


class _FilePart:
    """The one file of a multipart body, written where it belongs while the body comes."""

    def __init__(self, content_type: str, target: BinaryIO) -> None:
        kind, options = parse_options_header(content_type)
        if kind != b"multipart/form-data" or b"boundary" not in options:
            raise InvalidInput(f"An upload comes as multipart/form-data with a boundary, not as {content_type!r}.")
        self.name, self.media_type = "", "application/octet-stream"
        self._target, self._files, self._is_file, self._whole = target, 0, False, False
        self._headers: dict[bytes, bytes] = {}
        self._field = self._value = b""
        self._parser = MultipartParser(
            options[b"boundary"],
            {
                "on_part_begin": self._begin,
                "on_header_field": self._on_field,
                "on_header_value": self._on_value,
                "on_header_end": self._on_header,
                "on_headers_finished": self._on_headers,
                "on_part_data": self._on_data,
                "on_end": self._on_end,
            },
        )

    def write(self, chunk: bytes) -> None:
        """Take the next bytes of the body."""
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise InvalidInput(f"The upload cannot be read: {error}") from error

    def end(self) -> None:
        """The body is whole; InvalidInput where it was not, or had not just one file."""
        if not self._whole:
            raise InvalidInput("The upload ends too early. Send the file again.")
        if self._files != 1:
            raise InvalidInput(f"An upload has one file, this one has {self._files}.")

    def _begin(self) -> None:
        self._headers, self._field, self._value = {}, b"", b""

    def _on_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def _on_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def _on_header(self) -> None:
        self._headers[self._field.lower()] = self._value
        self._field = self._value = b""

    def _on_headers(self) -> None:
        _, options = parse_options_header(self._headers.get(b"content-disposition", b""))
        self._is_file = b"filename" in options
        if self._is_file:
            self._files += 1
            self.name = options[b"filename"].decode("utf-8", "replace")
            self.media_type = self._headers.get(b"content-type", self.media_type.encode()).decode("latin-1")

    def _on_end(self) -> None:
        self._whole = True

    def _on_data(self, data: bytes, start: int, end: int) -> None:
        if self._is_file and self._files == 1:
            self._target.write(data[start:end])


def take_over(store: UploadStore) -> None:
    """Make Streamlit, before its server is made, keep of uploaded files their names alone; `store` has their bytes."""
    # Only here: Streamlit is imported once its options are in force.
    from streamlit.runtime import memory_uploaded_file_manager as streamlits  # noqa: PLC0415

    class DiskUploads(streamlits.MemoryUploadedFileManager):
        """Hands on what is removed: one file of an uploader, or all of a page that was closed."""

        def remove_session_files(self, session_id: str) -> None:
            super().remove_session_files(session_id)
            store.drop(session_id)

        def remove_file(self, session_id: str, file_id: str) -> None:
            super().remove_file(session_id, file_id)
            store.drop(session_id, file_id)

    # Its server makes its own store and takes none from outside.
    streamlits.MemoryUploadedFileManager = DiskUploads  # type: ignore[misc]


async def put(store: UploadStore, request: Request, person_id: int, session_id: str, file_id: str) -> Response:
    """Take a file for an open page, as Streamlit's own endpoint does; the page's script then finds it by name."""
    from streamlit.runtime import get_instance  # noqa: PLC0415 - see take_over
    from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager  # noqa: PLC0415
    from streamlit.runtime.uploaded_file_manager import UploadedFileRec  # noqa: PLC0415

    running = get_instance()
    if not running.is_active_session(session_id):
        raise InvalidInput("The page that this file is for is not open any more. Reload it and upload again.")
    held = await store.receive(request, person_id, session_id, file_id)
    manager = running.uploaded_file_mgr
    assert isinstance(manager, MemoryUploadedFileManager)
    manager.add_file(session_id, UploadedFileRec(file_id, held.name, held.media_type, b""))
    return Response(status_code=204)
