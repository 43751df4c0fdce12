"""People and what they may do: accounts, roles in projects, passwords, erasure."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from sqlalchemy import delete, func, text, update
from sqlalchemy.exc import IntegrityError
from sqlmodel import Session, col, select
from sqlmodel.sql.expression import Select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound, shown
from db.engine import Database
from db.models import (
    Account,
    Membership,
    OutsideAnnotator,
    Person,
    PersonKind,
    Preference,
    Project,
    SignInFailure,
    UnsavedText,
    WebSession,
    now,
)
from db.names import visible_name
from db.people.passwords import check_rules, hashed, matches
from db.people.sign_in import end_sessions, failure_key
from db.permissions import (
    ADJUDICATORS,
    ANNOTATORS,
    RESEARCHERS,
    REVISERS,
    Actor,
    On,
    Role,
    actor_of,
    held_role,
    operation,
    record,
    roles_of,
)
from db.query import pick
from db.unfit import refuse_unfit

LOCAL_NAME = "admin"
MAX_NAME = 100
_BEGINNING = 4_153_534_160
"""The advisory lock of PostgreSQL under which the first administrator is made."""


@dataclass(frozen=True)
class PersonRow:
    """One person with an account. `roles` are the memberships: project name → role."""

    person_id: int
    name: str
    is_admin: bool
    default_role: Role | None
    has_password: bool
    created_at: datetime
    roles: dict[str, Role] = field(default_factory=dict)


@dataclass(frozen=True)
class MemberRow:
    """A person with a role in a project; `explicit` tells a membership from the person's default role."""

    person_id: int
    name: str
    role: Role
    explicit: bool


# Accounts -------------------------------------------------------------------------------------------------------------


@operation(On.APP)
def add_person(
    db: Database,
    actor: Actor,
    name: str,
    *,
    password: str | None = None,
    admin: bool = False,
    default_role: Role | str | None = None,
) -> int:
    """Make an account and return the person's id. Without a password they come in by a one-time sign-in address.

    `default_role` is the person's role in every project that does not give them another. Raises InvalidInput for an
    unfit name, password or role, Conflict when the name is taken (capitals make no difference).
    """
    clean, role = visible_name(name, "name", MAX_NAME), _role(default_role)
    password_hash = hashed(check_rules(password, clean)) if password is not None else None
    with db.write() as session:
        person_id = _add(session, clean, password_hash, admin=admin, role=role)
        record(session, actor, "person added", "person", person_id, details={"admin": admin, "default_role": role})
        return person_id


@operation(On.APP)
def list_people(db: Database, actor: Actor) -> list[PersonRow]:
    """Everybody with an account, by name. Judges and erased persons are not people here."""
    with db.read() as session:
        roles: dict[int, dict[str, Role]] = {}
        for person_id, project, role in session.exec(
            select(Membership.person_id, Project.name, Membership.role).join(Project).order_by(Project.name)
        ):
            roles.setdefault(person_id, {})[project] = Role(role)
        found = session.exec(_humans().order_by(Account.name)).all()
        return [
            PersonRow(
                account.person_id,
                account.name,
                person.is_admin,
                _role(person.default_role),
                account.password_hash is not None,
                person.created_at,
                roles.get(account.person_id, {}),
            )
            for person, account in found
        ]


@operation(On.APP)
def set_person(db: Database, actor: Actor, name: str, *, admin: bool, default_role: Role | str | None) -> None:
    """Change whether somebody is an administrator, and their default role. The last administrator stays one."""
    role = _role(default_role)
    with db.write() as session:
        person, _ = _human(session, name)
        if person.is_admin and not admin:
            _keep_an_administrator(session, name)
        person.is_admin, person.default_role = admin, role
        session.add(person)
        record(session, actor, "person changed", "person", person.id, details={"admin": admin, "default_role": role})


@operation(On.APP)
def set_password(db: Database, actor: Actor, name: str, *, password: str) -> None:
    """Give somebody a new password; it ends their sessions. Raises InvalidInput when the password is too weak."""
    password_hash = hashed(check_rules(password, name))
    with db.write() as session:
        _, account = _human(session, name)
        _keep(session, actor, account, password_hash)


@operation(On.APP, anyone_signed_in=True)
def change_password(db: Database, actor: Actor, *, old: str | None, new: str) -> None:
    """Change one's own password and end one's sessions in every browser, this one included.

    `old` may be None only while there is no password yet. Raises NotAllowed when `old` is wrong.
    """
    with db.read() as session:
        present = session.get_one(Account, actor.person_id).password_hash
    if present is not None and (old is None or not matches(present, old)):
        raise NotAllowed("The present password is wrong; nothing was changed. Type it again.")
    password_hash = hashed(check_rules(new, actor.name))
    with db.write() as session:
        _keep(session, actor, session.get_one(Account, actor.person_id), password_hash)


@operation(On.APP)
def revoke_sessions(db: Database, actor: Actor, name: str) -> int:
    """Sign somebody out everywhere and spoil their unused one-time addresses; returns how many there were."""
    with db.write() as session:
        _, account = _human(session, name)
        ended = end_sessions(session, account.person_id)
        record(session, actor, "sessions revoked", "person", account.person_id, details={"sessions": ended})
        return ended


@operation(On.APP)
def erase_person(db: Database, actor: Actor, name: str) -> int:
    """Delete what is known of a person (name, login, sessions, roles) and leave a tombstone; returns the person's id.

    What they submitted stays and carries the opaque id. Raises Conflict for the last administrator.
    """
    with db.write() as session:
        person, account = _human(session, name)
        if person.is_admin:
            _keep_an_administrator(session, name)
        person_id = account.person_id
        session.exec(delete(WebSession).where(col(WebSession.person_id) == person_id))
        session.exec(delete(Membership).where(col(Membership.person_id) == person_id))
        session.exec(
            update(OutsideAnnotator).where(col(OutsideAnnotator.person_id) == person_id).values(recruiter_id=None)
        )
        session.exec(delete(Preference).where(col(Preference.person_id) == person_id))
        session.exec(delete(UnsavedText).where(col(UnsavedText.person_id) == person_id))
        session.exec(delete(SignInFailure).where(col(SignInFailure.key) == failure_key("name", account.name)))
        session.delete(account)
        person.is_admin, person.default_role, person.erased_at = False, None, now()
        session.add(person)
        record(session, actor, "person erased", "person", person_id)
        return person_id


# Several people at once -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class PersonPlan:
    """One line of people that are to be added: what would be done for them, or (`problem`) why it cannot be."""

    line: int
    name: str
    role: str
    is_new: bool = False
    before: Role | None = None
    problem: str = ""


@operation(On.PROJECT, RESEARCHERS)
def plan_people(
    db: Database, actor: Actor, project_id: int, *, people: Sequence[tuple[int, str, str]]
) -> list[PersonPlan]:
    """What `add_people` would do with these (line, name, role); nothing is written."""
    with db.read() as session:
        return _planned(session, actor, project_id, people)


@operation(On.PROJECT, RESEARCHERS)
def add_people(db: Database, actor: Actor, project_id: int, *, people: Sequence[tuple[int, str, str]]) -> list[str]:
    """Give everybody named here (line, name, role) their role in the project, all or none; the names that are new.

    Somebody without an account gets one, which only an administrator may do; they come in by a one-time address.
    Raises InvalidInput naming every line that cannot be done.
    """
    with db.write() as session:
        plan = _planned(session, actor, project_id, people)
        if wrong := [f"line {person.line}: {person.problem}" for person in plan if person.problem]:
            raise InvalidInput("\n".join(wrong))
        for person in plan:
            if person.is_new:
                person_id = _add(session, person.name, None, admin=False, role=None)
                details = {"admin": False, "default_role": None}
                record(session, actor, "person added", "person", person_id, details=details)
            _set_member(session, actor, project_id, person.name, Role(person.role))
        return [person.name for person in plan if person.is_new]


def _planned(
    session: Session, actor: Actor, project_id: int, people: Sequence[tuple[int, str, str]]
) -> list[PersonPlan]:
    accounts = {account.name.casefold(): (person, account) for person, account in session.exec(_humans())}
    roles = {row.person_id: row.role for row in _held(session, project_id)}
    may_add = roles_of(session, actor.person_id).is_admin
    first: dict[str, int] = {}
    plan = []
    for line, given, given_role in people:
        name, role, problem, is_new, before = given, given_role, "", False, None
        try:
            name, role = visible_name(given, "name", MAX_NAME), Role(str(_role(given_role)))
            found = accounts.get(name.casefold())
            if name.casefold() in first:
                problem = f"{name!r} stands on line {first[name.casefold()]} already. Name everybody once."
            elif found is None and not may_add:
                problem = f"There is nobody named {name!r}, and only an administrator makes accounts. Ask one."
            elif found is not None and found[1].name != name:
                problem = f"The name {name!r} is taken: there is {found[1].name!r}. Write it so, or choose another."
            first.setdefault(name.casefold(), line)
            is_new = found is None
            if found is not None:
                before = roles.get(found[1].person_id)
        except InvalidInput as error:
            problem = str(error)
        plan.append(PersonPlan(line, name, str(role), is_new, before, problem))
    return plan


# Roles in a project ---------------------------------------------------------------------------------------------------


@operation(On.PROJECT, RESEARCHERS)
def set_member(db: Database, actor: Actor, project_id: int, *, name: str, role: Role | str) -> None:
    """Give a person a role in the project; it overrides their default role."""
    given = _role(role)
    if given is None:
        raise InvalidInput(f"A member needs a role: one of {', '.join(Role)}.")
    with db.write() as session:
        _set_member(session, actor, project_id, name, given)


def _set_member(session: Session, actor: Actor, project_id: int, name: str, role: Role) -> None:
    _, account = _human(session, name)
    membership = session.get(Membership, (project_id, account.person_id))
    if membership is None:
        membership = Membership(project_id=project_id, person_id=account.person_id, role=role)
    membership.role = role
    session.add(membership)
    record(session, actor, "member set", "person", account.person_id, project_id=project_id, details={"role": role})


@operation(On.PROJECT, RESEARCHERS)
def remove_member(db: Database, actor: Actor, project_id: int, *, name: str) -> None:
    """Take away a person's role in the project; a default role they have applies again."""
    with db.write() as session:
        _, account = _human(session, name)
        membership = session.get(Membership, (project_id, account.person_id))
        if membership is None:
            raise NotFound(f"{name!r} is no member of this project; there is nothing to remove.")
        session.delete(membership)
        record(session, actor, "member removed", "person", account.person_id, project_id=project_id)


@operation(On.PROJECT, ADJUDICATORS)
def list_members(db: Database, actor: Actor, project_id: int) -> list[MemberRow]:
    """Everybody who has a role in the project, by membership or by default, by name."""
    with db.read() as session:
        return _held(session, project_id)


def _held(session: Session, project_id: int) -> list[MemberRow]:
    """Everybody who holds a role in the project, by name."""
    here = (col(Membership.person_id) == Person.id) & (col(Membership.project_id) == project_id)
    rows = session.execute(
        pick(Account.person_id, Account.name, held_role(), col(Membership.role))
        .select_from(Person)
        .join(Account, col(Account.person_id) == Person.id)
        .outerjoin(Membership, here)
        .where(*_ARE_PEOPLE, held_role().is_not(None))
        .order_by(Account.name)
    )
    return [MemberRow(row[0], row[1], Role(row[2]), row[3] is not None) for row in rows]


@operation(On.PROJECT, ADJUDICATORS)
def who_may_annotate(db: Database, actor: Actor, project_id: int) -> list[MemberRow]:
    """Everybody who may be an annotator of a study of this project, by name: members by their role, administrators."""
    with db.read() as session:
        members = {row.person_id: row for row in _held(session, project_id)}
        for _, account in session.exec(_humans().where(col(Person.is_admin))):
            row = members.get(account.person_id)
            if row is None or row.role not in ANNOTATORS:
                members[account.person_id] = MemberRow(account.person_id, account.name, Role.RESEARCHER, False)
    return sorted((row for row in members.values() if row.role in ANNOTATORS), key=lambda row: row.name)


def who_may_revise(session: Session, project_id: int) -> dict[int, str]:
    """Person id → name of who may revise items of a project: its researchers and revisers, and administrators."""
    named = {row.name: row.person_id for row in _held(session, project_id) if row.role in REVISERS}
    named |= {account.name: account.person_id for _, account in session.exec(_humans().where(col(Person.is_admin)))}
    return {named[name]: name for name in sorted(named)}


# Who acts on the command line -----------------------------------------------------------------------------------------


def begin_administration(db: Database, *, name: str = LOCAL_NAME, password: str | None = None) -> tuple[Actor, bool]:
    """The administrator that `assay init` makes, or the first of those that there are already, unchanged.

    And whether they were made now: of several processes that ask at once, by one of them.
    """
    clean = visible_name(name, "name", MAX_NAME)
    password_hash = hashed(check_rules(password, clean)) if password is not None else None
    with db.write() as session:
        if not db.is_sqlite:  # where the transaction itself takes turns
            session.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _BEGINNING})
        person_id = _first_administrator_id(session)
        if person_id is not None:
            return actor_of(session, person_id, "command"), False
        person_id = _add(session, clean, password_hash, admin=True, role=None)
        actor = actor_of(session, person_id, "command")
        record(session, actor, "person added", "person", person_id, details={"admin": True, "default_role": None})
        return actor, True


def local_administrator(db: Database) -> Actor:
    """Whom the command line acts as: the first administrator. Raises NotFound before `assay init`."""
    with db.read() as session:
        person_id = _first_administrator_id(session)
        if person_id is None:
            raise NotFound("There is no administrator yet. Run `assay init` first.")
        return actor_of(session, person_id, "command")


def acting(db: Database, name: str | None) -> Actor:
    """Who acts: the person of this name, else (None) the local administrator. NotFound where there is none."""
    return local_administrator(db) if name is None else actor_named(db, name)


def actor_named(db: Database, name: str) -> Actor:
    """The actor for `--as NAME` on the command line."""
    refuse_unfit({"name": name})
    with db.read() as session:
        _, account = _human(session, name)
        return actor_of(session, account.person_id, "command")


def names_of(session: Session, person_ids: Iterable[int]) -> dict[int, str]:
    """Names to show for persons; somebody erased reads `erased person 12`."""
    wanted = set(person_ids)
    known = dict(session.exec(select(Account.person_id, Account.name).where(col(Account.person_id).in_(wanted))).all())
    return {person_id: known.get(person_id, f"erased person {person_id}") for person_id in wanted}


# Helpers --------------------------------------------------------------------------------------------------------------


def _role(role: Role | str | None) -> Role | None:
    if role is None:
        return None
    try:
        return Role(role)
    except ValueError:
        raise InvalidInput(f"There is no role {str(role)!r}. Roles: {', '.join(Role)}.") from None


_ARE_PEOPLE = (col(Person.kind) == PersonKind.HUMAN, col(Person.erased_at).is_(None))


def _humans() -> Select[Person, Account]:
    return select(Person, Account).join(Account, col(Account.person_id) == col(Person.id)).where(*_ARE_PEOPLE)


def _human(session: Session, name: str) -> tuple[Person, Account]:
    found = session.exec(_humans().where(Account.name == unicodedata.normalize("NFC", name).strip())).first()
    if found is None:
        raise NotFound(f"There is no person named {shown(name)}. See `assay user list` or the page People.")
    return found[0], found[1]


def _add(session: Session, name: str, password_hash: str | None, *, admin: bool, role: Role | None) -> int:
    if session.exec(select(Account.name).where(func.lower(Account.name) == func.lower(name))).first() is not None:
        raise Conflict(f"The name {name!r} is taken. Choose another.")
    person = Person(is_admin=admin, default_role=role)
    session.add(person)
    session.flush()
    assert person.id is not None
    session.add(Account(person_id=person.id, name=name, password_hash=password_hash))
    try:
        session.flush()
    except IntegrityError as error:  # somebody else took the name in this moment (PostgreSQL)
        raise Conflict(f"The name {name!r} is taken. Choose another.") from error
    return person.id


def _keep(session: Session, actor: Actor, account: Account, password_hash: str) -> None:
    account.password_hash = password_hash
    session.add(account)
    ended = end_sessions(session, account.person_id)
    record(session, actor, "password set", "person", account.person_id, details={"sessions": ended})


def _first_administrator_id(session: Session) -> int | None:
    query = _humans().where(col(Person.is_admin)).order_by(col(Person.id)).limit(1)
    found = session.exec(query).first()
    return None if found is None else found[1].person_id


def _keep_an_administrator(session: Session, name: str) -> None:
    others = session.exec(_humans().where(col(Person.is_admin), Account.name != name).limit(1)).first()
    if others is None:
        raise Conflict(f"{name!r} is the only administrator. Make somebody else one first.")
