"""The documents of an import: their bytes looked at before any transaction, rows of one key joined, gaps filled."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, nullcontext
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from annotators.errors import Conflict, InvalidInput
from annotators.items.checks import canonical, document_key
from annotators.items.parsed import ParsedDocument, Rejected
from annotators.pages import Renderer
from db.items.documents import ATTACHED, DESCRIBED, TITLED, Bytes, give_bytes, look_at
from db.models import Document


@dataclass(frozen=True)
class Supplied:
    """A document of the source, with its bytes looked at."""

    parsed: ParsedDocument
    found: Bytes | None


class Looked(NamedTuple):
    """The documents of a source, and the keys of those that any row says must not leave the machine they are on.

    Such a row may be a bad one: its file is damaged, or it does not fit another row, or what the project has.
    """

    supplied: list[Supplied]
    kept: list[str]


def look_at_all(stream: Iterable[ParsedDocument | Rejected], rejected: list[Rejected], notes: list[str]) -> Looked:
    """Every document of a source with its bytes looked at; bad ones go to `rejected`, damaged ones to `notes`."""
    supplied: dict[str, Supplied] = {}
    kept: dict[str, None] = {}
    with ExitStack() as stack:
        looks = _Looks(stack)
        for parsed, look in _ahead(stream, looks):
            if isinstance(parsed, Rejected):
                rejected.append(parsed)
                continue
            key = parsed.key
            try:
                document_key(key, "key")
                if parsed.kept:
                    kept[key] = None
                found = look.result() if look is not None else None
                if found is not None and found.note:
                    notes.append(f"{key}: {found.note}")
                supplied[key] = _joined(supplied.get(key), Supplied(parsed, found))
            except InvalidInput as error:
                rejected.append(Rejected(parsed.file, parsed.line, str(error)))
    return Looked(list(supplied.values()), list(kept))


_AHEAD = 32
_WORKERS = min(4, os.cpu_count() or 1)
_SERVED = 10_000
_LARGE = 16 << 20

_Look = Future[Bytes]


def _ahead(
    stream: Iterable[ParsedDocument | Rejected], looks: _Looks
) -> Iterator[tuple[ParsedDocument | Rejected, _Look | None]]:
    """The stream with what is found of each, in its order, while the next ones are being looked at."""
    waiting: deque[tuple[ParsedDocument | Rejected, _Look | None]] = deque()
    for parsed in stream:
        waiting.append((parsed, looks.begin(parsed) if isinstance(parsed, ParsedDocument) else None))
        if len(waiting) > _AHEAD:
            yield waiting.popleft()
    yield from waiting


class _Looks:
    """Looks at the bytes of documents in as many threads as there are workers of the renderer."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._one_large = Lock()
        self._pool: ThreadPoolExecutor | None = None
        self._renderer: Renderer | None = None

    def begin(self, document: ParsedDocument) -> _Look | None:
        """Look at a document's bytes, if it has any; processes and threads are started with the first."""
        if document.path is None:
            return None
        if self._pool is None:
            # A worker that has seen thousands of foreign files is still replaced, but starting one takes half a second.
            self._renderer = self._stack.enter_context(Renderer(workers=_WORKERS, recycle_after=_SERVED))
            self._pool = ThreadPoolExecutor(_WORKERS + 1, thread_name_prefix="look")
            self._stack.callback(self._pool.shutdown, cancel_futures=True)
        return self._pool.submit(self._look, document, document.path)

    def _look(self, document: ParsedDocument, path: Path) -> Bytes:
        assert self._renderer is not None
        large = path.is_file() and path.stat().st_size > _LARGE
        with self._one_large if large else nullcontext():  # a look takes as much memory as the file
            return look_at(path, document.key, self._renderer.inspect)


def _joined(before: Supplied | None, supplied: Supplied) -> Supplied:
    """One document out of two rows with its key: a description and its bytes may stand in different places."""
    if before is None:
        return supplied
    a, b = before, supplied
    if a.found and b.found and a.found.sha256 != b.found.sha256:
        raise InvalidInput(
            f"document {supplied.parsed.key!r} is supplied twice with different bytes; the first is {a.parsed.file}. "
            "Keep one, or give each its own key."
        )
    for field_ in ("title", "metadata"):
        first, second = getattr(a.parsed, field_), getattr(b.parsed, field_)
        if first and second and first != second:
            raise InvalidInput(
                f"document {supplied.parsed.key!r} has two different values of `{field_}`; the first is "
                f"{a.parsed.file}, line {a.parsed.line}. Keep one."
            )
    parsed = ParsedDocument(
        a.parsed.file, a.parsed.line, a.parsed.key, a.parsed.title or b.parsed.title,
        a.parsed.metadata or b.parsed.metadata, a.parsed.path or b.parsed.path,
    )  # fmt: skip
    return Supplied(parsed, a.found or b.found)


def complete(document: Document, supplied: Supplied) -> list[str]:
    """Enter what a document lacked; the kinds of event that this is. Conflict for what it has otherwise already."""
    gained = []
    title = supplied.parsed.own_title if document.title else supplied.parsed.title
    metadata = canonical(supplied.parsed.metadata)
    for name, given, kind in (("title", title, TITLED), ("extra", metadata, DESCRIBED)):
        has = getattr(document, name)
        if not given or given == has:
            continue
        if has:
            words = "title" if name == "title" else "metadata"
            raise Conflict(
                f"document {document.key!r} is there with other {words} ({str(has)[:60]}). Leave it out, or choose "
                "another key."
            )
        setattr(document, name, given)
        gained.append(kind)
        if document.n_pages is None:
            document.n_pages = supplied.parsed.n_pages
    if supplied.found and give_bytes(document, supplied.found):
        gained.append(ATTACHED)
    return gained
