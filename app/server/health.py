"""The health check: whether the database answers, said within a second whatever everybody else waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from annotators.errors import AssayError
from app.server.served import Served
from app.server.threads import Threads
from app.server.web import error_response
from app.state import AppState
from db.faults import DatabaseUnavailable
from db.projects import database_answers

HEALTH = "/healthz"
ANSWER_SECONDS = 0.8


def routes(state: AppState, served: Served | None) -> list[Route]:
    """/healthz: 200 when the database answers, else 503. Given a word (`server`), whether it is this server's."""
    probe = Probe(lambda: database_answers(state.db))

    async def health(request: Request) -> Response:
        answer: dict[str, Any] = {}
        if "server" in request.query_params:
            answer["here"] = served is not None and served.is_called(request.query_params["server"])
        try:
            await probe.ask()
        except AssayError as error:
            return error_response(error, **answer)
        return JSONResponse({"status": "ok", **answer}, headers={"Cache-Control": "no-store"})

    return [Route(HEALTH, health, methods=["GET"])]


class Probe:
    """A question to the database that one thread of its own asks, however many want to know the answer."""

    def __init__(self, question: Callable[[], None], seconds: float = ANSWER_SECONDS) -> None:
        self._question = question
        self._seconds = seconds
        self._threads = Threads(1)
        self._asked: asyncio.Task[Exception | None] | None = None

    async def ask(self) -> None:
        """Return when the database has answered; raises what it raised, DatabaseUnavailable when it takes too long."""
        if self._asked is None or self._asked.done():
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
        return None
