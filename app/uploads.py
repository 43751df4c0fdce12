"""Files that come through the browser: the one door by which pages get at what is in them.

They are written to a folder of their own under the data folder, read by processes of their own, and removed.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.uploaded_file_manager import UploadedFile

from annotators.errors import InvalidInput
from annotators.progress import Progress
from app.state import app_state
from db.engine import Database
from db.items.documents import attach_bytes
from db.items.imports import ImportReport
from db.permissions import Actor
from exports.formats.base import Columns
from exports.importing.apart import file_apart, read_apart
from exports.importing.items import import_reading
from exports.reading.tables import Opening
from exports.reading.uploaded import uploaded


class Upload:
    """A file that somebody chose: its name, and by what one tells it from another.

    What is in it comes through the functions of this module alone: nobody else opens what a stranger sent.
    """

    def __init__(self, file: UploadedFile) -> None:
        self.name, self.file_id = file.name, file.file_id
        self.__file = file

    def _put(self, path: Path) -> None:
        """The file under its own name: another name of the one that was written when it came, not a copy."""
        context = get_script_run_ctx()
        there = app_state().uploads.path_of(context.session_id, self.file_id) if context else None
        if there is None:
            path.write_bytes(self.__file.getbuffer())
            return
        try:
            path.hardlink_to(there)
        except OSError:  # a file system without hard links
            shutil.copyfile(there, path)


def chosen_file(label: str, types: Sequence[str] | None, *, key: str, help: str | None = None) -> Upload | None:  # noqa: A002 - as Streamlit calls it
    """Where one file is chosen, with one of these endings; None while there is none."""
    file = st.file_uploader(label, types, key=key, help=help)
    return None if file is None else Upload(file)


def chosen_files(label: str, *, key: str, help: str | None = None) -> list[Upload]:  # noqa: A002 - as Streamlit calls it
    """Where several files are chosen, of any kind."""
    return [Upload(file) for file in st.file_uploader(label, accept_multiple_files=True, key=key, help=help)]


LARGEST_TABLE = 32 << 20
"""Bytes of a table whose rows are all in memory together."""

LARGEST_TEXT = 1 << 20
"""Bytes of a short text, which is read whole."""


@contextmanager
def _stored(files: Sequence[Upload], *, most: int | None = None) -> Iterator[list[Path]]:
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
            file._put(path)
            if most is not None and path.stat().st_size > most:
                raise InvalidInput(
                    f"{path.name} has {path.stat().st_size / 1e6:,.1f} MB, more than the {most >> 20} MB that are "
                    "taken here. Split it, or have whoever runs the server import it by the command."
                )
        yield paths


@contextmanager
def read_by_others(file: Upload) -> Iterator[Path]:
    """A path that stands for an upload, until the block ends: there is no file, for nobody here is to open it.

    Readers that are entered for it (`exports.reading.uploaded`) read it by a process of its own. Raises as `_stored`,
    and they InvalidInput for what cannot be read.
    """
    with _stored([file], most=LARGEST_TABLE) as [path], tempfile.TemporaryDirectory(dir=path.parent) as apart:
        stands = Path(apart) / "upload" / path.name
        with uploaded({stands: file_apart(path, Path(apart))}):
            yield stands


def text_of(file: Upload) -> str:
    """A short text, such as a protocol; InvalidInput for one that is longer (`LARGEST_TEXT`), or none in UTF-8."""
    with _stored([file], most=LARGEST_TEXT) as [path]:
        try:
            return path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(f"{path.name} is not in UTF-8. Save it as UTF-8 and upload it again.") from None


def attach_upload(db: Database, actor: Actor, project_id: int, file: Upload, *, key: str) -> None:
    """Supply the bytes of a document; they are opened by the processes that draw pages."""
    with _stored([file]) as [path]:
        attach_bytes(
            db, actor, project_id, key=key, source=path, data_folder=app_state().settings.documents_folder,
            renderer=app_state().renderer,
        )  # fmt: skip


def import_uploads(
    db: Database,
    actor: Actor,
    project_id: int,
    files: Sequence[Upload],
    *,
    format_name: str | None = None,
    columns: Columns | None = None,
    opening: Opening | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
    labels_into: str | None = None,
    progress: Progress | None = None,
) -> ImportReport:
    """What importing the uploads would do (`dry_run`), or has done; as `exports.importing.items.import_paths`.

    The batch is known by the files' names, not by where they lay for a moment, and a single file counts as lying in no
    folder: FATHOMS' groups are folders, so result files of several groups are uploaded as a zip.
    """
    with _stored(files) as paths, tempfile.TemporaryDirectory(dir=paths[0].parent) as apart:
        first = None if progress is None else lambda done, of: progress(done, 2 * of)
        then = None if progress is None else lambda done, of: progress(of + done, 2 * of)
        reading = read_apart(
            paths, Path(apart), format_name=format_name, columns=columns, opened=opening.to_json() if opening else None,
            labels=labels_into is not None, progress=first,
        )  # fmt: skip
        documents = app_state().settings.documents_folder
        return import_reading(
            db, actor, project_id, reading, data_folder=documents, dry_run=dry_run, skip_bad=skip_bad,
            labels_into=labels_into, progress=then,
        )  # fmt: skip
