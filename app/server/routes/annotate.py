"""The routes of the annotator's page: each reads the request, calls one operation, answers JSON.

Labels travel by POST to these routes and not through Streamlit's script runs: an acknowledgement is then the answer to
one request, a lost connection is retried by the browser's outbox, and no script runs for a label.
"""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any

from starlette.routing import Route

from annotators.asking.submissions import FLAGGED, GivenLabel
from annotators.errors import InvalidInput
from app.server.routes.json_routes import Handler, integer, json_route, number, text
from db.annotating.annotations import answer_phase, reopen, save_draft, submit, work
from db.annotating.assignments import AHEAD, skip
from db.annotating.committing import StepSubmission
from db.annotating.guidelines import guidelines_read
from db.engine import Database
from db.permissions import Actor


def routes(database: Callable[[], Database], *, ahead: int = AHEAD) -> list[Route]:
    """The routes under /api/studies/{id}; `ahead` items after the present one are sent with it.

    The session middleware puts the actor into the request's state.
    """

    def route(name: str, handler: Handler, method: str = "POST") -> Route:
        return json_route(f"/api/studies/{{id:int}}/{name}", database, handler, method)

    return [
        route("work", partial(_work, ahead), "GET"),
        route("submit", partial(_submit, ahead)),
        route("draft", _draft),
        route("skip", partial(_skip, ahead)),
        route("reopen", _reopen),
        route("guidelines", _guidelines),
        route("phase", partial(_phase, ahead)),
    ]


def _have(body: dict[str, Any]) -> list[int]:
    value = body.get("have")
    return [assignment for assignment in value if isinstance(assignment, int)][:50] if isinstance(value, list) else []


def _work(ahead: int, db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    return work(db, actor, study_id, ahead=ahead)


def _submit(ahead: int, db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    uid = _uid(body)
    given = body.get("labels")
    if not isinstance(given, list) or not all(isinstance(label, dict) for label in given):
        raise InvalidInput("'labels' must be a list of objects. Reload the page and try again.")
    step = StepSubmission(
        uid=uid,
        assignment_id=integer(body, "assignment"),
        sitting=integer(body, "sitting"),
        step=integer(body, "step"),
        labels=tuple(_label(label) for label in given),
        comment=text(body, "comment"),
        flag=_flag(body),
        seconds=number(body, "seconds"),
        aids=_aids(body),
    )
    return asdict(submit(db, actor, study_id, step=step, have=_have(body), ahead=ahead))


def _uid(body: dict[str, Any]) -> str:
    uid = text(body, "uid", 100)
    if not uid:
        raise InvalidInput("A submission needs an id of its own ('uid'). Reload the page and try again.")
    return uid


def _aids(body: dict[str, Any]) -> tuple[str, ...]:
    given = body.get("aids") or []
    if not isinstance(given, list) or not all(isinstance(aid, str) for aid in given):
        raise InvalidInput("'aids' must be a list of names. Reload the page and try again.")
    return tuple(given)


def _flag(body: dict[str, Any]) -> str | None:
    """A flag for the researcher: true, or in words why."""
    given = body.get("flag")
    return FLAGGED if given is True else None if given is False else text(body, "flag")


def _label(label: dict[str, Any]) -> GivenLabel:
    criterion, target = label.get("criterion"), label.get("target", "item")
    if not isinstance(criterion, str) or not isinstance(target, str):
        raise InvalidInput("A label needs the name of its criterion and its target. Reload the page and try again.")
    return GivenLabel(
        criterion=criterion,
        target=target,
        value=label.get("value"),
        cannot_judge=label.get("cannot_judge") is True,
        reason=text(label, "reason"),
        comment=text(label, "comment"),
        rationale=label.get("rationale"),
        confidence=label.get("confidence"),
        same=label.get("same"),
    )


def _draft(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    content = body.get("content")
    if not isinstance(content, dict):
        raise InvalidInput("'content' must be an object. Reload the page and try again.")
    saved_at = save_draft(
        db,
        actor,
        study_id,
        assignment_id=integer(body, "assignment"),
        sitting=integer(body, "sitting"),
        step=integer(body, "step"),
        content=content,
        seconds=number(body, "seconds") or 0,
        size=body["_size"],
    )
    return {"saved_at": saved_at}


def _skip(ahead: int, db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    skip(db, actor, study_id, assignment_id=integer(body, "assignment"), reason=text(body, "reason") or "")
    following = work(db, actor, study_id, have=_have(body), about=False, ahead=ahead)
    return {"status": "skipped", "item": None, "saved_at": None, **following}


def _reopen(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    wanted = integer(body, "assignment") if body.get("assignment") is not None else None
    return {"item": reopen(db, actor, study_id, assignment_id=wanted)}


def _phase(ahead: int, db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    answers = body.get("answers")
    if not isinstance(answers, dict):
        raise InvalidInput("'answers' must be an object of values by question. Reload the page and try again.")
    phase, seconds = text(body, "phase", 100) or "", number(body, "seconds")
    return answer_phase(db, actor, study_id, uid=_uid(body), phase=phase, answers=answers, seconds=seconds, ahead=ahead)


def _guidelines(db: Database, actor: Actor | None, study_id: int, body: dict[str, Any]) -> dict[str, Any]:
    shown = text(body, "protocol_hash", 100) or ""
    return {"saved_at": guidelines_read(db, actor, study_id, protocol_hash=shown)}
