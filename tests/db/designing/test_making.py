"""What a design would make, as the form asks at every keystroke: worked out once, until something else can be drawn."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import event

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS
from db.designing.making import plan_study
from db.engine import Database
from db.studies.design import StudyPlan
from db.studies.revisions import revise_item
from tests.makers import StudyInUse, make_item


@contextmanager
def statements(db: Database) -> Iterator[list[str]]:
    """What the database is asked meanwhile."""
    asked: list[str] = []

    def note(_connection: Any, _cursor: Any, statement: str, *_rest: Any) -> None:
        asked.append(statement)

    event.listen(db.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(db.engine, "before_cursor_execute", note)


def plan(study: StudyInUse, **fields: Any) -> StudyPlan:
    design = StudyDesign(**{"name": "", "order": "given", "keep_lacking": True, **fields})
    about = (study.db, study.researcher, study.project_id)
    return plan_study(*about, protocol=PROTOCOLS.get("qa_verification"), design=design, people=False)


def test_what_a_form_shows_is_read_of_the_items_once_until_they_change(database: Database) -> None:
    study = StudyInUse(database, items=3)
    first = plan(study)
    with statements(database) as asked:
        again = plan(study, name="Typed meanwhile", annotators=(study.annotators[0].name,), lease_minutes=5)
    assert again == first and first.n_items == 3
    assert asked and not [statement for statement in asked if "external_id" in statement]
    assert plan(study, sample=2, seed=1).n_items == 2
    make_item(database, study.project_id, "i00004")
    assert plan(study).n_items == 4
    before = plan(study).sample_hash
    revise_item(
        database, study.researcher, study.project_id, external_id="i00001", fields={"answer": "Better."}, reason="wrong"
    )
    assert plan(study).sample_hash != before


def test_what_is_wrong_with_a_sample_is_kept_and_said_each_time_with_the_places_of_its_own(database: Database) -> None:
    study = StudyInUse(database, items=2)
    arms = ({"name": "a", "suggestions": "never"}, {"name": "b"})
    people = tuple(actor.name for actor in study.annotators[:2])
    for given in ({}, {"arms": arms, "annotators": people}, {}):
        with pytest.raises(InvalidInput, match="no item 'x'") as raised:
            plan(study, items=("x",), overlap=1, **given)
        assert [problem.path for problem in raised.value.problems] == [("items",)]
