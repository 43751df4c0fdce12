"""Signing in and out: sessions, one-time addresses, and slow answers to guessing. Only hashes of tokens are kept.

These functions run before anybody is known, so they are no operations with an actor; what needs an administrator
(`one_time_sign_in`) is one.
"""

from __future__ import annotations

import hashlib
import secrets
import unicodedata
from datetime import datetime, timedelta

from sqlalchemy import ColumnElement, bindparam, delete, update
from sqlalchemy.dialects import postgresql, sqlite
from sqlmodel import Session, col, select

from annotators.errors import NotFound, NotSignedIn, TooManyAttempts
from db.engine import Database
from db.models import Account, Event, Person, SignInFailure, WebSession, now
from db.people.passwords import check_rules, hashed, matches, needs_rehash
from db.permissions import Actor, On, Roles, actor_of, operation, record, roles_of

SESSION = timedelta(days=14)
ONE_TIME = timedelta(days=1)

FREE_BY_NAME = 5
FREE_BY_ADDRESS = 50  # a whole office may come from one address
LONGEST_WAIT = timedelta(minutes=15)
FORGOTTEN = timedelta(hours=1)

_WRONG = "The name or the password is wrong. Check both and try again; an administrator can set a new password."
_SPENT = "This sign-in address has been used or has expired. Ask an administrator for a new one."


class SignInRefused(NotSignedIn):
    """Nobody was signed in. `why` is for the log: it names accounts alone, as people type passwords for names."""

    def __init__(self, why: str) -> None:
        super().__init__(_WRONG)
        self.why = why


def sign_in(db: Database, name: str, password: str, address: str | None, *, lifetime: timedelta = SESSION) -> str:
    """A session token for the person with this name and password; `address` is where the request came from.

    An unknown name, a person without a password and a wrong password get the same answer at the same cost
    (SignInRefused). After FREE_BY_NAME wrong tries for a name, or FREE_BY_ADDRESS from an address, each further one has
    to wait twice as long as the one before (TooManyAttempts says how long). A try is counted before the password is
    looked at, so that many at once gain nothing.
    """
    name = unicodedata.normalize("NFC", name).strip()
    keys = {failure_key("name", name): FREE_BY_NAME}
    if address:
        keys[failure_key("address", address)] = FREE_BY_ADDRESS
    with db.write() as session:
        count_attempt(session, keys, slowed=name)
    with db.read() as session:
        found = session.exec(
            select(Account.person_id, Account.password_hash)
            .join(Person, col(Person.id) == col(Account.person_id))
            .where(Account.name == name, col(Person.erased_at).is_(None))
        ).first()
    person_id, password_hash = found or (None, None)
    if not matches(password_hash, password) or person_id is None or password_hash is None:
        raise SignInRefused(_why(found is not None, password_hash is not None, name))
    renewed = hashed(password) if needs_rehash(password_hash) else None
    with db.write() as session:
        if renewed:
            session.get_one(Account, person_id).password_hash = renewed
        forgive(session, failure_key("name", name), failure_key("address", address) if address else None)
        return open_session(session, actor_of(session, person_id, "web"), lifetime, how="password")


def _why(known: bool, has_password: bool, name: str) -> str:
    if not known:
        return "there is no account of that name."
    return f"the password for {name!r} is wrong." if has_password else f"{name!r} has no password."


def session_actor(db: Database, token: str | None) -> Actor | None:
    """Who has this session token; None when it is unknown, revoked, expired, or its person was erased."""
    if not token:
        return None
    with db.glance() as connection:
        found = connection.execute(_SIGNED_IN, {"token": token_hash(token), "moment": now()}).first()
    return None if found is None else Actor(found[0], found[1], found[2], found[3], "web")


def session_standing(db: Database, token: str | None) -> tuple[Actor, Roles] | None:
    """Who has this session token, and what they are in every project now; None as of `session_actor`."""
    actor = session_actor(db, token)
    if actor is None:
        return None
    with db.read() as session:
        return actor, roles_of(session, actor.person_id)


_SIGNED_IN = (
    select(WebSession.person_id, Account.name, Person.is_admin, Person.default_role)
    .join(Account, col(Account.person_id) == col(WebSession.person_id))
    .join(Person, col(Person.id) == col(WebSession.person_id))
    .where(
        WebSession.token_hash == bindparam("token"),
        ~col(WebSession.one_time),
        col(WebSession.revoked_at).is_(None),
        col(WebSession.expires_at) > bindparam("moment"),
        col(Person.erased_at).is_(None),
    )
)
"""Asked with every request, and therefore made once."""


def sign_out(db: Database, token: str) -> bool:
    """End the session of this token; False when there was none to end."""
    with db.write() as session:
        row = session.get(WebSession, token_hash(token))
        if row is None or row.one_time or row.revoked_at is not None:
            return False
        row.revoked_at = now()
        session.add(row)
        session.add(Event(person_id=row.person_id, kind="session closed", thing="person", thing_id=row.person_id))
        return True


# One-time addresses ---------------------------------------------------------------------------------------------------


@operation(On.APP)
def one_time_sign_in(db: Database, actor: Actor, name: str, *, lifetime: timedelta = ONE_TIME) -> str:
    """A token that signs this person in once, for the address /sign-in/TOKEN; earlier unused ones are spoilt."""
    token = secrets.token_urlsafe(32)
    with db.write() as session:
        account = session.exec(select(Account).where(Account.name == name)).first()
        if account is None:
            raise NotFound(f"There is no person named {name!r}. Add them first.")
        session.exec(
            update(WebSession)
            .where(
                col(WebSession.person_id) == account.person_id,
                col(WebSession.one_time),
                col(WebSession.revoked_at).is_(None),
            )
            .values(revoked_at=now())
        )
        session.add(
            WebSession(
                token_hash=token_hash(token),
                person_id=account.person_id,
                one_time=True,
                expires_at=now() + lifetime,
            )
        )
        record(session, actor, "one-time address made", "person", account.person_id)
    return token


def one_time_person(db: Database, token: str) -> tuple[str, bool]:
    """The name a one-time address is for, and whether that person has a password, without using the address up.

    Raises NotFound when it has been used, has expired or never was.
    """
    with db.read() as session:
        found = session.exec(
            select(Account.name, Account.password_hash)
            .join(WebSession, col(WebSession.person_id) == col(Account.person_id))
            .where(*_unused(token))
        ).first()
    if found is None:
        raise NotFound(_SPENT)
    return found[0], found[1] is not None


def one_time_owner(db: Database, token: str) -> int | None:
    """Whom a one-time address is or was for, used or not; None when it is unknown. Says nothing to a stranger."""
    with db.read() as session:
        row = session.get(WebSession, token_hash(token))
        return row.person_id if row is not None and row.one_time else None


def use_one_time(db: Database, token: str, *, password: str | None = None, lifetime: timedelta = SESSION) -> str:
    """Use a one-time address up: a session token. `password` is the one the person chose for next time, if any.

    A new password ends the person's sessions in other browsers: whoever is there may have come in with the old one.
    Raises NotFound when the address is spent; an unfit password (InvalidInput) does not use it up.
    """
    name, _ = one_time_person(db, token)
    password_hash = hashed(check_rules(password, name)) if password else None
    with db.write() as session:
        # One statement decides, so that two browsers cannot both get in.
        used = session.exec(update(WebSession).where(*_unused(token)).values(revoked_at=now()))
        row = session.get(WebSession, token_hash(token))
        if used.rowcount != 1 or row is None:
            raise NotFound(_SPENT)
        actor = actor_of(session, row.person_id, "web")
        if password_hash:
            session.get_one(Account, row.person_id).password_hash = password_hash
            ended = end_sessions(session, row.person_id)
            record(session, actor, "password set", "person", row.person_id, details={"sessions": ended})
        return open_session(session, actor, lifetime, how="one-time address")


# Helpers shared with db/people/accounts.py ----------------------------------------------------------------------------


def token_hash(token: str) -> str:
    """What is kept of a token: its SHA-256. A token is 256 random bits, so that no salt is needed."""
    return hashlib.sha256(token.encode()).hexdigest()


def failure_key(kind: str, value: str) -> str:
    """The key of a failure count: a hash, so that the table keeps neither names nor addresses."""
    return hashlib.sha256(f"{kind}:{value.casefold()}".encode()).hexdigest()


def end_sessions(session: Session, person_id: int) -> int:
    """Revoke every session and unused one-time address of a person, in the caller's transaction; how many."""
    ended = session.exec(
        update(WebSession)
        .where(col(WebSession.person_id) == person_id, col(WebSession.revoked_at).is_(None))
        .values(revoked_at=now())
    )
    return int(ended.rowcount)


# Private --------------------------------------------------------------------------------------------------------------


def _unused(token: str) -> tuple[ColumnElement[bool], ...]:
    return (
        col(WebSession.token_hash) == token_hash(token),
        col(WebSession.one_time).is_(True),
        col(WebSession.revoked_at).is_(None),
        col(WebSession.expires_at) > now(),
    )


def open_session(session: Session, actor: Actor, lifetime: timedelta, *, how: str) -> str:
    """A new session of this person, in the caller's transaction: its token."""
    token = secrets.token_urlsafe(32)
    session.exec(delete(WebSession).where(col(WebSession.expires_at) < now() - timedelta(days=1)))
    session.add(WebSession(token_hash=token_hash(token), person_id=actor.person_id, expires_at=now() + lifetime))
    record(session, actor, "session opened", "person", actor.person_id, details={"how": how})
    return token


def count_attempt(session: Session, keys: dict[str, int], *, slowed: str) -> None:
    """Count a try before it is looked at; TooManyAttempts after too many of a key (with how many are free)."""
    insert = sqlite.insert if session.get_bind().dialect.name == "sqlite" else postgresql.insert
    for key in sorted(keys):
        session.execute(insert(SignInFailure).values(key=key, count=0, last_at=now()).on_conflict_do_nothing())
    rows = session.exec(
        select(SignInFailure).where(col(SignInFailure.key).in_(keys)).order_by(SignInFailure.key).with_for_update()
    ).all()
    this_moment = now()
    wait = max(_wait(row, keys[row.key], this_moment) for row in rows)
    if wait > 0:
        raise TooManyAttempts(
            f"There were too many wrong sign-ins. Wait {_duration(wait)} and try again; an administrator can also "
            "make a one-time sign-in address."
        )
    for row in rows:
        row.count = 1 if this_moment - row.last_at > FORGOTTEN else row.count + 1
        row.last_at = this_moment
        session.add(row)
        if row.key == failure_key("name", slowed) and row.count == FREE_BY_NAME + 1:
            person_id = session.exec(select(Account.person_id).where(Account.name == slowed)).first()
            if person_id is not None:
                session.add(Event(kind="sign-in slowed", thing="person", thing_id=person_id))


def _wait(row: SignInFailure, free: int, this_moment: datetime) -> float:
    """Seconds still to wait: 1, 2, 4, … after the free tries, counted from the last try."""
    if row.count <= free or this_moment - row.last_at > FORGOTTEN:
        return 0.0
    pause = min(2.0 ** min(row.count - free - 1, 20), LONGEST_WAIT.total_seconds())
    return pause - (this_moment - row.last_at).total_seconds()


def forgive(session: Session, name_key: str | None, address_key: str | None) -> None:
    """After a success: the name starts afresh; the address gets back only this try."""
    session.exec(delete(SignInFailure).where(col(SignInFailure.key) == name_key))
    session.exec(
        update(SignInFailure)
        .where(col(SignInFailure.key) == address_key, col(SignInFailure.count) > 0)
        .values(count=col(SignInFailure.count) - 1)
    )
    session.exec(delete(SignInFailure).where(col(SignInFailure.last_at) < now() - timedelta(days=1)))


def _duration(seconds: float) -> str:
    whole = max(1, round(seconds + 0.5))
    return f"{whole} seconds" if whole < 120 else f"{round(whole / 60)} minutes"
