"""Designs with gold, repeats and qualification: made whole in one transaction, or refused before anything is made."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import text
from sqlmodel import col, func, select

from annotators.asking.planting import Planting
from annotators.asking.qualifying import Qualifying
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, KnownItems, Qualification, Repeats, RightLabel
from annotators.errors import InvalidInput
from db.annotating.amendments import amendments_of
from db.designing.drafts import drafts_of, save_draft, start_draft
from db.designing.making import create_study, plan_study
from db.designing.written import written_design
from db.engine import Database
from db.models import GoldLabel, Project, Purpose, Study, StudyItem
from db.people.accounts import erase_person
from db.studies.design import study_facts
from db.studies.items import items_of_study
from tests.makers import StudyInUse, make_item, make_person, tiny_protocol


def right(*names: str, **more: Any) -> tuple[RightLabel, ...]:
    return tuple(RightLabel(item=name, criterion="right", value="yes", **more) for name in names)


def with_others(*names: str) -> Any:
    """Items of the project besides those of the sample, which is drawn by system."""

    def prepare(db: Database) -> None:
        with db.read() as session:
            project_id = session.exec(select(func.max(Project.id))).one() or 0
        for name in names:
            make_item(db, project_id, name, system="known")

    return prepare


PARTS: dict[str, Any] = {
    "gold": Gold(labels=right("g1", "g2", "g3"), rate=0.2, mark=0.9, mark_after=2, below="pause"),
    "repeats": Repeats(rate=0.1, after=3),
    "qualification": Qualification(labels=right("q1", "q2", explanation="It says so."), mark=0.5, tries=1),
    "where": ("system=s0", "system=s1"),
}


def made(database: Database, **changes: Any) -> StudyInUse:
    names = ("g1", "g2", "g3", "q1", "q2")
    return StudyInUse(database, items=12, annotators=2, overlap=2, prepare=with_others(*names), **{**PARTS, **changes})


def test_a_study_is_made_with_its_gold_repeats_and_qualification(database: Database) -> None:
    study = made(database)
    facts = study_facts(database, study.researcher, study.study_id)
    assert Planting.of(facts.settings) == Planting(0.2, 0.1, 3, 0.9, 2, "pause")
    assert Qualifying.of(facts.settings) == Qualifying(0.5, 1, 2)
    assert (facts.n_items, facts.settings["gold_items"]) == (12, 3)
    assert amendments_of(database, study.researcher, study.study_id) == [], "it was made so"
    first = study.work(0)["items"]
    assert len(first) == 2, "the qualification comes first"
    done = study.label_all(0)
    assert 2 + 12 < done <= 2 + 12 + 3 + 12, "and then gold and repeats among the sample"
    design = written_design(database, study.researcher, study.study_id).design
    assert {name: getattr(design, name) for name in PARTS} == PARTS


def test_a_design_of_a_study_makes_the_same_study_again(database: Database) -> None:
    study = made(database)
    design = written_design(database, study.researcher, study.study_id).design
    again = design.model_copy(update={"name": "again"})
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": again}
    second = create_study(database, study.researcher, study.project_id, **about)
    assert second.sample_hash == study.made.sample_hash
    assert written_design(database, study.researcher, second.study_id).design == again


def test_what_another_study_has_settled_becomes_gold(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None, where=("system=s0",))
    for who in (0, 1):
        study.label_all(who)
    design = StudyDesign(
        name="second",
        annotators=tuple(actor.name for actor in study.annotators),
        overlap=1,
        where=("system=s1",),
        gold=Gold(settled_in="study"),
    )
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
    second = create_study(database, study.researcher, study.project_id, **about)
    facts = study_facts(database, study.researcher, second.study_id)
    assert (facts.n_items, facts.settings["gold_items"]) == (6, 6)
    found = written_design(database, study.researcher, second.study_id).design
    assert found.gold is not None
    assert {label.item for label in found.gold.labels} == {f"i{number:05}" for number in (1, 3, 5, 7, 9, 11)}
    for wrong, words in (("nowhere", "no study"), ("second", "no gold items|cannot give")):
        refused = design.model_copy(update={"name": "third", "gold": Gold(settled_in=wrong)})
        with pytest.raises(Exception, match=words):
            plan_study(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=refused)


def wrong_with(study: StudyInUse, **changes: Any) -> list[tuple[Any, ...]]:
    """Place and words of what is wrong with a design, planned and made alike; nothing is made."""
    team = tuple(actor.name for actor in study.annotators)
    design = StudyDesign(name="other", annotators=team, **{"overlap": 2, "where": ("system=s0",), **changes})
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
    told = []
    for attempt in (plan_study, create_study, save_draft):
        with pytest.raises(InvalidInput) as raised:
            attempt(study.db, study.researcher, study.project_id, **about)
        told.append([(problem.path, problem.problem) for problem in raised.value.problems])
    assert told[0] == told[1] == told[2]
    with study.db.read() as session:
        assert session.exec(select(func.count(col(Study.id)))).one() == 1
        known = session.exec(select(func.count(col(StudyItem.id))).where(StudyItem.purpose != Purpose.SAMPLE)).one()
        assert (known, session.exec(select(func.count(col(GoldLabel.id)))).one()) == (0, 0)
    return told[0]


def test_labels_that_cannot_be_gold_are_told_with_everything_else_and_nothing_is_made(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None)
    labels = (*right("i00001", "nobody"), RightLabel(item="g1", criterion="wrong", value="yes"))
    assert wrong_with(study, overlap=3, gold=Gold(labels=labels)) == [
        (("overlap",), "An overlap of 3 needs as many different annotators; 2 are named."),
        (("gold", "labels", 1), "The project has no item 'nobody'."),
        (("gold", "labels", 2), "'wrong' is no criterion of the protocol."),
    ]
    both = wrong_with(study, gold=Gold(labels=right("g1")), qualification=Qualification(labels=right("q1", "g1")))
    assert both == [(("qualification", "labels", 1), "Item 'g1' is a gold item already.")]


def test_the_line_of_a_table_is_told(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None)
    labels = tuple(label.model_copy(update={"line": line}) for line, label in enumerate(right("g1", "nobody"), 2))
    assert wrong_with(study, gold=Gold(file="gold.csv", labels=labels)) == [
        (("gold", "file", 3), "gold.csv, line 3: The project has no item 'nobody'."),
    ]
    unread: dict[str, KnownItems] = {"gold": Gold(file="gold.csv")}
    assert wrong_with(study, **unread) == [(("gold", "file"), "gold.csv has not been read.")]


def test_gold_without_labels_is_refused(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None)
    assert wrong_with(study, gold=Gold(), qualification=Qualification()) == [
        (("gold",), "Gold items cannot come in at 0.1: no right labels are given."),
        (("qualification",), "Nobody can qualify: no right labels are given."),
    ]


def test_a_draft_keeps_its_gold_and_starts_with_it(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None)
    team = tuple(actor.name for actor in study.annotators)
    design = StudyDesign(name="later", protocol="tiny", annotators=team, overlap=1, **PARTS)
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
    save_draft(database, study.researcher, study.project_id, **about)
    [draft] = drafts_of(database, study.researcher, study.project_id)
    assert draft.design == design
    started = start_draft(database, study.researcher, study.project_id, name="later")
    found = written_design(database, study.researcher, started.study_id).design
    assert {name: getattr(found, name) for name in PARTS} == PARTS


def test_no_name_outlives_its_account_in_a_draft(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None)
    team = tuple(actor.name for actor in study.annotators)
    design = StudyDesign(name="later", protocol="tiny", annotators=team, overlap=1, quota=30, quotas={team[0]: 2})
    save_draft(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
    for _ in range(2):  # made, and then changed
        save_draft(database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
        [draft] = drafts_of(database, study.researcher, study.project_id)
        assert draft.design == design
    erase_person(database, make_person(database, admin=True), team[0])
    [draft] = drafts_of(database, study.researcher, study.project_id)
    assert list(draft.design.quotas.values()) == [2]
    with database.read() as session:
        kept = session.execute(text("SELECT CAST(design AS TEXT) FROM study_draft")).scalar_one()
    assert team[0] not in kept + str(draft.design)


def test_items_whose_right_labels_are_known_are_not_drawn_and_the_plan_says_which(database: Database) -> None:
    study = made(database, gold=None, repeats=None, qualification=None)
    team = tuple(actor.name for actor in study.annotators)
    drawn = StudyDesign(name="other", annotators=team, overlap=1, where=("system=s0",), sample=3, seed=5)
    about: dict[str, Any] = {"protocol": tiny_protocol()}
    plain = create_study(database, study.researcher, study.project_id, **about, design=drawn)
    first, second, third = names_of_sample(database, plain.study_id)
    known = {
        "gold": Gold(labels=right(first)),
        "qualification": Qualification(labels=right(second, "i00002")),  # the last would not be drawn anyway
    }
    design = drawn.model_copy(update={"name": "with known", **known})
    plan = plan_study(database, study.researcher, study.project_id, **about, design=design)
    assert plan.reasons["known"] == 2
    assert any(
        note.startswith("Not drawn, as right labels are known: 1 item as gold and 1 item to qualify with (")
        and first in note
        and second in note
        for note in plan.notes
    )
    again = create_study(database, study.researcher, study.project_id, **about, design=design)
    sample = names_of_sample(database, again.study_id)
    assert len(sample) == 3 and third in sample, "the others move up in the seeded order, which stays as it was"
    assert not {first, second} & set(sample)
    facts = study_facts(database, study.researcher, again.study_id)
    assert (facts.settings["left_out_by"]["known"], facts.settings["gold_items"]) == (2, 1)
    with pytest.raises(InvalidInput, match="No item is left to be drawn: the right labels of all 2 items are known"):
        create_study(
            database, study.researcher, study.project_id, **about,
            design=design.model_copy(update={"name": "none", "items": (first, second), "sample": None}),
        )  # fmt: skip


def test_a_draw_with_probabilities_is_not_thinned_by_gold(sqlite_database: Database) -> None:
    study = made(sqlite_database, gold=None, repeats=None, qualification=None)
    drawn = {"items": ("i00001", "i00003"), "drawn_with": {"i00001": 0.5, "i00003": 0.5}, "where": ()}
    assert wrong_with(study, **drawn, gold=Gold(labels=right("i00001"))) == [
        (("gold", "labels", 0), "Item 'i00001' is in the study's sample."),
    ]


def test_labels_and_criteria_go_by_the_names_on_the_screen(sqlite_database: Database) -> None:
    study = made(sqlite_database, gold=None, repeats=None, qualification=None)
    labels = (
        RightLabel(item="g1", criterion="Right", value="Yes"),
        RightLabel(item="g2", criterion=" right ", value="NO"),
        RightLabel(item="g3", criterion="right", value="no"),
    )
    team = tuple(actor.name for actor in study.annotators)
    design = StudyDesign(name="other", annotators=team, overlap=1, where=("system=s0",), gold=Gold(labels=labels))
    found = create_study(sqlite_database, study.researcher, study.project_id, protocol=tiny_protocol(), design=design)
    gold = written_design(sqlite_database, study.researcher, found.study_id).design.gold
    assert gold is not None
    assert [(label.item, label.criterion, label.value) for label in gold.labels] == [
        ("g1", "right", "yes"), ("g2", "right", "no"), ("g3", "right", "no"),
    ]  # fmt: skip


def names_of_sample(database: Database, study_id: int) -> list[str]:
    with database.read() as session:
        return list(items_of_study(session, study_id))
