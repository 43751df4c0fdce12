"""Studies in which everybody has an order of their own: as it is drawn, and with every promise of the one queue."""

from __future__ import annotations

import threading
from collections import Counter

import pytest
from sqlmodel import col, select

from db.annotating.amendments import StudyChange, amend_study
from db.annotating.assignments import skip
from db.annotating.status import study_status
from db.engine import Database
from db.models import Annotation, Assignment, Settlement, Study, StudyItem
from db.studies import tallies
from db.studies.design import turns_begin
from tests.db.annotating.race import labour
from tests.db.designing.test_by_score import by_score
from tests.db.studies.recount import recount
from tests.makers import StudyInUse


def positions(study: StudyInUse, who: int) -> list[int]:
    """Label all there is for somebody: the positions of the items in the order in which they came."""
    found = []
    while items := study.work(who)["items"]:
        found.append(position(study, items[0]["assignment"]))
        study.submit(who, items[0], {"right": "yes"})
    return found


def position(study: StudyInUse, assignment: int) -> int:
    with study.db.read() as session:
        row = session.get_one(Assignment, assignment)
        return session.get_one(StudyItem, row.study_item_id).position


def drawn(study: StudyInUse, who: int) -> list[int]:
    """The order that is drawn for somebody."""
    with study.db.read() as session:
        row = session.get_one(Study, study.study_id)
        width = row.settings["queue_width"]
        return [
            turns_begin(row, study.annotators[who].person_id, turn) // width  # type: ignore[arg-type]
            for turn in range(row.n_items)
        ]


def test_each_goes_through_all_items_in_the_order_drawn_for_them(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=3, overlap=3, order="own")
    orders = [positions(study, who) for who in range(3)]
    assert orders == [drawn(study, who) for who in range(3)]
    assert [sorted(order) for order in orders] == [list(range(30))] * 3
    assert len({tuple(order) for order in orders}) == 3
    assert study_status(database, study.researcher, study.study_id)["finished"]


def test_what_is_at_hand_stays_in_its_order_over_reloads(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=2, overlap=2, order="own")
    at_hand = [item["assignment"] for item in study.work(0)["items"]]
    assert [position(study, assignment) for assignment in at_hand] == drawn(study, 0)[: len(at_hand)]
    study.work(1)
    assert [item["assignment"] for item in study.work(0)["items"]] == at_hand


def test_where_others_have_taken_an_item_the_next_open_one_comes(database: Database) -> None:
    study = StudyInUse(database, items=24, annotators=3, overlap=1, order="own")
    shares: list[list[int]] = [[], [], []]
    while any(items := [study.work(who)["items"] for who in range(3)]):
        for who, mine in enumerate(items):
            if mine:
                shares[who].append(position(study, mine[0]["assignment"]))
                study.submit(who, mine[0], {"right": "yes"})
    assert sorted(place for share in shares for place in share) == list(range(24))
    assert min(map(len, shares)) >= 5


def test_freed_and_later_slots_are_found(database: Database) -> None:
    study = StudyInUse(database, items=10, annotators=3, overlap=1, order="own")
    first = study.work(0)["items"][0]
    skip(database, study.annotators[0], study.study_id, assignment_id=first["assignment"], reason="unclear")
    assert len(positions(study, 0)) == 9
    assert study.work(0)["items"] == []
    assert len(positions(study, 1)) == 1
    amend_study(database, study.researcher, study.study_id, change=StudyChange(overlap=2), reason="closer")
    assert len(positions(study, 2)) == 10
    assert study_status(database, study.researcher, study.study_id)["finished"]
    with database.read() as session:
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)


def test_a_part_with_more_is_labelled_as_often_as_it_wants(database: Database) -> None:
    study = StudyInUse(database, items=20, annotators=4, overlap=1, part=0.25, part_overlap=3, order="own")
    for who in range(4):
        positions(study, who)
    with database.read() as session:
        own = dict(session.exec(select(StudyItem.id, StudyItem.overlap)).all())
        given = Counter(session.exec(select(Annotation.study_item_id)).all())
    assert given == {item: overlap or 1 for item, overlap in own.items()}


@pytest.mark.parametrize("order", ["own", "own and balanced", "by_score"])
def test_many_at_once_give_exactly_what_is_wanted_and_nobody_has_an_item_twice(database: Database, order: str) -> None:
    study = raced(database, order)
    said: list[str] = []
    people = [actor.person_id for actor in study.annotators]
    threads = [
        threading.Thread(target=labour, args=(database, study.study_id, person, seed, said.append))
        for seed, person in enumerate(people)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    with database.read() as session:
        counting = select(Annotation.study_item_id, Annotation.person_id).where(
            Annotation.kind == "regular", col(Annotation.supersedes_id).is_(None)
        )
        rows = session.exec(counting).all()
        wanted = dict(session.exec(select(Settlement.study_item_id, Settlement.n_annotations)).all())
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
    assert max(Counter(rows).values()) == 1
    assert Counter(item for item, _ in rows) == dict.fromkeys(wanted, 2)
    assert len(wanted) == 120
    assert study_status(database, study.researcher, study.study_id)["finished"]


def raced(database: Database, order: str) -> StudyInUse:
    """120 items of which each wants two of eight annotators, with leases."""
    if order.startswith("own"):
        queue = "balanced" if order.endswith("balanced") else "dynamic"
        return StudyInUse(database, items=120, annotators=8, overlap=2, order="own", queue=queue)
    return by_score(database, 120, annotators=8, overlap=2)


# With items that are allotted beforehand ------------------------------------------------------------------------------


def allotted(study: StudyInUse, who: int) -> set[int]:
    """The positions of the items that have an open slot of somebody's."""
    with study.db.read() as session:
        query = select(StudyItem.position).join(Assignment, col(Assignment.study_item_id) == StudyItem.id)
        mine = Assignment.allotted_to == study.annotators[who].person_id
        return set(session.exec(query.where(mine, Assignment.state == "open")).all())


def test_allotted_items_come_in_the_order_drawn_for_each(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=4, overlap=2, order="own", queue="balanced")
    theirs = [allotted(study, who) for who in range(4)]
    assert [len(mine) for mine in theirs] == [15] * 4
    for who, mine in enumerate(theirs):
        assert positions(study, who) == [place for place in drawn(study, who) if place in mine]
    assert study_status(database, study.researcher, study.study_id)["finished"]


def test_what_is_at_hand_of_allotted_items_stays_over_reloads(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=3, overlap=1, order="own", queue="balanced")
    mine = allotted(study, 0)
    at_hand = [item["assignment"] for item in study.work(0)["items"]]
    study.work(1)
    assert [item["assignment"] for item in study.work(0)["items"]] == at_hand
    order = [place for place in drawn(study, 0) if place in mine]
    assert [position(study, assignment) for assignment in at_hand] == order[: len(at_hand)]


def test_allotted_items_are_handed_on_and_all_are_done(database: Database) -> None:
    study = StudyInUse(database, items=24, annotators=4, overlap=2, order="own", queue="balanced")
    first = study.work(0)["items"][0]
    skip(database, study.annotators[0], study.study_id, assignment_id=first["assignment"], reason="unclear")
    for _ in range(3):
        study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    gone = StudyChange(remove=(study.annotators[3].name,))
    amend_study(database, study.researcher, study.study_id, change=gone, reason="ill")
    for who in (0, 1, 2, 0, 1, 2):
        positions(study, who)
    with database.read() as session:
        rows = session.exec(select(Annotation.study_item_id, Annotation.person_id)).all()
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
    assert max(Counter(rows).values()) == 1
    assert set(Counter(item for item, _ in rows).values()) == {2}
    assert study_status(database, study.researcher, study.study_id)["finished"]
