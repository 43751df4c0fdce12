"""Files that several processes share: locked, stored whole or not at all, and on the disk before anybody goes on."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PART = ".part-"
"""How the names of files begin that are not whole yet; one that stays was left by a process that died."""

SWEEP_TO = 0.9
"""The part of its bound that is left of a cache when files of it are removed."""

_STALE_SECONDS = 3600.0


def taken(file: int) -> bool:
    """Take the operating system's lock on an open file, without waiting; whether nobody else has it.

    The lock goes when the file is closed, and with a process that is killed.
    """
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def store(path: Path, data: bytes) -> None:
    """Have a file hold these bytes; whoever reads it meanwhile sees what it held before, or nothing. Raises OSError."""
    for attempt in (1, 2):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            handle, temporary = tempfile.mkstemp(prefix=PART, dir=path.parent)
        except FileNotFoundError:
            # Somebody emptied the folder this very moment.
            if attempt == 2:
                raise
            continue
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise
        return


def sweep(files: Iterable[Path], most: int) -> int:
    """Keep the files of a cache within `most` bytes; how many bytes they have then.

    What was used longest ago goes first, by the time of its last change, until `SWEEP_TO` of that is left; what a
    process that died left behind (`PART`) goes always.
    """
    found: list[tuple[float, int, str]] = []
    total = 0
    now = time.time()
    for path in files:
        try:
            state = path.stat()
        except OSError:
            continue
        if path.name.startswith(PART) and now - state.st_mtime < _STALE_SECONDS:
            continue
        found.append((0.0 if path.name.startswith(PART) else state.st_mtime, state.st_size, str(path)))
        total += state.st_size
    if total > most or any(age == 0.0 for age, _, _ in found):
        found.sort()
        for age, size, name in found:
            if total <= most * SWEEP_TO and age > 0.0:
                break
            with contextlib.suppress(OSError):
                Path(name).unlink()
            total -= size
    return total


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """Have an error of the machine name this file or folder where it names none, as one of a file that is open."""
    try:
        yield
    except OSError as error:
        if error.filename is None:
            error.filename = str(path)
        raise


def sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
