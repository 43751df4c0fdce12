"""Studies ordered by a score: drawn keys, freed slots first, and the judged beginning with its probabilities."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import col, select

from annotators.arrays import np
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.items.prioritised import keys_of, weights_of
from annotators.items.sampling import BY_SCORE
from db.annotating.amendments import StudyChange, amend_study
from db.annotating.assignments import skip
from db.designing.by_score import Beginning, judged_beginning
from db.designing.making import create_study, plan_study
from db.designing.written import written_design
from db.engine import Database
from db.models import Assignment, Item, ItemVersion, Run, Score, Study, StudyItem, StudyMember, now
from db.permissions import Actor
from db.query import pick
from tests.makers import StudyInUse, make_item, make_person, make_project, tiny_protocol


def scored(db: Database, values: list[float | None], scorer: str = "imported:t", name: str = "risk") -> None:
    """A score of each item of the newest project, in the order of their ids; None for none."""
    with db.write() as session:
        rows = session.execute(
            pick(ItemVersion.id, Item.project_id)
            .join(Item, col(Item.id) == ItemVersion.item_id)
            .order_by(ItemVersion.id)
        ).all()
        project_id = max(project for _, project in rows)
        versions = [version for version, project in rows if project == project_id]
        run = Run(project_id=project_id, kind="import", name=scorer, version="1", parameters={}, parameters_hash="")
        session.add(run)
        session.flush()
        for version, value in zip(versions, values, strict=True):
            if value is not None:
                session.add(Score(run_id=run.id, item_version_id=version, name=name, value=value))


def by_score(db: Database, n: int = 12, **changes: Any) -> StudyInUse:
    """A study of n items whose scores rise from 0 to 1, high ones first as a rule."""
    values = [place / (n - 1) for place in range(n)]
    asked = {"order": BY_SCORE, "order_score": "risk", "order_first": "high", "prepare": lambda db: scored(db, values)}
    return StudyInUse(db, items=n, **{**asked, **changes})


def rows(study: StudyInUse) -> list[StudyItem]:
    with study.db.read() as session:
        found = session.exec(
            select(StudyItem).where(StudyItem.study_id == study.study_id).order_by(col(StudyItem.position))
        )
        return list(found)


def beginning(study: StudyInUse) -> Beginning:
    with study.db.read() as session:
        found = judged_beginning(session, session.get_one(Study, study.study_id))
    assert found is not None
    return found


def study_item(study: StudyInUse, assignment: int) -> int:
    with study.db.read() as session:
        return session.get_one(Assignment, assignment).study_item_id


def test_items_come_by_falling_keys_that_are_kept_with_their_weights(database: Database) -> None:
    study = by_score(database, 40, seed=5)
    kept = rows(study)
    names = [f"i{number + 1:05}" for number in range(40)]
    weights = weights_of(np.linspace(0, 1, 40), "high")
    keys = keys_of(names, weights, 5)
    order = np.argsort(-keys)
    assert [row.sampling_key for row in kept] == pytest.approx(keys[order].tolist())
    assert [row.sampling_weight for row in kept] == pytest.approx(weights[order].tolist())
    design = written_design(database, study.researcher, study.study_id).design
    assert (design.order, design.order_score, design.order_first) == (BY_SCORE, "risk", "high")
    again = create_study(
        database,
        study.researcher,
        study.project_id,
        protocol=tiny_protocol(),
        design=design.model_copy(update={"name": "again"}),
    )
    assert again.sample_hash == study.made.sample_hash
    assert any("ordered by risk, the highest first as a rule: drawn with known" in note for note in again.notes)


def test_other_orders_keep_no_weights(database: Database) -> None:
    study = StudyInUse(database, items=3)
    assert {(row.sampling_weight, row.sampling_key) for row in rows(study)} == {(None, None)}
    with database.read() as session:
        assert judged_beginning(session, session.get_one(Study, study.study_id)) is None


def test_nothing_of_the_score_is_on_the_wire(database: Database) -> None:
    study = by_score(database)
    text = str(study.work(0))
    for word in ("risk", "score", "sampling", "weight", "0.0909"):
        assert word not in text


# The judged beginning -------------------------------------------------------------------------------------------------


def test_the_beginning_ends_at_the_first_item_that_waits(database: Database) -> None:
    study = by_score(database, overlap=1, annotators=2)
    kept = rows(study)
    assert beginning(study).n == 0
    mine, theirs = study.work(0)["items"], study.work(1)["items"]
    study.submit(1, theirs[0], {"right": "yes"})
    assert beginning(study).n == 0  # the first items are still at hand with the other
    for item in mine[:3]:
        study.submit(0, item, {"right": "yes"})
    found = beginning(study)
    assert list(found.chance) == [row.id for row in kept[:3]]
    after = kept[3].sampling_key or 0
    assert list(found.chance.values()) == pytest.approx(
        [min(1, (row.sampling_weight or 0) / after) for row in kept[:3]]
    )
    assert found.in_words.startswith("the first 3 of 12 items")


def test_an_item_counts_once_it_has_its_overlap_and_all_are_certain_at_the_end(database: Database) -> None:
    study = by_score(database, 6, overlap=2, annotators=2)
    study.label_all(0)
    assert beginning(study).n == 0
    study.label_all(1)
    assert set(beginning(study).chance.values()) == {1.0}
    assert beginning(study).n == 6


def test_a_raised_overlap_takes_nothing_back(database: Database) -> None:
    study = by_score(database, 6, overlap=1, annotators=2)
    study.label_all(0)
    amend_study(database, study.researcher, study.study_id, change=StudyChange(overlap=2), reason="closer")
    assert beginning(study).n == 6


def test_what_is_skipped_comes_first_for_the_next_and_is_passed_over_when_all_have(database: Database) -> None:
    study = by_score(database, overlap=1, annotators=2)
    first = study.work(0)["items"][0]
    item = study_item(study, first["assignment"])
    skip(database, study.annotators[0], study.study_id, assignment_id=first["assignment"], reason="unclear")
    given = study.work(1)["items"][0]
    assert study_item(study, given["assignment"]) == item
    for one in study.work(0)["items"][:2]:
        study.submit(0, one, {"right": "no"})
    assert beginning(study).n == 0
    skip(database, study.annotators[1], study.study_id, assignment_id=given["assignment"], reason="unclear too")
    assert beginning(study).n >= 3  # nobody is left to judge the first: what is judged goes on behind it


def test_a_lease_that_has_run_out_is_given_to_the_next_who_asks(database: Database) -> None:
    study = by_score(database, overlap=1, annotators=2)
    lost = study_item(study, study.work(0)["items"][0]["assignment"])
    with database.write() as session:
        session.execute(update(Assignment).values(lease_until=now() - timedelta(minutes=1)).where(
            col(Assignment.person_id) == study.annotators[0].person_id))  # fmt: skip
    assert study_item(study, study.work(1)["items"][0]["assignment"]) == lost


def test_what_nobody_has_had_is_not_judged_even_where_everybody_has_left(database: Database) -> None:
    study = by_score(database, overlap=1, annotators=2)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    with database.write() as session:
        session.execute(update(StudyMember).values(left_at=now()))
    assert beginning(study).n < 12


# What cannot be -------------------------------------------------------------------------------------------------------


def refused(database: Database, values: list[float | None], **asked: Any) -> str:
    project_id, admin = make_project(database), make_person(database, admin=True)
    for number in range(len(values)):
        make_item(database, project_id, f"n{number}")
    scored(database, values)
    return refused_in(database, admin, project_id, **asked)


def refused_in(database: Database, admin: Actor, project_id: int, **asked: Any) -> str:
    asked = {"order": BY_SCORE, "order_score": "risk", "order_first": "high", **asked}
    design = StudyDesign(annotators=("x",), overlap=1, **asked)
    with pytest.raises(InvalidInput) as raised:
        plan_study(database, admin, project_id, protocol=tiny_protocol(), design=design, people=False)
    return str(raised.value)


@pytest.mark.parametrize(
    ("asked", "says"),
    [
        ({"order_score": None}, "needs the score that it goes by"),
        ({"order_first": None}, "nothing says not which scores come first. Give `order_first` one of: high, low, unc"),
        ({"order_first": "best"}, "'best' says not which scores come first"),
        ({"order_score": "rouge"}, "None of the 3 items has a score 'rouge' to be ordered by. Import it, or name"),
        ({"order_score": "token_f1"}, "Compute it with: assay score PROJECT --scorer token_f1"),
        ({"order": "shuffled"}, "`order_score` says nothing of the order 'shuffled'. Take by_score, or leave it out"),
        ({"drawn_with": {"n0": 0.5}, "items": ("n0",)}, "drawn with probabilities of their own"),
    ],
)
def test_what_cannot_be_ordered_is_said_with_what_would_do(
    sqlite_database: Database, asked: dict[str, Any], says: str
) -> None:
    assert says in refused(sqlite_database, [0.1, 0.2, 0.3], **asked)


def test_a_score_that_is_the_same_of_all_is_refused(sqlite_database: Database) -> None:
    assert "All of the 3 items have the same score 'risk', 0.5" in refused(sqlite_database, [0.5, 0.5, 0.5])


def test_a_name_that_several_scores_have_is_refused(sqlite_database: Database) -> None:
    project_id, admin = make_project(sqlite_database), make_person(sqlite_database, admin=True)
    for number in range(2):
        make_item(sqlite_database, project_id, f"n{number}")
    scored(sqlite_database, [0.1, 0.9], "imported:a")
    scored(sqlite_database, [0.2, 0.8], "imported:b")
    assert "score:imported:a/risk, score:imported:b/risk" in refused_in(sqlite_database, admin, project_id)
    design = StudyDesign(overlap=1, order=BY_SCORE, order_score="imported:b/risk", order_first="low")
    plan = plan_study(sqlite_database, admin, project_id, protocol=tiny_protocol(), design=design, people=False)
    assert plan.n_items == 2


def test_items_without_the_score_are_counted_and_named_and_have_the_average_chance(sqlite_database: Database) -> None:
    def prepare(db: Database) -> None:
        scored(db, [None, 0.0, 0.5, 1.0, None])

    study = by_score(sqlite_database, 5, prepare=prepare)
    assert any("2 items have no such score and the average chance (i00001, i00005)." in n for n in study.made.notes)
    assert sorted(row.sampling_weight for row in rows(study)).count(1.0) == 2
