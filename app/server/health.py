"""How the server is: whether it lives, whether its database answers, and whether it could write now.

Each is said within a second, whatever everybody else waits for.
"""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotators.errors import AssayError
from annotators.files import refusal
from app.server.served import Served
from app.server.threads import Threads
from app.server.web import error_response
from app.state import AppState
from db.faults import DatabaseRefuses, DatabaseUnavailable
from db.projects import database_answers, takes_writing
from db.waiting import waiting_at_most

HEALTH, LIVE, READY = "/healthz", "/livez", "/readyz"
ANSWER_SECONDS = 0.8
READY_SECONDS = 2.0
"""So long an answer about writing holds: each costs the disk a write, and anybody may ask."""


def routes(state: AppState, served: Served | None) -> list[Route]:
    """/livez: 200 as long as the process answers. /healthz: 200 when the database answers, else 503; given a word
    (`server`), whether it is this server's. /readyz: 200 when the database and the home folder take writes, else 503.
    """
    probe = Probe(lambda: database_answers(state.db))
    writing = Probe(lambda: check_writing(state), keeps=READY_SECONDS)

    async def health(request: Request) -> Response:
        answer: dict[str, Any] = {}
        if "server" in request.query_params:
            answer["here"] = served is not None and served.is_called(request.query_params["server"])
        try:
            await probe.ask()
        except AssayError as error:
            return error_response(error, **answer)
        return _well(**answer)

    async def live(_request: Request) -> Response:
        return _well()

    async def ready(_request: Request) -> Response:
        try:
            await writing.ask()
        except AssayError as error:
            return error_response(error)
        return _well()

    return [
        Route(HEALTH, health, methods=["GET"]),
        Route(LIVE, live, methods=["GET"]),
        Route(READY, ready, methods=["GET"]),
    ]


def _well(**answer: Any) -> Response:
    return JSONResponse({"status": "ok", **answer}, headers={"Cache-Control": "no-store"})


def check_writing(state: AppState) -> None:
    """Raise DatabaseUnavailable unless something could be stored now: in the database, and as a file beside it."""
    with waiting_at_most(ANSWER_SECONDS):
        if error := takes_writing(state.db):
            raise error
    if said := refusal(state.settings.home):
        raise DatabaseRefuses(f"The home folder takes no files ({said}). Free some space, or let it be written to.")


class Probe:
    """A question to the database that one thread of its own asks, however many want to know the answer.

    An answer holds for `keeps` seconds, in which nobody asks again.
    """

    def __init__(self, question: Callable[[], None], seconds: float = ANSWER_SECONDS, *, keeps: float = 0.0) -> None:
        self._question = question
        self._seconds, self._keeps = seconds, keeps
        self._heard_at = -math.inf
        self._threads = Threads(1)
        self._asked: asyncio.Task[Exception | None] | None = None

    async def ask(self) -> None:
        """Return when the database has answered; raises what it raised, DatabaseUnavailable when it takes too long."""
        if self._asked is None or (self._asked.done() and time.monotonic() - self._heard_at >= self._keeps):
            self._asked = asyncio.create_task(self._heard())
        asked = self._asked
        await asyncio.wait({asked}, timeout=self._seconds)
        if not asked.done():
            raise DatabaseUnavailable(
                f"The database has not answered within {self._seconds} seconds. Check that it runs, and what holds it."
            )
        failure = asked.result()
        if failure is not None:
            raise failure

    async def _heard(self) -> Exception | None:
        """What the question raised, kept as an answer: those who asked may have gone by then."""
        try:
            await self._threads.run(self._question)
        except Exception as error:
            return error
        finally:
            self._heard_at = time.monotonic()
        return None
