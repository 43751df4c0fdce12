"""A preview is what the browser gets: the same material and targets at each step, and nothing is stored."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlmodel import select

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, RightLabel
from annotators.errors import InvalidInput, NotAllowed
from annotators.protocols import PROTOCOLS
from db.annotating.previews import items_to_preview, preview, right_labels
from db.designing.making import plan_study
from db.engine import Database
from db.models import Event, Item, ItemVersion, Question, Study, StudyItem
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol

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


def test_right_labels_given_in_a_preview_are_those_of_the_items_own_parts(database: Database) -> None:
    """Evidence has neutral names in the browser, in an order of its own; what comes back names the parts themselves."""
    study = StudyInUse(database, protocol="qa_verification", n_evidence=3)
    protocol = PROTOCOLS.get("qa_verification")
    about: dict[str, Any] = {"protocol": protocol, "external_id": "i00002"}
    steps = preview(database, study.researcher, study.project_id, **about)
    said: dict[int, list[GivenLabel]] = {}
    for number, step in enumerate(steps):
        criteria = [criterion for criterion in protocol.step_criteria(number) if criterion.when is None]
        said[number] = [
            GivenLabel(
                criterion.name,
                target,
                str(criterion.label_list()[place % 2].value) if criterion.label_list() else "text",
                comment=f"why {place}" if place == 1 else None,
            )
            for criterion in criteria
            for place, target in enumerate(step.units[criterion.name])
        ]
    found = right_labels(database, study.researcher, study.project_id, **about, steps=said)
    assert {label.item for label in found} == {"i00002"}
    shown = {passage["key"]: passage["text"] for passage in steps[1].material["evidence"]}
    grounding = {label.target: label for label in found if label.criterion == "grounding"}
    # The passage that the browser calls E2 is the one whose text stands there, and its comment explains its label.
    [own] = [key for key in grounding if grounding[key].explanation == "why 1"]
    assert shown["E2"] == f"Passage {own.rpartition('-')[2]}"
    gold = Gold(labels=found)
    design = StudyDesign(name="with gold", annotators=(study.annotators[0].name,), overlap=1, gold=gold)
    plan = plan_study(database, study.researcher, study.project_id, protocol=protocol, design=design)
    assert (plan.n_items, plan.reasons) == (2, {"known": 1})
    with pytest.raises(InvalidInput, match="has no label"):
        right_labels(database, study.researcher, study.project_id, **about, steps={**said, 0: []})
    with database.read() as session:
        assert len(session.exec(select(Study)).all()) == 1
        assert len(session.exec(select(StudyItem)).all()) == 3


def test_a_draft_is_previewed_on_the_items_that_it_would_have_in_their_order(database: Database) -> None:
    study = StudyInUse(database, items=6)
    gold = Gold(labels=(RightLabel(item="i00004", criterion="right", value="yes"),))
    design = StudyDesign(
        name="draft", annotators=(study.annotators[0].name,), overlap=1, order="given",
        items=("i00006", "i00004", "i00001"), gold=gold,
    )  # fmt: skip
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
    found = items_to_preview(database, study.researcher, study.project_id, **about)
    assert found == ["i00006", "i00001", "i00004"], "the sample as the list of items has it, then the gold"
    for name in found:
        [step] = preview(database, study.researcher, study.project_id, external_id=name, **about)
        assert step.material["question"] == f"Question of {name}?"


def test_a_pair_is_previewed_by_its_name(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1)
    with sqlite_database.write() as session:
        question = session.exec(select(Question)).one()
        for name, system in (("a:x", "x"), ("a:y", "y")):
            item = Item(project_id=study.project_id, external_id=name, question_id=question.id, system=system)
            session.add(item)
            session.flush()
            session.add(ItemVersion(item_id=item.id, question="Q?", answer=f"Said by {system}.", content_hash=name))
    protocol = PROTOCOLS.get("pairwise_preference")
    design = StudyDesign(name="pairs", annotators=(), overlap=1, pairs=("y", "x"))
    about: dict[str, Any] = {"protocol": protocol, "design": design}
    [pair] = items_to_preview(sqlite_database, study.researcher, study.project_id, **about)
    assert pair == "a:y\x00a:x"
    one: dict[str, Any] = {"protocol": protocol, "external_id": "a:y", "other": "a:x"}
    [step] = preview(sqlite_database, study.researcher, study.project_id, **one, design=design)
    assert {answer["answer"] for answer in step.material["answers"]} == {"Said by x.", "Said by y."}
    labels = [GivenLabel(name, "pair", 1) for name in ("correctness", "completeness", "overall")]
    found = right_labels(sqlite_database, study.researcher, study.project_id, **one, steps={0: labels})
    assert {(label.item, label.other_item) for label in found} == {("a:y", "a:x")}
    right_first = step.material["answers"][0]["answer"] == "Said by y."
    assert {label.value for label in found} == {1 if right_first else -1}, "kept from the first item to the second"
