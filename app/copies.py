"""Copies of what the database has, or had, beside it in a home folder: they go where something of it is to go."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

from annotators.errors import AssayError
from annotators.files import remove_left
from app.packed import NEW, forget_packed
from app.settings import Settings
from db.engine import Database, empty_log
from db.items.documents import remove_unfinished


def forget_copies(settings: Settings, db: Database) -> None:
    """Remove what notebooks have kept of labels, packed exports, and the database's log: words or a name may be there.

    Raises AssayError, when all else is removed, for what cannot be.
    """
    from exports.bundles.labels.kept import forget_frames, frames_folder  # noqa: PLC0415 - few commands need it

    left = [
        *_left("the labels that notebooks have kept", frames_folder(settings.home), forget_frames),
        *_left("the exports that were packed", settings.downloads_folder, forget_packed),
    ]
    if not empty_log(db):
        left.append(
            "It is done, but the database is being read all the time, so that its file and the log beside it may have "
            "what stood there still. That goes when the server is stopped."
        )
    if left:
        raise AssayError("\n".join(left))


def clear_left(settings: Settings) -> None:
    """Remove what killed processes had under way: of copies, restores, exports, imports and reports, here and among the
    temporary files. What a process that lives is making stays."""
    places = (settings.home, settings.backups_folder, settings.downloads_folder, Path(tempfile.gettempdir()))
    for place in places:
        with suppress(OSError):
            remove_left(place)
    with suppress(OSError):
        remove_left(settings.downloads_folder, NEW)
    remove_unfinished(settings.documents_folder)


def forget_exports(settings: Settings) -> None:
    """Remove packed exports: they may have a document that must not leave any more. Raises AssayError as above."""
    if left := [*_left("the exports that were packed", settings.downloads_folder, forget_packed)]:
        raise AssayError("\n".join(left))


def _left(what: str, folder: Path, forget: Callable[[Path], None]) -> Iterator[str]:
    try:
        forget(folder)
    except OSError as error:
        yield (
            f"It is done in the database, but {what} in {folder} could not be removed ({error.strerror}), and may "
            "have it still. Remove the folder."
        )
