"""The routes about the words of pages: their places, searches, phrases of an item, and where its passages stand.

Each route first asks which pages the person may see now, and looks at no others.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotators.errors import InvalidInput
from annotators.pages import PageNotDrawn, Why, drawing_for, too_many
from annotators.pages.finding.search import LONGEST_QUERY, search_document
from annotators.pages.words.index import WordIndex
from app.on_pages import NOT_SUPPLIED, OnPages
from app.server.routes.page_images import ASK_AGAIN, KEEP
from app.server.threads import Threads
from app.server.web import actor_of, path_id
from app.state import AppState
from db.annotating.disclosure import (
    AssignmentReading,
    may_see_page,
    reading,
    visible_document,
)

AT_ONCE = 8
READING_SECONDS = 1.5
"""How long one request reads pages that are not in the index yet; the browser then asks again."""

_NO_TEXT = "This page has no text layer. It can be read once a researcher has had its text recognised."
_LONGEST_RANGES = 2_000
_RANGE = re.compile(r"(\d{1,6})(?:-(\d{1,6}))?", re.ASCII)

Answer = Callable[[Request], Response]


def routes(state: AppState) -> list[Route]:
    """/page-words, /page-search, and phrases and passages under /api/studies/{id}."""
    texts = PageTexts(state)
    threads = Threads(AT_ONCE, too_many)

    def route(path: str, answer: Answer) -> Route:
        async def endpoint(request: Request) -> Response:
            response = await threads.run(answer, request)
            response.headers["Vary"] = "Cookie"
            return response

        return Route(path, endpoint, methods=["GET"])

    return [
        route("/page-words/{document_id:int}/{page:int}", texts.words),
        route("/page-search/{document_id:int}", texts.search),
        route("/api/studies/{id:int}/phrases", texts.phrases),
        route("/api/studies/{id:int}/passages", texts.passages),
    ]


class PageTexts:
    """What the routes share: the database, the documents' folder, and the index of words."""

    def __init__(self, state: AppState) -> None:
        self._state = state
        settings = state.settings
        self.index = WordIndex(settings.pages_folder, settings.recognised_folder, state.renderer)
        self._on_pages = OnPages(self.index, settings.documents_folder)

    def words(self, request: Request) -> Response:
        """The words of a page with their places."""
        page = path_id(request, "page")
        document_id = path_id(request, "document_id")
        seen = may_see_page(self._state.db, actor_of(request), document_id=document_id, page=page)
        source = self._on_pages.source(seen)
        if source is None:
            return _json({"page": page, "ocr": False, "words": [], "reason": NOT_SUPPLIED}, ASK_AGAIN)
        seconds = max(0.0, self._state.renderer.until() - time.monotonic())
        with drawing_for(actor_of(request).person_id, seen.project_id):
            found = self.index.get(source, [page], seconds=seconds).get(page)
        if found is None:
            raise too_many()
        if isinstance(found, PageNotDrawn):
            if found.why is Why.BUSY:
                raise found.again()
            return _json({"page": page, "ocr": False, "words": [], "reason": _sentence(found.reason)}, "no-store")
        etag = f'"{zlib.crc32(found.data):08x}-{found.size:x}"'
        own = found.n > 0 and not found.ocr
        keep = KEEP if own and "v" in request.query_params else ASK_AGAIN
        if etag in request.headers.get("if-none-match", ""):
            return Response(status_code=304, headers={"ETag": etag, "Cache-Control": keep})
        body: dict[str, Any] = {"page": page, "ocr": found.ocr, "words": found.listed()}
        if found.n == 0:
            body["reason"] = _NO_TEXT
        return _json(body, keep, etag)

    def search(self, request: Request) -> Response:
        """Where a text stands in a document."""
        query = request.query_params.get("q", "")
        if len(query) > LONGEST_QUERY:
            raise InvalidInput(f"The search has {len(query)} characters: look for at most {LONGEST_QUERY}.")
        document_id = path_id(request, "document_id")
        visible = visible_document(self._state.db, actor_of(request), document_id=document_id)
        ranges = _ranges(request.query_params.get("pages") or "1-999999")
        pages = [page for page in visible.pages if any(first <= page <= last for first, last in ranges)]
        body: dict[str, Any] = {"query": query, "hits": [], "count": 0, "searched": 0, "pages": len(pages)}
        source = self._on_pages.source(visible.source)
        if source is None:
            return _json(body | {"without_text": [], "unreadable": pages, "complete": True, "reason": NOT_SUPPLIED})
        with drawing_for(actor_of(request).person_id, visible.source.project_id):
            found = search_document(self.index, source, pages, query, seconds=READING_SECONDS)
        body |= {
            "hits": [{"page": hit.page, "boxes": hit.boxes, "context": hit.context} for hit in found.hits],
            "count": found.count,
            "searched": found.searched,
            "without_text": found.without_text,
            "unreadable": found.unreadable,
            "complete": found.complete,
        }
        return _json(body | ({"reason": found.reason} if found.reason else {}))

    def phrases(self, request: Request) -> Response:
        """The phrases of the answer and the references of an assignment's item, on the pages that its step shows."""
        seen = self._reading(request)
        with drawing_for(actor_of(request).person_id, seen.project_id):
            return _json(self._on_pages.phrases(seen, seconds=READING_SECONDS))

    def passages(self, request: Request) -> Response:
        """Where the passages of an assignment's item stand on the pages that its step shows."""
        seen = self._reading(request)
        with drawing_for(actor_of(request).person_id, seen.project_id):
            return _json(self._on_pages.passages(seen, seconds=READING_SECONDS))

    def _reading(self, request: Request) -> AssignmentReading:
        text = request.query_params.get("assignment", "")
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise InvalidInput(f"'assignment' is {text!r}; the number of an assignment is needed. Reload the page.")
        return reading(self._state.db, actor_of(request), path_id(request, "id"), assignment_id=int(text))


def _ranges(text: str) -> list[tuple[int, int]]:
    """First and last page of each part of "1,3-7"."""
    ranges: list[tuple[int, int]] = []
    for part in text.split(","):
        match = _RANGE.fullmatch(part.strip())
        if match is None or len(text) > _LONGEST_RANGES:
            raise InvalidInput(f"pages is {text[:80]!r}; give numbers and ranges such as 1,3-7.")
        ranges.append((int(match[1]), int(match[2] or match[1])))
    return ranges


def _sentence(reason: str) -> str:
    return f"{reason[:1].upper()}{reason[1:]}."


def _json(body: dict[str, Any], keep: str = "no-store", etag: str = "") -> Response:
    headers = {"Cache-Control": keep} | ({"ETag": etag} if etag else {})
    return Response(orjson.dumps(body), media_type="application/json", headers=headers)
