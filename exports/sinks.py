"""Where an export goes: into a folder, with the hash of every file, or against one, to see whether it is the same."""

from __future__ import annotations

import errno
import hashlib
import os
import re
import shutil
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Protocol

from annotators.errors import OF_DISKS, AssayError, Conflict
from annotators.files import locked_folder, remove_left

_BLOCK = 1 << 20
_FLUSH = 256 << 10


@contextmanager
def whole_folder(to: Path) -> Iterator[Path]:
    """A folder to write into, which becomes `to` (absent or empty) at the end; nothing is left of one that fails.

    Conflict where somebody has put something into it meanwhile, NotADirectoryError where no folder can be. An error of
    a full disk names it.
    """
    try:
        to.parent.mkdir(parents=True, exist_ok=True)
        place = _beside(to)
        remove_left(place)
        made, lock = locked_folder(place)
    except (FileExistsError, FileNotFoundError) as error:
        there = isinstance(error, FileExistsError)  # else as in /proc, which is on no disk
        why, where = ("There is a file, not a folder", error.filename) if there else ("No folder can be made", to)
        raise NotADirectoryError(errno.ENOTDIR, why, str(where)) from None
    try:
        yield made
        made.chmod(0o755)
        try:
            if to.exists():
                to.rmdir()
            made.rename(to)
        except OSError as error:
            if not to.exists():
                raise
            if not to.is_dir() or any(path != made for path in to.iterdir()):
                raise Conflict(
                    f"{to} got something in it while this was made, which was not put beside it. Choose another folder."
                ) from error
            _move_into(to, made)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno in OF_DISKS and error.filename is None:
            error.filename = str(_fuller(to) if error.errno == errno.ENOSPC else to)
        shutil.rmtree(made, ignore_errors=True)
        raise
    finally:
        os.close(lock)


def _beside(to: Path) -> Path:
    """Where a hidden folder is made: beside one that may be there, or in it where nobody may write beside it."""
    return to if to.is_dir() and not os.access(to.parent, os.W_OK) else to.parent


def _move_into(to: Path, made: Path) -> None:
    """Fill an empty folder that cannot give way to another, as `.` and one that a disk is mounted at."""
    moved: list[Path] = []
    try:
        for path in sorted(made.iterdir()):
            moved.append(to / path.name)
            shutil.move(path, moved[-1])
        made.rmdir()
    except BaseException:
        for path in moved:
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
        raise


def _fuller(to: Path) -> Path:
    """What is to be written, or the folder of temporary files where its disk is another one and has less room."""
    spare = Path(tempfile.gettempdir())
    if spare.stat().st_dev == to.parent.stat().st_dev:
        return to
    return spare if shutil.disk_usage(spare).free < shutil.disk_usage(to.parent).free else to


@dataclass(frozen=True)
class FileFacts:
    """A file of an export: its path in the folder, SHA-256, bytes, and rows (None where it has none)."""

    path: str
    sha256: str
    bytes: int
    rows: int | None

    def to_json(self) -> dict[str, object]:
        """As the manifest has it."""
        return {"path": self.path, "sha256": self.sha256, "bytes": self.bytes, "rows": self.rows}


class Rows(Protocol):
    """Takes the rows of a table as they are made, block by block, beside the file of lines."""

    def begin(self, names: Sequence[str]) -> None:
        """The columns that the table has."""

    def add_lines(self, lines: bytes) -> None:
        """Rows as lines of CSV."""

    def add_batch(self, lines: bytes, batch: Any) -> None:
        """Rows as lines of CSV and the same as a record batch of Arrow."""


class Out:
    """One file under way: bytes are hashed as they are written. Set `rows` before it is closed.

    What is written goes to `beside` as well, where there is such a file, and the rows of a table to `typed`. Without
    `lines` only they are wanted.
    """

    def __init__(
        self,
        target: IO[bytes] | None,
        beside: IO[bytes] | None = None,
        typed: Rows | None = None,
        *,
        lines: bool = True,
    ) -> None:
        self._target, self._beside = target, beside
        self.typed, self.lines = typed, lines
        self._digest = hashlib.sha256()
        self._held: list[bytes] = []
        self._n_held = 0
        self.bytes = 0
        self.rows: int | None = None

    def write(self, data: bytes) -> None:
        """Append bytes."""
        self._held.append(data)
        self._n_held += len(data)
        if self._n_held >= _FLUSH:
            self.flush()

    def write_text(self, text: str) -> None:
        """Append text, as UTF-8."""
        self.write(text.encode())

    def flush(self) -> None:
        """Hash and pass on what is held."""
        data = b"".join(self._held)
        self._held.clear()
        self._n_held = 0
        self.bytes += len(data)
        self._digest.update(data)
        for file in (self._target, self._beside):
            if file is not None:
                file.write(data)

    def facts(self, path: str) -> FileFacts:
        """What has been written."""
        self.flush()
        return FileFacts(path, self._digest.hexdigest(), self.bytes, self.rows)


Difference = Callable[[Path, Path], int | None]
"""The first line in which the first of two files says something else than the second; None if there is none.

It raises CannotBeRead where the first is damaged.
"""


class CannotBeRead(Exception):
    """A file that is to be compared by what it says is damaged."""


class Sink(ABC):
    """Takes the files of an export. `files` lists those that are complete."""

    keeps = True
    """Whether it keeps what it is given; else it is compared."""

    def __init__(self) -> None:
        self.files: list[FileFacts] = []

    @contextmanager
    def open(self, path: str, *, beside: IO[bytes] | None = None, typed: Rows | None = None) -> Iterator[Out]:
        """A new file at a path inside the export; `beside` gets the same bytes, `typed` the rows of a table."""
        with self._target(path) as target:
            out = Out(target, beside, typed)
            yield out
            self.files.append(out.facts(path))

    @abstractmethod
    def _target(self, path: str) -> IO[bytes]:
        """What the bytes of a file are written to."""

    @abstractmethod
    def copy(self, path: str, source: Path, sha256: str) -> None:
        """A file that is a copy of the bytes with this digest."""

    @abstractmethod
    def put(self, path: str, made: Path, rows: int | None, difference: Difference) -> None:
        """A file that was made elsewhere, which is compared by what it says, not by its bytes."""


class FolderSink(Sink):
    """Writes an export into a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder

    def _target(self, path: str) -> IO[bytes]:
        target = self._folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return target.open("xb")

    def copy(self, path: str, source: Path, sha256: str) -> None:
        """Copy a stored document; AssayError when its bytes are gone or are others."""
        if not source.is_file():
            raise AssayError(
                f"The bytes of {path} are missing from the data folder ({source}). Restore it from a backup."
            )
        with source.open("rb") as data, self._target(path) as target:
            out = Out(target)
            while block := data.read(_BLOCK):
                out.write(block)
            facts = out.facts(path)
        if facts.sha256 != sha256:
            raise AssayError(
                f"The bytes of {path} in the data folder ({source}) are damaged. Restore it from a backup."
            )
        self.files.append(facts)

    def put(self, path: str, made: Path, rows: int | None, difference: Difference) -> None:
        """Copy it into the folder."""
        with made.open("rb") as data, self._target(path) as target:
            out = Out(target)
            out.rows = rows
            while block := data.read(_BLOCK):
                out.write(block)
            self.files.append(out.facts(path))


class _Compared:
    """A target that reads along in the file that should hold the same, and notes the first line that differs."""

    def __init__(self, path: Path, differs: dict[str, int], name: str) -> None:
        self._file = path.open("rb") if path.is_file() else None
        self._differs, self._name = differs, name
        self._line = 1

    def write(self, data: bytes) -> int:
        if self._file is not None and self._name not in self._differs:
            there = self._file.read(len(data))
            if there != data:
                at = next((i for i, (a, b) in enumerate(zip(there, data, strict=False)) if a != b), len(there))
                self._differs[self._name] = self._line + data.count(b"\n", 0, at)
            self._line += data.count(b"\n")
        return len(data)

    def __enter__(self) -> _Compared:
        return self

    def __exit__(self, *_: object) -> None:
        if self._file is not None:
            if self._name not in self._differs and self._file.read(1):
                self._differs[self._name] = self._line
            self._file.close()


class ComparingSink(Sink):
    """Writes nothing: compares an export with what a folder holds. `differs` is path → the first line that differs.

    `unreadable` are files that are damaged so that nothing can be compared. `made_anew` are files of which only what
    they say is compared, and that are not as they were: their bytes are others each time they are made.
    """

    keeps = False

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self._folder = folder
        self.differs: dict[str, int] = {}
        self.unreadable: set[str] = set()
        self.made_anew: set[str] = set()

    def _target(self, path: str) -> IO[bytes]:
        return _Compared(self._folder / path, self.differs, path)  # type: ignore[return-value]

    def copy(self, path: str, source: Path, sha256: str) -> None:
        """Note which document belongs here; its bytes are known by their digest."""
        self.files.append(FileFacts(path, sha256, -1, None))

    def put(self, path: str, made: Path, rows: int | None, difference: Difference) -> None:
        """Note in which line the folder's file says something else; where in none, its bytes are right as they are."""
        there = self._folder / path
        known = there if there.is_file() else made
        if known is there and not self._alike(path, made, difference):
            known = made
        if known is made:
            self.made_anew.add(path)
        with known.open("rb") as data:
            digest = hashlib.file_digest(data, "sha256").hexdigest()
        self.files.append(FileFacts(path, digest, known.stat().st_size, rows))

    def _alike(self, path: str, made: Path, difference: Difference) -> bool:
        try:
            line = difference(self._folder / path, made)
        except CannotBeRead:
            self.unreadable.add(path)
            return False
        if line is not None:
            self.differs[path] = line
        return line is None


def plain_name(text: str) -> str:
    """A text as the name of a file or folder, which leads nowhere else."""
    return re.sub(r"[^\w.() +-]", "_", text).strip(". ")[:120] or "unnamed"
