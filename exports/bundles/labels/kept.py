"""Tables of notebooks kept on disk: read from the database once, and from a file as long as nothing of them changes.

A file appears whole or not at all, one that is damaged counts as absent, and a folder that takes none costs time only:
nothing in it is needed. It holds words that people wrote, so that only its owner may read it, and a redaction in the
home (`assay redact`) removes it.
"""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import zlib
from pathlib import Path
from typing import TYPE_CHECKING

from annotators.files import store, sweep
from annotators.later import Later

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = Later("pyarrow")

log = logging.getLogger(__name__)

MOST_BYTES = 1 << 30
"""What the files of a folder may take together; those used longest ago go first. A million labels take some 50 MB."""

_MAGIC = b"ASF1"
_STAMP_BYTES = 64
_HEAD = len(_MAGIC) + _STAMP_BYTES + 4


def frames_folder(home: Path) -> Path:
    """Where a home folder keeps them; it can be deleted at any time."""
    return home / "data" / "frames"


def forget_frames(folder: Path) -> None:
    """Remove all that is kept there. Raises OSError where that cannot be done."""
    with contextlib.suppress(FileNotFoundError):
        shutil.rmtree(folder)


class KeptTables:
    """Tables in a folder, one file each, with the stamp of what they were made of."""

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES) -> None:
        self._folder, self._most_bytes = folder, most_bytes

    def read(self, name: str, stamp: str) -> pa.Table | None:
        """The table of this name, if it is there and has this stamp."""
        path = self._path(name)
        try:
            with pa.OSFile(str(path)) as file:
                if file.read(_HEAD - 4) != _MAGIC + stamp.encode():
                    return None
                crc, made = int.from_bytes(file.read(4)), file.read_buffer()
            if zlib.crc32(made) != crc:
                return None
            table = pa.ipc.open_file(made).read_all()
        except (OSError, pa.ArrowInvalid):
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return table

    def store(self, name: str, stamp: str, table: pa.Table) -> None:
        """Keep a table in place of the one of this name, whose words do not stay even where this one cannot be kept."""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_file(sink, table.schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
            writer.write_table(table)
        made = sink.getvalue()
        try:
            self._folder.mkdir(parents=True, exist_ok=True, mode=0o700)
            store(self._path(name), b"".join((_MAGIC, stamp.encode(), zlib.crc32(made).to_bytes(4), made)))
            sweep(self._folder.iterdir(), self._most_bytes)
        except OSError as error:
            log.info("a table could not be kept in %s: %s", self._folder, error)
            self.forget(name)

    def forget(self, name: str) -> None:
        """Remove the table of this name, if it is there and may be removed."""
        with contextlib.suppress(OSError):
            self._path(name).unlink()

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.frame"
