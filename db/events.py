"""The audit log as it is read, paged by key: newest first on the page, oldest first where all of it is wanted."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlmodel import Session, col, select
from sqlmodel.sql.expression import SelectOfScalar

from db.engine import Database
from db.models import Event, Project
from db.people.accounts import names_of
from db.people.named import numbers_in, with_names
from db.permissions import RESEARCHERS, Actor, On, operation

PAGE = 50


@dataclass(frozen=True)
class EventRow:
    """One event. `who` is None when nobody was signed in; `about` names what it was done to, a person by name."""

    event_id: int
    at: datetime
    who: str | None
    via: str
    project: str | None
    kind: str
    about: str
    details: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        """As `assay events` prints it."""
        return {"event" if name == "event_id" else name: value for name, value in vars(self).items()}


@operation(On.APP)
def list_events(
    db: Database, actor: Actor, *, before: int | None = None, kind: str | None = None, limit: int = PAGE
) -> list[EventRow]:
    """Events of the whole installation with an id below `before`, newest first; `kind` is how the kind begins."""
    return _page(db, None, before, kind, limit)


@operation(On.PROJECT, RESEARCHERS)
def project_events(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    before: int | None = None,
    kind: str | None = None,
    limit: int = PAGE,
) -> list[EventRow]:
    """Events of one project with an id below `before`, newest first; `kind` is how the kind begins."""
    return _page(db, project_id, before, kind, limit)


@operation(On.PROJECT, RESEARCHERS)
def events_after(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    after: int = 0,
    kind: str | None = None,
    since: datetime | None = None,
    limit: int = PAGE,
) -> list[EventRow]:
    """Events of one project with an id above `after`, oldest first, from `since` on; `kind` is how the kind begins."""
    query = select(Event).where(Event.project_id == project_id, col(Event.id) > after).order_by(col(Event.id))
    if since is not None:
        query = query.where(col(Event.at) >= since)
    return _read(db, query, kind, limit)


@operation(On.PROJECT, RESEARCHERS)
def event_kinds(db: Database, _actor: Actor, project_id: int) -> list[str]:
    """The kinds of event that a project has had, by name."""
    with db.read() as session:
        return sorted(session.exec(select(Event.kind).where(Event.project_id == project_id).distinct()))


def _page(db: Database, project_id: int | None, before: int | None, kind: str | None, limit: int) -> list[EventRow]:
    query = select(Event).order_by(col(Event.id).desc())
    if project_id is not None:
        query = query.where(Event.project_id == project_id)
    if before is not None:
        query = query.where(col(Event.id) < before)
    return _read(db, query, kind, limit)


def _read(db: Database, query: SelectOfScalar[Event], kind: str | None, limit: int) -> list[EventRow]:
    if kind:
        query = query.where(col(Event.kind).startswith(kind, autoescape=True))
    with db.read() as session:
        events = session.exec(query.limit(limit)).all()
        return _rows(session, list(events))


def _rows(session: Session, events: list[Event]) -> list[EventRow]:
    acting = {event.person_id for event in events if event.person_id is not None}
    concerned = {event.thing_id for event in events if event.thing == "person" and event.thing_id is not None}
    told = {number for event in events for number in numbers_in(event.kind, event.details)}
    people = names_of(session, acting | concerned | told)
    wanted = {event.project_id for event in events if event.project_id is not None}
    projects = dict(session.exec(select(Project.id, Project.name).where(col(Project.id).in_(wanted))).all())

    def called(who: int | str) -> str:
        return people.get(who, str(who)) if isinstance(who, int) else who

    return [
        EventRow(
            event.id or 0,
            event.at,
            people.get(event.person_id) if event.person_id is not None else None,
            event.via,
            projects.get(event.project_id),
            event.kind,
            _about(event, people),
            with_names(event.kind, event.details, called),
        )
        for event in events
    ]


def _about(event: Event, people: dict[int, str]) -> str:
    if event.thing_id is None:
        return event.thing
    if event.thing == "person":
        return people[event.thing_id]
    return f"{event.thing} {event.thing_id}"
