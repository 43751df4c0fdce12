"""Files that several processes share: locked, stored whole or not at all, and on the disk before anybody goes on."""

from __future__ import annotations

import fcntl
import os
import tempfile
from pathlib import Path

PART = ".part-"
"""How the names of files begin that are not whole yet; one that stays was left by a process that died."""


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


def sync(path: Path) -> None:
    """Wait until the disk has a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
