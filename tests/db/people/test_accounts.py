"""People: accounts, roles, erasure."""

from __future__ import annotations

import json

import pytest
from sqlmodel import Session, select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound, NotSignedIn
from db.engine import Database
from db.events import list_events
from db.models import Account, Event, Membership, Person, Preference, SignInFailure, UnsavedText, WebSession
from db.people import accounts as people
from db.people.sign_in import one_time_sign_in, session_actor, sign_in
from db.permissions import Actor, Role
from db.projects import create_project, find_project, my_projects, project_overview
from tests.makers import first_administrator, make_item, make_member, make_person, make_project

PASSWORD = "four plain words here"


@pytest.fixture
def admin(database: Database) -> Actor:
    return first_administrator(database, password=PASSWORD)


def test_the_first_administrator_is_made_once_and_then_found(database: Database) -> None:
    with pytest.raises(NotFound, match="assay init"):
        people.local_administrator(database)
    made = first_administrator(database, name="mira")
    assert (made.name, made.is_admin, made.via) == ("mira", True, "command")
    assert first_administrator(database, name="somebody else") == made
    assert people.local_administrator(database) == made


def test_a_person_added_can_sign_in_and_is_listed_with_their_roles(database: Database, admin: Actor) -> None:
    project_id = create_project(database, admin, "Energy")
    people.add_person(database, admin, "  ana ", password=PASSWORD, default_role="annotator")
    people.set_member(database, admin, project_id, name="ana", role=Role.ADJUDICATOR)
    rows = {row.name: row for row in people.list_people(database, admin)}
    assert list(rows) == ["admin", "ana"]
    assert rows["ana"].default_role is Role.ANNOTATOR
    assert rows["ana"].roles == {"Energy": Role.ADJUDICATOR}
    assert rows["ana"].has_password
    actor = session_actor(database, sign_in(database, "ana", PASSWORD, None))
    assert actor == Actor(rows["ana"].person_id, "ana", False, "annotator")


@pytest.mark.parametrize("name", ["", "   ", "a" * 101, "two\nlines", "zero\u200bwidth"])
def test_a_name_that_nobody_could_type_is_refused(database: Database, admin: Actor, name: str) -> None:
    with pytest.raises(InvalidInput, match="1 to 100"):
        people.add_person(database, admin, name)


def test_a_name_is_taken_whatever_its_capitals(database: Database, admin: Actor) -> None:
    people.add_person(database, admin, "Ana")
    with pytest.raises(Conflict, match="'ANA' is taken"):
        people.add_person(database, admin, "ANA")


@pytest.mark.parametrize(
    ("password", "problem"), [("seven77", "has 7 characters"), ("x" * 1001, "at most 1000"), ("marguerite", "name")]
)
def test_a_weak_password_is_refused_without_being_repeated(
    database: Database, admin: Actor, password: str, problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem) as caught:
        people.add_person(database, admin, "Marguerite", password=password)
    assert password not in str(caught.value)
    assert [row.name for row in people.list_people(database, admin)] == ["admin"]


def test_an_unknown_role_lists_the_known_ones(database: Database, admin: Actor) -> None:
    with pytest.raises(InvalidInput, match=r"'boss'.*viewer, annotator, reviser, adjudicator, researcher"):
        people.add_person(database, admin, "ana", default_role="boss")


def test_accounts_are_for_administrators_and_members_for_researchers(database: Database, admin: Actor) -> None:
    project_id = make_project(database)
    researcher, annotator, stranger = (make_person(database) for _ in range(3))
    make_member(database, project_id, researcher, "researcher")
    make_member(database, project_id, annotator, "annotator")
    with pytest.raises(NotAllowed):
        people.add_person(database, researcher, "ana")
    with pytest.raises(NotAllowed):
        people.list_people(database, researcher)
    people.set_member(database, researcher, project_id, name=stranger.name, role="viewer")
    with pytest.raises(NotAllowed):
        people.set_member(database, annotator, project_id, name=annotator.name, role="researcher")
    with pytest.raises(NotAllowed):
        people.list_members(database, annotator, project_id)
    with pytest.raises(NotFound):
        people.set_member(database, make_person(database), project_id, name=annotator.name, role="viewer")
    with pytest.raises(NotSignedIn):
        people.add_person(database, None, "ana")


def test_a_membership_overrides_the_default_role_until_it_is_removed(database: Database, admin: Actor) -> None:
    project_id = make_project(database)
    ana = make_person(database, "ana", role="annotator")
    people.set_member(database, admin, project_id, name="ana", role="viewer")
    assert [(row.name, row.role, row.explicit) for row in people.list_members(database, admin, project_id)] == [
        ("ana", Role.VIEWER, True)
    ]
    assert my_projects(database, ana)[0].role is Role.VIEWER
    people.set_member(database, admin, project_id, name="ana", role="adjudicator")
    assert my_projects(database, ana)[0].role is Role.ADJUDICATOR
    people.remove_member(database, admin, project_id, name="ana")
    assert my_projects(database, ana)[0].role is Role.ANNOTATOR
    with pytest.raises(NotFound, match="no member"):
        people.remove_member(database, admin, project_id, name="ana")


def test_a_new_password_ends_the_sessions_that_the_old_one_opened(database: Database, admin: Actor) -> None:
    people.add_person(database, admin, "ana", password=PASSWORD)
    token = sign_in(database, "ana", PASSWORD, None)
    people.set_password(database, admin, "ana", password="another few words")
    assert session_actor(database, token) is None
    with pytest.raises(NotSignedIn):
        sign_in(database, "ana", PASSWORD, None)
    ana = session_actor(database, sign_in(database, "ana", "another few words", None))
    with pytest.raises(NotAllowed, match="present password is wrong"):
        people.change_password(database, ana, old="guess guess", new="third set of words")
    with pytest.raises(NotAllowed, match="present password is wrong"):
        people.change_password(database, ana, old=None, new="third set of words")
    assert session_actor(database, there := sign_in(database, "ana", "another few words", None)) == ana
    people.change_password(database, ana, old="another few words", new="third set of words")
    assert session_actor(database, there) is None
    assert session_actor(database, sign_in(database, "ana", "third set of words", None)) == ana


def test_the_last_administrator_stays(database: Database, admin: Actor) -> None:
    with pytest.raises(Conflict, match="only administrator"):
        people.set_person(database, admin, "admin", admin=False, default_role=None)
    with pytest.raises(Conflict, match="only administrator"):
        people.erase_person(database, admin, "admin")
    people.add_person(database, admin, "mira", admin=True)
    people.erase_person(database, admin, "admin")
    assert people.local_administrator(database).name == "mira"


def test_an_erased_person_leaves_a_number_and_nothing_else(database: Database, admin: Actor) -> None:
    project_id = create_project(database, admin, "Energy")
    people.add_person(database, admin, "ana.example@post", password=PASSWORD, default_role="annotator")
    people.set_member(database, admin, project_id, name="ana.example@post", role="annotator")
    with pytest.raises(NotSignedIn):
        sign_in(database, "ana.example@post", "wrong password", "10.0.0.7")
    token = sign_in(database, "ana.example@post", PASSWORD, "10.0.0.7")
    actor = session_actor(database, token)
    assert actor is not None
    one_time_sign_in(database, admin, "ana.example@post")
    with database.write() as session:
        session.add(Preference(person_id=actor.person_id, name="language", value="of ana.example"))
        about = {"person_id": actor.person_id, "project_id": project_id}
        session.add(UnsavedText(**about, page="protocols", name="new", text="by ana.example"))

    assert people.erase_person(database, admin, "ana.example@post") == actor.person_id

    assert session_actor(database, token) is None
    with pytest.raises(NotSignedIn, match="no longer exists"):
        my_projects(database, actor)
    with pytest.raises(NotSignedIn):
        sign_in(database, "ana.example@post", PASSWORD, None)
    assert people.list_members(database, admin, project_id) == []
    with database.read() as session:
        assert session.get_one(Person, actor.person_id).erased_at is not None
        assert session.exec(select(WebSession).where(WebSession.person_id == actor.person_id)).all() == []
        assert session.exec(select(Membership).where(Membership.person_id == actor.person_id)).all() == []
        for table in (Preference, UnsavedText):
            assert session.exec(select(table).where(table.person_id == actor.person_id)).all() == []
        assert people.names_of(session, [actor.person_id]) == {actor.person_id: f"erased person {actor.person_id}"}
        everything = _dump(session)
    assert "ana.example" not in everything
    assert "10.0.0.7" not in everything


def _dump(session: Session) -> str:
    """Every row of the tables that could hold a person's name or address, as text."""
    tables = (Account, Person, Event, SignInFailure, WebSession)
    return json.dumps([row.model_dump(mode="json") for table in tables for row in session.exec(select(table)).all()])


def test_events_tell_who_did_what_newest_first_and_page_by_key(database: Database, admin: Actor) -> None:
    for number in range(5):
        people.add_person(database, admin, f"ana {number}")
    first = list_events(database, admin, limit=2)
    assert [(row.who, row.kind, row.about) for row in first] == [
        ("admin", "person added", "ana 4"),
        ("admin", "person added", "ana 3"),
    ]
    assert first[0].via == "command"
    second = list_events(database, admin, limit=2, before=first[-1].event_id)
    assert [row.about for row in second] == ["ana 2", "ana 1"]
    assert list_events(database, admin, kind="project") == []
    people.erase_person(database, admin, "ana 4")
    person_id = list_events(database, admin, limit=1)[0].about
    assert person_id.startswith("erased person ")


def test_a_project_is_seen_by_those_who_have_a_role_in_it(database: Database, admin: Actor) -> None:
    researcher, stranger = make_person(database, role="researcher"), make_person(database)
    project_id = create_project(database, researcher, " Energy reports ")
    make_item(database, project_id, n_evidence=1)
    with pytest.raises(NotAllowed, match="may not create projects"):
        create_project(database, stranger, "Mine")
    with pytest.raises(Conflict, match="already"):
        create_project(database, admin, "energy REPORTS")
    assert find_project(database, admin, "Energy reports").role is Role.RESEARCHER
    with pytest.raises(NotFound, match="Known: none yet"):
        find_project(database, stranger, "Energy reports")
    assert my_projects(database, stranger) == []
    overview = project_overview(database, researcher, project_id)
    assert (overview.documents, overview.supplied_documents, overview.items, overview.studies) == (1, 0, 1, 0)
    with pytest.raises(NotFound):
        project_overview(database, stranger, project_id)


# Several people at once -----------------------------------------------------------------------------------------------


def test_several_people_are_added_with_their_roles_or_none_of_them(database: Database, admin: Actor) -> None:
    project_id = create_project(database, admin, "Energy")
    make_person(database, "ben")
    wanted = [(1, "ana", "annotator"), (3, "ben", "adjudicator")]
    assert [person.is_new for person in people.plan_people(database, admin, project_id, people=wanted)] == [True, False]
    with pytest.raises(InvalidInput, match="line 4: There is no role 'boss'"):
        people.add_people(database, admin, project_id, people=[*wanted, (4, "zoe", "boss")])
    assert [row.name for row in people.list_people(database, admin)] == ["admin", "ben"]
    assert people.add_people(database, admin, project_id, people=wanted) == ["ana"]
    members = {row.name: row.role for row in people.list_members(database, admin, project_id)}
    assert members == {"ana": Role.ANNOTATOR, "ben": Role.ADJUDICATOR}


def test_a_researcher_gives_roles_but_makes_no_accounts(database: Database, admin: Actor) -> None:
    project_id = create_project(database, admin, "Energy")
    researcher, _ben = make_person(database, "rosa"), make_person(database, "ben")
    make_member(database, project_id, researcher, "researcher")
    assert people.add_people(database, researcher, project_id, people=[(1, "ben", "annotator")]) == []
    with pytest.raises(InvalidInput, match="only an administrator makes accounts"):
        people.add_people(database, researcher, project_id, people=[(1, "nobody yet", "annotator")])


def test_administrators_and_members_with_a_fitting_role_may_annotate(database: Database, admin: Actor) -> None:
    project_id = create_project(database, admin, "Energy")
    for name, role in (("vera", "viewer"), ("ana", "annotator"), ("rosa", "researcher")):
        make_member(database, project_id, make_person(database, name), role)
    make_person(database, "outsider")
    rows = people.who_may_annotate(database, admin, project_id)
    assert [(row.name, row.role) for row in rows] == [
        ("admin", Role.RESEARCHER), ("ana", Role.ANNOTATOR), ("rosa", Role.RESEARCHER),
    ]  # fmt: skip
