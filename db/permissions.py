"""Who acts, in which role, and the door that every operation goes through."""

from __future__ import annotations

import functools
import random
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlmodel import Session, select

from annotators.errors import NotAllowed, NotFound, NotSignedIn
from db.engine import Database, Deadlocked
from db.models import Account, Assignment, Event, Membership, Person, Project, Study, StudyItem


class Role(StrEnum):
    """Roles in a project. Administrators stand above projects and may do all that a researcher may."""

    VIEWER = "viewer"
    ANNOTATOR = "annotator"
    ADJUDICATOR = "adjudicator"
    RESEARCHER = "researcher"


RESEARCHERS = frozenset({Role.RESEARCHER})
ADJUDICATORS = frozenset({Role.RESEARCHER, Role.ADJUDICATOR})
ANNOTATORS = frozenset({Role.RESEARCHER, Role.ADJUDICATOR, Role.ANNOTATOR})
READERS = frozenset({Role.RESEARCHER, Role.ADJUDICATOR, Role.VIEWER})
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

P = ParamSpec("P")
R = TypeVar("R")


def operation(
    on: On, roles: Iterable[Role] = (), *, anyone_signed_in: bool = False
) -> Callable[[Callable[Concatenate[Database, Actor, P], R]], Callable[Concatenate[Database, Actor | None, P], R]]:
    """Mark `function(db, actor, thing_id, …)` as an operation that `roles` (and administrators) may do.

    The check runs before anything else of the operation. `anyone_signed_in` is for operations that themselves narrow
    what they give to the actor (my projects, my work).
    """
    allowed = frozenset(roles)

    def decorate(
        function: Callable[Concatenate[Database, Actor, P], R],
    ) -> Callable[Concatenate[Database, Actor | None, P], R]:
        name = f"{function.__module__.removeprefix('db.')}.{function.__name__}"

        @functools.wraps(function)
        def checked(db: Database, actor: Actor | None, /, *args: P.args, **kwargs: P.kwargs) -> R:
            if actor is None:
                raise NotSignedIn("Nobody is signed in. Sign in and try again.")
            thing = args[0] if args and on is not On.APP else None
            with db.read() as session:
                check(session, actor, on, thing, allowed, anyone_signed_in=anyone_signed_in, doing=function.__name__)
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


def check(
    session: Session,
    actor: Actor,
    on: On,
    thing: object,
    allowed: frozenset[Role],
    *,
    anyone_signed_in: bool = False,
    doing: str = "this",
) -> None:
    """Raise NotAllowed unless the actor is there, is not erased, and has one of the allowed roles."""
    row = session.exec(
        select(Person.is_admin, Person.default_role, Person.erased_at).where(Person.id == actor.person_id)
    )
    person = row.first()
    if person is None or person[2] is not None:
        raise NotSignedIn(f"The account of {actor.name!r} no longer exists. Sign in with another.")
    if person[0] or anyone_signed_in:
        return
    words = doing.replace("_", " ")
    if on is On.APP:
        raise NotAllowed(f"{actor.name!r} may not {words}: only an administrator may.")
    project_id = project_of(session, on, thing)
    role = role_in(session, actor.person_id, person[1], project_id)
    if role is None:
        raise NotFound(f"There is no {on.value.replace('_', ' ')} {thing!r} that {actor.name!r} can see.")
    if role not in allowed:
        may = ", ".join(sorted(allowed)) or "administrator"
        raise NotAllowed(f"{actor.name!r} is {role} here and may not {words}. Roles that may: {may}.")


def project_of(session: Session, on: On, thing: object) -> int:
    """The project that a project, study, study item or assignment id belongs to."""
    query = {
        On.PROJECT: select(Project.id).where(Project.id == thing),
        On.STUDY: select(Study.project_id).where(Study.id == thing),
        On.STUDY_ITEM: select(Study.project_id).join(StudyItem).where(StudyItem.id == thing),
        On.ASSIGNMENT: select(Study.project_id).join(Assignment).where(Assignment.id == thing),
    }[on]
    found: int | None = session.exec(query).first()
    if found is None:
        raise NotFound(f"There is no {on.value.replace('_', ' ')} with id {thing!r}.")
    return found


def role_in(session: Session, person_id: int, default_role: str | None, project_id: int) -> Role | None:
    """The person's role in a project: the membership, else the person's default, else none."""
    membership = session.get(Membership, (project_id, person_id))
    role = membership.role if membership else default_role
    return Role(role) if role else None


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
