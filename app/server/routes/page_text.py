"""The routes about the words of pages: their places, searches, phrases of an item, and where its passages stand.

Each route first asks which pages the person may see now, and looks at no others.
"""

from __future__ import annotations

import re
import time
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotators.errors import InvalidInput
from annotators.pages import PageNotDrawn, Why, too_many
from annotators.pages.documents.words import PageWords
from annotators.pages.finding.matching import Searchable
from annotators.pages.finding.passages import PassagePlace, locate
from annotators.pages.finding.phrases import Phrase, find_phrases
from annotators.pages.finding.search import LONGEST_QUERY, search_document
from annotators.pages.words.index import Source, WordIndex
from app.server.routes.page_images import ASK_AGAIN, KEEP, NOT_SUPPLIED
from app.server.threads import Threads
from app.server.web import actor_of, path_id
from app.state import AppState
from db.annotating.disclosure import (
    AssignmentReading,
    PageSource,
    Passage,
    VisibleDocument,
    may_see_page,
    reading,
    visible_document,
)
from db.items.documents import document_file

AT_ONCE = 8
READING_SECONDS = 1.5
"""How long one request reads pages that are not in the index yet; the browser then asks again."""

MOST_PAGES = 1_000
"""Pages of one item that its phrases are looked for on; what evidence cites comes first."""

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
        self._folder = state.settings.documents_folder
        settings = state.settings
        self.index = WordIndex(settings.pages_folder, settings.recognised_folder, state.renderer)

    def words(self, request: Request) -> Response:
        """The words of a page with their places."""
        page = path_id(request, "page")
        document_id = path_id(request, "document_id")
        seen = may_see_page(self._state.db, actor_of(request), document_id=document_id, page=page)
        source = self._source(seen)
        if source is None:
            return _json({"page": page, "ocr": False, "words": [], "reason": NOT_SUPPLIED}, ASK_AGAIN)
        seconds = max(0.0, self._state.renderer.until() - time.monotonic())
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
        source = self._source(visible.source)
        if source is None:
            return _json(body | {"without_text": [], "unreadable": pages, "complete": True, "reason": NOT_SUPPLIED})
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
        given = self._reading(request)
        if not (given.answer or given.references) or not given.documents:
            return _json({"phrases": [], "complete": True, "searched": 0, "without_text": []})
        words, complete = self._words_of(given)
        searchable = Searchable([(place, page_words.normal) for place, page_words in words.items()])
        found = find_phrases(given.answer, given.references, searchable)
        without = [
            {"document": document, "page": page} for (document, page), page_words in words.items() if page_words.n == 0
        ]
        return _json(
            {
                "phrases": [_phrase(phrase, searchable, words) for phrase in found],
                "complete": complete,
                "searched": len(words),
                "without_text": without,
            }
        )

    def passages(self, request: Request) -> Response:
        """Where the passages of an assignment's item stand on the pages that its step shows."""
        given = self._reading(request)
        until = time.monotonic() + READING_SECONDS
        out: list[dict[str, Any]] = []
        complete = True
        for passage in given.passages:
            visible = next(
                (document for document in given.documents if document.source.document_id == passage.document_id), None
            )
            places, reason, all_read = self._places(passage, visible, until)
            complete = complete and all_read
            out += [
                {
                    "evidence": passage.evidence,
                    "document": passage.document_id,
                    "page": place.page,
                    "boxes": place.boxes,
                    "score": place.score,
                }
                for place in places
            ]
            if not places:
                out.append({"evidence": passage.evidence, "reason": reason})
        return _json({"passages": out, "complete": complete})

    def _places(
        self, passage: Passage, visible: VisibleDocument | None, until: float
    ) -> tuple[list[PassagePlace], str, bool]:
        """Places of a passage, else the reason why there are none, and whether all of its pages were read."""
        if visible is None:
            return [], "The evidence names no document.", True
        source = self._source(visible.source)
        if source is None:
            return [], NOT_SUPPLIED, True
        pages = [page for page in visible.pages if page in passage.pages] or list(visible.pages[:MOST_PAGES])
        found = self.index.get(source, pages, seconds=max(0.0, until - time.monotonic()))
        words = {
            page: page_words for page, page_words in found.items() if isinstance(page_words, PageWords) and page_words.n
        }
        all_read = len(found) == len(pages)
        places = locate(passage.text, words)
        if places:
            return places, "", all_read
        if not all_read:
            return [], "The pages are still being read.", False
        if not words:
            return [], "Its pages have no text layer." if found else "Its pages cannot be read.", True
        which = ", ".join(map(str, pages)) if len(pages) <= 5 else f"{pages[0]}–{pages[-1]}"
        return [], f"Its text was not found on page {which}.", True

    def _reading(self, request: Request) -> AssignmentReading:
        text = request.query_params.get("assignment", "")
        if not text.isascii() or not text.isdigit() or len(text) > 15:
            raise InvalidInput(f"'assignment' is {text!r}; the number of an assignment is needed. Reload the page.")
        return reading(self._state.db, actor_of(request), path_id(request, "id"), assignment_id=int(text))

    def _words_of(self, given: AssignmentReading) -> tuple[dict[tuple[int, int], PageWords], bool]:
        """(document, page) → words, cited pages first, and whether all pages have been read."""
        until = time.monotonic() + READING_SECONDS
        left = MOST_PAGES
        words: dict[tuple[int, int], PageWords] = {}
        complete = True
        for visible, pages in _cited_first(given):
            source = self._source(visible.source)
            if source is None:
                continue
            wanted = pages[:left]
            left -= len(wanted)
            found = self.index.get(source, wanted, seconds=max(0.0, until - time.monotonic()))
            complete = complete and len(found) == len(set(wanted))
            for page in wanted:
                if isinstance(page_words := found.get(page), PageWords):
                    words[visible.source.document_id, page] = page_words
        return words, complete

    def _source(self, source: PageSource) -> Source | None:
        if source.sha256 is None or source.media_type is None:
            return None
        return Source(source.sha256, document_file(self._folder, source.sha256), source.media_type)


def _cited_first(given: AssignmentReading) -> Iterator[tuple[VisibleDocument, list[int]]]:
    """Each document with the pages that passages cite, then each with its others."""
    cited: dict[int | None, set[int]] = {}
    for passage in given.passages:
        cited.setdefault(passage.document_id, set()).update(passage.pages)
    for is_cited in (True, False):
        for visible in given.documents:
            mine = cited.get(visible.source.document_id, set())
            pages = [page for page in visible.pages if (page in mine) is is_cited]
            if pages:
                yield visible, pages


def _phrase(
    phrase: Phrase, searchable: Searchable[tuple[int, int]], words: dict[tuple[int, int], PageWords]
) -> dict[str, Any]:
    hits = []
    for span in phrase.hits:
        document, page = searchable.keys[span.page]
        boxes = words[document, page].boxes_between(span.start, span.end)
        hits.append({"document": document, "page": page, "boxes": boxes})
    return {"text": phrase.text, "of": phrase.of, "kind": phrase.kind, "hits": hits, "count": phrase.count}


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
