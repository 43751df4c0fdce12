"""The routes of page images: who may see the page now, and its picture, kept by the browser for this person only.

A part of the page, drawn as wide as is asked for, keeps it sharp at every zoom. Thumbnails come many at a time.
"""

from __future__ import annotations

import contextlib
import re
import struct
import time
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotators.errors import InvalidInput
from annotators.pages import (
    WHOLE,
    WIDTHS,
    Crop,
    PageNotDrawn,
    Why,
    check_crop,
    draw_failure,
    drawing_for,
    snap_width,
    too_many,
)
from app.on_pages import NOT_SUPPLIED
from app.server.threads import Threads
from app.server.web import actor_of, path_id
from app.state import AppState
from db.annotating.disclosure import PageSource, VisibleDocument, may_see_page, visible_document
from db.items.documents import document_file

DEFAULT_WIDTH = 1200
AT_ONCE = 12
MOST_THUMBNAILS = 64
THUMBNAIL_SECONDS = 0.5
_PAGE_AND_LENGTH = struct.Struct(">II")
_FRACTION = re.compile(r"[01](?:\.\d{1,8})?|\.\d{1,8}", re.ASCII)

# A browser keeps a picture under its address for a week; the address changes with the document's bytes (`v`). `Vary`
# keeps the next person at the same browser from being shown it: their cookie is another.
KEEP = "private, max-age=604800, immutable"
ASK_AGAIN = "private, no-cache"


def routes(state: AppState) -> list[Route]:
    """Two routes: a picture of a page, and the thumbnails of a range of pages.

    /page-images/{document_id}/{page}?w=WIDTH&v=VERSION&x0=…&y0=…&x1=…&y1=… (the part; all or none)
    /page-images/{document_id}/{first}-{last}?v=VERSION
    """
    # Drawing waits for worker processes: at most these many threads of ours wait with it.
    threads = Threads(AT_ONCE, too_many)

    async def page_image(request: Request) -> Response:
        actor = actor_of(request)
        document_id, page = path_id(request, "document_id"), path_id(request, "page")
        width = _width(request.query_params.get("w"))
        crop = _crop([request.query_params.get(edge) for edge in ("x0", "y0", "x1", "y1")])
        known = request.headers.get("if-none-match", "")

        def answer() -> Response:
            source = may_see_page(state.db, actor, document_id=document_id, page=page)
            with drawing_for(actor.person_id, source.project_id):
                return _picture(state, source, page=page, width=width, crop=crop, known=known)

        response = await threads.run(answer)
        if response.status_code in (200, 304) and "cache-control" not in response.headers:
            response.headers["Cache-Control"] = KEEP if "v" in request.query_params else ASK_AGAIN
        response.headers["Vary"] = "Cookie"
        return response

    async def thumbnails(request: Request) -> Response:
        actor = actor_of(request)
        document_id = path_id(request, "document_id")
        first, last = path_id(request, "first"), path_id(request, "last")

        def answer() -> tuple[bytes, bool]:
            visible = visible_document(state.db, actor, document_id=document_id)
            with drawing_for(actor.person_id, visible.source.project_id):
                return _thumbnails(state, visible, first=first, last=last)

        data, complete = await threads.run(answer)
        keep = KEEP if complete and "v" in request.query_params else "no-store"
        # Named so that nobody spends time on compressing pictures again.
        headers = {"Cache-Control": keep, "Vary": "Cookie", "Content-Encoding": "identity"}
        return Response(data, media_type="application/octet-stream", headers=headers)

    return [
        Route("/page-images/{document_id:int}/{page:int}", page_image, methods=["GET"]),
        Route("/page-images/{document_id:int}/{first:int}-{last:int}", thumbnails, methods=["GET"]),
    ]


def _width(text: str | None) -> int:
    if text is None:
        return snap_width(DEFAULT_WIDTH)
    if not text.isascii() or not text.isdigit() or not 1 <= len(text) <= 5 or int(text) < 1:
        raise InvalidInput(f"w is {text!r}; it must be the width in pixels, a whole number from 1.")
    return snap_width(int(text))


def _crop(edges: list[str | None]) -> Crop:
    """The part of the page that is asked for; InvalidInput unless all four edges, or none, are fractions."""
    if all(edge is None for edge in edges):
        return WHOLE
    numbers = [float(edge) for edge in edges if edge is not None and _FRACTION.fullmatch(edge)]
    if len(numbers) != len(edges):
        raise InvalidInput(
            f"x0, y0, x1, y1 are {edges}; give all four as fractions of the page, such as 0.25, or none."
        )
    return check_crop(*numbers)


def _thumbnails(state: AppState, visible: VisibleDocument, *, first: int, last: int) -> tuple[bytes, bool]:
    """The thumbnails of those pages that the person may see, and whether none of them is missing.

    Each comes behind its page and its length in bytes. Those that cannot be drawn, or not in `THUMBNAIL_SECONDS`, are
    missing: the browser asks for them one by one.
    """
    source = visible.source
    wanted = [page for page in visible.pages if first <= page <= last]
    if source.sha256 is None or source.media_type is None:
        return b"", False
    path = document_file(state.settings.documents_folder, source.sha256)
    until = time.monotonic() + THUMBNAIL_SECONDS
    parts = []
    for page in wanted[:MOST_THUMBNAILS]:
        drawn = state.pages.kept(source.sha256, source.media_type, page, WIDTHS[0])
        if drawn is None and time.monotonic() < until:
            with contextlib.suppress(PageNotDrawn):
                drawn = state.pages.get(source.sha256, path, source.media_type, page, WIDTHS[0])
        if drawn is not None:
            parts.append(_PAGE_AND_LENGTH.pack(page, len(drawn.data)) + drawn.data)
    return b"".join(parts), 0 < len(parts) == len(wanted)


def _picture(state: AppState, source: PageSource, *, page: int, width: int, crop: Crop, known: str) -> Response:
    if source.sha256 is None or source.media_type is None:
        return _failure(PageNotDrawn(Why.MISSING, NOT_SUPPLIED), width, title="Not supplied")
    etag = state.pages.etag(source.sha256, source.media_type, page, width, crop=crop)
    if etag in known:
        return Response(status_code=304, headers={"ETag": etag})
    path = document_file(state.settings.documents_folder, source.sha256)
    try:
        drawn = state.pages.get(source.sha256, path, source.media_type, page, width, crop=crop)
    except PageNotDrawn as failure:
        if failure.why is Why.BUSY:  # no picture of it, which would stand for the page: the viewer offers to try again
            raise
        return _failure(failure, width)
    headers = {"ETag": etag}
    if drawn.note:
        headers["X-Assay-Page-Note"] = quote(drawn.note, safe=" ,.:;()'")
    return Response(drawn.data, media_type=drawn.media_type, headers=headers)


def _failure(failure: PageNotDrawn, width: int, title: str = "This page cannot be shown") -> Response:
    """The picture that says why, with the reason in a header as well (percent-encoded) for the alternative text."""
    return Response(
        draw_failure(failure.reason, width, title),
        media_type="image/png",
        headers={
            "Cache-Control": "no-store",
            "X-Assay-Page-Failure": failure.why,
            "X-Assay-Page-Reason": quote(failure.reason, safe=" ,.:;()'"),
        },
    )
