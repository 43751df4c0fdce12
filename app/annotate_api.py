"""The routes of the annotator's page: each reads the request, calls one operation, answers JSON.

Labels travel by POST to these routes and not through Streamlit's script runs: an acknowledgement is then the answer to
one request, a lost connection is retried by the browser's outbox, and no script runs for a label.
"""

from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any

import orjson
from annotators.submissions import GivenLabel
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotators.errors import InvalidInput
from db.annotations import StepSubmission, reopen, save_draft, submit, work
from db.assignments import skip
from db.engine import Database
from db.permissions import Actor

MAX_BODY = 2_000_000

Handler = Callable[[Database, Actor | None, int, dict[str, Any]], dict[str, Any]]


def routes(database: Callable[[], Database]) -> list[Route]:
    """The routes under /api/studies/{study_id}. The session middleware puts the actor into the request's state."""

    def route(name: str, handler: Handler, method: str = "POST") -> Route:
        return Route(f"/api/studies/{{study_id:int}}/{name}", _endpoint(database, handler), methods=[method])

    return [
        route("work", _work, "GET"),
        route("submit", _submit),
        route("draft", _draft),
        route("skip", _skip),
        route("reopen", _reopen),
    ]


def _endpoint(database: Callable[[], Database], handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = await _body(request)
        actor: Actor | None = request.scope.get("state", {}).get("actor")
        study_id: int = request.path_params["study_id"]
        out = await run_in_threadpool(handler, database(), actor, study_id, body)
        return Response(orjson.dumps(out), media_type="application/json", headers={"Cache-Control": "no-store"})

    return endpoint


async def _body(request: Request) -> dict[str, Any]:
    if request.method == "GET":
        return dict(request.query_params)
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > MAX_BODY:
            raise InvalidInput(f"The request is larger than {MAX_BODY} bytes. Shorten the texts.")
    try:
        body = orjson.loads(raw or b"{}")
    except orjson.JSONDecodeError:
        raise InvalidInput("The request is not JSON. Reload the page and try again.") from None
    if not isinstance(body, dict):
        raise InvalidInput("The request is not a JSON object. Reload the page and try again.")
    body["_size"] = len(raw)
    return body


def _integer(body: dict[str, Any], key: str) -> int:
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise InvalidInput(f"{key!r} is {value!r}; a whole number is needed. Reload the page and try again.")
    return value


def _text(body: dict[str, Any], key: str, longest: int = 10_000) -> str | None:
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidInput(f"{key!r} must be a text of at most {longest} characters.")
    return value.replace("\x00", "")


def _number(body: dict[str, Any], key: str) -> float | None:
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{key!r} is {value!r}; a number is needed.")
    return float(value)


def _have(body: dict[str, Any]) -> list[int]:
    value = body.get("have")
    return [one for one in value if isinstance(one, int)][:50] if isinstance(value, list) else []


def _work(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    return work(db, actor, study_id)


def _submit(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    uid = _text(body, "uid", 100)
    if not uid:
        raise InvalidInput("A submission needs an id of its own ('uid'). Reload the page and try again.")
    given = body.get("labels")
    if not isinstance(given, list) or not all(isinstance(one, dict) for one in given):
        raise InvalidInput("'labels' must be a list of objects. Reload the page and try again.")
    step = StepSubmission(
        uid=uid,
        assignment_id=_integer(body, "assignment"),
        sitting=_integer(body, "sitting"),
        step=_integer(body, "step"),
        labels=tuple(_label(one) for one in given),
        comment=_text(body, "comment"),
        flag=_text(body, "flag"),
        seconds=_number(body, "seconds"),
    )
    return asdict(submit(db, actor, study_id, step=step, have=_have(body)))


def _label(one: dict[str, Any]) -> GivenLabel:
    criterion, target = one.get("criterion"), one.get("target", "item")
    if not isinstance(criterion, str) or not isinstance(target, str):
        raise InvalidInput("A label needs the name of its criterion and its target. Reload the page and try again.")
    return GivenLabel(
        criterion=criterion,
        target=target,
        value=one.get("value"),
        cannot_judge=one.get("cannot_judge") is True,
        reason=_text(one, "reason"),
        comment=_text(one, "comment"),
        rationale=one.get("rationale"),
    )


def _draft(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    content = body.get("content")
    if not isinstance(content, dict):
        raise InvalidInput("'content' must be an object. Reload the page and try again.")
    saved_at = save_draft(
        db,
        actor,
        study_id,
        assignment_id=_integer(body, "assignment"),
        sitting=_integer(body, "sitting"),
        step=_integer(body, "step"),
        content=content,
        seconds=_number(body, "seconds") or 0,
        size=body["_size"],
    )
    return {"saved_at": saved_at}


def _skip(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    skip(db, actor, study_id, assignment_id=_integer(body, "assignment"), reason=_text(body, "reason") or "")
    following = work(db, actor, study_id, have=_have(body), about=False)
    return {"status": "skipped", "item": None, "saved_at": None, **following}


def _reopen(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    wanted = _integer(body, "assignment") if body.get("assignment") is not None else None
    return {"item": reopen(db, actor, study_id, assignment_id=wanted)}
