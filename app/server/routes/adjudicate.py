"""The routes of the adjudicator's page: the queue, one item, who has it, a decision, a return to the annotator."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from starlette.routing import Route

from annotators.errors import InvalidInput
from app.server.routes.json_routes import json_route, text
from db.adjudicating.adjudications import UnitDecision, adjudicate, desk_counts, disputed_item, disputes, give_back
from db.adjudicating.leases import held_by_others, leave_item, take_item
from db.annotating.annotations import protocol_for_browser
from db.engine import Database
from db.permissions import Actor
from db.studies.design import protocol_of, study_facts


def routes(database: Callable[[], Database]) -> list[Route]:
    """The routes under /api/studies/{id}/disputes and /api/study-items/{id}."""
    return [
        json_route("/api/studies/{id:int}/disputes", database, _queue, "GET"),
        json_route("/api/study-items/{id:int}", database, _item, "GET"),
        json_route("/api/study-items/{id:int}/adjudicate", database, _adjudicate),
        json_route("/api/study-items/{id:int}/take", database, _take),
        json_route("/api/study-items/{id:int}/leave", database, _leave),
        json_route("/api/study-items/{id:int}/return", database, _return),
    ]


def _queue(db: Database, actor: Actor | None, study_id: int, _: dict[str, Any]) -> dict[str, Any]:
    queue = disputes(db, actor, study_id)
    study = study_facts(db, actor, study_id)
    return {
        "study": {"id": study_id, "name": study.name, "protocol": protocol_for_browser(protocol_of(study))},
        "counts": asdict(desk_counts(db, actor, study_id)),
        "queue": [asdict(waiting) for waiting in queue],
        "held": [asdict(lease) for lease in held_by_others(db, actor, study_id)],
        "person": {"name": actor.name if actor else ""},
    }


def _item(db: Database, actor: Actor | None, study_item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    return asdict(disputed_item(db, actor, study_item_id))


def _take(db: Database, actor: Actor | None, study_item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    return asdict(take_item(db, actor, study_item_id))


def _leave(db: Database, actor: Actor | None, study_item_id: int, _: dict[str, Any]) -> dict[str, Any]:
    leave_item(db, actor, study_item_id)
    return {"left": study_item_id}


def _adjudicate(db: Database, actor: Actor | None, study_item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    uid, given = text(body, "uid", 100), body.get("decisions")
    if not uid or not isinstance(given, list):
        raise InvalidInput("An adjudication needs its own id ('uid') and a list of 'decisions'. Reload the page.")
    decisions = [_decision(decision) for decision in given]
    found = adjudicate(
        db,
        actor,
        study_item_id,
        uid=uid,
        decisions=decisions,
        reason=text(body, "reason"),
        again=body.get("again") is True,
        from_browser=True,
    )
    return {"adjudication": found}


def _decision(decision: Any) -> UnitDecision:
    if not isinstance(decision, dict) or not isinstance(decision.get("criterion"), str):
        raise InvalidInput("A decision needs a criterion, a target and a value. Reload the page and try again.")
    return UnitDecision(
        decision["criterion"],
        text(decision, "target") or "item",
        decision.get("value"),
        text(decision, "reason"),
        *(text(decision, name) or None for name in ("cause", "confidence", "note")),
    )


def _return(db: Database, actor: Actor | None, study_item_id: int, body: dict[str, Any]) -> dict[str, Any]:
    of, reason = text(body, "annotation", 100) or "", text(body, "reason") or ""
    give_back(db, actor, study_item_id, annotation=of, reason=reason)
    return {"returned": study_item_id}
