"""Every operation is walked as each role and as nobody: who may not is refused before anything else happens."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

import db as db_package
from annotators.errors import AssayError, NotAllowed, NotFound, NotSignedIn
from db.engine import Database
from db.models import Person, now
from db.permissions import OPERATIONS, Actor, On, Operation, Role
from tests.makers import StudyInUse, make_member, make_person, make_project

for module in pkgutil.iter_modules(db_package.__path__):
    if module.name != "migrations":
        importlib.import_module(f"db.{module.name}")

NAMES = sorted(OPERATIONS)


@dataclass
class World:
    """A project with a study, somebody in each role, somebody from outside."""

    db: Database
    things: dict[On, int]
    people: dict[str, Actor]


@pytest.fixture
def world(sqlite_database: Database) -> World:
    study = StudyInUse(sqlite_database, items=2, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    people: dict[str, Actor] = {"administrator": make_person(sqlite_database, admin=True)}
    for role in Role:
        people[role] = make_person(sqlite_database)
        make_member(sqlite_database, study.project_id, people[role], role)
    outsider = make_person(sqlite_database)
    make_member(sqlite_database, make_project(sqlite_database), outsider, "researcher")
    people["outsider"] = outsider
    with sqlite_database.read() as session:
        from sqlmodel import select

        from db.models import StudyItem

        study_item = session.exec(select(StudyItem.id)).first()
    assert study_item is not None
    things = {
        On.PROJECT: study.project_id,
        On.STUDY: study.study_id,
        On.STUDY_ITEM: study_item,
        On.ASSIGNMENT: item["assignment"],
    }
    return World(sqlite_database, things, people)


def attempt(world: World, operation: Operation, actor: Actor | None) -> BaseException | None:
    """Call the operation with its thing and nothing else; what it raised. A TypeError shows it let the actor in."""
    arguments: list[Any] = [] if operation.on is On.APP else [world.things[operation.on]]
    try:
        operation.function(world.db, actor, *arguments)
    except (AssayError, TypeError) as error:
        return error
    return None


def test_there_are_operations_to_walk() -> None:
    assert len(NAMES) >= 30
    assert {"annotations.submit", "adjudications.adjudicate", "studies.create_study"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_nobody_is_refused(world: World, name: str) -> None:
    assert isinstance(attempt(world, OPERATIONS[name], None), NotSignedIn)


@pytest.mark.parametrize("name", NAMES)
def test_an_erased_person_is_refused(world: World, name: str) -> None:
    actor = make_person(world.db, admin=True)
    with world.db.write() as session:
        session.get_one(Person, actor.person_id).erased_at = now()
    assert isinstance(attempt(world, OPERATIONS[name], actor), NotSignedIn)


@pytest.mark.parametrize("name", NAMES)
def test_each_role_may_do_what_the_operation_says_and_no_more(world: World, name: str) -> None:
    operation = OPERATIONS[name]
    for role in Role:
        error = attempt(world, operation, world.people[role])
        if operation.signed_in_only:
            continue
        if role in operation.roles and operation.on is not On.APP:
            assert not isinstance(error, NotSignedIn), role
            refused_by_role = isinstance(error, NotAllowed) and " may not " in str(error)
            assert not refused_by_role, (role, error)
        else:
            assert isinstance(error, NotAllowed), (role, error)


@pytest.mark.parametrize("name", NAMES)
def test_a_researcher_of_another_project_is_told_that_it_is_not_there(world: World, name: str) -> None:
    operation = OPERATIONS[name]
    if operation.on is On.APP or operation.signed_in_only:
        pytest.skip("not about one project")
    assert isinstance(attempt(world, operation, world.people["outsider"]), NotFound)


@pytest.mark.parametrize("name", NAMES)
def test_an_administrator_is_let_in(world: World, name: str) -> None:
    error = attempt(world, OPERATIONS[name], world.people["administrator"])
    assert not isinstance(error, NotSignedIn)
    assert not (isinstance(error, NotAllowed) and " may not " in str(error))


def public_functions_that_take_a_database() -> list[tuple[str, Callable[..., Any]]]:
    found = []
    for module in pkgutil.iter_modules(db_package.__path__):
        if module.name == "migrations":
            continue
        loaded = importlib.import_module(f"db.{module.name}")
        for name, function in vars(loaded).items():
            if name.startswith("_") or not inspect.isfunction(function) or function.__module__ != loaded.__name__:
                continue
            first = next(iter(inspect.signature(function).parameters.values()), None)
            if first is not None and first.name == "db":
                found.append((f"{module.name}.{name}", function))
    return found


WITHOUT_ACTOR = {
    # before anybody is signed in, or deciding who that is
    "people.first_administrator",
    "people.local_administrator",
    "people.actor_named",
    "sign_in.sign_in",
    "sign_in.session_actor",
    "sign_in.sign_out",
    "sign_in.one_time_person",
    "sign_in.use_one_time",
    # the health check, which tells nothing but that the database answers
    "projects.database_answers",
}


def test_every_public_function_on_a_database_is_an_operation_or_comes_before_signing_in() -> None:
    names = {name for name, _ in public_functions_that_take_a_database()}
    assert names - set(OPERATIONS) == WITHOUT_ACTOR
