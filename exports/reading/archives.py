"""Archives from strangers, unpacked so that nothing leaves the folder, nothing links out of it, and nothing swells."""

from __future__ import annotations

import gzip
import io
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from annotators.errors import InvalidInput, listed, shown
from exports.checks import check_utf8

ENDINGS = (".zip", ".tar.gz", ".tgz", ".tar")

MOST_MEMBERS = 200_000
DEEPEST = 100
"""Folders that a file may lie in, within a folder or archive: Python walks them by calling itself."""
MOST_BYTES = 32 << 30
LARGEST_RATIO = 200
RATIO_COUNTS_FROM = 16 << 20
"""An archive that unpacks to more than this many bytes may not be more than LARGEST_RATIO times its own size."""

_BLOCK = 1 << 20
_REPACK = "Pack it again with only the plain files that belong to the data."


@dataclass(frozen=True)
class _Member:
    """A plain file of an archive: its name as packed, its checked parts, and what to read it from."""

    name: str
    parts: tuple[str, ...]
    stream: _BudgetedStream


def is_archive(path: Path) -> bool:
    """Whether the name says that this is an archive Assay opens."""
    return path.name.lower().endswith(ENDINGS)


def unpack(path: Path, target: Path, *, most: int = MOST_BYTES) -> int:
    """Unpack a zip or tar archive into the folder `target`; how many bytes that came to, at most `most`.

    It takes no more than half of what is free on the disk, so that others can go on writing.

    Raises InvalidInput, naming the member and the remedy, for a path that leaves the archive, a link or device, a
    member that appears twice or has a password, too many members, and too many bytes for the archive's size.
    """
    budget = _Budget(path, min(most, shutil.disk_usage(target).free // 2))
    taken: set[str] = set()
    members = _zip_members(path, budget) if path.name.lower().endswith(".zip") else _tar_members(path, budget)
    try:
        for member in members:
            if len(taken) >= MOST_MEMBERS:
                raise InvalidInput(f"{path.name} has more than {MOST_MEMBERS:,} files. Split it into several archives.")
            place = "/".join(member.parts)
            if place in taken:
                raise InvalidInput(f"{path.name} has the member {shown(member.name)} twice. {_REPACK}")
            taken.add(place)
            out = target.joinpath(*member.parts)
            try:
                out.parent.mkdir(parents=True, exist_ok=True)
                with out.open("xb") as file:
                    budget.member = member.name
                    while block := member.stream.read(_BLOCK):
                        file.write(block)
            except OSError as error:
                why = error.strerror or error
                raise InvalidInput(
                    f"{path.name}: the member {shown(member.name)} cannot be unpacked ({why}). {_REPACK}"
                ) from error
    except (zipfile.BadZipFile, tarfile.TarError, zlib.error, EOFError, gzip.BadGzipFile) as error:
        raise InvalidInput(
            f"{path.name} is damaged or no archive of the kind its name says ({error}). Supply it again."
        ) from error
    return budget.spent


def check_swelling(path: Path, *, most: int) -> None:
    """InvalidInput for a zip whose members have more than `most` bytes together, or too many for its own size.

    zipfile reads no more of a member than the size it claims, so that the claims are enough. Raises BadZipFile for what
    is no zip.
    """
    budget = _Budget(path, most)
    with _opened(path) as archive:
        for info in archive.infolist():
            budget.member = info.filename
            budget.spend(info.file_size)


class _Budget:
    """How much may still be unpacked."""

    def __init__(self, path: Path, most: int = MOST_BYTES) -> None:
        self._path, self._most = path, most
        self._size = max(1, path.stat().st_size)
        self.spent = 0
        self.member = "its first header"

    def spend(self, n: int) -> None:
        """Count n unpacked bytes; InvalidInput, naming the member under way, when they are too many."""
        self.spent += n
        if self.spent > RATIO_COUNTS_FROM and self.spent > LARGEST_RATIO * self._size:
            raise InvalidInput(
                f"{self._path.name} unpacks to more than {LARGEST_RATIO} times its size (at the member "
                f"{shown(self.member)}), as archives made to fill a disk do. Unpack it, look, and import the folder."
            )
        if self.spent > self._most:
            size = f"{self._most >> 30} GB" if self._most >> 30 else f"{self._most >> 20} MB"
            raise InvalidInput(
                f"{self._path.name} unpacks to more than {size} (at the member {shown(self.member)}). Unpack it and "
                "import the folder, or split it."
            )


def check_depth(name: str, folders: int) -> None:
    """InvalidInput when what is called so lies in too many folders."""
    if folders > DEEPEST:
        raise InvalidInput(f"{listed([name])} lies more than {DEEPEST} folders deep. Move it further up, or remove it.")


def _parts(archive: str, name: str) -> tuple[str, ...]:
    """The parts of a member's path; InvalidInput when it leads anywhere but down, too far down, or is not UTF-8."""
    plain = name.replace("\\", "/")
    parts = tuple(part for part in plain.split("/") if part not in ("", "."))
    if plain.startswith("/") or ".." in parts or "\x00" in name or not parts or ":" in parts[0]:
        raise InvalidInput(f"{archive}: the member {shown(name)} leads out of the archive. {_REPACK}")
    check_depth(f"{archive}/{name}", len(parts) - 1)
    check_utf8([f"{archive}/{name}"])
    return parts


def _opened(path: Path) -> zipfile.ZipFile:
    """The zip; BadZipFile also where the name of a member is not in the encoding that it claims."""
    try:
        return zipfile.ZipFile(path)
    except UnicodeDecodeError as error:
        raise zipfile.BadZipFile("the name of a member is not UTF-8") from error


def _zip_members(path: Path, budget: _Budget) -> Iterator[_Member]:
    with _opened(path) as archive:
        for info in archive.infolist():
            parts = _parts(path.name, info.filename)
            named = f"{path.name}: the member {shown(info.filename)}"
            mode = info.external_attr >> 16
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise InvalidInput(f"{named} is a link or no plain file. {_REPACK}")
            if info.is_dir():
                continue
            if info.flag_bits & 1:
                raise InvalidInput(f"{named} has a password. Pack it without one.")
            try:
                stream = archive.open(info)
            except (NotImplementedError, RuntimeError) as error:
                raise InvalidInput(
                    f"{named} is packed in a way that is not known ({error}). Pack it again as plain zip."
                ) from error
            with stream:
                yield _Member(info.filename, parts, _BudgetedStream(stream, budget))


def _tar_members(path: Path, budget: _Budget) -> Iterator[_Member]:
    with path.open("rb") as raw:
        is_gzip = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        # Counted below the tar reader, which reads long headers whole, however long they claim to be.
        counted = _BudgetedStream(gzip.GzipFile(fileobj=raw) if is_gzip else raw, budget)
        with tarfile.open(fileobj=counted, mode="r|") as archive:
            for info in archive:
                parts = _parts(path.name, info.name) if info.name != "." else ()
                if info.isdir():
                    continue
                stream = archive.extractfile(info) if info.isreg() else None
                if stream is None:
                    raise InvalidInput(
                        f"{path.name}: the member {shown(info.name)} is a link or no plain file. {_REPACK}"
                    )
                yield _Member(info.name, parts, _BudgetedStream(stream, None))


class _BudgetedStream(io.RawIOBase):
    """A stream whose bytes are counted against a budget (if they are not already), a block at a time."""

    def __init__(self, stream: IO[bytes] | gzip.GzipFile, budget: _Budget | None) -> None:
        self._stream, self._budget = stream, budget

    def read(self, size: int = -1, /) -> bytes:
        """The next bytes."""
        parts, left = [], size
        while left:
            block = self._stream.read(min(left, _BLOCK) if left > 0 else _BLOCK)
            if not block:
                break
            if self._budget is not None:
                self._budget.spend(len(block))
            parts.append(block)
            left -= len(block)
        return b"".join(parts)
