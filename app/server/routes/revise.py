"""The routes of the reviser's page: the queue, one item, what an edit would do, saving it, an end by hand, leases."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from starlette.routing import Route

from annotators.errors import InvalidInput
from annotators.items.differing import marked
from annotators.items.written import TEXTS, as_written
from app.server.routes.json_routes import integer, json_route, text
from db.engine import Database
from db.permissions import Actor
from db.releasing.endings import end_item
from db.releasing.revising import (
    item_to_revise,
    leave_to_others,
    plan_written,
    revise_written,
    revision_queue,
    sentences_to_claim,
    take_to_revise,
)
from db.studies.remarks import ItemPlace, item_place
from db.studies.revisions import ItemRevision


def routes(database: Callable[[], Database]) -> list[Route]:
    """The routes under /api/projects/{id}/revisions and /api/items/{id}."""
    return [
        json_route("/api/projects/{id:int}/revisions", database, _queue, "GET"),
        json_route("/api/items/{id:int}/revision", database, _item, "GET"),
        json_route("/api/items/{id:int}/plan", database, _plan),
        json_route("/api/items/{id:int}/revise", database, _revise),
        json_route("/api/items/{id:int}/end", database, _end),
        json_route("/api/items/{id:int}/claims", database, _claims),
        json_route("/api/items/{id:int}/take", database, _take),
        json_route("/api/items/{id:int}/leave", database, _leave),
    ]


def _queue(db: Database, actor: Actor | None, project_id: int, _: dict[str, Any]) -> dict[str, Any]:
    return {**asdict(revision_queue(db, actor, project_id)), "person": {"name": actor.name if actor else ""}}


def _item(db: Database, actor: Actor | None, item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    place = _place(db, actor, item_id)
    found = asdict(item_to_revise(db, actor, place.project_id, external_id=place.external_id))
    return {**found, "person": {"name": actor.name if actor else ""}}


def _plan(db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    place = _place(db, actor, item_id)
    plan = plan_written(db, actor, place.project_id, external_id=place.external_id, given=_given(body))
    return {"plan": None if plan is None else _planned(plan)}


def _planned(plan: ItemRevision) -> dict[str, Any]:
    """The number of the new version, what differs in the texts, field by field, and what falls in which study."""
    before, after = as_written(plan.before), as_written(plan.after)
    # Documents and the rest are one text on the page: what of it differs is found where it differs.
    differing = [name for name in TEXTS if before[name] != after[name]]
    return {
        "version": plan.version,
        "edited": list(plan.edited),
        "differences": {name: [list(part) for part in marked(before[name], after[name])] for name in differing},
        "effects": [asdict(effect) for effect in plan.effects],
    }


def _revise(db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    place = _place(db, actor, item_id)
    done = revise_written(
        db,
        actor,
        place.project_id,
        external_id=place.external_id,
        given=_given(body),
        reason=text(body, "reason", 2_000) or "",
        from_version=integer(body, "from_version"),
    )
    return {"revised": done.to_json()}


def _end(db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    place = _place(db, actor, item_id)
    state, reason = text(body, "state", 100), text(body, "reason", 2_000) or ""
    ended = end_item(db, actor, place.project_id, external_id=place.external_id, state=state, reason=reason)
    leave_to_others(db, actor, place.project_id, item_id=item_id)
    return {"ended": ended.to_json()}


def _claims(db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    """The sentences of an answer that is not saved, to make claims of."""
    place = _place(db, actor, item_id)
    answer = text(body, "answer", 1_000_000) or ""
    found = sentences_to_claim(db, actor, place.project_id, external_id=place.external_id, answer=answer)
    return {"claims": found}


def _take(db: Database, actor: Actor | None, item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    return asdict(take_to_revise(db, actor, _place(db, actor, item_id).project_id, item_id=item_id))


def _leave(db: Database, actor: Actor | None, item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    leave_to_others(db, actor, _place(db, actor, item_id).project_id, item_id=item_id)
    return {"left": item_id}


def _place(db: Database, actor: Actor | None, item_id: int) -> ItemPlace:
    return item_place(db, actor, item_id=item_id)


def _given(body: dict[str, Any]) -> dict[str, Any]:
    given = body.get("written")
    if not isinstance(given, dict):
        raise InvalidInput("What is written is missing ('written'). Reload the page and try again.")
    return given
