"""What every route of our own needs: who asks, from which origin, and how a domain error is answered."""

from __future__ import annotations

from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.requests import HTTPConnection, Request
from starlette.responses import JSONResponse, Response
from starlette.types import Scope

from annotators.errors import AssayError, InvalidInput, NotFound, NotSignedIn
from app.server.plain_pages import FORMS, message_page
from app.server.refusals import note_refused
from app.settings import Settings
from db.permissions import Actor

COOKIE = "assay_session"
LARGEST_ID = 2**63 - 1
BODY_SECONDS = 60.0
"""How long the body of a request of ours may take to come; files have a way of their own."""


def actor_of(request: HTTPConnection) -> Actor:
    """Who asks, as the session middleware found (`app/server/middleware.py`); raises NotSignedIn when nobody does."""
    actor: Actor | None = request.scope["state"].get("actor")
    if actor is None:
        raise NotSignedIn("Nobody is signed in, or the session has ended. Sign in and try again.")
    return actor


def path_id(request: Request, name: str) -> int:
    """A number of the path; NotFound for one that no id can be, because the database could not even be asked."""
    value: int = request.path_params[name]
    if value > LARGEST_ID:
        raise NotFound(f"There is nothing with the number {str(value)[:40]}. Check the address.")
    return value


async def body_of(request: Request, most: int) -> bytes:
    """The body of a request; InvalidInput for more bytes than `most`, and for one that is late (`BODY_SECONDS`)."""
    raw = bytearray()
    with anyio.move_on_after(BODY_SECONDS) as waiting:
        async for chunk in request.stream():
            raw += chunk
            if len(raw) > most:
                raise InvalidInput(f"The request is larger than {most} bytes. Shorten the texts.")
    if waiting.cancelled_caught:
        raise InvalidInput(f"The request did not come within {BODY_SECONDS:g} s. Try again.")
    return bytes(raw)


def error_response(error: AssayError, **more: Any) -> JSONResponse:
    """A domain error as the routes answer it: {"error": …, "kind": …} and `more`, with the error's status."""
    note_refused(error)
    headers = {"Cache-Control": "no-store"}
    if error.status in (429, 503):
        headers["Retry-After"] = "2"
    return JSONResponse({"error": str(error), "kind": type(error).__name__, **more}, error.status, headers)


def answer_to(scope: Scope, error: AssayError) -> Response:
    """A domain error as whoever asked can read it: a page for a browser that sent a form, JSON for everybody else."""
    is_form = scope["method"] == "POST" and scope["path"].startswith(FORMS)
    if not is_form or "text/html" not in Headers(scope=scope).get("accept", ""):
        return error_response(error)
    note_refused(error)
    actor: Actor | None = scope.get("state", {}).get("actor")
    return message_page("Not done", str(error), status=error.status, signed_in=actor.name if actor else "")


def handle_error(request: Request, error: Exception) -> Response:
    """Starlette's handler for domain errors: the one place where routes translate them."""
    assert isinstance(error, AssayError)
    return answer_to(request.scope, error)


def cookies_in(headers: Headers) -> dict[str, str]:
    """The cookies of a request; a malformed header counts as none."""
    try:
        return {name: morsel.value for name, morsel in SimpleCookie(headers.get("cookie", "")).items()}
    except CookieError:
        return {}


def is_same_origin(headers: Headers, settings: Settings) -> bool:
    """Whether the Origin header names this server: by the Host that was asked, or by the public address.

    The scheme is not compared, because a proxy that is not declared as trusted hides it; SameSite on the cookie takes
    the scheme into account.
    """
    origin = headers.get("origin", "")
    asked = urlsplit(origin).netloc.lower()
    here = {headers.get("host", "").lower(), urlsplit(settings.public_url).netloc.lower()} - {""}
    return asked in here


def is_secure(scope: Any, settings: Settings) -> bool:
    """Whether cookies are to be marked Secure for this request."""
    if settings.secure_cookie == "auto":
        return scope.get("scheme") in ("https", "wss") or settings.public_url.startswith("https:")
    return settings.secure_cookie == "always"


def set_session_cookie(response: Response, request: Request, settings: Settings, token: str) -> None:
    """Put the session's token into the browser: not readable by scripts, not sent from other sites' forms."""
    response.set_cookie(
        COOKIE,
        token,
        max_age=settings.session_hours * 3600,
        path="/",
        httponly=True,
        samesite="lax",
        secure=is_secure(request.scope, settings),
    )


def local_path(target: str | None) -> str:
    """`target` if it is a path on this server, else "/": where to go after signing in."""
    if not target or not target.startswith("/") or target.startswith(("//", "/\\")):
        return "/"
    if any(ord(letter) < 32 for letter in target) or target.startswith(("/sign-in", "/sign-out")):
        return "/"
    return target
