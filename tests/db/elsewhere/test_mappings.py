"""Mappings that a project keeps: by name, changed in their place, deleted, and gone with the project."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import InvalidInput, NotFound
from db.elsewhere.mappings import forget_mapping, keep_mapping, kept_mapping, kept_mappings
from db.engine import Database
from db.models import Event, Project
from db.upkeep.maintenance import delete_project
from tests.makers import make_person, make_project

MAPPING: dict[str, Any] = {"fields": {"item": ["HITId"], "criteria": ["Answer.*"]}, "missing": ["?", "ä"]}


def test_a_mapping_is_kept_under_its_name_changed_and_deleted(database: Database) -> None:
    actor, project = make_person(database, admin=True), make_project(database)
    assert keep_mapping(database, actor, project, name=" mturk ", mapping=MAPPING) is False
    assert keep_mapping(database, actor, project, name="a first", mapping={"fields": {}}) is False
    assert [kept.name for kept in kept_mappings(database, actor, project)] == ["a first", "mturk"]
    assert kept_mapping(database, actor, project, name="mturk").mapping == MAPPING
    assert keep_mapping(database, actor, project, name="mturk", mapping={"fields": {"item": ["id"]}}) is True
    kept = kept_mapping(database, actor, project, name="mturk")
    assert (kept.mapping, kept.by) == ({"fields": {"item": ["id"]}}, actor.name)
    forget_mapping(database, actor, project, name="mturk")
    with pytest.raises(NotFound, match=r"no mapping 'mturk'\. It has: a first"):
        kept_mapping(database, actor, project, name="mturk")
    with database.read() as session:
        kinds = session.exec(select(Event.kind).where(Event.thing == "mapping").order_by(Event.id)).all()  # type: ignore[arg-type]
    assert kinds == ["mapping kept", "mapping kept", "mapping changed", "mapping deleted"]


@pytest.mark.parametrize("name", ["", " ", "item=id", "finance/mturk", "x" * 101, "a\nb"])
def test_a_name_that_a_command_would_take_for_something_else_is_refused(sqlite_database: Database, name: str) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    with pytest.raises(InvalidInput):
        keep_mapping(sqlite_database, actor, project, name=name, mapping=MAPPING)


def test_a_mapping_goes_with_its_project(sqlite_database: Database) -> None:
    actor, project = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    keep_mapping(sqlite_database, actor, project, name="mturk", mapping=MAPPING)
    with sqlite_database.read() as session:
        name = session.get_one(Project, project).name
    assert delete_project(sqlite_database, actor, project, name=name).rows["kept_mapping"] == 1
