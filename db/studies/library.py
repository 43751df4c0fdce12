"""The protocols that a project has of its own, in versions."""

from __future__ import annotations

from collections import Counter

from sqlmodel import Session, select

from annotators.asking.protocol_names import PROTOCOL_NAMES
from annotators.errors import InvalidInput
from annotators.protocols import Protocol
from db.engine import Database
from db.libraries import Added, Entry, Shelf
from db.models import ProtocolVersion, Study
from db.permissions import READERS, RESEARCHERS, Actor, On, operation

_SHELF = Shelf(PROTOCOL_NAMES, ProtocolVersion, "protocol", load=Protocol.model_validate, digest=Protocol.digest)


@operation(On.PROJECT, RESEARCHERS)
def add_protocol(
    db: Database, actor: Actor, project_id: int, *, protocol: Protocol, on: int | None = None
) -> Added[Protocol]:
    """Put a protocol into the project's library (`Shelf.add`).

    Raises NameTaken for another content under a built-in name, InvalidInput for a protocol of which something does not
    work yet.
    """
    if not_yet := protocol.not_yet():
        raise InvalidInput("\n".join(not_yet))
    return _SHELF.add(db, actor, project_id, protocol, on=on)


@operation(On.PROJECT, READERS)
def list_protocols(db: Database, _actor: Actor, project_id: int) -> list[Entry[Protocol]]:
    """The project's own protocols, by name and then the newest version first; used by so many studies."""
    with db.read() as session:
        used = Counter(session.exec(select(Study.protocol_hash).where(Study.project_id == project_id)).all())
        return _SHELF.entries(session, project_id, used)


@operation(On.PROJECT, READERS)
def named_protocol(db: Database, _actor: Actor, project_id: int, *, name: str) -> Protocol:
    """The protocol called `NAME` or `NAME@VERSION`, of the project's library or built in; NotFound lists the names."""
    with db.read() as session:
        return protocol_in(session, project_id, name)


def protocol_in(session: Session, project_id: int, name: str) -> Protocol:
    """As `named_protocol`, in the caller's session."""
    return _SHELF.find(session, project_id, name)
