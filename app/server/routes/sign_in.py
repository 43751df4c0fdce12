"""The routes of signing in and out."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotators.errors import AssayError, InvalidInput, NotFound
from app.server.plain_pages import message_page, one_time_page, other_person_page, sign_in_page, sign_out_page
from app.server.refusals import note_sign_in
from app.server.threads import Threads
from app.server.web import COOKIE, body_of, local_path, set_session_cookie
from app.state import AppState
from db.people import sign_in as sessions

MAX_BODY = 16_000
AT_ONCE = 8

T = TypeVar("T")


def routes(state: AppState) -> list[Route]:
    """/sign-in, /sign-in/{one-time token} and /sign-out, each a page and a form."""
    db, settings = state.db, state.settings
    lifetime = timedelta(hours=settings.session_hours)
    # Checking passwords is slow on purpose: a rush of sign-ins must not take the threads that answer everybody else.
    threads = Threads(AT_ONCE)

    async def in_thread(operation: Callable[..., T], *args: Any, **options: Any) -> T:
        return await threads.run(operation, db, *args, **options)

    async def enter(request: Request, token: str, target: str) -> Response:
        before: str | None = request.state.token
        if before:
            await in_thread(sessions.sign_out, before)
        response = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
        set_session_cookie(response, request, settings, token)
        return response

    async def show_sign_in(request: Request) -> Response:
        target = local_path(request.query_params.get("next"))
        if request.state.actor is not None:
            return RedirectResponse(target, 303, {"Cache-Control": "no-store"})
        return sign_in_page(target=target)

    async def sign_in(request: Request) -> Response:
        form = await form_of(request)
        target, name = local_path(form.get("next")), form.get("name", "")
        address = request.client.host if request.client else None
        try:
            token = await in_thread(sessions.sign_in, name, form.get("password", ""), address, lifetime=lifetime)
        except AssayError as error:
            note_sign_in(error)
            return sign_in_page(target=target, name=name, problem=str(error), status=error.status)
        return await enter(request, token, target)

    async def show_one_time(request: Request) -> Response:
        token, actor = request.path_params["token"], request.state.actor
        if actor is not None and await in_thread(sessions.one_time_owner, token) == actor.person_id:
            # Their own, used or not: they are in already, and the address stays as it is for another browser.
            return RedirectResponse("/", 303, {"Cache-Control": "no-store"})
        try:
            name, has_password = await in_thread(sessions.one_time_person, token)
            if actor is not None:
                # A link must not put somebody into another's account unnoticed, where they would work on for them.
                return other_person_page(token=token, name=name, signed_in=actor.name, person_id=actor.person_id)
            crossing = request.headers.get("sec-fetch-site") == "cross-site"
            if "now" in request.query_params and not crossing and request.method != "HEAD":
                # What the command line prints is opened by the one who started it, not sent through a chat whose
                # preview would use the address up: it signs in at once, unless another site's link led here.
                return await enter(request, await in_thread(sessions.use_one_time, token, lifetime=lifetime), "/")
        except NotFound as error:
            note_sign_in(error)
            return message_page("Sign in", str(error), status=404, signed_in=actor.name if actor else "")
        return one_time_page(token=token, name=name, has_password=has_password)

    async def use_one_time(request: Request) -> Response:
        token, form = request.path_params["token"], await form_of(request)
        try:
            session_token = await in_thread(
                sessions.use_one_time, token, password=form.get("password") or None, lifetime=lifetime
            )
        except InvalidInput as error:
            name, has_password = await in_thread(sessions.one_time_person, token)
            return one_time_page(
                token=token, name=name, has_password=has_password, problem=str(error), status=error.status
            )
        except NotFound as error:
            note_sign_in(error)
            return message_page("Sign in", str(error), status=404)
        return await enter(request, session_token, "/")

    async def show_sign_out(request: Request) -> Response:
        return sign_out_page(name=request.state.actor.name, person_id=request.state.actor.person_id)

    async def sign_out(request: Request) -> Response:
        await in_thread(sessions.sign_out, request.state.token)
        response = RedirectResponse("/sign-in", 303, {"Cache-Control": "no-store"})
        response.delete_cookie(COOKIE, path="/", httponly=True, samesite="lax")
        return response

    return [
        Route("/sign-in", show_sign_in, methods=["GET"]),
        Route("/sign-in", sign_in, methods=["POST"]),
        Route("/sign-in/{token}", show_one_time, methods=["GET"]),
        Route("/sign-in/{token}", use_one_time, methods=["POST"]),
        Route("/sign-out", show_sign_out, methods=["GET"]),
        Route("/sign-out", sign_out, methods=["POST"]),
    ]


async def form_of(request: Request) -> dict[str, str]:
    """The fields of a small form."""
    raw = await body_of(request, MAX_BODY)
    try:
        fields = parse_qs(raw.decode("utf-8"), keep_blank_values=True, max_num_fields=20)
    except ValueError:
        raise InvalidInput("The form cannot be read. Reload the page and try again.") from None
    return {name: values[0] for name, values in fields.items()}
