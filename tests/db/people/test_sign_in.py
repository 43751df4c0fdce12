"""Signing in: the same answer for every wrong try, slow answers to guessing, sessions that end."""

from __future__ import annotations

import statistics
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import cache

import pytest
from sqlmodel import select, update

from annotators.errors import InvalidInput, NotAllowed, NotFound, NotSignedIn, TooManyAttempts
from db.engine import Database
from db.models import Account, SignInFailure, WebSession, now
from db.people import passwords
from db.people import sign_in as sessions
from db.people.accounts import add_person, remove_member, revoke_sessions, set_member, set_password, set_person
from db.permissions import Actor
from tests.conftest import PRODUCT_HASHER
from tests.makers import first_administrator, make_project

PASSWORD = "four plain words here"


@pytest.fixture
def admin(database: Database) -> Actor:
    actor = first_administrator(database, password=PASSWORD)
    add_person(database, actor, "ana", password=PASSWORD)
    return actor


def _fail(database: Database, times: int, name: str = "ana", address: str = "10.0.0.1") -> None:
    for _ in range(times):
        with pytest.raises(NotSignedIn):
            sessions.sign_in(database, name, "wrong password", address)


def _as_if_tried_earlier(database: Database, seconds: float) -> None:
    with database.write() as session:
        session.exec(update(SignInFailure).values(last_at=now() - timedelta(seconds=seconds)))


def test_tokens_are_kept_only_as_hashes(database: Database, admin: Actor) -> None:
    token = sessions.sign_in(database, "ana", PASSWORD, "10.0.0.1")
    one_time = sessions.one_time_sign_in(database, admin, "ana")
    with database.read() as session:
        kept = {row.token_hash for row in session.exec(select(WebSession))}
    assert kept == {sessions.token_hash(token), sessions.token_hash(one_time)}
    assert token not in kept
    assert one_time not in kept


def test_a_session_lasts_until_it_is_signed_out_revoked_or_too_old(database: Database, admin: Actor) -> None:
    first, second, third = (sessions.sign_in(database, "ana", PASSWORD, None) for _ in range(3))
    assert sessions.session_actor(database, first) is not None
    assert sessions.session_actor(database, None) is None
    assert sessions.session_actor(database, "no such token") is None
    assert sessions.sign_out(database, first)
    assert not sessions.sign_out(database, first)
    assert sessions.session_actor(database, first) is None
    with database.write() as session:
        session.get_one(WebSession, sessions.token_hash(second)).expires_at = now() - timedelta(seconds=1)
    assert sessions.session_actor(database, second) is None
    assert sessions.session_actor(database, third) is not None
    assert revoke_sessions(database, admin, "ana") == 2  # the second was too old, but nobody had ended it
    assert sessions.session_actor(database, third) is None


def test_who_is_signed_out_everywhere_cannot_come_in_by_an_address_made_before(
    database: Database, admin: Actor
) -> None:
    first = sessions.one_time_sign_in(database, admin, "ana")
    assert revoke_sessions(database, admin, "ana") == 1
    second = sessions.one_time_sign_in(database, admin, "ana")
    set_password(database, admin, "ana", password="four other words here")
    for spoilt in (first, second):
        with pytest.raises(NotFound, match="used or has expired"):
            sessions.use_one_time(database, spoilt)


def test_wrong_name_wrong_password_and_no_password_read_the_same(database: Database, admin: Actor) -> None:
    add_person(database, admin, "ben")
    answers = set()
    for name in ("ana", "nobody", "ben"):
        with pytest.raises(NotSignedIn) as caught:
            sessions.sign_in(database, name, "wrong password", None)
        answers.add(str(caught.value))
    assert len(answers) == 1


@pytest.fixture
def dear_passwords(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords cost what they cost in the product."""
    monkeypatch.setattr(passwords, "_hasher", PRODUCT_HASHER)
    monkeypatch.setattr(passwords, "_decoy", cache(passwords._decoy.__wrapped__))


@pytest.mark.usefixtures("dear_passwords")
def test_a_password_costs_an_attacker_memory_and_time(sqlite_database: Database) -> None:
    first_administrator(sqlite_database, password=PASSWORD)
    with sqlite_database.read() as session:
        kept = session.exec(select(Account.password_hash)).one()
    assert kept is not None
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


@pytest.mark.usefixtures("dear_passwords")
def test_an_unknown_name_costs_as_much_time_as_a_known_one(sqlite_database: Database) -> None:
    admin = first_administrator(sqlite_database, password=PASSWORD)
    add_person(sqlite_database, admin, "ana", password=PASSWORD)

    def seconds(name: str) -> float:
        begin = time.perf_counter()
        with pytest.raises(NotSignedIn):
            sessions.sign_in(sqlite_database, name, "wrong password", None)
        return time.perf_counter() - begin

    seconds("warm up")
    known = [seconds("ana") for _ in range(5)]
    unknown = [seconds(f"nobody {number}") for number in range(5)]
    # Without the work in vain the unknown name would be answered some fifty times as fast.
    assert statistics.median(unknown) > 0.5 * statistics.median(known)


def test_guessing_a_name_gets_slower_with_every_try(database: Database, admin: Actor) -> None:
    _fail(database, sessions.FREE_BY_NAME + 1)
    _as_if_tried_earlier(database, 0)
    with pytest.raises(TooManyAttempts, match=r"Wait [12] seconds"):
        sessions.sign_in(database, "ana", PASSWORD, "10.0.0.2")
    for wait in (1, 2, 4, 8):
        _as_if_tried_earlier(database, wait - 0.5)
        with pytest.raises(TooManyAttempts):
            sessions.sign_in(database, "ana", "wrong password", "10.0.0.2")
        _as_if_tried_earlier(database, wait + 0.01)
        _fail(database, 1, address="10.0.0.2")
    # 16 s now, and the right password does not help before.
    with pytest.raises(TooManyAttempts, match=r"Wait 1[2-7] seconds"):
        sessions.sign_in(database, "ana", PASSWORD, "10.0.0.2")
    _as_if_tried_earlier(database, 17)
    assert sessions.sign_in(database, "ana", PASSWORD, "10.0.0.2")
    _fail(database, sessions.FREE_BY_NAME)  # a success lets the name start afresh


def test_names_that_nobody_has_are_slowed_alike(database: Database, admin: Actor) -> None:
    _fail(database, sessions.FREE_BY_NAME + 1, name="nobody")
    _as_if_tried_earlier(database, 0)
    with pytest.raises(TooManyAttempts):
        sessions.sign_in(database, "nobody", "wrong password", "10.0.0.1")


def test_an_address_that_tries_many_names_is_slowed(
    database: Database, admin: Actor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "FREE_BY_ADDRESS", 8)
    for number in range(9):
        _fail(database, 1, name=f"name {number}", address="10.0.0.9")
    _as_if_tried_earlier(database, 0)
    with pytest.raises(TooManyAttempts):
        sessions.sign_in(database, "ana", PASSWORD, "10.0.0.9")
    assert sessions.sign_in(database, "ana", PASSWORD, "10.0.0.10")


def test_the_longest_wait_is_bounded_and_tries_are_forgotten(database: Database, admin: Actor) -> None:
    _fail(database, 1)
    with database.write() as session:
        session.exec(update(SignInFailure).values(count=10_000))
    with pytest.raises(TooManyAttempts, match="Wait 15 minutes"):
        sessions.sign_in(database, "ana", PASSWORD, None)
    _as_if_tried_earlier(database, sessions.FORGOTTEN.total_seconds() + 1)
    _fail(database, 1)
    assert sessions.sign_in(database, "ana", PASSWORD, None)


def test_many_guesses_at_once_gain_nothing(database: Database, admin: Actor) -> None:
    def guess(_: int) -> str:
        try:
            sessions.sign_in(database, "ana", "wrong password", "10.0.0.1")
        except (NotSignedIn, TooManyAttempts) as error:
            return type(error).__name__
        return "in"

    with ThreadPoolExecutor(12) as pool:
        answers = list(pool.map(guess, range(24)))
    # The free ones, and one more a second while the test runs.
    assert answers.count("NotSignedIn") <= sessions.FREE_BY_NAME + 4
    assert answers.count("in") == 0


def test_a_one_time_address_signs_in_once(database: Database, admin: Actor) -> None:
    token = sessions.one_time_sign_in(database, admin, "ana")
    assert sessions.session_actor(database, token) is None  # it is no session
    assert sessions.one_time_person(database, token) == ("ana", True)
    with pytest.raises(InvalidInput):
        sessions.use_one_time(database, token, password="short")
    session_token = sessions.use_one_time(database, token, password="chosen by ana now")
    actor = sessions.session_actor(database, session_token)
    assert actor is not None
    assert actor.name == "ana"
    assert sessions.sign_in(database, "ana", "chosen by ana now", None)
    with pytest.raises(NotFound, match="used or has expired"):
        sessions.use_one_time(database, token)
    with pytest.raises(NotFound):
        sessions.one_time_person(database, token)


def test_two_browsers_cannot_both_use_a_one_time_address(database: Database, admin: Actor) -> None:
    token = sessions.one_time_sign_in(database, admin, "ana")

    def use(_: int) -> bool:
        try:
            sessions.use_one_time(database, token)
        except NotFound:
            return False
        return True

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(use, range(8))) == 1


def test_a_one_time_address_is_spoilt_by_time_and_by_a_newer_one(database: Database, admin: Actor) -> None:
    old = sessions.one_time_sign_in(database, admin, "ana")
    new = sessions.one_time_sign_in(database, admin, "ana", lifetime=timedelta(seconds=-1))
    for token in (old, new):
        with pytest.raises(NotFound):
            sessions.use_one_time(database, token)
    with pytest.raises(NotFound, match="no person named 'nobody'"):
        sessions.one_time_sign_in(database, admin, "nobody")
    ana = sessions.session_actor(database, sessions.sign_in(database, "ana", PASSWORD, None))
    with pytest.raises(NotAllowed):
        sessions.one_time_sign_in(database, ana, "ana")


def test_a_password_chosen_by_one_time_address_signs_other_browsers_out(database: Database, admin: Actor) -> None:
    before = sessions.sign_in(database, "ana", PASSWORD, None)
    other = sessions.one_time_sign_in(database, admin, "ana")
    kept = sessions.use_one_time(database, other)
    assert sessions.session_actor(database, before) is not None  # without a new password nothing changes for others
    here = sessions.use_one_time(
        database, sessions.one_time_sign_in(database, admin, "ana"), password="other plain words"
    )
    assert sessions.session_actor(database, here) is not None
    assert sessions.session_actor(database, before) is None
    assert sessions.session_actor(database, kept) is None


def test_what_somebody_is_follows_every_change_of_their_roles_and_ends_with_the_session(
    database: Database, admin: Actor
) -> None:
    token, project = sessions.sign_in(database, "ana", PASSWORD, None), make_project(database)
    seen = [sessions.session_standing(database, token)]
    assert seen[0] == sessions.session_standing(database, token)

    def is_new() -> bool:
        seen.append(sessions.session_standing(database, token))
        return seen[-1] not in seen[:-1]

    set_member(database, admin, project, name="ana", role="viewer")
    assert is_new()
    set_member(database, admin, project, name="ana", role="annotator")
    assert is_new()
    set_person(database, admin, "ana", admin=False, default_role="viewer")
    assert is_new()
    remove_member(database, admin, project, name="ana")
    assert is_new()
    revoke_sessions(database, admin, "ana")
    assert sessions.session_standing(database, token) is None
