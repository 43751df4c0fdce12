"""Mappings that a project keeps under names: which column of a table is which field, and how its values are read.

What a mapping says is plain data here; `exports.columns.mapping` makes and reads it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import orjson
from sqlmodel import Session, col, select

from annotators.errors import InvalidInput, NotFound, shown
from db.engine import Database
from db.models import KeptMapping, Project, now
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record

LONGEST_NAME = 100
MOST_BYTES = 200_000
"""Bytes of what one mapping says: some thousands of columns."""


@dataclass(frozen=True)
class NamedMapping:
    """A mapping under its name; by whom and when it was kept or changed last."""

    name: str
    mapping: dict[str, Any]
    by: str | None
    changed_at: datetime


@operation(On.PROJECT, RESEARCHERS)
def keep_mapping(db: Database, actor: Actor, project_id: int, *, name: str, mapping: Mapping[str, Any]) -> bool:
    """Keep a mapping under a name, in the place of one that has it; whether there was one.

    InvalidInput for a name that is none, or that a command would take for a field and its column.
    """
    name = _checked(name)
    said = dict(mapping)
    if len(orjson.dumps(said)) > MOST_BYTES:
        raise InvalidInput(f"A mapping says no more than {MOST_BYTES >> 10} kB. Name columns by a pattern (Answer.*).")
    with db.write() as session:
        session.exec(select(Project.id).where(Project.id == project_id).with_for_update()).one()
        kept = _found(session, project_id, name)
        was_there = kept is not None
        kept = kept or KeptMapping(project_id=project_id, name=name, mapping=said)
        kept.mapping, kept.changed_by, kept.changed_at = said, actor.person_id, now()
        session.add(kept)
        session.flush()
        did = "mapping changed" if was_there else "mapping kept"
        record(session, actor, did, "mapping", kept.id, project_id=project_id, details={"name": name})
        return was_there


@operation(On.PROJECT, READERS)
def kept_mappings(db: Database, _actor: Actor, project_id: int) -> list[NamedMapping]:
    """The project's mappings, by name."""
    with db.read() as session:
        rows = session.exec(
            select(KeptMapping).where(KeptMapping.project_id == project_id).order_by(col(KeptMapping.name))
        ).all()
        people = names_of(session, [row.changed_by for row in rows if row.changed_by is not None])
        return [
            NamedMapping(row.name, row.mapping, people.get(row.changed_by) if row.changed_by else None, row.changed_at)
            for row in rows
        ]


@operation(On.PROJECT, READERS)
def kept_mapping(db: Database, actor: Actor, project_id: int, *, name: str) -> NamedMapping:
    """The mapping of this name; NotFound lists those that the project has."""
    there = {kept.name: kept for kept in kept_mappings(db, actor, project_id)}
    if name.strip() not in there:
        raise NotFound(
            f"The project has no mapping {shown(name)}. It has: {', '.join(there) or 'none'}. A field and its column "
            "are written FIELD=COLUMN."
        )
    return there[name.strip()]


@operation(On.PROJECT, RESEARCHERS)
def forget_mapping(db: Database, actor: Actor, project_id: int, *, name: str) -> None:
    """Delete a mapping; what came in by it stays. NotFound lists those that the project has."""
    kept_mapping(db, actor, project_id, name=name)
    with db.write() as session:
        kept = _found(session, project_id, name.strip())
        if kept is not None:
            details = {"name": kept.name}
            record(session, actor, "mapping deleted", "mapping", kept.id, project_id=project_id, details=details)
            session.delete(kept)


def _checked(name: str) -> str:
    name = name.strip()
    if not name or len(name) > LONGEST_NAME:
        raise InvalidInput(f"A mapping is kept under a name of 1 to {LONGEST_NAME} characters. Give one.")
    if "=" in name or "/" in name or not name.isprintable():
        raise InvalidInput(f"{shown(name)} is no name of a mapping: it has no = and no / in it. Give another.")
    return name


def _found(session: Session, project_id: int, name: str) -> KeptMapping | None:
    query = select(KeptMapping).where(KeptMapping.project_id == project_id, KeptMapping.name == name)
    return session.exec(query).first()
