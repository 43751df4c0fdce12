"""Copies of what the database has that lie beside it in a home folder, and go where something of it is deleted."""

from __future__ import annotations

from annotators.errors import AssayError
from app.packed import forget_packed
from app.settings import Settings


def forget_copies(settings: Settings) -> None:
    """Remove what notebooks have kept of labels, and packed exports: the words or the name may be in them.

    Raises AssayError, when all else is removed, for what cannot be.
    """
    from exports.bundles.labels.kept import forget_frames, frames_folder  # noqa: PLC0415 - few commands need it

    left = []
    for what, folder, forget in (
        ("the labels that notebooks have kept", frames_folder(settings.home), forget_frames),
        ("the exports that were packed", settings.downloads_folder, forget_packed),
    ):
        try:
            forget(folder)
        except OSError as error:
            left.append(
                f"It is done in the database, but {what} in {folder} could not be removed ({error.strerror}), and may "
                "have it still. Remove the folder."
            )
    if left:
        raise AssayError("\n".join(left))
