"""Disputes, decisions, and the final labels."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlmodel import select

from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.errors import Conflict, InvalidInput, NotAllowed
from annotators.protocols import Material, Step
from db.adjudicating.adjudications import (
    UnitDecision,
    adjudicate,
    disputed_item,
    disputes,
    give_back,
    settlement_counts,
)
from db.annotating.annotations import reopen
from db.annotating.assignments import return_to_annotator
from db.engine import Database
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Membership,
    StoredLabel,
    Study,
    StudyItem,
    now,
)
from db.people.pseudonyms import raters_of
from db.permissions import Actor
from db.studies.ratings import may_see_names, ratings
from db.studies.settlements import stream_settled
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol


def adjudicator(study: StudyInUse) -> Actor:
    actor = make_person(study.db)
    make_member(study.db, study.project_id, actor, "adjudicator")
    return actor


def set_role(study: StudyInUse, actor: Actor, role: str) -> None:
    with study.db.write() as session:
        session.get_one(Membership, (study.project_id, actor.person_id)).role = role


def voted(database: Database, *votes: tuple[str, ...], **design: object) -> StudyInUse:
    """A study in which annotator i gives votes[item][i]."""
    study = StudyInUse(database, items=len(votes), annotators=len(votes[0]), overlap=len(votes[0]), **design)
    for who in range(len(votes[0])):
        for vote in votes:
            study.submit(who, study.work(who)["items"][0], {"right": vote[who]})
    return study


def final(study: StudyInUse) -> list[tuple[str, str, object]]:
    with study.db.read() as session:
        return [(label.external_id, label.state, label.value) for label in stream_settled(session, study.study_id)]


def test_unanimous_items_are_agreed_and_others_disputed_most_first(database: Database) -> None:
    study = voted(database, ("yes",) * 4, ("yes", "yes", "yes", "no"), ("yes", "no", "yes", "no"))
    waiting = disputes(database, study.researcher, study.study_id)
    assert [round(dispute.dispute, 2) for dispute in waiting] == [0.5, 0.25]
    counts = settlement_counts(database, study.researcher, study.study_id)
    assert counts == {"pending": 0, "agreed": 1, "disputed": 2, "adjudicated": 0}
    assert final(study) == [("i00001", "unanimous", "yes"), ("i00002", "open", None), ("i00003", "open", None)]


def test_majority_settles_with_more_than_half_of_the_annotations(database: Database) -> None:
    study = voted(database, ("yes", "yes", "no"), ("yes", "no", "no"), rule="majority")
    assert final(study) == [("i00001", "majority", "yes"), ("i00002", "majority", "no")]
    assert disputes(database, study.researcher, study.study_id) == []


def test_an_item_without_all_its_annotations_is_pending(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    study.label_all(0)
    assert final(study) == [("i00001", "open", None)]
    item = disputes(database, study.researcher, study.study_id)
    assert item == []
    assert settlement_counts(database, study.researcher, study.study_id)["pending"] == 1


def test_an_adjudication_decides_and_leaves_the_annotations(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    actor = adjudicator(study)
    place = disputes(database, actor, study.study_id)[0].study_item_id
    seen = disputed_item(database, actor, place)
    votes = [(vote.rater, vote.value) for vote in seen.units[0].votes]
    assert votes in ([("R1", "yes"), ("R2", "no")], [("R1", "no"), ("R2", "yes")])
    assert seen.presentation["answer"] == "Answer of i00001."
    first = adjudicate(database, actor, place, uid="a", decisions=[UnitDecision("right", "item", "no")])
    assert adjudicate(database, actor, place, uid="a", decisions=[]) == first
    assert final(study) == [("i00001", "adjudicated", "no")]
    assert [vote.value for vote in disputed_item(database, actor, place).units[0].votes] == [said for _, said in votes]
    with pytest.raises(Conflict, match="meanwhile"):
        adjudicate(database, actor, place, uid="b", decisions=[UnitDecision("right", "item", "yes")])
    adjudicate(database, actor, place, uid="c", decisions=[UnitDecision("right", "item", "yes")], again=True)
    assert final(study) == [("i00001", "adjudicated", "yes")]


def test_who_r1_is_differs_from_item_to_item_and_stays(database: Database) -> None:
    study = voted(database, *[("yes", "no")] * 24)
    actor = adjudicator(study)
    places = [row.study_item_id for row in disputes(database, actor, study.study_id)]

    def first_votes() -> list[str]:
        return [disputed_item(database, actor, place).units[0].votes[0].value for place in places]

    assert 1 < first_votes().count("yes") < 23, "R1 is not always who joined first"
    assert first_votes() == first_votes()


def test_who_r1_is_follows_from_nothing_that_an_adjudicator_knows(database: Database) -> None:
    """Not from the seed and the ids, which stand on pages and in addresses."""
    study = voted(database, ("yes", "no"))
    with database.read() as session:
        row = session.get_one(Study, study.study_id)
        session.expunge(row)
    people = [person.person_id for person in study.annotators]
    before = [raters_of(row, place, people) for place in range(64)]
    assert before == [raters_of(row, place, people) for place in range(64)]
    row.secret = "of another study"
    after = [raters_of(row, place, people) for place in range(64)]
    assert 8 < sum(one != other for one, other in zip(before, after, strict=True)) < 56


def test_an_item_goes_back_by_a_mark_that_tells_nothing_of_its_annotator(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("no", "yes"))
    actor = adjudicator(study)
    places = [row.study_item_id for row in disputes(database, actor, study.study_id)]
    first, second = (disputed_item(database, actor, place) for place in places)
    assert len({*first.annotations.values(), *second.annotations.values()}) == 4
    assert all(len(mark) == 64 for mark in first.annotations.values())
    [rater] = [vote.rater for vote in first.units[0].votes if vote.value == "no"]
    with pytest.raises(Conflict, match="Reload the page"):
        give_back(database, actor, places[0], annotation=second.annotations[rater], reason="look again")
    give_back(database, actor, places[0], annotation=first.annotations[rater], reason="look again")
    with database.read() as session:
        returned = session.exec(select(Assignment).where(Assignment.state == AssignmentState.RETURNED)).one()
        [of] = session.exec(select(Annotation).where(Annotation.assignment_id == returned.id))
        [label] = session.exec(select(StoredLabel).where(StoredLabel.assignment_id == returned.id))
    assert (returned.study_item_id, of.person_id, label.value) == (places[0], returned.person_id, "no")


def test_overruling_a_majority_needs_a_reason(database: Database) -> None:
    study = voted(database, ("yes", "yes", "no"))
    actor = adjudicator(study)
    place = disputes(database, actor, study.study_id)[0].study_item_id
    with pytest.raises(InvalidInput, match="Give a reason"):
        adjudicate(database, actor, place, uid="a", decisions=[UnitDecision("right", "item", "no")])
    with pytest.raises(InvalidInput, match="Give a reason"):
        blank = [UnitDecision("right", "item", "no", " ")]
        adjudicate(database, actor, place, uid="a", decisions=blank, reason=" \n")
    adjudicate(database, actor, place, uid="a", decisions=[UnitDecision("right", "item", "no", "page 3 says so")])
    with database.read() as session:
        unit = next(iter(stream_settled(session, study.study_id)))
    assert (unit.value, unit.reason, unit.adjudicator_person_id) == ("no", "page 3 says so", actor.person_id)


def test_every_disputed_unit_has_to_be_decided_with_a_label_of_the_protocol(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    actor = adjudicator(study)
    place = disputes(database, actor, study.study_id)[0].study_item_id
    with pytest.raises(InvalidInput, match="Not decided yet: Right"):
        adjudicate(database, actor, place, uid="a", decisions=[])
    with pytest.raises(InvalidInput, match="maybe"):
        adjudicate(database, actor, place, uid="a", decisions=[UnitDecision("right", "item", "maybe")])
    with pytest.raises(InvalidInput, match="Nobody labelled"):
        adjudicate(database, actor, place, uid="a", decisions=[UnitDecision("right", "evidence:e9", "yes")])


def test_nobody_adjudicates_an_item_they_annotated(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    place = disputes(database, study.researcher, study.study_id)[0].study_item_id
    own = Actor(study.annotators[0].person_id, study.annotators[0].name)
    with database.write() as session:
        from db.models import Membership

        session.get_one(Membership, (study.project_id, own.person_id)).role = "adjudicator"
    assert "yourself" in (disputed_item(database, own, place).allowed or "")
    with pytest.raises(NotAllowed, match="yourself"):
        adjudicate(database, own, place, uid="a", decisions=[UnitDecision("right", "item", "no")])


def test_grounding_is_settled_per_evidence_unit(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, n_evidence=2, protocol="qa_verification")
    for who, second in ((0, "required"), (1, "not_required")):
        item = study.submit(who, study.work(who)["items"][0], {"self_contained": "true", "human_like": "true"}).item
        assert item is not None
        values = {"question_factual": "factual", "answer_factual": "factual", "complete": "complete"}
        from annotators.asking.submissions import GivenLabel
        from db.annotating.annotations import submit
        from db.annotating.committing import StepSubmission

        labels = [GivenLabel(name, "item", value) for name, value in values.items()]
        labels += [GivenLabel("grounding", "evidence:E1", "required"), GivenLabel("grounding", "evidence:E2", second)]
        step = StepSubmission(f"{who}-2", item["assignment"], 1, 1, tuple(labels))
        submit(database, study.annotators[who], study.study_id, step=step)
    with database.read() as session:
        units = {(label.criterion, label.target): label.state for label in stream_settled(session, study.study_id)}
    assert units["grounding", "evidence:distractor-2"] == "unanimous"
    assert units["grounding", "evidence:gold-1"] == "open"
    assert len(units) == 7


def test_what_an_adjudicator_is_sent_gives_no_role_away_and_decisions_find_their_units(database: Database) -> None:
    import json
    from dataclasses import asdict

    study = StudyInUse(database, items=1, annotators=2, overlap=2, n_evidence=2, protocol="qa_verification")
    for who, needed in ((0, "required"), (1, "not_required")):
        item = study.submit(who, study.work(who)["items"][0], {"self_contained": "true", "human_like": "true"}).item
        assert item is not None
        second = {"question_factual": "factual", "answer_factual": "factual", "complete": "complete"}
        study.submit(who, item, {**second, "grounding": needed})
    actor = adjudicator(study)
    place = disputes(database, actor, study.study_id)[0].study_item_id
    seen = disputed_item(database, actor, place)
    sent = json.dumps(asdict(seen))
    assert "gold" not in sent
    assert "distractor" not in sent
    decisions = [UnitDecision(unit.criterion, unit.target, "required") for unit in seen.units if unit.needs_decision]
    assert [decision.target for decision in decisions] == ["evidence:E1", "evidence:E2"]
    adjudicate(database, actor, place, uid="a", decisions=decisions, from_browser=True)
    with database.read() as session:
        units = [label for label in stream_settled(session, study.study_id) if label.criterion == "grounding"]
    assert {(unit.target, unit.value) for unit in units} == {
        ("evidence:gold-1", "required"),
        ("evidence:distractor-2", "required"),
    }


def study_item(study: StudyInUse) -> int:
    with study.db.read() as session:
        found = session.exec(select(StudyItem.id).order_by(StudyItem.position)).first()
    assert found is not None
    return found


def test_an_adjudicator_who_annotates_sees_no_labels_before_giving_their_own(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    both = study.annotators[1]
    set_role(study, both, "adjudicator")
    study.label_all(0)
    place = study_item(study)
    for _ in range(2):  # while it is to be given out, and while it lies before them
        with pytest.raises(NotAllowed, match="judge this item yourself"):
            disputed_item(database, both, place)
        study.work(1)
    assert disputed_item(database, adjudicator(study), place).units  # somebody else may look
    study.label_all(1, "no")
    assert disputed_item(database, both, place).allowed is not None


def test_an_adjudicator_who_annotates_may_decide_what_others_have_judged_completely(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=3, overlap=2)
    set_role(study, study.annotators[2], "adjudicator")
    study.label_all(0)
    study.label_all(1, "no")
    found = disputed_item(database, study.annotators[2], study_item(study))
    assert found.allowed is None
    decide = [UnitDecision("right", "item", "yes")]
    assert adjudicate(database, study.annotators[2], found.study_item_id, uid="u", decisions=decide) > 0


def test_the_id_of_an_adjudication_that_is_taken_is_a_conflict(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("no", "yes"))
    settled, waiting = (row.study_item_id for row in disputes(database, study.researcher, study.study_id))
    decide = [UnitDecision("right", "item", "yes")]
    first = adjudicate(database, study.researcher, settled, uid="same", decisions=decide)
    assert adjudicate(database, study.researcher, settled, uid="same", decisions=decide) == first
    for actor, place in ((study.researcher, waiting), (adjudicator(study), settled)):
        with pytest.raises(Conflict, match="used for something else"):
            adjudicate(database, actor, place, uid="same", decisions=decide)


def test_a_returned_item_is_pending_and_cannot_be_settled(database: Database) -> None:
    study = voted(database, ("yes", "no", "no"))
    place = study_item(study)
    with database.read() as session:
        own = session.exec(select(Assignment.id).where(Assignment.person_id == study.annotators[0].person_id)).one()
    return_to_annotator(database, study.researcher, own or 0, reason="look again")
    assert settlement_counts(database, study.researcher, study.study_id)["pending"] == 1
    decide = [UnitDecision("right", "item", "yes")]
    with pytest.raises(Conflict, match="does not have all its annotations"):
        adjudicate(database, study.researcher, place, uid="u", decisions=decide)
    # Another's correction meanwhile does not complete it.
    theirs = reopen(database, study.annotators[1], study.study_id)
    study.submit(1, theirs, {"right": "yes"})
    assert settlement_counts(database, study.researcher, study.study_id)["pending"] == 1
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    assert settlement_counts(database, study.researcher, study.study_id)["disputed"] == 1


def test_a_corrected_annotation_counts_once(database: Database) -> None:
    study = voted(database, ("yes", "no", "no"), rule="majority")
    assert final(study) == [("i00001", "majority", "no")]
    study.submit(1, reopen(database, study.annotators[1], study.study_id), {"right": "yes"})
    with database.read() as session:
        [unit] = stream_settled(session, study.study_id)
    assert (unit.value, unit.votes, unit.n) == ("yes", {"yes": 2, "no": 1}, 3)


def assignment_of(study: StudyInUse, who: int) -> int:
    with study.db.read() as session:
        mine = Assignment.person_id == study.annotators[who].person_id
        found = session.exec(select(Assignment.id).where(mine)).one()
    assert found is not None
    return found


def test_who_has_to_judge_again_sees_no_labels_of_others_even_when_the_item_is_decided(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    place, both = study_item(study), study.annotators[1]
    set_role(study, both, "adjudicator")
    adjudicate(database, study.researcher, place, uid="u", decisions=[UnitDecision("right", "item", "yes")])
    assert disputed_item(database, both, place).units
    return_to_annotator(database, study.researcher, assignment_of(study, 1), reason="look again")
    with pytest.raises(NotAllowed, match="judge this item yourself"):
        disputed_item(database, both, place)


def test_nobody_returns_an_annotation_to_themselves(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    both = study.annotators[1]
    set_role(study, both, "adjudicator")
    with pytest.raises(NotAllowed, match="your own annotation"):
        return_to_annotator(database, both, assignment_of(study, 1), reason="I was wrong")
    return_to_annotator(database, both, assignment_of(study, 0), reason="look again")


def test_what_came_too_late_to_count_settles_nothing(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    late = study.work(0)["items"][0]
    with database.write() as session:
        session.get_one(Assignment, late["assignment"]).lease_until = now() - timedelta(minutes=1)
    study.label_all(1, "no")
    assert study.submit(0, late, {"right": "yes"}).status == "surplus"
    with database.read() as session:
        [unit] = stream_settled(session, study.study_id)
    assert (unit.state, unit.value, unit.votes) == ("unanimous", "no", {"no": 1})


def test_what_half_of_the_annotators_were_asked_is_decided_by_what_it_depends_on(database: Database) -> None:
    labels = [Label(value="yes"), Label(value="no")]
    why = Choice(name="why", title="Why", labels=labels, when=Condition(criterion="right", values=["no"]))
    protocol = tiny_protocol(
        criteria=[Choice(name="right", title="Right", labels=labels), why],
        steps=[Step(name="all", title="All", shows=[Material.ANSWER], criteria=["right", "why"])],
    )
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=protocol)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    study.submit(1, study.work(1)["items"][0], {"right": "no", "why": "yes"})
    [dispute] = disputes(database, study.researcher, study.study_id)
    assert dispute.n_disputed == 1
    needed = [
        unit.criterion
        for unit in disputed_item(database, study.researcher, study_item(study)).units
        if unit.needs_decision
    ]
    assert needed == ["right"]


def test_a_decision_keeps_the_rules_between_criteria(database: Database) -> None:
    labels = [Label(value="yes"), Label(value="no")]
    criteria = [Choice(name=name, title=name.capitalize(), labels=labels) for name in ("question", "right")]
    rule = {
        "when": {"criterion": "question", "values": ["no"]}, "then": {"criterion": "right", "values": ["no"]},
        "says": "It has no support.",
    }  # fmt: skip
    protocol = tiny_protocol(
        criteria=criteria,
        steps=[Step(name="all", title="All", shows=[Material.ANSWER], criteria=["question", "right"])],
        consequences=[rule],
    )
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=protocol)
    for who, value in enumerate(("no", "yes")):
        study.submit(who, study.work(who)["items"][0], {"question": value, "right": value})
    judge = adjudicator(study)

    def decide(uid: str, *, again: bool = False, **values: str) -> int:
        decisions = [UnitDecision(criterion, "item", value) for criterion, value in values.items()]
        return adjudicate(database, judge, study_item(study), uid=uid, decisions=decisions, again=again)

    sentence = "“Right” can only be No where “Question” is No. It has no support. Change one of the two."
    with pytest.raises(InvalidInput, match=sentence):
        decide("a", question="no", right="yes")
    decide("b", question="yes", right="no")
    with pytest.raises(InvalidInput, match=sentence):
        decide("c", question="no", right="yes", again=True)
    decide("d", question="no", right="no", again=True)
    assert {value for _, _, value in final(study)} == {"no"}


# Names ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("role", "told"), [("researcher", True), ("adjudicator", False), ("viewer", False)])
def test_names_come_with_labels_only_for_whom_they_are(database: Database, role: str, told: bool) -> None:
    study = voted(database, ("yes", "no"))
    reader = make_person(database)
    make_member(database, study.project_id, reader, role)
    names = set(ratings(database, reader, study.study_id, named=True).names.values())
    assert names == ({annotator.name for annotator in study.annotators} if told else {"A1", "A2"})
    assert may_see_names(database, reader, study.study_id) is told


def test_names_come_with_labels_where_the_study_says_so(database: Database) -> None:
    study = voted(database, ("yes", "no"), show_names=True)
    names = ratings(database, adjudicator(study), study.study_id).names.values()
    assert set(names) == {annotator.name for annotator in study.annotators}
