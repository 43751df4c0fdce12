"""Sign-in limits, sessions and invitations: exactly at their moments and numbers, and by turns failing and not."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import InvalidInput, NotFound, NotSignedIn, TooManyAttempts
from db.engine import Database
from db.inviting.invitations import LONGEST, MOST_USES, InvitationTerms, invitations_of, revoke_invitation
from db.inviting.joining import invited, join
from db.models import Invitation, SignInFailure, WebSession, now
from db.people import sign_in as sessions
from db.people.accounts import add_person, list_people, set_person
from db.permissions import Actor
from tests.db.inviting.test_joining import come_in, link, open_study
from tests.makers import first_administrator, make_person

PASSWORD = "four plain words here"
FREE = sessions.FREE_BY_NAME


@pytest.fixture
def admin(sqlite_database: Database) -> Actor:
    actor = first_administrator(sqlite_database, password=PASSWORD)
    for name in ("ana", "ben"):
        add_person(sqlite_database, actor, name, password=PASSWORD)
    return actor


def fail(db: Database, times: int, name: str = "ana", address: str = "10.0.0.1") -> None:
    for _ in range(times):
        with pytest.raises(NotSignedIn):
            sessions.sign_in(db, name, "wrong password", address)


def counts(db: Database) -> dict[str, int]:
    known = {
        sessions.failure_key(kind, value): f"{kind} {value}"
        for kind, value in (("name", "ana"), ("name", "ben"), ("address", "10.0.0.1"), ("address", "10.0.0.2"))
    }
    with db.read() as session:
        return {known[row.key]: row.count for row in session.exec(select(SignInFailure))}


def test_a_success_forgives_the_name_all_and_the_address_one_try(sqlite_database: Database, admin: Actor) -> None:
    db = sqlite_database
    fail(db, 3), fail(db, 2, name="ben")
    assert counts(db) == {"name ana": 3, "name ben": 2, "address 10.0.0.1": 5}
    assert sessions.sign_in(db, "ana", PASSWORD, "10.0.0.1")
    assert counts(db) == {"name ben": 2, "address 10.0.0.1": 5}, "the try that succeeded is no failure"
    fail(db, FREE - 1), fail(db, 1, address="10.0.0.2")
    assert counts(db) == {"name ana": 5, "name ben": 2, "address 10.0.0.1": 9, "address 10.0.0.2": 1}
    assert sessions.sign_in(db, "ana", PASSWORD, None), "the last free try may be the right one"
    fail(db, FREE + 1)
    with pytest.raises(TooManyAttempts):
        sessions.sign_in(db, "ana", PASSWORD, "10.0.0.2")
    assert counts(db)["name ana"] == FREE + 1, "who has to wait is not counted"
    assert counts(db)["address 10.0.0.2"] == 1
    assert sessions.sign_in(db, "ben", PASSWORD, "10.0.0.2"), "others need not wait"


@pytest.mark.parametrize(
    ("count", "ago", "wait"),
    [
        (FREE, 0.0, 0.0),
        (FREE + 1, 0.0, 1.0),
        (FREE + 1, 1.0, 0.0),
        (FREE + 2, 0.5, 1.5),
        (FREE + 3, 0.0, 4.0),
        (FREE + 10, 0.0, 512.0),
        (FREE + 11, 0.0, 900.0),
        (10_000, 0.0, 900.0),
        (10_000, 3600.0, -2700.0),
        (10_000, 3600.1, 0.0),
    ],
)
def test_waits_double_from_the_last_try_up_to_a_quarter_of_an_hour(count: int, ago: float, wait: float) -> None:
    moment = now()
    row = SignInFailure(key="k", count=count, last_at=moment - timedelta(seconds=ago))
    assert sessions._wait(row, FREE, moment) == pytest.approx(wait)


def test_tries_of_an_hour_ago_begin_anew_and_of_a_day_ago_are_gone(sqlite_database: Database, admin: Actor) -> None:
    db = sqlite_database
    fail(db, 4), fail(db, 1, name="ben", address="10.0.0.2")

    def age(seconds: float) -> None:
        with db.write() as session:
            for row in session.exec(select(SignInFailure)).all():
                row.last_at = now() - timedelta(seconds=seconds)
                session.add(row)

    age(3590)
    fail(db, 1)
    assert counts(db)["name ana"] == 5
    age(3601)
    fail(db, 1)
    assert counts(db)["name ana"] == 1
    age(86_300)
    sessions.sign_in(db, "ana", PASSWORD, "10.0.0.1")
    assert "name ben" in counts(db)
    age(86_401)
    sessions.sign_in(db, "ana", PASSWORD, "10.0.0.1")
    assert "name ben" not in counts(db)


def test_a_session_ends_exactly_when_it_says(sqlite_database: Database, admin: Actor) -> None:
    db = sqlite_database
    token, other = (sessions.sign_in(db, "ana", PASSWORD, None, lifetime=timedelta(hours=h)) for h in (1, 2))
    with db.read() as session:
        ends = session.get_one(WebSession, sessions.token_hash(token)).expires_at
    assert timedelta(minutes=59) < ends - now() <= timedelta(hours=1)

    def there(moment: Any, which: str = token) -> bool:
        with db.glance() as connection:
            asked = {"token": sessions.token_hash(which), "moment": moment}
            return connection.execute(sessions._SIGNED_IN, asked).first() is not None

    assert there(ends - timedelta(microseconds=1)) and not there(ends)
    assert there(ends, other)
    set_person(db, admin, "ana", admin=True, default_role="viewer")
    found = sessions.session_actor(db, token)
    assert found is not None and (found.is_admin, found.default_role, found.name, found.via) == (
        True, "viewer", "ana", "web",
    )  # fmt: skip
    # What ended a day ago is swept away when somebody comes in; what ended today is not.
    for which, ago in ((token, 25), (other, 23)):
        with db.write() as session:
            session.get_one(WebSession, sessions.token_hash(which)).expires_at = now() - timedelta(hours=ago)
    sessions.sign_in(db, "ben", PASSWORD, None)
    with db.read() as session:
        kept = [session.get(WebSession, sessions.token_hash(which)) is not None for which in (token, other)]
    assert kept == [False, True]


def test_a_one_time_address_is_no_session_and_a_session_no_one_time_address(
    sqlite_database: Database, admin: Actor
) -> None:
    db = sqlite_database
    address = sessions.one_time_sign_in(db, admin, "ana")
    token = sessions.sign_in(db, "ana", PASSWORD, None)
    theirs = sessions.one_time_sign_in(db, admin, "ben")
    assert sessions.session_actor(db, address) is None and not sessions.sign_out(db, address)
    with pytest.raises(NotFound):
        sessions.use_one_time(db, token)
    assert sessions.one_time_owner(db, token) is None and sessions.one_time_owner(db, "none") is None
    people = {row.name: row.person_id for row in list_people(db, admin)}
    assert sessions.one_time_owner(db, address) == people["ana"]
    assert sessions.one_time_person(db, address) == ("ana", True)
    sessions.one_time_sign_in(db, admin, "ana")
    with pytest.raises(NotFound, match="has been used or has expired"):
        sessions.one_time_person(db, address)
    assert sessions.one_time_person(db, theirs) == ("ben", True), "of others it stays"
    with pytest.raises(InvalidInput):
        sessions.use_one_time(db, theirs, password="short")
    came = sessions.use_one_time(db, theirs)
    assert (sessions.session_actor(db, came) or admin).name == "ben"
    assert sessions.session_actor(db, token) is not None
    assert sessions.sign_out(db, came) and not sessions.sign_out(db, came), "once"
    assert sessions.session_actor(db, token) is not None


# Invitations ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("terms", "may"),
    [
        ({"uses": 1}, True),
        ({"uses": MOST_USES}, True),
        ({"uses": MOST_USES + 1}, False),
        ({"lasts": timedelta(microseconds=1)}, True),
        ({"lasts": LONGEST}, True),
        ({"lasts": LONGEST + timedelta(microseconds=1)}, False),
        ({"lasts": -timedelta(days=1)}, False),
        ({"quota": 1}, True),
        ({"quota": -1}, False),
        ({"parameter": "PROLIFIC_PID-1.x"}, True),
        ({"parameter": ""}, False),
        ({"code": "C" * 100, "code_else": "D"}, True),
        ({"code": "C" * 101}, False),
        ({"code_else": "C" * 101}, False),
        ({"return_url": "https://recruiter.example/done?code=1"}, True),
        ({"return_url": "https://recruiter.example/" + "x" * 974}, True),
        ({"return_url": "https://recruiter.example/" + "x" * 975}, False),
    ],
)
def test_the_terms_of_an_invitation_at_their_limits(terms: dict[str, Any], may: bool) -> None:
    if may:
        InvitationTerms(**terms).check()
    else:
        with pytest.raises(InvalidInput):
            InvitationTerms(**terms).check()


def test_two_links_let_in_as_many_as_each_is_for_and_are_told_apart(sqlite_database: Database) -> None:
    study, other = open_study(sqlite_database, quota=None), open_study(sqlite_database)
    terms = {
        "uses": 2,
        "quota": 3,
        "code": "DONE",
        "code_else": "ELSE",
        "return_url": "https://r.example/",
        "lasts": LONGEST,
    }
    first, second, third = link(study, **terms), link(study), link(other)
    people = [come_in(study, first), come_in(study, second), come_in(study, first)]
    for spent in (first, second):
        with pytest.raises(NotFound, match="used up"):
            join(sqlite_database, spent)
        assert invited(sqlite_database, spent, None).study == "study", "it still opens for those who came by it"
    rows = invitations_of(sqlite_database, study.researcher, study.study_id)
    assert [(row.uses, row.used, [one.name for one in row.people]) for row in rows] == [
        (2, 2, [people[0].name, people[2].name]), (1, 1, [people[1].name]),
    ]  # fmt: skip
    said = rows[0].to_json()
    assert {name: said[name] for name in ("items", "code", "code_else", "return", "parameter", "revoked_at")} == {
        "items": 3, "code": "DONE", "code_else": "ELSE", "return": "https://r.example/", "parameter": None,
        "revoked_at": None,
    }  # fmt: skip
    assert LONGEST - timedelta(minutes=1) < rows[0].expires_at - rows[0].created_at <= LONGEST + timedelta(seconds=1)
    with pytest.raises(NotFound, match="no invitation"):
        revoke_invitation(sqlite_database, other.researcher, other.study_id, invitation_id=rows[0].invitation_id)
    assert revoke_invitation(sqlite_database, study.researcher, study.study_id, invitation_id=rows[1].invitation_id)
    with pytest.raises(NotFound):
        invited(sqlite_database, second, None)
    assert invited(sqlite_database, first, None).quota == 3 and invited(sqlite_database, third, None)
    with sqlite_database.write() as session:
        session.get_one(Invitation, rows[0].invitation_id).expires_at = now()
    with pytest.raises(NotFound):
        invited(sqlite_database, first, None)


def test_looking_at_a_link_that_is_there_costs_its_address_nothing(sqlite_database: Database) -> None:
    study = open_study(sqlite_database)
    token, address = link(study, uses=3), "10.0.0.1"
    for _ in range(2):
        invited(sqlite_database, token, address)
        with pytest.raises(NotFound):
            invited(sqlite_database, "guessed", address)
        join(sqlite_database, token, address)
    assert counts(sqlite_database) == {"address 10.0.0.1": 2}


def test_who_is_known_by_a_link_goes_on_as_who_they_were(sqlite_database: Database) -> None:
    study = open_study(sqlite_database)
    token = link(study, uses=2)
    guest = come_in(study, token)
    assert come_in(study, token, known=guest).person_id == guest.person_id
    stranger = make_person(sqlite_database)
    assert come_in(study, token, known=stranger).person_id not in (guest.person_id, stranger.person_id)
    [row] = invitations_of(sqlite_database, study.researcher, study.study_id)
    assert (row.used, len(row.people)) == (2, 2)
