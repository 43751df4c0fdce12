"""A study of named items."""

from __future__ import annotations

import pytest
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from db.designing.making import create_study
from db.engine import Database
from db.models import Study, StudyItem
from tests.makers import StudyInUse, tiny_protocol


def test_only_the_named_items_are_taken_and_kept_in_the_design(database: Database) -> None:
    there = StudyInUse(database, items=4)
    design = StudyDesign(name="again", annotators=(there.annotators[0].name,), overlap=1, items=("i00003", "i00001"))
    made = create_study(database, there.researcher, there.project_id, protocol=tiny_protocol(), design=design)
    assert made.n_items == 2
    with database.read() as session:
        study = session.get_one(Study, made.study_id)
        assert study.settings["items"] == ["i00003", "i00001"]
        assert len(session.exec(select(StudyItem).where(StudyItem.study_id == made.study_id)).all()) == 2


def test_an_item_that_is_not_there_is_named(database: Database) -> None:
    there = StudyInUse(database, items=2)
    design = StudyDesign(name="again", annotators=(there.annotators[0].name,), overlap=1, items=("i00001", "nothing"))
    with pytest.raises(InvalidInput, match="no item 'nothing'"):
        create_study(database, there.researcher, there.project_id, protocol=tiny_protocol(), design=design)
