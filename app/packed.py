"""Exports that were made on the page: packed in a folder of the home, for an hour or until they have to go."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from annotators.errors import Conflict
from annotators.files import under_way

KEPT_SECONDS = 3600
"""How long a packed export can be fetched."""

UNFINISHED_SECONDS = 24 * 3600
"""After how long an export that has not been finished counts as interrupted."""

NEW = ".new-"
"""How the names of folders begin in which an export is made."""

_GONE = ".gone-"


@contextmanager
def making(folder: Path) -> Iterator[Path]:
    """A new folder that appears under its name only when the block has ended well.

    Raises Conflict where all of them were removed meanwhile (`forget_packed`): what this one has may have to go too.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    with under_way(folder.parent, NEW) as unfinished:
        inner, begun = unfinished / "export", unfinished / "begun"
        inner.mkdir()
        begun.touch()
        try:
            yield inner
            begun.unlink()  # it is not there in a folder that a later file has brought back
            inner.rename(folder)
        except FileNotFoundError:
            if begun.exists():
                raise
            raise Conflict(
                "Words were redacted, or a person or project was deleted, while this export was made, so it was thrown "
                "away. Make it again."
            ) from None


def find_packed(folder: Path) -> Path | None:
    """The file of an export that lies in this folder; None where there is none, or it is too old."""
    if _is_old(folder):
        return None
    return next(iter(sorted(folder.glob("*.zip"))), None)


def remove_old(downloads: Path) -> None:
    """Remove the exports that have been kept long enough, and what interrupted ones left behind."""
    for export in downloads.iterdir() if downloads.is_dir() else ():
        if _is_old(export):
            shutil.rmtree(export, ignore_errors=True)
    for gone in downloads.parent.glob(f"{downloads.name}{_GONE}*"):
        shutil.rmtree(gone, ignore_errors=True)


def forget_packed(downloads: Path) -> None:
    """Remove all exports, also those that are being made. Raises OSError where that cannot be done."""
    gone = downloads.with_name(f"{downloads.name}{_GONE}{time.time_ns()}")
    with suppress(FileNotFoundError):
        # At once: one that is just finished does not slip into the folder while that is emptied.
        downloads.rename(gone)
        shutil.rmtree(gone)


def _is_old(export: Path) -> bool:
    longest = UNFINISHED_SECONDS if export.name.startswith(NEW) else KEPT_SECONDS
    with suppress(FileNotFoundError):  # another process may be removing the same
        return time.time() - export.stat().st_mtime > longest
    return True
