"""The routes of annotators from outside: the link by which they come in, and the page on which they end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any, TypeVar

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from annotators.errors import AssayError
from app.server.plain_pages import join_page, leave_page, message_page
from app.server.refusals import note_invitation, note_refused
from app.server.routes.sign_in import form_of
from app.server.threads import Threads
from app.server.web import actor_of, path_id, set_session_cookie
from app.state import AppState
from db.inviting import joining

AT_ONCE = 8

T = TypeVar("T")


def routes(state: AppState) -> list[Route]:
    """/join/{token} and /leave/{study}, each a page and a form."""
    db, settings = state.db, state.settings
    lifetime = timedelta(hours=settings.session_hours)
    threads = Threads(AT_ONCE)

    async def in_thread(operation: Callable[..., T], *args: Any, **options: Any) -> T:
        return await threads.run(operation, db, *args, **options)

    def not_let_in(error: AssayError) -> Response:
        note_invitation(error)
        return message_page("Invitation", str(error), status=error.status, way_on=False)

    async def show_join(request: Request) -> Response:
        token, address = request.path_params["token"], request.client.host if request.client else None
        try:
            found = await in_thread(joining.invited, token, address)
        except AssayError as error:
            return not_let_in(error)
        called = request.query_params.get(found.parameter, "") if found.parameter else ""
        if found.parameter and not called.strip():
            return message_page("Invitation", joining.lacks_id(found.parameter), status=422, way_on=False)
        return join_page(token=token, study=found.study, title=found.title, quota=found.quota, called=called)

    async def join(request: Request) -> Response:
        token, form = request.path_params["token"], await form_of(request)
        address = request.client.host if request.client else None
        try:
            session_token, study_id = await in_thread(
                joining.join,
                token,
                address,
                recruiter_id=form.get("id", ""),
                known=request.state.actor,
                lifetime=lifetime,
            )
        except AssayError as error:
            return not_let_in(error)
        target = f"/annotate?study={study_id}"
        response = RedirectResponse(target, 303, {"Cache-Control": "no-store"})
        set_session_cookie(response, request, settings, session_token)
        return response

    async def leave(request: Request) -> Response:
        study_id = path_id(request, "id")
        asked = joining.leave if request.method == "POST" else joining.how_far
        try:
            standing = await in_thread(asked, actor_of(request), study_id)
        except AssayError as error:
            note_refused(error)
            return message_page("Study", str(error), status=error.status, way_on=False)
        return leave_page(study_id=study_id, standing=standing)

    return [
        Route("/join/{token}", show_join, methods=["GET"]),
        Route("/join/{token}", join, methods=["POST"]),
        Route("/leave/{id:int}", leave, methods=["GET"]),
        Route("/leave/{id:int}", leave, methods=["POST"]),
    ]
