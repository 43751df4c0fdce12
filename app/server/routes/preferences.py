"""The route by which a full-screen page keeps a setting of the person who uses it."""

from collections.abc import Callable
from typing import Any

from starlette.routing import Route

from annotators.errors import NotAllowed
from app.server.routes.json_routes import json_route, text
from db.engine import Database
from db.people.preferences import set_preference
from db.permissions import Actor


def routes(database: Callable[[], Database]) -> list[Route]:
    """POST /api/people/{id}/preferences {name, value}: one's own only; value null goes back to the program's."""
    return [json_route("/api/people/{id:int}/preferences", database, _set)]


def _set(db: Database, actor: Actor | None, person_id: int, body: dict[str, Any]) -> dict[str, Any]:
    if actor is not None and actor.person_id != person_id:
        raise NotAllowed(f"The settings of person {person_id} are not yours. Reload the page.")
    return {"value": set_preference(db, actor, text(body, "name", 100) or "", value=body.get("value"))}
