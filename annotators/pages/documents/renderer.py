"""A small pool of worker processes that open documents for the web process, each under a time and a memory limit."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from annotators.apart.process import Apart, Gone, Late, Told
from annotators.apart.wire import Message
from annotators.errors import InvalidInput
from annotators.pages.documents.results import (
    PAGE_MEDIA_TYPES,
    WHOLE,
    Crop,
    DocumentFacts,
    Limits,
    PageNotDrawn,
    RenderedPage,
    Why,
    too_many,
)
from annotators.pages.documents.turns import Turn, Turns

if TYPE_CHECKING:
    from annotators.pages.documents.words import PageWords

log = logging.getLogger(__name__)

# Reading the words of a page that can be drawn takes milliseconds.
_WORDS_SECONDS = 8.0
_NO_PAGE_TAKES = 3_000.0  # seconds of a processor
_NOT_WORDS = "the program that reads pages gave an answer that is not words"
_STOPPING = "the server is stopping; try again in a minute"
_REMEDIES = {
    Why.PASSWORD: "save a copy without a password and supply that",
    Why.TIME: "save it again with another program (print it to PDF) and supply that",
    Why.MEMORY: "make it smaller and supply that",
    Why.SIZE: "make it smaller, or split it, and supply that",
}


class _Worker(Apart):
    """One worker process, how many requests it has served, and the documents it has open."""

    def __init__(self, limits: Limits) -> None:
        super().__init__("annotators.pages.documents.worker", limits.seconds, limits.memory_bytes)
        self.served = 0
        self.recent: OrderedDict[str, None] = OrderedDict()

    def ask(self, request: Message, seconds: float, told: Told | None = None) -> tuple[Message, bytes]:
        """The worker's answer; raises Late after that many seconds, Gone when the worker ended."""
        self.served += 1
        self.recent[request["path"]] = None
        self.recent.move_to_end(request["path"])
        if len(self.recent) > 4:
            self.recent.popitem(last=False)
        return super().ask(request, seconds, told)


class Renderer:
    """Opens documents in worker processes; safe to call from many threads; one a web process.

    limits: what one page may cost. workers: how many processes at most; they start when first needed, or with `warm`.
    recycle_after: a worker is replaced after that many requests, so that nothing a library leaks adds up.

    A worker that is late is killed and replaced; one that dies takes only the page it was drawing with it.
    `deadline` gives the moment until which a caller waits for one, from the limits' `wait_seconds`: a server has a
    deadline for each request, which goes first.
    """

    def __init__(
        self,
        limits: Limits | None = None,
        *,
        workers: int = 2,
        recycle_after: int = 500,
        deadline: Callable[[float], float] = lambda seconds: time.monotonic() + seconds,
    ) -> None:
        if workers < 1 or recycle_after < 1:
            raise InvalidInput(
                f"A renderer needs at least 1 worker and 1 request a worker, not {workers}, {recycle_after}."
            )
        self.limits = limits or Limits()
        self._deadline = deadline
        self._recycle_after = recycle_after
        self._free_slots = workers
        self._idle: list[_Worker] = []
        self._all: set[_Worker] = set()
        self._changed = threading.Condition()
        self._turns = Turns(workers)
        self._turn_of: dict[_Worker, Turn] = {}
        self._closed = False
        self._finalizer = weakref.finalize(self, _kill_all, self._all)

    def until(self) -> float:
        """The moment of time.monotonic() until which whoever asks now waits for a worker."""
        return self._deadline(self.limits.wait_seconds)

    def inspect(self, path: Path, media_type: str, name: str = "") -> DocumentFacts:
        """What the document is.

        path: where its bytes are. media_type: from `sniff`. name: how people know it, for messages.
        Raises InvalidInput, with the reason and a remedy, when it cannot be opened within the limits.
        """
        try:
            answer, _ = self._ask("inspect", path, media_type)
        except PageNotDrawn as failure:
            remedy = _REMEDIES.get(failure.why, "supply the document again")
            raise InvalidInput(f"{name or path.name} cannot be opened: {failure.reason}; {remedy}.") from failure
        sizes = [(float(width), float(height)) for width, height in answer["sizes"]]
        return DocumentFacts(int(answer["n_pages"]), sizes, bool(answer["has_text"]), str(answer["note"]))

    def render(self, path: Path, media_type: str, page_number: int, width_px: int, crop: Crop = WHOLE) -> RenderedPage:
        """The picture of a page, or of a part of it, as displayed (rotation and EXIF orientation applied).

        page_number: from 1. width_px: the width wanted, in pixels; a picture is never enlarged beyond its own pixels,
        and a page or part of more than 20 million pixels is drawn smaller. Raises PageNotDrawn.
        """
        if width_px < 1:
            raise InvalidInput(f"A page cannot be drawn {width_px} pixels wide: ask for at least 1.")
        return _as_picture(*self._ask("render", path, media_type, page=page_number, width=width_px, crop=crop))

    def render_if_idle(self, path: Path, media_type: str, page_number: int, width_px: int) -> RenderedPage | None:
        """The same for a picture that nobody waits for: None, at once, when a worker is at work for somebody."""
        worker = self._take_if_idle(str(path.resolve()))
        if worker is None:
            return None
        return _as_picture(*self._ask("render", path, media_type, worker=worker, page=page_number, width=width_px))

    def page_text(self, path: Path, media_type: str, page_number: int) -> str:
        """The text of a page as the document gives it (empty for a picture or a scan). Raises PageNotDrawn."""
        return self._ask("text", path, media_type, page=page_number)[1].decode("utf-8", "replace")

    def words(
        self, path: Path, media_type: str, pages: Sequence[int], seconds: float
    ) -> dict[int, PageWords | PageNotDrawn]:
        """The words of the first of these pages (from 1), as many as are read within `seconds`, at least one.

        A page that cannot be read has the reason in place of its words. Raises PageNotDrawn when the document cannot be
        opened, or when the worker was late or died over one of the pages.
        """
        limit = min(self.limits.seconds, _WORDS_SECONDS)
        answer, blob = self._ask("words", path, media_type, limit, pages=list(pages), seconds=seconds)
        found: dict[int, PageWords | PageNotDrawn] = {}
        at = 0
        for page in answer["done"]:
            number = int(page["page"])
            if "why" in page:
                found[number] = PageNotDrawn(Why(page["why"]), str(page["reason"]))
                continue
            size = int(page["size"])
            found[number] = _as_words(blob[at : at + size])
            at += size
        return found

    def recognise(self, path: Path, media_type: str, page_number: int) -> PageWords:
        """The words that a program reads off the picture of a page; needs the extra `ocr`. Raises PageNotDrawn."""
        _, blob = self._ask("recognise", path, media_type, page=page_number)
        return _as_words(blob)

    def also_wanted(self, path: Path, page_number: int) -> None:
        """Somebody else waits for a page that is asked for: it comes when the first of them would have it."""
        with self._changed:
            self._turns.also(str(path.resolve()), page_number)
            self._changed.notify_all()

    def warm(self) -> None:
        """Start all workers without waiting for them, so that the first page does not."""
        with self._changed:
            while self._free_slots > 0 and not self._closed:
                self._idle.insert(0, self._new())

    def close(self) -> None:
        """End the workers; requests under way fail, later ones raise RuntimeError. Runs at exit by itself."""
        with self._changed:
            self._closed = True
            while self._idle:
                self._drop(self._idle.pop())
            # Those at work close their own pipes when their request fails.
            self._finalizer()
            self._changed.notify_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _ask(
        self,
        operation: str,
        path: Path,
        media_type: str,
        limit: float | None = None,
        *,
        worker: _Worker | None = None,
        **more: Any,
    ) -> tuple[Message, bytes]:
        request: Message = {"operation": operation, "path": str(path.resolve()), "media_type": media_type, **more}
        worker = worker or self._take(request["path"], more.get("page"))
        usable, cost = False, None
        try:
            answer, blob = self._start_and_ask(worker, request, limit or self.limits.seconds)
            usable, cost = True, _cost_of_page(answer)
        finally:
            self._give_back(worker, usable=usable, cost=cost)
        if answer.get("ok") is True:
            return answer, blob
        if answer.get("detail"):
            log.debug("%s of %s failed in the worker:\n%s", operation, path, answer["detail"])
        raise PageNotDrawn(Why(answer["why"]), str(answer["reason"]))

    def _start_and_ask(self, worker: _Worker, request: Message, seconds: float) -> tuple[Message, bytes]:
        try:
            worker.start()
        except (Late, Gone) as error:
            if self._closed:
                raise PageNotDrawn(Why.BUSY, _STOPPING) from error
            raise PageNotDrawn(
                Why.BUSY, "the program that draws pages does not start; the server's log says why"
            ) from error
        self._turns.begin_anew(self._turn_of[worker])
        try:
            return worker.ask(request, seconds)
        except Late as error:
            raise PageNotDrawn(
                Why.TIME, f"drawing it took longer than the {seconds:g} s that one page may take"
            ) from error
        except Gone as error:
            if self._closed:
                raise PageNotDrawn(Why.BUSY, _STOPPING) from error
            log.warning("a page worker ended with status %s over %s", worker.exit_status(), request)
            raise PageNotDrawn(Why.CRASH, "the program that draws pages stopped while it was drawing it") from error

    def _take(self, path: str, page: int | None) -> _Worker:
        """An idle worker, rather one that has the document open; a new one while there are slots; else wait.

        Who comes when is for `Turns` to say.
        """
        deadline, turn = self.until(), Turn(path, page)
        with self._changed:
            self._turns.wait(turn)
            try:
                while not self._closed:
                    if self._turns.next() is turn and (worker := self._free(path)) is not None:
                        self._begin(worker, turn)
                        return worker
                    if not self._changed.wait(deadline - time.monotonic()):
                        raise too_many()
            finally:
                self._turns.leave(turn)
                self._changed.notify_all()
        raise RuntimeError("the renderer is closed")

    def _take_if_idle(self, path: str) -> _Worker | None:
        with self._changed:
            if self._closed or self._turn_of or self._turns.any_wait() or (worker := self._free(path)) is None:
                return None
            self._begin(worker, Turn(path))
            return worker

    def _begin(self, worker: _Worker, turn: Turn) -> None:
        self._turns.begin(turn)
        self._turn_of[worker] = turn

    def _free(self, path: str) -> _Worker | None:
        while self._idle:
            knows = (at for at, worker in enumerate(self._idle) if path in worker.recent)
            worker = self._idle.pop(next(knows, -1))
            if worker.alive():
                return worker
            self._drop(worker)
        return self._new() if self._free_slots > 0 else None

    def _give_back(self, worker: _Worker, *, usable: bool, cost: float | None) -> None:
        with self._changed:
            self._turns.end(self._turn_of.pop(worker), cost=cost)
            if usable and worker.served < self._recycle_after and not self._closed:
                self._idle.append(worker)
            else:
                self._drop(worker)
                if not self._closed:
                    # Started now, the next one is ready when it is needed; if that fails, whoever needs it will say so.
                    with contextlib.suppress(OSError):
                        self._idle.insert(0, self._new())
            self._changed.notify_all()

    def _new(self) -> _Worker:
        worker = _Worker(self.limits)
        self._free_slots -= 1
        self._all.add(worker)
        return worker

    def _drop(self, worker: _Worker) -> None:
        self._free_slots += 1
        self._all.discard(worker)
        worker.end()


def _cost_of_page(answer: Message) -> float | None:
    """How long a page held a processor, as the worker says; None where it says what cannot be."""
    seconds, pages = answer.get("seconds"), answer.get("done")
    if not isinstance(seconds, float | int) or not 0 <= seconds < _NO_PAGE_TAKES:
        return None
    return seconds / max(1, len(pages) if isinstance(pages, list) else 1)


def _as_picture(answer: Message, data: bytes) -> RenderedPage:
    if answer["media_type"] not in PAGE_MEDIA_TYPES:
        # The type is sent to browsers; a worker that a document took over does not get to choose it.
        raise PageNotDrawn(Why.CRASH, "the program that draws pages gave an answer that is not a picture")
    return RenderedPage(
        data, str(answer["media_type"]), int(answer["width"]), int(answer["height"]), str(answer["note"])
    )


def _as_words(data: bytes) -> PageWords:
    from annotators.pages.documents.words import PageWords, Unreadable  # noqa: PLC0415 - who only draws pages needs no numpy

    try:
        return PageWords(data)
    except Unreadable as error:
        raise PageNotDrawn(Why.CRASH, _NOT_WORDS) from error


def _kill_all(workers: set[_Worker]) -> None:
    for worker in list(workers):
        worker.process.kill()
        worker.process.wait()
