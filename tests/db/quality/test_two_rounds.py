"""Decisions on annotators' labels, gold and qualifications: two people, two studies, two rounds, each state."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import col, select

from annotators.errors import Conflict, InvalidInput
from db.annotating.amendments import StudyChange, amend_study, amendments_of, set_state
from db.annotating.annotations import reopen
from db.engine import Database
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Event,
    GoldLabel,
    Purpose,
    SetAside,
    StudyItem,
    StudyMember,
    StudyState,
    now,
)
from db.quality.gold import GoldRow, gold_given, set_gold
from db.quality.omissions import omissions_of
from db.quality.own_figures import FEWEST, Counted, my_figures
from db.quality.qualification import let_in, qualifications, set_qualification
from db.quality.team import reading_lengths, team_of
from db.studies.ratings import ratings
from tests.db.quality.test_gold import check_counts, given, gold
from tests.db.quality.test_omissions import BEFORE, back, drop, standing
from tests.db.quality.test_qualification import qualify, try_with
from tests.db.quality.test_qualification import standing as qualified
from tests.makers import StudyInUse, make_item


def two_studies(db: Database, **changes: Any) -> tuple[StudyInUse, StudyInUse]:
    """Two studies of other projects; nothing of the second is to change."""
    made = tuple(StudyInUse(db, **{"items": 4, "annotators": 3, "overlap": 2, **changes}) for _ in range(2))
    return made[0], made[1]


def times(study: StudyInUse, who: int) -> list[Any]:
    with study.db.read() as session:
        query = select(Annotation.created_at).where(
            Annotation.study_id == study.study_id, Annotation.person_id == study.annotators[who].person_id
        )
        return list(session.exec(query.order_by(col(Annotation.id))))


def aside(study: StudyInUse) -> dict[int, list[str]]:
    """Annotator (by place) → how their annotations are set aside."""
    with study.db.read() as session:
        rows = session.exec(
            select(Annotation.person_id, SetAside.kind)
            .join(SetAside, col(SetAside.annotation_id) == Annotation.id)
            .where(Annotation.study_id == study.study_id)
        ).all()
    people = [actor.person_id for actor in study.annotators]
    found: dict[int, list[str]] = {}
    for person, kind in sorted(rows):
        found.setdefault(people.index(person), []).append(kind)
    return found


def alone(study: StudyInUse) -> dict[str, Any]:
    """What `standing` says of the study, without what is set aside, which it says of all."""
    return {name: found for name, found in standing(study).items() if name != "aside"}


def counted(study: StudyInUse) -> list[int]:
    """How many annotations of each annotator count."""
    people = list(ratings(study.db, study.researcher, study.study_id).annotations.person)
    return [people.count(actor.person_id) for actor in study.annotators]


def test_labels_are_left_out_from_exactly_a_moment_on_by_person_and_study_and_come_back(database: Database) -> None:
    study, other = two_studies(database)
    for each in (study, other):
        each.label_all(0), each.label_all(1)
    before, theirs = standing(study), alone(other)
    _, second, third, _ = times(study, 0)
    done = drop(study, 0, since=third)
    assert (done.annotations, done.items, done.surplus, done.short) == (2, 2, 0, 0), "what was given at the moment too"
    assert (counted(study), aside(study)) == ([2, 4, 0], {0: ["left_out"] * 2})
    with pytest.raises(Conflict, match="is left out already"):
        drop(study, 0, since=third)
    done = drop(study, 0, since=second)
    assert (done.annotations, done.items) == (1, 1), "one more"
    assert counted(study) == [1, 4, 0]
    done = drop(study, 1, since=times(study, 1)[3] + timedelta(microseconds=1))
    assert (done.annotations, done.items, done.short) == (0, 0, 1), "none after the last; two cannot be asked"
    assert counted(study) == [1, 4, 0]
    done = drop(study, 1, since=times(study, 1)[1])
    assert (done.annotations, aside(study)) == (3, {0: ["left_out"] * 3, 1: ["left_out"] * 3})
    done = drop(study, 0, since=third)
    assert (done.annotations, done.items) == (1, 1), "a later moment restores the one between"
    assert (counted(study), aside(study)) == ([2, 1, 0], {0: ["left_out"] * 2, 1: ["left_out"] * 3})
    assert (alone(other), aside(other)) == (theirs, {})
    assert back(study, 1).annotations == 3
    assert counted(study) == [2, 4, 0]
    with pytest.raises(Conflict, match="nothing to restore"):
        back(study, 1)
    assert back(study, 0).annotations == 2
    after = standing(study)
    assert (after["settled"], after["aside"], after["counts"]) == (before["settled"], [], before["counts"])
    assert (alone(other), aside(other)) == (theirs, {})
    told = [(row.annotator, row.since) for row in omissions_of(database, study.researcher, study.study_id)]
    ana, ben = (actor.name for actor in study.annotators[:2])
    assert [name for name, _ in told] == [ana, ana, ben, ben, ana, ben, ana]
    assert [since for _, since in told][:2] == [third, second] and told[-2:] == [(ben, None), (ana, None)]
    assert omissions_of(database, other.researcher, other.study_id) == []


def test_a_moment_to_come_is_refused_and_that_of_now_is_not(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    with pytest.raises(InvalidInput, match="is still to come"):
        drop(study, 0, since=now() + timedelta(minutes=1))
    assert drop(study, 0, since=now()).annotations == 0
    with pytest.raises(InvalidInput, match="Say why"):
        back(study, 0, reason=" \n")


def test_what_is_surplus_after_two_rounds_is_so_of_the_right_person(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=4, overlap=2)
    study.label_all(0), study.label_all(1)
    drop(study, 0), drop(study, 1)
    assert counted(study) == [0, 0, 0, 0]
    study.label_all(2)
    assert (back(study, 0).surplus, counted(study)) == (0, [2, 0, 2, 0]), "the second slot of each item is free"
    assert (back(study, 1).surplus, aside(study)) == (2, {1: ["surplus"] * 2})
    assert counted(study) == [2, 0, 2, 0]
    assert drop(study, 2).annotations == 2
    assert (counted(study), aside(study)) == ([2, 2, 0, 0], {2: ["left_out"] * 2}), "nobody is asked for what is there"
    assert study.label_all(3) == 0
    assert (back(study, 2).surplus, counted(study)) == (2, [2, 2, 0, 0])
    standing(study)


def test_the_team_is_told_with_what_each_did(sqlite_database: Database) -> None:
    study, other = two_studies(sqlite_database, annotators=4)
    other.label_all(0)
    for who, seconds in ((0, (2.0, 4.0)), (1, (8.0,))):
        for took in seconds:
            study.submit(who, study.work(who)["items"][0], {"right": "yes"}, seconds=took)
    study.submit(2, study.work(2)["items"][0], {"right": "no"}, seconds=0.0)
    drop(study, 1)
    with sqlite_database.write() as session:
        session.get_one(StudyMember, (study.study_id, study.annotators[2].person_id)).paused_at = now()
    amend_study(
        sqlite_database, study.researcher, study.study_id,
        change=StudyChange(remove=(study.annotators[3].name,)), reason="on leave",
    )  # fmt: skip
    found = team_of(sqlite_database, study.researcher, study.study_id)
    assert [(row.name, row.submitted, row.seconds_per_item, row.state) for row in found] == [
        (study.annotators[0].name, 2, 3.0, "active"),
        (study.annotators[1].name, 0, None, "left_out"),
        (study.annotators[2].name, 1, None, "paused"),
        (study.annotators[3].name, 0, None, "left"),
    ]
    assert [row.left_out_from for row in found] == [None, BEFORE, None, None]
    gold(study, 2)
    texts = [len(f"Question of i{n:05}?") + len(f"Answer of i{n:05}.") for n in range(1, 5)]
    assert reading_lengths(sqlite_database, study.researcher, study.study_id) == texts, "of the sample alone"


# Gold -----------------------------------------------------------------------------------------------------------------


def rows_of(*names: str, value: str = "yes") -> list[GoldRow]:
    return [GoldRow(line, name, "right", "item", value, f"why {name}") for line, name in enumerate(names, 2)]


def test_gold_is_added_twice_and_each_time_behind_what_is_there(database: Database) -> None:
    study, other = two_studies(database)
    done = gold(study, 2, gold_rate=0.3, mark=0.9)
    assert (done.added, done.labels, done.items) == (2, 2, 2)
    done = gold(study, 3, begin=2, repeat_rate=0.1)
    assert (done.added, done.labels, done.items) == (3, 3, 5)
    assert (done.planting.gold_rate, done.planting.repeat_rate, done.planting.mark) == (0.3, 0.1, 0.9), "rates stay"
    assert gold(other, 1).planting.gold_rate == 0.1, "the first come in at a tenth"
    with database.read() as session:
        items = session.exec(
            select(StudyItem).where(StudyItem.study_id == study.study_id).order_by(col(StudyItem.position))
        ).all()
        assert [item.position for item in items] == list(range(9))
        assert [item.purpose for item in items] == [Purpose.SAMPLE] * 4 + [Purpose.GOLD] * 5
        kept = session.exec(
            select(GoldLabel).where(col(GoldLabel.study_item_id).in_([item.id for item in items]))
        ).all()
    assert [(row.criterion, row.target, row.value, row.explanation) for row in kept] == [
        ("right", "item", "yes", None)
    ] * 5
    history = amendments_of(database, study.researcher, study.study_id)
    assert [(row.what, row.before["gold_items"], row.after["gold_items"]) for row in history] == [
        ("gold", 0, 2), ("gold", 2, 5),
    ]  # fmt: skip
    about = (database, study.researcher, study.study_id)
    with pytest.raises(InvalidInput, match="Nothing would change"):
        set_gold(*about, rates={"gold_rate": 0.3}, reason="again")
    with pytest.raises(InvalidInput, match="'g0' is a gold item already"):
        set_gold(*about, rows=rows_of("g0"), reason="again")
    assert set_gold(*about, rates={"gold_rate": 0.0, "repeat_rate": 0.0}, reason="enough").planting.plants is False
    with pytest.raises(InvalidInput, match="the study has none"):
        fresh = StudyInUse(database, items=1, annotators=1, overlap=1)
        set_gold(database, fresh.researcher, fresh.study_id, rates={"gold_rate": 0.1}, reason="x")


def test_what_two_people_said_of_gold_is_told_by_person_study_and_latest_word(sqlite_database: Database) -> None:
    study, other = two_studies(sqlite_database, items=12)
    for each in (study, other):
        gold(each, 4, gold_rate=0.5)
    other.label_all(0, "no")
    study.label_all(0, "yes"), study.label_all(1, "no")
    golds = [[item for kind, item in given(study, who) if kind == "gold"] for who in (0, 1)]
    found = gold_given(sqlite_database, study.researcher, study.study_id)
    people = [actor.person_id for actor in study.annotators]
    assert [(people.index(row.person_id), str(row.study_item_id), row.value, row.right) for row in found] == [
        *((0, item, "yes", "yes") for item in golds[0]), *((1, item, "no", "yes") for item in golds[1]),
    ]  # fmt: skip
    with sqlite_database.read() as session:
        assignment = session.exec(
            select(Assignment.id).where(
                Assignment.study_id == study.study_id, Assignment.kind == "gold", Assignment.person_id == people[1],
                Assignment.state == AssignmentState.SUBMITTED,
            ).order_by(col(Assignment.id))
        ).first()  # fmt: skip
    for value in ("yes", "no", "yes"):
        item = reopen(sqlite_database, study.annotators[1], study.study_id, assignment_id=assignment)
        study.submit(1, item, {"right": value})
        mine = [
            row.value
            for row in gold_given(sqlite_database, study.researcher, study.study_id)
            if row.person_id == people[1]
        ]
        assert sorted(mine) == sorted(["no"] * (len(golds[1]) - 1) + [value])
    check_counts(study)


# Qualification --------------------------------------------------------------------------------------------------------


def test_each_has_tries_of_their_own_and_letting_one_in_lets_nobody_else_in(database: Database) -> None:
    study, other = two_studies(database)
    for number, each in enumerate((study, other)):
        names = [f"q{number}{place}" for place in range(3)]
        for name in names:
            make_item(database, each.project_id, name)
        set_qualification(
            database, each.researcher, each.study_id, rows=rows_of(*names), mark=0.6, tries=2, reason="to see who reads"
        )
    try_with(study, "yes", "no", "no")
    assert (qualified(study), qualified(study, 1)["tries"]) == (
        {"state": "open", "tries": 2, "right": 0, "labels": 0},
        0,
    )
    try_with(study, "yes", "yes", who=1)
    assert qualified(study, 1) == {"state": "open", "tries": 1, "right": 2, "labels": 2}
    try_with(study, "no", who=1)
    assert qualified(study, 1)["state"] == "passed", "two of three are above six tenths"
    try_with(study, "yes", "no", who=0)
    assert qualified(study) == {"state": "open", "tries": 2, "right": 1, "labels": 2}
    try_with(study, "yes", who=2), try_with(other, "no", who=0)
    let_in(database, study.researcher, study.study_id, annotator=study.annotators[0].name, reason="they asked")
    assert [qualified(study, who)["state"] for who in (0, 1, 2)] == ["let_in", "passed", "open"]
    assert [qualified(other, who)["state"] for who in (0, 1, 2)] == ["open"] * 3
    with database.read() as session:
        states = session.exec(
            select(Assignment.study_id, Assignment.person_id, Assignment.state).where(
                Assignment.kind == "qualification", Assignment.state != AssignmentState.SUBMITTED
            )
        ).all()
        [event] = session.exec(select(Event).where(Event.kind == "annotator let in")).all()
    assert event.details == {"person": study.annotators[0].person_id, "reason": "they asked"}
    assert sorted(set(states)) == sorted(
        [
            (study.study_id, study.annotators[0].person_id, "expired"),
            (study.study_id, study.annotators[2].person_id, "leased"),
            (other.study_id, other.annotators[0].person_id, "leased"),
        ]
    )
    assert "qualifying" not in study.work(0)["items"][0]
    assert study.work(2)["items"][0]["qualifying"]["number"] == 2


def test_a_mark_is_met_exactly_and_missed_by_one(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    qualify(study, 4, mark=0.75, tries=1)
    *_, last = try_with(study, "yes", "no", "yes", "yes", who=0)
    assert last["result"] == {"ended": "passed", "right": 3, "labels": 4, "mark": 0.75}
    *_, last = try_with(study, "yes", "no", "yes", "no", who=1)
    assert last["result"] == {"ended": "failed", "right": 2, "labels": 4, "mark": 0.75}


def test_a_qualification_is_changed_twice(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    qualify(study, 2, tries=5)
    make_item(database, study.project_id, "q9")
    about = (database, study.researcher, study.study_id)
    done = set_qualification(*about, rows=rows_of("q9"), mark=0.5, reason="one more")
    assert done.to_json() == {"added": 1, "labels": 1, "mark": 0.5, "tries": 5, "items": 3}
    with pytest.raises(InvalidInput, match="Nothing would change"):
        set_qualification(*about, mark=0.5, tries=5, reason="again")
    history = amendments_of(*about)
    assert [(row.before["items"], row.after["items"], row.after["mark"]) for row in history] == [
        (0, 2, 0.8),
        (2, 3, 0.5),
    ]
    rows = rows_of("q9", "i00001", "nowhere")
    with pytest.raises(InvalidInput, match="None of these items can be added"):
        set_qualification(*about, rows=rows, where_possible=True, reason="some")
    make_item(database, study.project_id, "q10")
    done = set_qualification(*about, rows=[*rows, *rows_of("q10")], where_possible=True, reason="some")
    assert (done.added, done.qualifying.items) == (1, 4)
    assert [row.state for row in qualifications(*about)] == ["open"]
    set_state(*about, state=StudyState.CLOSED, reason="done")
    with pytest.raises(Conflict):
        set_qualification(*about, mark=0.9, reason="late")


# Own figures ----------------------------------------------------------------------------------------------------------


def test_a_share_is_told_from_ten_labels_on() -> None:
    assert Counted(5, FEWEST).share == 0.5 and Counted(9, FEWEST - 1).share is None and FEWEST == 10


def test_figures_are_of_what_was_given_before_the_moment(sqlite_database: Database) -> None:
    study, other = two_studies(sqlite_database, items=12, annotators=3, overlap=3, own_figures="gold")
    for each in (study, other):
        gold(each, 3, gold_rate=0.3)
    for who in (0, 1, 2):
        study.label_all(who, "yes" if who else "no")
    moments = times(study, 0)
    kinds = [kind for kind, _ in given(study, 0)]

    def told(before: Any, who: int = 0) -> Any:
        found = my_figures(sqlite_database, study.annotators[who], before=before)
        assert [row.study_id for row in found] == [study.study_id], "the other study has other people"
        return found[0]

    last = moments[-1]
    until = told(times(study, 2)[-1] + timedelta(seconds=1))
    assert (until.with_rest.hits, until.with_rest.n) == (0, 12)
    assert (until.gold.hits, until.gold.n) == (0, kinds.count("gold"))
    # Exactly at the moment of the last is not before it; and nobody else had labelled anything then.
    assert told(last).gold.n == kinds[:-1].count("gold") and told(last).with_rest.n == 0
    assert told(moments[0]).gold.n == 0
    after = told(last + timedelta(microseconds=1))
    assert after.gold.n == kinds.count("gold")
    both = told(times(study, 2)[-1] + timedelta(seconds=1), who=1)
    assert (both.with_rest.hits, both.with_rest.n) == (0, 0), "one no and one yes of the rest: a tie"
