"""The routes of the reviser's page: the queue, one item, drafts, what an edit would do, saving it, an end, leases."""

from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from typing import Any, get_args

from starlette.routing import Route

from annotators.errors import InvalidInput
from annotators.items.differing import marked
from annotators.items.written import TEXTS, as_written
from annotators.judges.prompts.generating import Writes
from app.server.routes.json_routes import integer, json_route, text
from app.settings import Settings
from app.worker import drafts
from app.worker.kinds.draft import DRAFT
from db.engine import Database
from db.jobs import job_facts, latest_job
from db.judging.drafting import Asked
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

WRITES: tuple[Writes, ...] = get_args(Writes)


def routes(database: Callable[[], Database], settings: Settings) -> list[Route]:
    """The routes under /api/projects/{id}/revisions and /api/items/{id}; `settings` say which models may be asked."""
    return [
        json_route("/api/projects/{id:int}/revisions", database, _queue, "GET"),
        json_route("/api/items/{id:int}/revision", database, partial(_item, settings), "GET"),
        json_route("/api/items/{id:int}/draft", database, partial(_draft, settings)),
        json_route("/api/items/{id:int}/drafted", database, _drafted),
        json_route("/api/items/{id:int}/plan", database, _plan),
        json_route("/api/items/{id:int}/revise", database, _revise),
        json_route("/api/items/{id:int}/end", database, _end),
        json_route("/api/items/{id:int}/claims", database, _claims),
        json_route("/api/items/{id:int}/take", database, _take),
        json_route("/api/items/{id:int}/leave", database, _leave),
    ]


def _queue(db: Database, actor: Actor | None, project_id: int, _: dict[str, Any]) -> dict[str, Any]:
    return {**asdict(revision_queue(db, actor, project_id)), "person": {"name": actor.name if actor else ""}}


def _item(settings: Settings, db: Database, actor: Actor | None, item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    place = _place(db, actor, item_id)
    found = asdict(item_to_revise(db, actor, place.project_id, external_id=place.external_id))
    assert actor is not None  # the operation has asked
    # Who only revises asks no model, which costs; nor are they told of the project's judges and prompts.
    asked = [] if found["only_revises"] else drafts.writers(db, actor, place.project_id, settings)
    prompts = {name: drafts.writing_prompts(db, actor, place.project_id, name) for name in WRITES} if asked else {}
    drafting = {"writers": [{"server": server, "model": model} for server, model in asked], "prompts": prompts}
    return {**found, "person": {"name": actor.name}, "drafting": drafting}


def _draft(settings: Settings, db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    """What asking a model for a draft would send; with `send`, the job that asks."""
    place = _place_to_revise(db, actor, item_id)
    assert actor is not None
    writes = body.get("writes")
    if writes not in WRITES:
        raise InvalidInput(f"{writes!r} is nothing that is drafted. Known: {', '.join(WRITES)}.")
    given = {name: text(body, name, 500) or "" for name in ("server", "model", "prompt")}
    writer = drafts.writer_of(db, actor, place.project_id, settings, **given)
    texts = {name: said for name in ("question", "answer") if (said := text(body, name, 1_000_000)) is not None}
    missing = text(body, "missing", 2_000)
    asked = Asked(place.external_id, writes, texts, (missing,) if missing else ())
    if body.get("send") is True:
        return {"job": drafts.queue_draft(db, actor, place.project_id, asked=asked, writer=writer).job_id}
    plan = drafts.planned(db, actor, place.project_id, settings, asked=asked, writer=writer)
    tokens = plan.tokens_in + plan.tokens_out
    return {"plan": {"leaves": plan.leaves(writer.server), "tokens": tokens, "cost": plan.cost}}


def _drafted(db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    place = _place_to_revise(db, actor, item_id)
    return drafts.outcome(job_facts(db, actor, place.project_id, job_id=integer(body, "job")))


def _plan(db: Database, actor: Actor | None, item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    place = _place(db, actor, item_id)
    plan = plan_written(db, actor, place.project_id, external_id=place.external_id, given=_given(body))
    return {"plan": None if plan is None else _planned(plan)}


def _planned(plan: ItemRevision) -> dict[str, Any]:
    """The number of the new version, what differs in the texts, field by field, what falls in which study, verdicts."""
    before, after = as_written(plan.before), as_written(plan.after)
    # Documents and the rest are one text on the page: what of it differs is found where it differs.
    differing = [name for name in TEXTS if before[name] != after[name]]
    return {
        "version": plan.version,
        "edited": list(plan.edited),
        "differences": {name: [list(part) for part in marked(before[name], after[name])] for name in differing},
        "effects": [asdict(effect) for effect in plan.effects],
        "verdicts": plan.verdicts,
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
        drafts=_jobs(body),
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


def _place_to_revise(db: Database, actor: Actor | None, item_id: int) -> ItemPlace:
    """Where an item is, for those who may revise; others are told so before anything of the request is looked at."""
    place = _place(db, actor, item_id)
    latest_job(db, actor, place.project_id, kind=DRAFT.name)
    return place


def _jobs(body: dict[str, Any]) -> dict[str, int]:
    """What is written → the job that drafted it."""
    given = body.get("drafts") or {}
    if not isinstance(given, dict) or not all(type(job) is int for job in given.values()):
        raise InvalidInput("What was drafted has to be jobs by what is written. Reload the page and try again.")
    return given


def _given(body: dict[str, Any]) -> dict[str, Any]:
    given = body.get("written")
    if not isinstance(given, dict):
        raise InvalidInput("What is written is missing ('written'). Reload the page and try again.")
    return given
