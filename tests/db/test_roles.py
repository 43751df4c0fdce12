"""What somebody is in a project is worked out in one place; here apart from it, and held against all who ask."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import pytest
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import AssayError
from db.adjudicating.adjudications import disputes_for_me
from db.adjudicating.stages import _deciders
from db.annotating.disclosure import may_see_page, reading, visible_document
from db.designing.drafts import drafts_of, save_draft
from db.elsewhere.fetching import check_may_fetch
from db.elsewhere.handed_over import token_of
from db.engine import Database
from db.judging.items import secret_of
from db.models import Document, Item, Membership, Person, Study, now
from db.people.accounts import list_members, plan_people, set_person, who_may_annotate, who_may_revise
from db.people.pseudonyms import sees_names
from db.people.uploads import check_may_upload, imports_anywhere
from db.permissions import EVERYBODY, Actor, On, Role, check, role_in
from db.projects import create_project, find_project, my_projects
from db.scores.labels import _study
from db.studies.design import list_studies, my_studies, person_who_may_annotate
from db.studies.remarks import item_place
from tests.databases import put_database
from tests.makers import (
    StudyInUse,
    first_administrator,
    make_item,
    make_member,
    make_person,
    make_project,
    tiny_protocol,
)

ROLES = ("viewer", "annotator", "reviser", "adjudicator", "researcher")
READERS, ADJUDICATORS = {"viewer", "adjudicator", "researcher"}, {"adjudicator", "researcher"}
ANNOTATORS = {"annotator", "adjudicator", "researcher"}


@dataclass(frozen=True)
class Somebody:
    """A person as the table has them: administrator or not, default role, role here, and another one elsewhere."""

    actor: Actor
    is_admin: bool
    default: str | None
    membership: str | None

    @property
    def held(self) -> str | None:
        return self.membership or self.default

    @property
    def role(self) -> str | None:
        return "researcher" if self.is_admin else self.held


@dataclass(frozen=True)
class World:
    db: Database
    study: StudyInUse
    other_project: int
    everybody: tuple[Somebody, ...]
    item_id: int
    document_id: int
    assignment: int


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A project with a dispute, a draft and a document, and a person for each of fifty standings, elsewhere too."""
    path = tmp_path_factory.mktemp("roles") / "assay.db"
    put_database(path)
    db = Database(f"sqlite:///{path}")
    study = StudyInUse(db, items=1, annotators=2, overlap=2, n_evidence=1)
    first = study.work(0)["items"][0]
    for who, said in enumerate(("yes", "no")):
        study.submit(who, study.work(who)["items"][0], {"right": said})
    save_draft(
        db, study.researcher, study.project_id, protocol=tiny_protocol(),
        design=StudyDesign(name="draft", annotators=(study.annotators[0].name,), overlap=1),
    )  # fmt: skip
    elsewhere = StudyInUse(db, items=1, annotators=1, overlap=1).project_id
    everybody = []
    for admin, default, membership in itertools.product((False, True), (None, *ROLES), (None, *ROLES)):
        actor = make_person(db, admin=admin, role=default)
        if membership:
            make_member(db, study.project_id, actor, membership)
        if default != "researcher":  # what they are elsewhere says nothing here
            make_member(
                db, elsewhere, actor, "viewer" if membership in ("researcher", "adjudicator") else "adjudicator"
            )
        # As somebody who came in before it was changed what they are: the database says what they are now.
        everybody.append(Somebody(replace(actor, is_admin=not admin, default_role=None), admin, default, membership))
    with db.read() as session:
        item = session.exec(select(Item.id).where(Item.project_id == study.project_id)).one()
        document = session.exec(select(Document.id).where(Document.project_id == study.project_id)).one()
    assert item is not None and document is not None
    yield World(db, study, elsewhere, tuple(everybody), item, document, first["assignment"])
    db.dispose()


def lets(call: Callable[[], object]) -> bool:
    try:
        call()
    except AssayError:
        return False
    return True


def test_the_door_and_the_rule_say_the_same(world: World) -> None:
    with world.db.read() as session:
        for one in world.everybody:
            assert role_in(session, one.actor.person_id, world.study.project_id) == one.role, one
            for role in Role:

                def opened(one: Somebody = one, role: Role = role) -> None:
                    check(
                        session.connection(), one.actor, On.STUDY, world.study.study_id, frozenset({role}),
                    )  # fmt: skip

                assert lets(opened) == (one.is_admin or one.role == role), (one, role)


ASKS: dict[str, tuple[set[str], Callable[[World, Actor], object]]] = {
    "projects": (set(ROLES), lambda w, who: [row for row in my_projects(w.db, who) if _here(w, row)] or _refuse()),
    "a project by its name": (set(ROLES), lambda w, who: find_project(w.db, who, _name(w))),
    "an item by its number": (READERS | {"reviser"}, lambda w, who: item_place(w.db, who, item_id=w.item_id)),
    "a document": (READERS, lambda w, who: visible_document(w.db, who, document_id=w.document_id)),
    "a page": (READERS, lambda w, who: may_see_page(w.db, who, document_id=w.document_id, page=1)),
    "drafts": (READERS, lambda w, who: drafts_of(w.db, who, w.study.project_id) or _refuse()),
    "what an assignment shows": (
        READERS,
        lambda w, who: reading(w.db, who, w.study.study_id, assignment_id=w.assignment),
    ),
    "disputes": (ADJUDICATORS, lambda w, who: disputes_for_me(w.db, who)[w.study.study_id]),
    "labels that are elsewhere": (
        {"researcher"},
        lambda w, who: check_may_fetch(
            w.db, who, tokens=[token_of(secret_of(w.db, w.study.project_id), f"study:{w.study.study_id}")]
        ),
    ),
}
"""What is asked → who gets it; KeyError and AssayError: they do not."""


def _here(world: World, row: object) -> bool:
    return getattr(row, "project_id", None) == world.study.project_id


def _name(world: World) -> str:
    [row] = [row for row in my_projects(world.db, world.study.researcher) if _here(world, row)]
    return row.name


def _refuse() -> None:
    raise KeyError


@pytest.mark.parametrize("what", ASKS)
def test_everybody_gets_what_their_role_gets(world: World, what: str) -> None:
    secret_of(world.db, world.study.project_id)
    may, ask = ASKS[what]
    got = {}
    for one in world.everybody:
        try:
            ask(world, one.actor)
            got[one] = True
        except (AssayError, KeyError):
            got[one] = False
    assert got == {one: one.role in may for one in world.everybody}


def test_lists_give_the_role_that_somebody_acts_in(world: World) -> None:
    for one in world.everybody:
        [*role] = [row.role for row in my_projects(world.db, one.actor) if row.project_id == world.study.project_id]
        assert role == ([one.role] if one.role else []), one
        rows = [row for row in my_studies(world.db, one.actor) if row.study_id == world.study.study_id]
        # Annotators are told of studies that they annotate in, which none of these does; revisers of none.
        assert [row.may_adjudicate for row in rows] == (
            [] if one.role in (None, "annotator", "reviser") else [one.role in ADJUDICATORS]
        ), one
        if one.role == "reviser":
            assert not lets(lambda one=one: list_studies(world.db, one.actor, world.study.project_id))  # type: ignore[misc]
        elif one.role:
            assert [row.study_id for row in list_studies(world.db, one.actor, world.study.project_id)] == [
                row.study_id for row in rows
            ]


def test_lists_of_people_have_those_whose_role_does(world: World) -> None:
    study, researcher = world.study, world.study.researcher
    ids = {one.actor.person_id: one for one in world.everybody}

    def among(rows: object) -> set[int]:
        return {row for row in rows if row in ids}  # type: ignore[attr-defined]

    def having(may: set[str], *, held: bool = False) -> set[int]:
        return {n for n, one in ids.items() if (one.held if held else one.role) in may}

    assert among(row.person_id for row in who_may_annotate(world.db, researcher, study.project_id)) == having(
        ANNOTATORS
    )
    members = {row.person_id: row for row in list_members(world.db, researcher, study.project_id)}
    assert {n: (row.role, row.explicit) for n, row in members.items() if n in ids} == {
        n: (one.held, one.membership is not None) for n, one in ids.items() if one.held
    }
    planned = plan_people(
        world.db, researcher, study.project_id,
        people=[(n, one.actor.name, "viewer") for n, one in ids.items()],
    )  # fmt: skip
    assert {row.line: row.before for row in planned} == {n: one.held for n, one in ids.items()}
    with world.db.read() as session:
        row = session.get_one(Study, study.study_id)
        assert among(who_may_revise(session, study.project_id)) == having({"researcher", "reviser"})
        # Who may decide a second time is looked for among those who have the role, not among administrators without.
        assert among(session.execute(_deciders(row)).scalars()) == having(ADJUDICATORS, held=True)
        for one in world.everybody:
            named = lets(lambda one=one: person_who_may_annotate(session, study.project_id, one.actor.name))  # type: ignore[misc]
            assert named == (one.role in ANNOTATORS), one
            assert sees_names(session, one.actor, row) == (one.role == "researcher"), one
            try:
                _study(session, one.actor, world.other_project, row.name + " is not here")
            except AssayError as error:
                assert "is a study of the project" not in str(error)


def test_a_study_of_another_project_is_named_to_those_who_see_it(world: World) -> None:
    empty = make_project(world.db)
    with world.db.write() as session:
        session.get_one(Study, world.study.study_id).name = "only here"
    with world.db.read() as session:
        for one in world.everybody:
            with pytest.raises(AssayError) as error:
                _study(session, one.actor, empty, "only here")
            assert ("is a study of the project" in str(error.value)) == (one.role is not None), one


def test_projects_are_made_and_files_sent_by_those_who_are_researchers_anywhere(world: World) -> None:
    with world.db.read() as session:
        for one in world.everybody:
            anywhere = one.is_admin or "researcher" in (one.default, one.membership)
            assert imports_anywhere(session, one.actor.person_id) == anywhere, one
            assert lets(lambda one=one: check_may_upload(world.db, one.actor)) == anywhere  # type: ignore[misc]
    for number, one in enumerate(world.everybody):
        made = lets(lambda one=one, number=number: create_project(world.db, one.actor, f"made {number}"))  # type: ignore[misc]
        assert made == (one.is_admin or one.default == "researcher"), one


def test_only_administrators_of_now_make_accounts_for_members(sqlite_database: Database) -> None:
    """Somebody who was an administrator when they came in is none once it was taken from them."""
    first_administrator(sqlite_database, name="first")
    admin = make_person(sqlite_database, "second", admin=True)
    project = make_project(sqlite_database)
    make_member(sqlite_database, project, admin, "researcher")
    [plan] = plan_people(sqlite_database, admin, project, people=[(1, "somebody", "annotator")])
    assert not plan.problem
    set_person(sqlite_database, admin, "second", admin=False, default_role=None)
    [plan] = plan_people(sqlite_database, admin, project, people=[(1, "somebody", "annotator")])
    assert "only an administrator" in plan.problem


@pytest.mark.parametrize("gone", ["erased", "removed"])
def test_who_is_gone_is_in_no_list(sqlite_database: Database, gone: str) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    actor = make_person(sqlite_database, role="researcher" if gone == "erased" else None)
    if gone == "removed":
        make_member(sqlite_database, study.project_id, actor, "researcher")
    make_item(sqlite_database, study.project_id)

    def lists() -> list[set[int]]:
        with sqlite_database.read() as session:
            row = session.get_one(Study, study.study_id)
            return [
                {one.person_id for one in who_may_annotate(sqlite_database, study.researcher, study.project_id)},
                {one.person_id for one in list_members(sqlite_database, study.researcher, study.project_id)},
                set(who_may_revise(session, study.project_id)),
                set(session.execute(_deciders(row)).scalars()),
            ]

    assert all(actor.person_id in people for people in lists())
    with sqlite_database.write() as session:
        if gone == "erased":
            session.get_one(Person, actor.person_id).erased_at = now()
        else:
            session.delete(session.get_one(Membership, (study.project_id, actor.person_id)))
    assert not any(actor.person_id in people for people in lists())
    with sqlite_database.read() as session:
        assert not lets(
            lambda: check(session.connection(), actor, On.STUDY, study.study_id, EVERYBODY, anyone_signed_in=False)
        )
