"""Which exports were made: an event with the hash of the manifest, by which a changed manifest is told."""

from __future__ import annotations

from typing import Any

from sqlmodel import col

from db.engine import Database
from db.models import Event
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.query import pick

EVENT = "exported"


@operation(On.PROJECT, RESEARCHERS)
def log_export(
    db: Database, actor: Actor, project_id: int, *, study_id: int | None, manifest_sha256: str, details: dict[str, Any]
) -> None:
    """Enter into the log that this person exported the project, or one study of it."""
    thing, thing_id = ("study", study_id) if study_id is not None else ("project", project_id)
    with db.write() as session:
        record(
            session,
            actor,
            EVENT,
            thing,
            thing_id,
            project_id=project_id,
            details={**details, "manifest_sha256": manifest_sha256},
        )


@operation(On.PROJECT, RESEARCHERS)
def check_may_export(db: Database, _actor: Actor, project_id: int) -> None:
    """Raise NotAllowed or NotFound unless this person may export the project now."""


@operation(On.PROJECT, READERS)
def is_logged(db: Database, _actor: Actor, project_id: int, *, manifest_sha256: str, after: int) -> bool:
    """Whether an export with this manifest was made after the event `after`."""
    query = pick(Event.details).where(
        col(Event.project_id) == project_id, col(Event.id) > after, col(Event.kind) == EVENT
    )
    with db.read() as session:
        rows = session.execute(query.order_by(col(Event.id))).scalars()
        return any(details.get("manifest_sha256") == manifest_sha256 for details in rows)
