"""Files that several processes share: locked, stored whole or not at all, and on the disk before anybody goes on.

What is under way lies in a folder that its process has locked, so that what a killed one has left is known as such.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

PART = ".part-"
"""How the names of files begin that are not whole yet; one that stays was left by a process that died."""

SWEEP_TO = 0.9
"""The part of its bound that is left of a cache when files of it are removed."""

UNDER_WAY = ".assay-under-way-"
"""How the names of folders begin that have something which is not whole yet."""

_STALE_SECONDS = 3600.0
_LEFT_SECONDS = 24 * 3600.0
"""After so long a folder is taken for left behind on a disk that knows no locks."""


def taken(file: int, *, shared: bool = False) -> bool:
    """Take the operating system's lock on an open file or folder, without waiting; whether nobody else has it.

    A `shared` one many may have at a time, and nobody another. The lock goes when the file is closed, and with a
    process that is killed. Raises OSError on a disk that knows no locks.
    """
    try:
        fcntl.flock(file, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def holders(file: int) -> list[int]:
    """Processes that have a lock on an open file, apart from this one; none where the system does not tell."""
    state = os.fstat(file)
    place = f"{os.major(state.st_dev):02x}:{os.minor(state.st_dev):02x}:{state.st_ino}"
    found: set[int] = set()
    with contextlib.suppress(OSError, ValueError):
        for line in Path("/proc/locks").read_text(encoding="ascii").splitlines():
            words = line.split()
            if place in words and words[1] == "FLOCK":
                found.add(int(words[words.index(place) - 1]))
    return sorted(found - {os.getpid()})


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


def refusal(folder: Path) -> str | None:
    """Why a file cannot be written there, tried with one that is removed again; None when it can."""
    try:
        with tempfile.NamedTemporaryFile(prefix=".assay-trial-", dir=folder) as trial:
            trial.write(bytes(1 << 16))
            trial.flush()
            os.fsync(trial.fileno())
    except OSError as error:
        return error.strerror or str(error)
    return None


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


# What is under way ----------------------------------------------------------------------------------------------------


@contextlib.contextmanager
def under_way(beside: Path | None = None, prefix: str = UNDER_WAY) -> Iterator[Path]:
    """A new folder for what is not whole yet, in `beside` or among the temporary files; it ends with the block.

    It is locked until then. What killed processes have left there under the same prefix goes before. Raises OSError.
    """
    where = Path(tempfile.gettempdir()) if beside is None else beside
    remove_left(where, prefix)
    place, handle = locked_folder(where, prefix)
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(handle)


def locked_folder(where: Path, prefix: str = UNDER_WAY) -> tuple[Path, int]:
    """A new folder that is locked, and the descriptor to be closed when it is no longer in use. Raises OSError."""
    while True:
        place = Path(tempfile.mkdtemp(prefix=prefix, dir=where))
        handle = os.open(place, os.O_RDONLY)
        ours = True
        with contextlib.suppress(OSError):  # a disk without locks
            ours = taken(handle)
        if ours and place.is_dir():
            return place, handle
        os.close(handle)  # somebody who looked for what was left met it before it was locked


def remove_left(where: Path, prefix: str = UNDER_WAY) -> list[Path]:
    """Remove the folders that killed processes of this user have left under a prefix; which they were.

    Raises OSError where nobody may look.
    """
    gone = []
    for path in sorted(where.iterdir()) if where.is_dir() else ():
        if not path.name.startswith(prefix):
            continue
        with contextlib.suppress(OSError):
            state = path.lstat()
            if not stat.S_ISDIR(state.st_mode) or state.st_uid != os.geteuid():
                continue
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
            try:
                if _is_left(handle, state.st_mtime):
                    shutil.rmtree(path)
                    gone.append(path)
            finally:
                os.close(handle)
    return gone


def _is_left(handle: int, changed: float) -> bool:
    try:
        return taken(handle)
    except OSError:
        return time.time() - changed > _LEFT_SECONDS


@contextlib.contextmanager
def written_aside(target: Path) -> Iterator[Path]:
    """Where to write a new file, which has the name `target` once the block has ended well, with its bytes on the disk.

    Until then there is nothing of that name, and nothing stays of what fails or is killed. Its folder is made if need
    be. Raises OSError.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    with under_way(target.parent) as place:
        made = place / target.name
        yield made
        sync(made)
        made.rename(target)
        sync(target.parent)
