"""Files that come through the browser: written to a folder of their own under the data folder, read, and removed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Protocol

from streamlit.runtime.scriptrunner import get_script_run_ctx

from annotators.errors import InvalidInput
from annotators.progress import Progress
from app.state import app_state
from db.engine import Database
from db.items.imports import ImportReport
from db.permissions import Actor
from exports.formats.base import Columns
from exports.importing.apart import read_apart, table_apart
from exports.importing.items import import_reading
from exports.reading.tables import has_types, read_already


class Upload(Protocol):
    """A file as Streamlit's uploader gives it."""

    name: str

    def getbuffer(self) -> memoryview:
        """The bytes, not copied."""


LARGEST_TABLE = 32 << 20
"""Bytes of a table whose rows are all in memory together."""

LARGEST_TEXT = 1 << 20
"""Bytes of a file that is read whole: a protocol, a table of weights."""


@contextmanager
def stored(files: Sequence[Upload], *, most: int | None = None) -> Iterator[list[Path]]:
    """The uploads as plain files in one folder, until the block ends. Only the last part of a name is used.

    Raises InvalidInput when two have the same name, a name is none, or one has more than `most` bytes.
    """
    names = [PurePosixPath(file.name.replace("\\", "/")).name for file in files]
    for position, name in enumerate(names):
        if not name or name.startswith(".") or "\x00" in name:
            raise InvalidInput(f"{files[position].name!r} is not a name for a file. Rename it and upload it again.")
        if name in names[:position]:
            raise InvalidInput(f"Two uploaded files are called {name!r}. Rename one, or pack them into a zip.")
    with tempfile.TemporaryDirectory(dir=app_state().uploads.own_folder()) as own:
        paths = [Path(own) / name for name in names]
        for file, path in zip(files, paths, strict=True):
            _put(file, path)
            if most is not None and path.stat().st_size > most:
                raise InvalidInput(
                    f"{path.name} has {path.stat().st_size / 1e6:,.1f} MB, more than the {most >> 20} MB that are "
                    "taken here. Split it, or have whoever runs the server import it by the command."
                )
        yield paths


@contextmanager
def stored_table(file: Upload) -> Iterator[Path]:
    """An uploaded table as a plain file, until the block ends; in the block `open_table` gives what was read of it.

    One that is no plain text is read once, by a process of its own. Raises as `stored`, and InvalidInput for what
    cannot be read.
    """
    with stored([file], most=LARGEST_TABLE) as [path], tempfile.TemporaryDirectory(dir=path.parent) as apart:
        read = {path: table_apart(path, Path(apart))} if has_types(path) else {}
        with read_already(read):
            yield path


def _put(file: Upload, path: Path) -> None:
    """A file under its own name: another name of the one that was written when it came, not a copy."""
    context = get_script_run_ctx()
    file_id = getattr(file, "file_id", None)
    there = app_state().uploads.path_of(context.session_id, file_id) if context and file_id else None
    if there is None:
        path.write_bytes(file.getbuffer())
        return
    try:
        path.hardlink_to(there)
    except OSError:  # a file system without hard links
        shutil.copyfile(there, path)


def import_uploads(
    db: Database,
    actor: Actor,
    project_id: int,
    files: Sequence[Upload],
    *,
    format_name: str | None = None,
    columns: Columns | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
    labels_into: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """What importing the uploads would do (`dry_run`), or has done; as `exports.importing.items.import_paths`.

    The batch is known by the files' names, not by where they lay for a moment, and a single file counts as lying in no
    folder: FATHOMS' groups are folders, so result files of several groups are uploaded as a zip.
    """
    with stored(files) as paths, tempfile.TemporaryDirectory(dir=paths[0].parent) as apart:
        first = None if progress is None else lambda done, of: progress(done, 2 * of)
        then = None if progress is None else lambda done, of: progress(of + done, 2 * of)
        reading = read_apart(
            paths, Path(apart), format_name=format_name, columns=columns, labels=labels_into is not None, progress=first
        )
        documents = app_state().settings.documents_folder
        return import_reading(
            db, actor, project_id, reading, data_folder=documents, dry_run=dry_run, skip_bad=skip_bad,
            labels_into=labels_into, progress=then,
        )  # fmt: skip
