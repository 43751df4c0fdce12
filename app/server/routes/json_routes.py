"""What our own JSON routes share: the body within limits, the actor, one operation in a worker thread, JSON back."""

from collections.abc import Awaitable, Callable
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from annotators.errors import InvalidInput
from app.server.threads import Threads
from app.server.web import body_of, path_id
from db.engine import Database
from db.permissions import Actor

MAX_BODY = 2_000_000
MAX_DEPTH = 40
"""How deep lists and objects of a request may lie in each other; ours need six."""

Handler = Callable[[Database, Actor | None, int, dict[str, Any]], Any]
"""(database, actor, the id in the path, the body or query) → what is answered as JSON."""


AT_ONCE = 24
"""Operations at once. On SQLite writers take turns; waiting ones hold only these threads."""

_threads = Threads(AT_ONCE)


def json_route(path: str, database: Callable[[], Database], handler: Handler, method: str = "POST") -> Route:
    """A route whose path has one `{id:int}`. The session middleware puts the actor into the request's state."""
    return Route(path, _endpoint(database, handler), methods=[method])


def _endpoint(database: Callable[[], Database], handler: Handler) -> Callable[[Request], Awaitable[Response]]:
    async def endpoint(request: Request) -> Response:
        body = await _body(request)
        actor: Actor | None = request.scope.get("state", {}).get("actor")
        thing_id = path_id(request, "id")
        out = await _threads.run(handler, database(), actor, thing_id, body)
        return Response(orjson.dumps(out), media_type="application/json", headers={"Cache-Control": "no-store"})

    return endpoint


async def _body(request: Request) -> dict[str, Any]:
    if request.method == "GET":
        return dict(request.query_params)
    raw = await body_of(request, MAX_BODY)
    try:
        body = orjson.loads(raw or b"{}")
    except orjson.JSONDecodeError:
        raise InvalidInput("The request is not JSON. Reload the page and try again.") from None
    if _is_deeper(body, MAX_DEPTH):
        raise InvalidInput(f"The request has lists in lists more than {MAX_DEPTH} deep. Reload the page and try again.")
    if not isinstance(body, dict):
        raise InvalidInput("The request is not a JSON object. Reload the page and try again.")
    body["_size"] = len(raw)
    return body


def _is_deeper(value: Any, depth: int) -> bool:
    level = [value]
    for _ in range(depth):
        level = [
            inner
            for outer in level
            if isinstance(outer, dict | list)
            for inner in (outer.values() if isinstance(outer, dict) else outer)
        ]
        if not level:
            return False
    return True


def integer(body: dict[str, Any], key: str) -> int:
    """A whole number that must be there; a boolean is none."""
    value = body.get(key)
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise InvalidInput(f"{key!r} is {value!r}; a whole number is needed. Reload the page and try again.")
    return value


def text(body: dict[str, Any], key: str, longest: int = 10_000) -> str | None:
    """A text without NUL characters (which PostgreSQL cannot store), or None."""
    value = body.get(key)
    if value is None:
        return None
    if not isinstance(value, str) or len(value) > longest:
        raise InvalidInput(f"{key!r} must be a text of at most {longest} characters.")
    return value.replace("\x00", "")


def number(body: dict[str, Any], key: str) -> float | None:
    """A number, or None."""
    value = body.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidInput(f"{key!r} is {value!r}; a number is needed.")
    return float(value)
