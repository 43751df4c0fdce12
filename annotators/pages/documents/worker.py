"""The process that opens documents: started by `Renderer`, it answers one request after another (`apart.serving`)."""

from __future__ import annotations

import sys
import time
import traceback
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from annotators.apart import serving
from annotators.apart.serving import Answer
from annotators.apart.wire import Message
from annotators.pages.documents.opened import Opened, open_document
from annotators.pages.documents.results import WHOLE, PageNotDrawn, Why, check_crop

# A document stays open while its pages are turned: opening costs more than drawing a page.
_MAX_OPEN = 4


class OpenDocuments:
    """The documents used last, kept open. A document is known by its path and the state of the file behind it."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[object, ...], Opened] = OrderedDict()

    def get(self, path: Path, media_type: str) -> Opened:
        """The document, opened if need be; raises PageNotDrawn."""
        try:
            state = path.stat()
        except OSError as error:
            raise PageNotDrawn(Why.MISSING, "the document's bytes are missing from the data folder") from error
        key = (str(path), media_type, state.st_ino, state.st_mtime_ns, state.st_size)
        if key not in self._open:
            while len(self._open) >= _MAX_OPEN:
                self._open.popitem(last=False)[1].close()
            self._open[key] = open_document(path, media_type)
        self._open.move_to_end(key)
        return self._open[key]


def _inspect(document: Opened, request: Message) -> Answer:
    return asdict(document.facts()), b""


def _render(document: Opened, request: Message) -> Answer:
    crop = check_crop(*map(float, request.get("crop", WHOLE)))
    page = document.draw(_page_number(document, request), int(request["width"]), crop)
    return {"media_type": page.media_type, "width": page.width, "height": page.height, "note": page.note}, page.data


def _text(document: Opened, request: Message) -> Answer:
    return {}, document.text(_page_number(document, request)).encode("utf-8", "replace")


def _words(document: Opened, request: Message) -> Answer:
    """The words of the pages asked for, one after the other, until `seconds` have passed."""
    until = time.monotonic() + float(request["seconds"])
    done: list[dict[str, Any]] = []
    blobs: list[bytes] = []
    for number in map(int, request["pages"]):
        try:
            blob = document.words(_page_number(document, {"page": number}))
            done.append({"page": number, "size": len(blob)})
            blobs.append(blob)
        except Exception as error:
            failure = as_failure(error)
            done.append({"page": number, "why": failure["why"], "reason": failure["reason"]})
        if time.monotonic() >= until:
            break
    return {"done": done}, b"".join(blobs)


def _recognise(document: Opened, request: Message) -> Answer:
    """The words of one page, read off its picture."""
    from annotators.pages.documents.reading import read_page  # noqa: PLC0415 - 4 s and 300 MB that only this worker needs

    return {}, read_page(document, _page_number(document, request))


# What a renderer can ask of a document; another question is another entry.
OPERATIONS: dict[str, Callable[[Opened, Message], Answer]] = {
    "inspect": _inspect,
    "render": _render,
    "text": _text,
    "words": _words,
    "recognise": _recognise,
}


def _page_number(document: Opened, request: Message) -> int:
    number = int(request["page"])
    if not 1 <= number <= document.n_pages:
        pages = "1 page" if document.n_pages == 1 else f"{document.n_pages:,} pages"
        raise PageNotDrawn(Why.PAGE, f"the document has {pages}; there is no page {number:,}")
    return number


def answer(documents: OpenDocuments, request: Message) -> Answer:
    """The answer to one request; a failure is an answer too. Libraries fail on damaged input with any exception."""
    try:
        document = documents.get(Path(request["path"]), request["media_type"])
        message, blob = OPERATIONS[request["operation"]](document, request)
    except Exception as error:
        return as_failure(error), b""
    return {"ok": True, **message}, blob


def as_failure(error: Exception) -> Message:
    """What went wrong, as an answer."""
    if isinstance(error, PageNotDrawn):
        return _failure(error.why, error.reason)
    said = " ".join(str(error).split())[:160]
    if isinstance(error, MemoryError) or "malloc" in said or ("alloc" in said and "failed" in said):
        return _failure(Why.MEMORY, "drawing it takes more memory than one page may use")
    detail = "".join(traceback.format_exception(error))
    return _failure(Why.BROKEN, f"it is damaged and cannot be read ({said or type(error).__name__})", detail)


def _failure(why: Why, reason: str, detail: str = "") -> Message:
    return {"ok": False, "why": why.value, "reason": reason, "detail": detail}


def serve(seconds: float, memory_bytes: int) -> None:
    """Answer requests of a renderer until there are no more."""
    documents = OpenDocuments()

    def timed(request: Message, _tell: object) -> tuple[Message, bytes]:
        begun = time.process_time()
        message, blob = answer(documents, request)
        message["seconds"] = time.process_time() - begun
        return message, blob

    serving.serve(timed, seconds, memory_bytes)


if __name__ == "__main__":
    serve(float(sys.argv[1]), int(sys.argv[2]))
