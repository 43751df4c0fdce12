"""The protocols that a project has of its own, in versions: added, listed, found beside the built-in ones.

Nothing in the library is changed or removed: what differs from the newest version is the next one. A built-in name
stands for the built-in protocol in every project. Label Studio's templates and Argilla's dataset names behave alike:
one starts from a template and has something of one's own, and a name that is taken is refused with an error rather than
given a second meaning. Whoever reads `qa_verification` in an export or a paper can rely on what was asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from annotators.asking.protocol_names import find_protocol, say_the_same, taken_name
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS, Protocol
from db.engine import Database
from db.models import Project, ProtocolVersion, Study
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record


@dataclass(frozen=True)
class LibraryEntry:
    """One version of a protocol of the project: what it says, who added it, when, and how many studies have used it."""

    protocol: Protocol
    hash: str
    who: str | None
    created_at: datetime
    studies: int


@dataclass(frozen=True)
class Added:
    """What adding a protocol came to.

    `new` says whether there is a version that was not there before. `since` are the versions that others have added
    since the one that was changed: nothing of them is in this one.
    """

    protocol: Protocol
    hash: str
    new: bool
    since: tuple[int, ...] = ()


class NameTaken(InvalidInput):
    """A protocol of one's own has the name of a built-in one."""


class _Library:
    """What the resolver of names asks for (`annotators.asking.protocol_names.Library`)."""

    def __init__(self, session: Session, project_id: int) -> None:
        self._session, self._project_id = session, project_id

    def names(self) -> Sequence[str]:
        query = select(ProtocolVersion.name).where(ProtocolVersion.project_id == self._project_id).distinct()
        return self._session.exec(query).all()

    def versions(self, name: str) -> Sequence[int]:
        query = select(ProtocolVersion.version).where(
            ProtocolVersion.project_id == self._project_id, ProtocolVersion.name == name
        )
        return self._session.exec(query.order_by(col(ProtocolVersion.version))).all()

    def get(self, name: str, version: int) -> Protocol:
        query = select(ProtocolVersion).where(
            ProtocolVersion.project_id == self._project_id,
            ProtocolVersion.name == name,
            ProtocolVersion.version == version,
        )
        return Protocol.model_validate(self._session.exec(query).one().protocol)


@operation(On.PROJECT, RESEARCHERS)
def add_protocol(db: Database, actor: Actor, project_id: int, *, protocol: Protocol, on: int | None = None) -> Added:
    """Put a protocol into the project's library.

    What says the same as the newest version of its name, or as the built-in protocol of its name, is that one and
    nothing is stored. Anything else is the next version: the one that the protocol gives itself where that is higher
    than all there are, else one more than the newest. `on` is the version that somebody has changed, where they
    have. Raises NameTaken for another content under a built-in name, InvalidInput for a protocol of which something
    does not work yet.
    """
    if not_yet := protocol.not_yet():
        raise InvalidInput("\n".join(not_yet))
    with db.write() as session:
        session.exec(select(Project.id).where(Project.id == project_id).with_for_update()).one()
        rows = session.exec(
            select(ProtocolVersion.version, ProtocolVersion.protocol)
            .where(ProtocolVersion.project_id == project_id, ProtocolVersion.name == protocol.name)
            .order_by(col(ProtocolVersion.version))
        ).all()
        if not rows and protocol.name in PROTOCOLS.names():
            if taken := taken_name(protocol):
                raise NameTaken(taken)
            built_in = PROTOCOLS.get(protocol.name)
            return Added(built_in, built_in.digest(), new=False)
        newest = Protocol.model_validate(rows[-1][1]) if rows else None
        if newest is not None and say_the_same(protocol, newest):
            return Added(newest, newest.digest(), new=False)
        version = max(protocol.version, newest.version + 1 if newest else 1)
        stored = protocol.model_copy(update={"version": version})
        row = ProtocolVersion(
            project_id=project_id,
            name=stored.name,
            version=version,
            protocol=stored.model_dump(mode="json"),
            protocol_hash=stored.digest(),
            person_id=actor.person_id,
        )
        session.add(row)
        session.flush()
        details = {"name": stored.name, "version": version, "sha256": row.protocol_hash}
        record(session, actor, "protocol added", "protocol", row.id, project_id=project_id, details=details)
        since = tuple(number for number, _ in rows if on is not None and number > on)
        return Added(stored, row.protocol_hash, new=True, since=since)


@operation(On.PROJECT, READERS)
def list_protocols(db: Database, _actor: Actor, project_id: int) -> list[LibraryEntry]:
    """The project's own protocols, by name and then the newest version first."""
    with db.read() as session:
        rows = session.exec(
            select(ProtocolVersion)
            .where(ProtocolVersion.project_id == project_id)
            .order_by(col(ProtocolVersion.name), col(ProtocolVersion.version).desc())
        ).all()
        people = names_of(session, [row.person_id for row in rows])
        used = session.exec(select(Study.protocol_hash).where(Study.project_id == project_id)).all()
        return [
            LibraryEntry(
                Protocol.model_validate(row.protocol),
                row.protocol_hash,
                people.get(row.person_id),
                row.created_at,
                used.count(row.protocol_hash),
            )
            for row in rows
        ]


@operation(On.PROJECT, READERS)
def named_protocol(db: Database, _actor: Actor, project_id: int, *, name: str) -> Protocol:
    """The protocol called `NAME` or `NAME@VERSION`, of the project's library or built in; NotFound lists the names."""
    with db.read() as session:
        return protocol_in(session, project_id, name)


def protocol_in(session: Session, project_id: int, name: str) -> Protocol:
    """As `named_protocol`, in the caller's session."""
    return find_protocol(name, _Library(session, project_id))
