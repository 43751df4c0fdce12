"""Draws of what to label next: kept for ever, put before all other items, never the same item twice."""

from __future__ import annotations

import pytest
from sqlmodel import col, select

from annotators.errors import Conflict, InvalidInput
from db.designing.draws import draws_of, keep_draw
from db.engine import Database
from db.models import Assignment, Event, Project, StudyItem
from db.upkeep.maintenance import delete_project
from tests.db.designing.test_by_score import by_score
from tests.makers import StudyInUse, make_person


def places(study: StudyInUse) -> list[int]:
    with study.db.read() as session:
        rows = select(StudyItem.id).where(StudyItem.study_id == study.study_id).order_by(col(StudyItem.position))
        return [place for place in session.exec(rows) if place is not None]


def draw(study: StudyInUse, chances: dict[int, float], seed: int = 3) -> bool:
    about = {"criterion": "right", "seed": seed, "predictions": ["risk"], "chances": chances}
    return keep_draw(study.db, study.researcher, study.study_id, **about)


def next_item(study: StudyInUse, who: int) -> int:
    with study.db.read() as session:
        return session.get_one(Assignment, study.work(who)["items"][0]["assignment"]).study_item_id


def test_what_was_drawn_comes_next_for_everybody_and_the_others_after_it(database: Database) -> None:
    study = StudyInUse(database, items=8, annotators=2, overlap=2)
    items = places(study)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    assert draw(study, {items[6]: 0.2, items[4]: 0.4})
    met = []
    for _ in range(7):
        met.append(next_item(study, 1))
        study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    assert met[:2] == [items[6], items[4]]
    assert set(met) == set(items) - {next_item(study, 1)}
    assert study.label_all(0) == 7


def test_a_draw_is_kept_with_who_made_it_and_when_and_is_an_event(database: Database) -> None:
    study = StudyInUse(database, items=5)
    items = places(study)
    draw(study, {items[3]: 0.25, items[0]: 0.5}, seed=7)
    draw(study, {items[1]: 1.0})
    first, second = draws_of(database, study.researcher, study.study_id)
    assert (first.criterion, first.seed, first.predictions) == ("right", 7, ("risk",))
    assert list(first.chances.items()) == [(items[3], 0.25), (items[0], 0.5)]
    assert second.at >= first.at
    with database.read() as session:
        event = session.exec(select(Event).where(Event.kind == "labels drawn")).first()
        assert event is not None
        assert event.details["items"] == 2


def test_an_item_is_drawn_once_and_never_with_probability_zero(database: Database) -> None:
    study = StudyInUse(database, items=4)
    items = places(study)
    draw(study, {items[0]: 0.5})
    with pytest.raises(Conflict, match="Draw again"):
        draw(study, {items[1]: 0.5, items[0]: 0.5})
    assert len(draws_of(database, study.researcher, study.study_id)) == 1
    for chances in ({items[2]: 0.0}, {items[2]: 1.5}, {}):
        with pytest.raises(InvalidInput, match="above 0"):
            draw(study, chances)


def test_a_study_that_draws_its_items_itself_is_left_alone(database: Database) -> None:
    study = by_score(database)
    with pytest.raises(InvalidInput, match="drawn by its order already"):
        draw(study, {places(study)[0]: 0.5})


def test_where_everybody_has_an_order_of_their_own_items_stay_where_they_are(database: Database) -> None:
    study = StudyInUse(database, items=6, order="own")
    before = next_item(study, 0)
    last = next(place for place in places(study) if place != before)
    assert not draw(study, {last: 0.5})
    assert next_item(study, 0) == before


def test_a_project_with_draws_can_be_deleted(database: Database) -> None:
    study = StudyInUse(database, items=3)
    draw(study, {places(study)[0]: 0.5})
    admin = make_person(database, admin=True)
    with database.read() as session:
        name = session.get_one(Project, study.project_id).name
    assert delete_project(database, admin, study.project_id, name=name).rows["drawn_item"] == 1
