"""Whether a document's file still holds the bytes that were imported: asked before anything is kept under their hash.

A file that a disk has spoilt, or somebody has replaced, would else be drawn, and its pictures and words, or that it is
broken, be kept after it was put back. A file is read through once in each of its states, by its time and size.
"""

from __future__ import annotations

import hashlib
import threading
from collections import OrderedDict
from pathlib import Path

from annotators.pages.documents.results import PageNotDrawn, Why

_MOST_KNOWN = 4096
_known: OrderedDict[tuple[str, int, int, int], str] = OrderedDict()
_lock = threading.Lock()


def check_original(path: Path, sha256: str) -> None:
    """Raise PageNotDrawn (Why.MISSING, which nobody remembers) unless the file's SHA-256 is this one.

    A file that is not there is left to whoever opens it.
    """
    try:
        state = path.stat()
        key = (str(path), state.st_ino, state.st_mtime_ns, state.st_size)
        with _lock:
            digest = _known.get(key)
        if digest is None:
            with path.open("rb") as file:
                digest = hashlib.file_digest(file, "sha256").hexdigest()
            with _lock:
                _known[key] = digest
                if len(_known) > _MOST_KNOWN:
                    _known.popitem(last=False)
    except FileNotFoundError:
        return
    except OSError as error:
        raise PageNotDrawn(Why.MISSING, f"the document's bytes cannot be read ({error.strerror})") from error
    if digest != sha256:
        raise PageNotDrawn(
            Why.MISSING,
            "the document's bytes are no longer those that were imported; an administrator can put them back, see "
            "`assay doctor --deep`",
        )
