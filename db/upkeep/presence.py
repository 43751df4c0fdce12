"""Who has a SQLite database open: everybody shares a lock on a file beside it, and who replaces it has that alone.

SQLite's own locks are of a file, and let in whoever comes when it is moved away, or overwritten between two of their
transactions. This one is of the place. It is the operating system's: with a process that is killed it is gone at once.
On a disk without locks everybody works, and nobody has the database alone.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Lock

from annotators.errors import Conflict
from annotators.files import holders, taken

ENDING = "-lock"
"""What the name of the lock's file has behind that of the database."""

_LOOK_SECONDS = 0.05
_NOT_HERE = frozenset({errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOSPC, errno.EDQUOT})


class Presence:
    """One user of a database (an object `Database`): absent, present among others, or alone."""

    def __init__(self, database: Path) -> None:
        self._database, self._path = database, Path(f"{database}{ENDING}")
        self._handle: int | None = None
        self._guard = Lock()

    def enter(self, until: float, *, makes: bool = True) -> bool:
        """Be present until `leave`; False when somebody has had the database alone until this moment of the clock.

        Where no file can be locked, nobody can be kept out either, and whoever comes is let in. Who does not make the
        database (`makes`) puts no lock where none is.
        """
        with self._guard:
            if self._handle is not None:
                return True
            handle = self._opened(makes=makes)
            if handle is None:
                return True
            if not _locked(handle, until, shared=True):
                os.close(handle)
                return False
            self._handle = handle
            return True

    def leave(self) -> None:
        """Be absent."""
        with self._guard:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None

    @contextmanager
    def alone(self, until: float) -> Iterator[None]:
        """Have the database alone; whoever comes meanwhile waits. Whether this one is present afterwards is as before.

        Raises Conflict when others have it until this moment of the clock, or no lock is to be had.
        """
        with self._guard:
            was_present = self._handle is not None
            handle = self._handle if self._handle is not None else self._opened()
            if handle is None:
                raise _no_lock(self._path, "the file cannot be made")
            self._handle = handle
        try:
            try:
                ours = _locked(handle, until, shared=False)
            except OSError as error:
                raise _no_lock(self._path, error.strerror or str(error)) from None
            if not ours:
                raise Conflict(_others(handle))
            yield
        finally:
            # What is converted in vain may be lost, and somebody else may have the database alone by now.
            if not (was_present and _locked(handle, time.monotonic(), shared=True)):
                self.leave()

    def __del__(self) -> None:
        if self._handle is not None:
            os.close(self._handle)

    def _opened(self, *, makes: bool = True) -> int | None:
        """The lock's file, made where it is missing; None where it neither is there nor can be made."""
        made = os.O_CREAT if makes or self._database.exists() else 0
        for flags in (os.O_RDWR | made, os.O_RDONLY):
            try:
                return os.open(self._path, flags | os.O_CLOEXEC, 0o600)
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise
        return None


def _locked(handle: int, until: float, *, shared: bool) -> bool:
    while True:
        try:
            if taken(handle, shared=shared):
                return True
        except OSError:
            if shared:
                return True
            raise
        if time.monotonic() >= until:
            return False
        time.sleep(_LOOK_SECONDS)


def _no_lock(path: Path, why: str) -> Conflict:
    return Conflict(
        f"Nobody can be kept out of the database meanwhile: {path} takes no lock ({why}). Nothing was changed. Have "
        "the home folder on a local disk that takes locks, then do this again."
    )


def _others(handle: int) -> str:
    pids = [str(pid) for pid in holders(handle)]
    named = f" (process{'es' if len(pids) > 1 else ''} {', '.join(pids)})" if pids else ""
    return (
        f"Others have the database open{named}: a server, a command or a notebook. Nothing was changed. Stop them, "
        "then do this again."
    )
