"""Items allotted beforehand: even, each two people on as many, nobody's slot taken by another, and none left over."""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import timedelta
from itertools import combinations
from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import select

from annotators.asking.planting import Planting
from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput, NotFound
from db.annotating.amendments import StudyChange, amend_study, amendments_of
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.status import study_status
from db.designing.making import plan_study
from db.designing.written import written_design
from db.engine import Database
from db.inviting.invitations import InvitationTerms, invite
from db.models import Assignment, AssignmentState, now
from db.quality.omissions import leave_out
from tests.db.quality.test_gold import gold
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol


def balanced(database: Database, **changes: Any) -> StudyInUse:
    return StudyInUse(database, **{"items": 30, "annotators": 4, "overlap": 2, "queue": "balanced", **changes})


def slots(study: StudyInUse) -> list[tuple[int, int | None, str]]:
    """(item, person who has it or is to have it, state) of every live slot."""
    with study.db.read() as session:
        rows = session.exec(select(Assignment).where(Assignment.study_id == study.study_id, Assignment.kind == "slot"))
        return [
            (row.study_item_id, row.person_id or row.allotted_to, row.state)
            for row in rows
            if row.state in ("open", "leased", "submitted", "returned")
        ]


def shared(study: StudyInUse) -> tuple[Counter[int | None], Counter[tuple[int, ...]]]:
    """Slots by person, and items by each two people; no item has somebody twice."""
    of_item = defaultdict(list)
    for item, person, _ in slots(study):
        of_item[item].append(person)
    assert all(len(set(people)) == len(people) for people in of_item.values())
    pairs: Counter[tuple[int, ...]] = Counter(
        pair for people in of_item.values() for pair in combinations(sorted(person or 0 for person in people), 2)
    )
    return Counter(person for _, person, _ in slots(study)), pairs


def amend(study: StudyInUse, **change: Any) -> list[str]:
    about: dict[str, Any] = {"change": StudyChange(**change), "reason": "as it came"}
    return amend_study(study.db, study.researcher, study.study_id, **about)


def status(study: StudyInUse) -> dict[str, Any]:
    return study_status(study.db, study.researcher, study.study_id)


def test_everybody_has_as_many_and_every_two_share_as_many(database: Database) -> None:
    study = balanced(database)
    loads, pairs = shared(study)
    assert set(loads.values()) == {15}, "30 items × 2 / 4 people"
    assert set(pairs.values()) == {5}, "30 pairs of people / 6"
    assert study.label_all(0) == 15, "nobody gets what is another's, however early they come"
    assert [study.label_all(who) for who in (2, 1, 3)] == [15, 15, 15]
    assert status(study)["finished"]
    assert [row["allotted"] for row in status(study)["annotators"]] == [0, 0, 0, 0]
    design = written_design(database, study.researcher, study.study_id).design
    assert design.queue == "balanced"


def test_a_part_with_more_is_allotted_as_well(database: Database) -> None:
    study = balanced(database, items=40, overlap=1, part=0.25, part_overlap=3)
    loads, _ = shared(study)
    assert sorted(loads.values()) == [15, 15, 15, 15], "30 + 10 × 3 slots of 4 people"
    assert sum(study.label_all(who) for who in range(4)) == 60
    assert status(study)["finished"]


def test_a_lease_that_ran_out_stays_with_whose_it_is(database: Database) -> None:
    study = balanced(database, items=6, annotators=2, overlap=1, lease_minutes=5)
    mine = [item["assignment"] for item in study.work(0)["items"]]
    with database.write() as session:
        past = {"past": now() - timedelta(hours=9)}
        session.execute(text("UPDATE assignment SET lease_until = :past WHERE state = 'leased'"), past)
    assert study.label_all(1) == 3
    assert [item["assignment"] for item in study.work(0)["items"]] == mine
    assert study.label_all(0) == 3


def test_a_skipped_item_goes_to_somebody_who_has_not_had_it(database: Database) -> None:
    study = balanced(database, items=6, annotators=3, overlap=2)
    item = study.work(0)["items"][0]
    skip(database, study.annotators[0], study.study_id, assignment_id=item["assignment"], reason="unreadable")
    done = [study.label_all(who) for who in (0, 1, 2)]
    assert sum(done) == 12
    assert done[0] == 3
    assert status(study)["finished"]


def test_a_returned_item_stays_with_who_labelled_it(database: Database) -> None:
    study = balanced(database, items=4, annotators=2, overlap=1)
    study.label_all(0)
    with database.read() as session:
        first = session.exec(select(Assignment.id).where(Assignment.state == AssignmentState.SUBMITTED)).first()
    return_to_annotator(database, study.researcher, first or 0, reason="look again")
    assert (study.label_all(1), study.label_all(0)) == (2, 1)
    assert status(study)["finished"]


def test_gold_and_repeats_displace_nobody_elses_slot(database: Database) -> None:
    study = balanced(database, items=40, annotators=2, overlap=1)
    gold(study, 6, gold_rate=0.2, repeat_rate=0.1, repeat_after=3)
    for who in (0, 1):
        study.label_all(who)
    loads, _ = shared(study)
    assert sorted(loads.values()) == [20, 20]
    assert Planting.of({"planting": {"gold_rate": 0.2}}).gold_rate == 0.2
    assert status(study)["finished"]


def test_what_somebody_who_leaves_has_open_is_handed_on_evenly(database: Database) -> None:
    study = balanced(database, items=60, annotators=5, overlap=2)
    for _ in range(4):
        study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    said = amend(study, remove=(study.annotators[0].name,))
    assert said == [f"{study.annotators[0].name} left", "20 slots handed on"]
    loads, pairs = shared(study)
    assert loads.pop(study.annotators[0].person_id) == 4
    assert sorted(loads.values()) == [29, 29, 29, 29], "116 of 4 people"
    there = [actor.person_id for actor in study.annotators[1:]]
    kept = [pairs[pair] for pair in combinations(sorted(there), 2)]
    assert max(kept) - min(kept) <= 4
    assert sum(study.label_all(who) for who in range(1, 5)) == 116
    assert status(study)["finished"]


def test_newcomers_take_over_an_equal_part_of_what_is_open(database: Database) -> None:
    study = balanced(database, items=30, annotators=2, overlap=1)
    for _ in range(5):
        study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    joined = make_person(database)
    make_member(database, study.project_id, joined, "annotator")
    study.annotators.append(joined)
    amend(study, add=(joined.name,))
    open_now = {row["annotator"]: row["allotted"] for row in status(study)["annotators"]}
    assert max(open_now.values()) - min(open_now.values()) <= 2, open_now
    assert study.label_all(2) >= 6
    assert sum(study.label_all(who) for who in (0, 1)) + study.label_all(2) > 0
    assert status(study)["finished"]
    kinds = [row.what for row in amendments_of(database, study.researcher, study.study_id)]
    assert kinds == ["annotators", "slots"]


def test_what_is_held_by_somebody_who_gets_no_items_is_said_and_handed_on_by_one_act(database: Database) -> None:
    study = balanced(database, items=12, annotators=3, overlap=1)
    gone = study.annotators[0]
    leave_out(database, study.researcher, study.study_id, annotator=gone.name, since=now(), reason="hasty")
    [first, *_] = status(study)["annotators"]
    assert (first["annotator"], first["allotted"], first["gets_items"]) == (gone.name, 4, False)
    assert [study.label_all(who) for who in (1, 2)] == [4, 4]
    assert not status(study)["finished"]
    assert amend(study, hand_on=(gone.name,)) == ["4 slots handed on"]
    assert [study.label_all(who) for who in (1, 2)] == [2, 2]
    assert status(study)["finished"]
    with pytest.raises(NotFound, match="'zoe' was never an annotator"):
        amend(study, hand_on=("zoe",))
    with pytest.raises(InvalidInput, match="Nothing would change"):
        amend(study, hand_on=(gone.name,))


def test_a_higher_overlap_is_allotted_and_a_lower_one_takes_slots_away(database: Database) -> None:
    study = balanced(database, items=20, annotators=4, overlap=2)
    amend(study, overlap=3)
    loads, _ = shared(study)
    assert set(loads.values()) == {15}
    assert sum(study.label_all(who) for who in range(2)) == 30
    amend(study, overlap=2)
    for who in (2, 3):
        study.label_all(who)
    assert status(study)["finished"]


def test_what_does_not_go_with_it_is_refused_by_name(database: Database) -> None:
    study = balanced(database)
    team = tuple(actor.name for actor in study.annotators)
    wrong = {"quota": 20, "quotas": {team[0]: 3}, "outside": 2, "most_overlap": 3, "queue": "first"}
    for name, value in wrong.items():
        design = StudyDesign(name="other", annotators=team, overlap=2, **{"queue": "balanced", name: value})
        with pytest.raises(InvalidInput) as raised:
            plan_study(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
        assert (name,) in {problem.path for problem in raised.value.problems}
    with pytest.raises(Conflict, match="allotted to its annotators"):
        invite(database, study.researcher, study.study_id, terms=InvitationTerms())
    with pytest.raises(InvalidInput, match="no place for quotas"):
        amend(study, quota=30)
    dynamic = StudyInUse(database, items=2, annotators=2, overlap=1)
    with pytest.raises(InvalidInput, match="nothing to hand on"):
        amend(dynamic, hand_on=(dynamic.annotators[0].name,))
