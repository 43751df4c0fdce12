"""What a project has of its own in versions: added, listed, found beside the built-in ones.

Nothing in a library is changed or removed: what differs from the newest version is the next one. A built-in name stands
for the built-in thing in every project. Label Studio's templates and Argilla's dataset names behave alike: one starts
from a template and has something of one's own, and a name that is taken is refused with an error rather than given a
second meaning. Whoever reads `qa_verification` in an export or a paper can rely on what was asked.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Generic

from sqlmodel import Session, col, select

from annotators.asking.versioned import Names, T
from annotators.errors import InvalidInput
from db.engine import Database
from db.models import Project
from db.people.accounts import names_of
from db.permissions import Actor, record


@dataclass(frozen=True)
class Entry(Generic[T]):
    """One version of a thing of the project: what it says, who added it, when, and how many have `used` it."""

    kept: T
    hash: str
    who: str | None
    created_at: datetime
    used: int


@dataclass(frozen=True)
class Added(Generic[T]):
    """What adding one came to.

    `new` says whether there is a version that was not there before. `since` are the versions that others have added
    since the one that was changed: nothing of them is in this one.
    """

    kept: T
    hash: str
    new: bool
    since: tuple[int, ...] = ()


class NameTaken(InvalidInput):
    """A thing of one's own has the name of a built-in one."""


class Shelf(Generic[T]):
    """The libraries of all projects for one sort of thing.

    `table` (of db/models.py) has its versions, the data in the column `body` and its hash in `body`_hash.
    `load` makes a thing of the data, `digest` the hash that it is known by.
    """

    def __init__(
        self,
        names: Names[T],
        table: Any,
        body: str,
        *,
        load: Callable[[Any], T],
        digest: Callable[[T], str],
    ) -> None:
        self.names, self._table, self._body, self._load, self._digest = names, table, body, load, digest

    def add(self, db: Database, actor: Actor, project_id: int, thing: T, *, on: int | None) -> Added[T]:
        """Put one into the project's library.

        What says the same as the newest version of its name, or as the built-in one of its name, is that one and
        nothing is stored. Anything else is the next version: the one that it gives itself where that is higher than
        all there are, else one more than the newest. `on` is the version that somebody has changed, where they have.
        Raises NameTaken for another content under a built-in name.
        """
        table, noun = self._table, self.names.noun
        with db.write() as session:
            session.exec(select(Project.id).where(Project.id == project_id).with_for_update()).one()
            rows = session.exec(
                select(table)
                .where(col(table.project_id) == project_id, col(table.name) == thing.name)
                .order_by(col(table.version))
            ).all()
            if not rows and thing.name in self.names.built_in.names():
                if taken := self.names.taken(thing):
                    raise NameTaken(taken)
                built_in = self.names.built_in.get(thing.name)
                return Added(built_in, self._digest(built_in), new=False)
            newest = self._of(rows[-1]) if rows else None
            if newest is not None and self.names.same(thing, newest):
                return Added(newest, self._digest(newest), new=False)
            version = max(thing.version, newest.version + 1 if newest else 1)
            stored = self._load({**thing.model_dump(mode="json"), "version": version})
            data = {
                "project_id": project_id,
                "name": stored.name,
                "version": version,
                self._body: stored.model_dump(mode="json"),
                f"{self._body}_hash": self._digest(stored),
                "person_id": actor.person_id,
            }
            row = table(**data)
            session.add(row)
            session.flush()
            details = {"name": stored.name, "version": version, "sha256": self._digest(stored)}
            record(session, actor, f"{noun} added", noun, row.id, project_id=project_id, details=details)
            since = tuple(other.version for other in rows if on is not None and other.version > on)
            return Added(stored, self._digest(stored), new=True, since=since)

    def entries(self, session: Session, project_id: int, used: Mapping[str, int]) -> list[Entry[T]]:
        """Everything in the project's library, by name and then the newest version first; `used` by hash."""
        table = self._table
        rows = session.exec(
            select(table)
            .where(col(table.project_id) == project_id)
            .order_by(col(table.name), col(table.version).desc())
        ).all()
        people = names_of(session, [row.person_id for row in rows])
        return [
            Entry(self._of(row), digest, people.get(row.person_id), row.created_at, used.get(digest, 0))
            for row in rows
            for digest in (getattr(row, f"{self._body}_hash"),)
        ]

    def find(self, session: Session, project_id: int, name: str) -> T:
        """The one called `NAME` or `NAME@VERSION`, of the project's library or built in; NotFound lists the names."""
        return self.names.find(name, _OfProject(self, session, project_id))

    def versions(self, session: Session, project_id: int, name: str) -> list[int]:
        """The versions that the project has of a name, oldest first."""
        table = self._table
        query = select(table.version).where(col(table.project_id) == project_id, col(table.name) == name)
        return list(session.exec(query.order_by(col(table.version))).all())

    def all_names(self, session: Session, project_id: int) -> list[str]:
        """The names that the project has."""
        table = self._table
        return list(session.exec(select(table.name).where(col(table.project_id) == project_id).distinct()).all())

    def get(self, session: Session, project_id: int, name: str, version: int) -> T:
        """A version that is there."""
        table = self._table
        mine = (col(table.project_id) == project_id, col(table.name) == name, col(table.version) == version)
        return self._of(session.exec(select(table).where(*mine)).one())

    def _of(self, row: Any) -> T:
        return self._load(getattr(row, self._body))


class _OfProject(Generic[T]):
    """What the resolver of names asks for (`annotators.asking.versioned.Library`)."""

    def __init__(self, shelf: Shelf[T], session: Session, project_id: int) -> None:
        self._shelf, self._session, self._project_id = shelf, session, project_id

    def names(self) -> Sequence[str]:
        return self._shelf.all_names(self._session, self._project_id)

    def versions(self, name: str) -> Sequence[int]:
        return self._shelf.versions(self._session, self._project_id, name)

    def get(self, name: str, version: int) -> T:
        return self._shelf.get(self._session, self._project_id, name, version)
