"""Who acts, in which role, and the door that every operation goes through."""

from __future__ import annotations

import functools
import inspect
import random
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import ColumnElement, Connection, Select, bindparam, func
from sqlalchemy import select as sql_select
from sqlmodel import Session

from annotators.errors import NotAllowed, NotFound, NotSignedIn
from db.engine import Database, Deadlocked, as_one
from db.models import Account, Assignment, Event, Membership, Person, Project, Study, StudyItem
from db.query import pick, table_of
from db.unfit import refuse_unfit


class Role(StrEnum):
    """Roles in a project. Administrators stand above projects and may do all that a researcher may."""

    VIEWER = "viewer"
    ANNOTATOR = "annotator"
    REVISER = "reviser"
    ADJUDICATOR = "adjudicator"
    RESEARCHER = "researcher"


RESEARCHERS = frozenset({Role.RESEARCHER})
ADJUDICATORS = frozenset({Role.RESEARCHER, Role.ADJUDICATOR})
ANNOTATORS = frozenset({Role.RESEARCHER, Role.ADJUDICATOR, Role.ANNOTATOR})
READERS = frozenset({Role.RESEARCHER, Role.ADJUDICATOR, Role.VIEWER})
REVISERS = frozenset({Role.RESEARCHER, Role.REVISER})
IN_STUDIES = READERS | ANNOTATORS
"""Whoever has to do with a project's studies: not who only revises its items."""
EVERYBODY = frozenset(Role)


@dataclass(frozen=True)
class Actor:
    """The person an operation is done for. `via` says from where: web or command."""

    person_id: int
    name: str
    is_admin: bool = False
    default_role: str | None = None
    via: str = "web"


class On(StrEnum):
    """What the first argument after the actor names, and so which project's roles are asked."""

    APP = "app"
    PROJECT = "project"
    STUDY = "study"
    STUDY_ITEM = "study_item"
    ASSIGNMENT = "assignment"


@dataclass(frozen=True)
class Operation:
    """One entry of the list of operations: what it is about and who may do it (no roles: administrators only)."""

    name: str
    on: On
    roles: frozenset[Role]
    signed_in_only: bool
    function: Callable[..., Any]


OPERATIONS: dict[str, Operation] = {}
"""Every operation by module and name. A test walks it as each role and as nobody."""

_ATTEMPTS = 5

_PERSON, _MEMBERSHIP, _PROJECT = table_of(Person), table_of(Membership), table_of(Project)
_STUDY, _STUDY_ITEM, _ASSIGNMENT = table_of(Study), table_of(StudyItem), table_of(Assignment)

P = ParamSpec("P")
R = TypeVar("R")


def operation(
    on: On, roles: Iterable[Role] = (), *, anyone_signed_in: bool = False
) -> Callable[[Callable[Concatenate[Database, Actor, P], R]], Callable[Concatenate[Database, Actor | None, P], R]]:
    """Mark `function(db, actor, thing_id, …)` as an operation that `roles` (and administrators) may do.

    The check runs before anything else of the operation; what no database keeps is refused even before
    (`refuse_unfit`). `anyone_signed_in` is for operations that themselves narrow what they give to the actor (my
    projects, my work).
    """
    allowed = frozenset(roles)

    def decorate(
        function: Callable[Concatenate[Database, Actor, P], R],
    ) -> Callable[Concatenate[Database, Actor | None, P], R]:
        name = f"{function.__module__.removeprefix('db.')}.{function.__name__}"
        names = tuple(inspect.signature(function).parameters)[2:]

        @functools.wraps(function)
        def checked(db: Database, actor: Actor | None, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if actor is None:
                raise NotSignedIn("Nobody is signed in. Sign in and try again.")
            refuse_unfit({**dict(zip(names, args, strict=False)), **kwargs})
            thing = None if on is On.APP else args[0] if args else kwargs.get(names[0])
            doing = function.__name__
            with as_one():
                with db.glance() as connection:
                    check(connection, actor, on, thing, allowed, anyone_signed_in=anyone_signed_in, doing=doing)
                return _again_when_deadlocked(lambda: function(db, actor, *args, **kwargs))

        OPERATIONS[name] = Operation(name, on, allowed, anyone_signed_in, checked)
        return checked

    return decorate


def _again_when_deadlocked(attempt: Callable[[], R]) -> R:
    """Run an operation, and run it again when PostgreSQL has undone it to end a deadlock."""
    for number in range(_ATTEMPTS - 1):
        try:
            return attempt()
        except Deadlocked:
            time.sleep(random.uniform(0, 0.05 * 2**number))  # noqa: S311 - only to step out of each other's way
    return attempt()


# Roles: the one place that works them out; the door below and all queries take them from here -----------------------


@dataclass(frozen=True)
class Roles:
    """What a person is in every project, as the database has it now: an actor may have come in before it changed."""

    is_admin: bool
    default_role: str | None
    memberships: Mapping[int, str]

    def of(self, project_id: int) -> Role | None:
        """The role that they act in: administrators are researchers everywhere; None: they do not see the project."""
        if self.is_admin:
            return Role.RESEARCHER
        role = self.memberships.get(project_id, self.default_role)
        return Role(role) if role else None

    def may_create_projects(self) -> bool:
        """Whether they may make projects, in which they are researchers then."""
        return self.is_admin or self.default_role == Role.RESEARCHER


def roles_of(session: Session, person_id: int) -> Roles:
    """What a person is in every project."""
    person = session.get_one(Person, person_id)
    rows = session.execute(
        pick(_MEMBERSHIP.c.project_id, _MEMBERSHIP.c.role).where(_MEMBERSHIP.c.person_id == person_id)
    )
    return Roles(person.is_admin, person.default_role, {row[0]: row[1] for row in rows})


def role_in(session: Session, person_id: int, project_id: int) -> Role | None:
    """The role that a person acts in within a project, as `Roles.of` says."""
    person = session.get_one(Person, person_id)
    mine = pick(_MEMBERSHIP.c.role).where(_MEMBERSHIP.c.project_id == project_id, _MEMBERSHIP.c.person_id == person_id)
    role = session.execute(mine).scalar()
    memberships = {} if role is None else {project_id: role}
    return Roles(person.is_admin, person.default_role, memberships).of(project_id)


def held_role(membership: Any = _MEMBERSHIP.c, person: Any = _PERSON.c) -> ColumnElement[Any]:
    """The role that somebody holds in a project, in a query that joins the membership where there is one.

    The membership goes before the person's default. What administrators may besides is not in it.
    """
    return func.coalesce(membership.role, person.default_role)


# The door -------------------------------------------------------------------------------------------------------------


def _standing(on: On) -> Select[Any]:
    """A query for the person's row and, for the thing `on` names, its project and the person's membership there."""
    found = sql_select(_PERSON.c.is_admin, _PERSON.c.default_role, _PERSON.c.erased_at)
    found = found.where(_PERSON.c.id == bindparam("person"))
    if on is On.APP:
        return found
    project, joined = {
        On.PROJECT: (_PROJECT.c.id, _PROJECT),
        On.STUDY: (_STUDY.c.project_id, _STUDY),
        On.STUDY_ITEM: (_STUDY.c.project_id, _STUDY_ITEM.join(_STUDY)),
        On.ASSIGNMENT: (_STUDY.c.project_id, _ASSIGNMENT.join(_STUDY)),
    }[on]
    things = {On.PROJECT: _PROJECT, On.STUDY: _STUDY, On.STUDY_ITEM: _STUDY_ITEM, On.ASSIGNMENT: _ASSIGNMENT}
    member = (_MEMBERSHIP.c.project_id == project) & (_MEMBERSHIP.c.person_id == _PERSON.c.id)
    rows = _PERSON.outerjoin(joined, things[on].c.id == bindparam("thing")).outerjoin(_MEMBERSHIP, member)
    return found.add_columns(project, held_role().label("role")).select_from(rows)


_STANDING = {on: _standing(on) for on in On}


def check(
    connection: Connection,
    actor: Actor,
    on: On,
    thing: object,
    allowed: frozenset[Role],
    *,
    anyone_signed_in: bool = False,
    doing: str = "this",
) -> None:
    """Raise NotAllowed unless the actor is there, is not erased, and has one of the allowed roles.

    One statement, as every operation begins with it.
    """
    values = {"person": actor.person_id} | ({} if on is On.APP else {"thing": thing})
    person = connection.execute(_STANDING[on], values).first()
    if person is None or person.erased_at is not None:
        raise NotSignedIn(f"The account of {actor.name!r} no longer exists. Sign in with another.")
    if person.is_admin or anyone_signed_in:
        return
    words = doing.replace("_", " ")
    if on is On.APP:
        raise NotAllowed(f"{actor.name!r} may not {words}: only an administrator may.")
    project_id, role = person[3:]
    if project_id is None:
        raise NotFound(f"There is no {on.value.replace('_', ' ')} with id {thing!r}.")
    if role is None:
        raise NotFound(f"There is no {on.value.replace('_', ' ')} {thing!r} that {actor.name!r} can see.")
    if role not in allowed:
        may = ", ".join(sorted(allowed)) or "administrator"
        if " " not in doing:  # the name of an operation, which is not always what one does
            words = f"do this ({words})"
        raise NotAllowed(f"{actor.name!r} is {role} here and may not {words}. Roles that may: {may}.")


def actor_of(session: Session, person_id: int, via: str) -> Actor:
    """The actor for a person with an account."""
    person, account = session.get_one(Person, person_id), session.get_one(Account, person_id)
    return Actor(person_id, account.name, person.is_admin, person.default_role, via)


def record(
    session: Session,
    actor: Actor,
    kind: str,
    thing: str,
    thing_id: int | None,
    *,
    project_id: int | None = None,
    details: dict[str, Any] | None = None,
) -> None:
    """Append an event to the audit log, in the caller's transaction."""
    session.add(
        Event(
            person_id=actor.person_id,
            via=actor.via,
            project_id=project_id,
            kind=kind,
            thing=thing,
            thing_id=thing_id,
            details=details or {},
        )
    )
