"""The two layers around every request: who is it, and what may a browser do with the answer."""

from __future__ import annotations

import base64
import hashlib
import logging
import re
from collections import Counter
from functools import cache
from urllib.parse import quote

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from annotators.errors import AssayError, NotAllowed, NotSignedIn, shown
from app.server.front_page import front_page
from app.server.health import HEALTH, LIVE, READY
from app.server.reruns import Reruns
from app.server.threads import Threads, in_the_name_of
from app.server.upload_store import put
from app.server.web import COOKIE, answer_to, cookies_in, error_response, is_same_origin, is_secure
from app.state import AppState
from db.people.sign_in import session_actor, session_standing, token_hash
from db.people.uploads import check_may_upload
from db.permissions import Actor
from db.waiting import waiting_at_most

log = logging.getLogger(__name__)

UNASKED = ("/static/", "/favicon.png", HEALTH, LIVE, READY)
"""Answered without asking the database who it is for: Streamlit's own files, and how the server is."""

PUBLIC_ROUTES = ("/sign-in", "/join")
ASSETS = "/assets/"
NEVER_PAGES = (
    "/api/", "/page-images/", "/page-words/", "/page-search/", "/assets/", "/_stcore/", "/media/", "/component/",
)  # fmt: skip
UPLOADS = "/_stcore/upload_file/"
"""Where Streamlit takes files, of whoever has a session; ours takes them only of people who import."""

AT_ONCE = 20
SAFE = ("GET", "HEAD", "OPTIONS")

MOST_RECOGNISED = 10_000
"""Sessions that this process remembers to have seen."""

MOST_WEBSOCKETS = 40
"""Open pages of one person at a time. Each holds a session of Streamlit's, with what its page has loaded."""


class Sessions:
    """Finds out who asks, for HTTP and for websockets, and lets nobody else in.

    Puts the actor and the session's token into the request's state. Without a session a page redirects to the sign-in
    page, everything else is answered 401, a websocket is refused; only Streamlit's own script and style files, the
    sign-in page and the health check are public. Requests that change something must come from this origin.

    All waits of a request for the database have one deadline, counted from here. Our own script and style files, in
    which nothing is anybody's, do not wait: who was recognised once gets them without being asked for again.
    """

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app = app
        self.state = state
        self._threads = Threads(AT_ONCE)
        self._recognised: set[str] = set()
        self._open: Counter[int] = Counter()
        self._reruns = Reruns()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        unasked = scope["type"] == "http" and scope["path"].startswith(UNASKED)
        if scope["type"] not in ("http", "websocket") or unasked:
            await self.app(scope, receive, send)
        elif scope["type"] == "websocket":
            await self._websocket(scope, receive, send)
        else:
            try:
                with waiting_at_most(self.state.settings.wait_seconds):
                    await self._answer(scope, receive, send)
            except ClientDisconnect:
                log.warning("%s broke off a request: %s %s", *_asked_by(scope))

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, in threads that count as the share of whoever asks."""
        if await self._recognise(scope, receive, send):
            actor = scope.get("state", {}).get("actor")
            is_upload = scope["method"] == "PUT" and scope["path"].startswith(UPLOADS)
            with in_the_name_of(_address(scope) if actor is None else actor.person_id):
                await (self._upload if is_upload else self.app)(scope, receive, send)

    async def _websocket(self, scope: Scope, receive: Receive, send: Send) -> None:
        """A websocket lives for hours: the deadline is for letting it in."""
        with waiting_at_most(self.state.settings.wait_seconds):
            let_in = await self._recognise(scope, receive, send)
        actor = scope["state"]["actor"] if let_in else None
        if actor is not None:
            await self._counted(actor, scope, receive, send)
        elif let_in:
            await self.app(scope, receive, send)

    async def _recognise(self, scope: Scope, receive: Receive, send: Send) -> bool:
        """Put into the scope who asks; False when they were refused, and told so."""
        headers = Headers(scope=scope)
        try:
            self._check_origin(scope, headers)
            token = cookies_in(headers).get(COOKIE)
            if token and self._needs_no_asking(scope, token):
                return True
            actor = await self._actor(token) if token else None
            scope["state"] = {**scope.get("state", {}), "actor": actor, "token": token}
            if actor is None and not _is_public(scope["path"]):
                raise NotSignedIn("Your session has ended. Reload the page and sign in.")
            if scope["path"].startswith(UPLOADS):
                with in_the_name_of(token):
                    await self._threads.run(check_may_upload, self.state.db, actor)
        except AssayError as error:
            await self._refuse(error, scope, receive, send)
            return False
        return True

    def _needs_no_asking(self, scope: Scope, token: str) -> bool:
        is_asset = scope["type"] == "http" and scope["path"].startswith(ASSETS)
        return is_asset and token_hash(token) in self._recognised

    async def _actor(self, token: str) -> Actor | None:
        with in_the_name_of(token):
            actor = await self._threads.run(session_actor, self.state.db, token)
        if len(self._recognised) >= MOST_RECOGNISED:
            self._recognised.clear()
        if actor is not None:
            self._recognised.add(token_hash(token))
        return actor

    async def _upload(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Take a file in Streamlit's place, whose endpoint would hold it in memory."""
        session_id, _, file_id = scope["path"].removeprefix(UPLOADS).partition("/")
        try:
            who = scope["state"]["actor"].person_id
            answer = await put(self.state.uploads, Request(scope, receive), who, session_id, file_id)
        except AssayError as error:
            answer = error_response(error)
        await answer(scope, receive, send)

    async def _counted(self, actor: Actor, scope: Scope, receive: Receive, send: Send) -> None:
        """A websocket of this person, unless they have too many open; all of them run within one share."""
        person_id, token = actor.person_id, scope["state"]["token"]
        if self._open[person_id] >= MOST_WEBSOCKETS:
            await send({"type": "websocket.close", "code": 4429, "reason": "too many open pages"})
            return

        async def standing() -> object:
            try:
                with in_the_name_of(person_id):
                    return await self._threads.run(session_standing, self.state.db, token)
            except AssayError:  # the database does not answer: who that is will be asked again
                return None

        self._open[person_id] += 1
        try:
            await self._reruns.of(person_id, self.app, standing)(scope, receive, send)
        finally:
            self._open[person_id] -= 1
            if not self._open[person_id]:
                del self._open[person_id]

    def _check_origin(self, scope: Scope, headers: Headers) -> None:
        """Raise NotAllowed for a change that another site asks for, with the cookie of somebody signed in here."""
        if scope["type"] == "websocket":
            wanted = "origin" in headers
        elif scope["method"] in SAFE:
            return
        else:
            ours = not scope["path"].startswith("/_stcore/")
            if scope["path"].startswith("/api/") and headers.get("x-assay") != "1":
                raise NotAllowed("This request needs the header X-Assay: 1, which only Assay's own pages send.")
            wanted = ours or "origin" in headers
        if wanted and not is_same_origin(headers, self.state.settings):
            raise NotAllowed(
                f"The request comes from {headers.get('origin', 'no origin')!r}, which is not this server "
                f"({headers.get('host', '')!r}). Behind a proxy, set ASSAY_PUBLIC_URL to the address that people type."
            )

    async def _refuse(self, error: AssayError, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "websocket":
            # Before it is accepted: the server answers the handshake with 403.
            await send({"type": "websocket.close", "code": 4401, "reason": "not signed in"})
            return
        if isinstance(error, NotSignedIn) and _wants_page(scope):
            query = scope["query_string"].decode("latin-1")
            target = quote(scope["path"] + (f"?{query}" if query else ""), safe="/")
            where = "/sign-in" if target == "/" else f"/sign-in?next={target}"
            await RedirectResponse(where, 303, {"Cache-Control": "no-store"})(scope, receive, send)
            return
        await answer_to(scope, error)(scope, receive, send)


class SecurityHeaders:
    """Tells browsers what may be loaded, framed and passed on; marks all cookies Secure behind https."""

    def __init__(self, app: ASGIApp, state: AppState) -> None:
        self.app = app
        self.state = state

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        secure = is_secure(scope, self.state.settings)

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", content_security_policy())
                headers.setdefault("X-Content-Type-Options", "nosniff")
                # not no-referrer: browsers would then send "Origin: null" with forms
                headers.setdefault("Referrer-Policy", "same-origin")
                headers.setdefault("X-Frame-Options", "DENY")
                headers.setdefault("Cross-Origin-Opener-Policy", "same-origin")
                headers.setdefault("Permissions-Policy", "camera=(), geolocation=(), microphone=()")
                if secure:
                    _mark_cookies_secure(message)
            await send(message)

        await self.app(scope, receive, send_with_headers)


def _mark_cookies_secure(message: Message) -> None:
    message["headers"] = [
        (name, value + b"; Secure" if name.lower() == b"set-cookie" and b"secure" not in value.lower() else value)
        for name, value in message["headers"]
    ]


def _address(scope: Scope) -> str:
    return scope["client"][0] if scope.get("client") else "nobody"


def _asked_by(scope: Scope) -> tuple[str, str, str]:
    """Who asked for what, for the log: of the address its beginning only, as the rest may be a secret."""
    begins, _, more = scope["path"].removeprefix("/").partition("/")
    return _address(scope), scope["method"], shown(f"/{begins}/…" if more else f"/{begins}")


def _is_public(path: str) -> bool:
    return any(path == route or path.startswith(route + "/") for route in PUBLIC_ROUTES)


def _wants_page(scope: Scope) -> bool:
    if scope["method"] not in ("GET", "HEAD") or scope["path"].startswith(NEVER_PAGES):
        return False
    return "text/html" in Headers(scope=scope).get("accept", "")


@cache
def content_security_policy() -> str:
    """What Streamlit's front end needs and no more.

    Its page has inline scripts, allowed by their hashes; plots compile expressions (`unsafe-eval`); components are
    modules made from text (`blob:`). Inline styles are how it styles. Nothing may come from or go to another server.
    """
    scripts = re.findall(r"<script>(.*?)</script>", front_page(), re.DOTALL)
    hashes = [f"'sha256-{base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()}'" for script in scripts]
    return "; ".join(
        (
            "default-src 'self'",
            " ".join(("script-src 'self' blob: 'unsafe-eval'", *hashes)),
            "style-src 'self' 'unsafe-inline'",
            "img-src 'self' data: blob:",
            "font-src 'self' data:",
            "connect-src 'self'",
            "worker-src 'self' blob:",
            "frame-src 'self'",
            "object-src 'none'",
            "base-uri 'self'",
            "form-action 'self'",
            "frame-ancestors 'none'",
        )
    )
