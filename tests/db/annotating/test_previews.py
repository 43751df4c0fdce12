"""A preview is what the browser gets: the same material and targets at each step, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import InvalidInput, NotAllowed
from annotators.protocols import PROTOCOLS
from db.annotating.previews import preview
from db.engine import Database
from db.models import Event, Study
from tests.makers import StudyInUse, make_member, make_person

OWN = ("assignment", "sitting", "step", "returned", "committed", "previous", "draft", "shown", "units")


def material(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in OWN}


def test_each_step_is_what_the_browser_gets_there(database: Database) -> None:
    study = StudyInUse(database, protocol="qa_verification", n_evidence=3)
    protocol = PROTOCOLS.get("qa_verification")
    first, second = preview(database, study.researcher, study.project_id, protocol=protocol, external_id="i00001")
    item = study.work(0)["items"][0]
    assert (first.step, first.shown, first.units) == ("question_alone", item["shown"], item["units"])
    assert json.dumps(first.material) == json.dumps(material(item))
    assert set(first.material) == {"question", "language"}
    study.submit(0, item, {"self_contained": "true", "human_like": "true"})
    item = study.work(0)["items"][0]
    assert (second.shown, second.units) == (item["shown"], item["units"])
    assert second.units["grounding"] == ["evidence:E1", "evidence:E2", "evidence:E3"]
    assert json.dumps(second.material) == json.dumps(material(item))


def test_nothing_of_it_is_stored(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database)
    with sqlite_database.read() as session:
        before = len(session.exec(select(Study)).all()), len(session.exec(select(Event)).all())
    protocol = PROTOCOLS.get("ambiguity")
    [step] = preview(sqlite_database, study.researcher, study.project_id, protocol=protocol, external_id="i00002")
    assert step.material["question"] == "Question of i00002?"
    with sqlite_database.read() as session:
        assert (len(session.exec(select(Study)).all()), len(session.exec(select(Event)).all())) == before


def test_an_item_that_is_not_there_is_named(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database)
    protocol = PROTOCOLS.get("ambiguity")
    with pytest.raises(InvalidInput, match="'i9'"):
        preview(sqlite_database, study.researcher, study.project_id, protocol=protocol, external_id="i9")


def test_annotators_may_not_look_ahead(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database)
    viewer = make_person(sqlite_database)
    make_member(sqlite_database, study.project_id, viewer, "viewer")
    for actor in (study.annotators[0], viewer):
        with pytest.raises(NotAllowed):
            preview(
                sqlite_database,
                actor,
                study.project_id,
                protocol=PROTOCOLS.get("qa_verification"),
                external_id="i00001",
            )
