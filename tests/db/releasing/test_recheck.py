"""What fell with a revision is asked again of the later version, by people who know no earlier one."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import col, select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput
from annotators.protocols import Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.adjudicating.listed import listed_disputes
from db.allotting.ledger import add_slot
from db.annotating.amendments import StudyChange, amend_study, amendments_of, set_state
from db.annotating.annotations import my_work, work
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.status import study_status
from db.designing.making import create_study
from db.engine import Database
from db.models import BARRED, Annotation, Assignment, Membership, Study, StudyItem, StudyState
from db.releasing.recheck import send_to_recheck, to_recheck
from db.studies.design import list_studies
from db.studies.ratings import ratings
from db.studies.revisions import revise_item
from db.studies.settlements import stream_settled
from db.studies.tallies import Tallies
from db.studies.why import explain_label
from db.upkeep.soundness import wrong_hashes
from tests.db.annotating.test_assignments import end_leases
from tests.db.releasing.test_releases import release
from tests.db.releasing.test_states import accepting, label, states
from tests.makers import StudyInUse, make_member, make_person, read_guidelines, tiny_protocol


def judged(db: Database, *by_item: str, annotators: int = 4, protocol: Protocol | None = None) -> StudyInUse:
    """A study of overlap 2 whose items the first two annotators have labelled."""
    protocol = protocol or accepting()
    study = StudyInUse(db, items=len(by_item), annotators=annotators, overlap=2, protocol=protocol)
    label(study, *by_item)
    return study


def revise(study: StudyInUse, item: str, **fields: Any) -> None:
    about = (study.db, study.researcher, study.project_id)
    revise_item(*about, external_id=item, fields=fields or {"answer": f"Better than before, {item}."}, reason="wrong")


def send(study: StudyInUse, *items: str) -> list[tuple[str, int, int, tuple[str, ...]]]:
    found = send_to_recheck(study.db, study.researcher, study.study_id, items=items, reason="rewritten")
    return [(row.item, row.before, row.after, row.criteria) for row in found]


def answer(study: StudyInUse, who: int, value: str) -> None:
    [item, *_] = study.work(who)["items"]
    study.submit(who, item, {name: value for name, targets in item["units"].items() if targets})


def test_only_what_fell_is_asked_again_of_people_who_know_no_earlier_version(database: Database) -> None:
    study = judged(database, "nn", "yy")
    revise(study, "i00001")
    [found] = to_recheck(database, study.researcher, study.study_id)
    assert found.to_json() == {
        "item": "i00001", "from": 1, "to": 2, "criteria": ["right"], "fresh": 2, "waits": None,
    }  # fmt: skip
    assert send(study) == [("i00001", 1, 2, ("right",))]
    assert [study.work(who)["items"] for who in (0, 1)] == [[], []], "they know the first version"
    [item] = study.work(2)["items"]
    assert (item["answer"], item["units"]) == ("Better than before, i00001.", {"right": ["item"], "clear": []})
    with pytest.raises(InvalidInput, match="Clear"):
        study.submit(2, {**item, "units": {"right": ["item"], "clear": ["item"]}}, {"right": "yes", "clear": "no"})
    answer(study, 2, "yes"), answer(study, 3, "yes")
    assert states(study) == {"i00001": "accepted", "i00002": "accepted"}
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["states"]["submitted"], status["stuck"]) == (True, 6, 0)
    [row] = list_studies(database, study.researcher, study.project_id)
    assert (row.submitted, row.slots) == (6, 6)


def test_what_was_carried_over_and_what_was_asked_again_make_the_release(database: Database) -> None:
    study = judged(database, "nn")
    revise(study, "i00001")
    send(study)
    answer(study, 2, "yes"), answer(study, 3, "yes")
    made = release(study)
    assert (made.items, made.labels) == (1, 2)


def test_statistics_are_of_the_sample_and_exports_have_both(database: Database) -> None:
    study = judged(database, "nn", "ny")
    revise(study, "i00001")
    send(study)
    answer(study, 2, "yes"), answer(study, 3, "no")
    found = ratings(database, study.researcher, study.study_id)
    assert [(len(column.units), len(column.people)) for column in found.criteria] == [(4, 2), (4, 2)]
    with database.read() as session:
        assert len(list(stream_settled(session, study.study_id))) == 4
        versions = [unit.item_version for unit in stream_settled(session, study.study_id, rechecks=True)]
    assert versions == [1, 1, 1, 1, 2]
    assert not any("sample" in wrong for wrong in wrong_hashes(database))


def test_a_disputed_recheck_is_adjudicated_and_explained(database: Database) -> None:
    study = judged(database, "nn")
    revise(study, "i00001")
    send(study)
    answer(study, 2, "yes"), answer(study, 3, "no")
    assert states(study) == {"i00001": "disputed"}
    [dispute] = listed_disputes(database, study.researcher, study.study_id)
    assert dispute.item == "i00001"
    with database.read() as session:
        place = session.exec(select(StudyItem.id).where(StudyItem.purpose == "recheck")).one()
    decision = UnitDecision("right", "item", "yes", "it is")
    adjudicate(database, study.researcher, place or 0, uid="decided", decisions=[decision])
    assert states(study) == {"i00001": "accepted"}
    about = {"item": "i00001"}
    fell = explain_label(database, study.researcher, study.study_id, **about, criterion="right")
    stands = explain_label(database, study.researcher, study.study_id, **about, criterion="clear")
    assert (fell.label, fell.version, stands.label, stands.version) == ("yes", 2, "no", 1)


def test_an_item_that_fails_again_can_be_revised_and_come_back_again(database: Database) -> None:
    study = judged(database, "nn", annotators=6)
    revise(study, "i00001")
    send(study)
    with pytest.raises(InvalidInput, match="is sent back already"):
        send(study, "i00001")
    answer(study, 2, "no"), answer(study, 3, "no")
    assert states(study) == {"i00001": "in_revision"}
    revise(study, "i00001", answer="Better still.")
    assert send(study) == [("i00001", 2, 3, ("right",))]
    assert [bool(study.work(who)["items"]) for who in range(6)] == [False] * 4 + [True] * 2
    answer(study, 4, "yes"), answer(study, 5, "yes")
    assert states(study) == {"i00001": "accepted"}


def test_an_item_that_waits_in_its_earlier_version_is_left_for_later(database: Database) -> None:
    study = judged(database, "ny")
    revise(study, "i00001")
    [found] = to_recheck(database, study.researcher, study.study_id)
    assert found.waits == "it still waits for a decision in its earlier version"
    with pytest.raises(InvalidInput, match="waits for a decision"):
        send(study, "i00001")
    with pytest.raises(InvalidInput, match="1 wait for labels or a decision"):
        send(study)


def test_who_wrote_it_or_was_given_it_elsewhere_is_kept_from_it(database: Database) -> None:
    study = judged(database, "nn", annotators=4)
    third = study.annotators[2]
    with database.write() as session:
        session.get_one(Membership, (study.project_id, third.person_id)).role = "researcher"
    about = (database, third, study.project_id)
    revise_item(*about, external_id="i00001", fields={"answer": "Mine."}, reason="wrong")
    [found] = to_recheck(database, study.researcher, study.study_id)
    assert found.fresh == 1
    with pytest.raises(InvalidInput, match=r"1 of the annotators do not know .* the overlap needs 2"):
        send(study)
    with database.read() as session:
        assert session.exec(select(StudyItem).where(StudyItem.purpose == "recheck")).all() == []
    new = make_person(database)
    make_member(database, study.project_id, new, "annotator")
    amend_study(database, study.researcher, study.study_id, change=StudyChange(add=(new.name,)), reason="fresh eyes")
    assert send(study)
    assert study.work(2)["items"] == []
    assert not my_work(database, third)


def test_skipped_and_returned_rechecks_go_on_where_they_ask_something(database: Database) -> None:
    made = accepting(answer=["clear"])
    steps = [Step(name="one", title="One", shows=["question"], criteria=["right"])]
    steps += [Step(name="two", title="Two", shows=["answer"], criteria=["clear"])]
    protocol = Protocol.model_validate({**made.model_dump(), "steps": [step.model_dump() for step in steps]})
    study = StudyInUse(database, items=1, annotators=5, overlap=2, protocol=protocol)
    for who in (0, 1):
        for name in ("right", "clear"):
            study.submit(who, study.work(who)["items"][0], {name: "no"})
    revise(study, "i00001")
    assert send(study) == [("i00001", 1, 2, ("clear",))]
    [item] = study.work(2)["items"]
    assert (item["step"], item["answer"]) == (1, "Better than before, i00001.")
    skip(database, study.annotators[2], study.study_id, assignment_id=item["assignment"], reason="unclear")
    for who in (3, 4):
        [item] = study.work(who)["items"]
        assert item["step"] == 1
        assert study.submit(who, item, {"clear": "yes"}).status == "done"
    with database.read() as session:
        row = session.exec(select(Annotation.assignment_id).order_by(col(Annotation.id).desc())).first()
    return_to_annotator(database, study.researcher, row or 0, reason="look again")
    [item] = study.work(4)["items"]
    assert (item["step"], item["sitting"]) == (1, 2)
    assert study.submit(4, item, {"clear": "no"}).status == "done"


def test_what_cannot_be_asked_apart_is_asked_together() -> None:
    labels = [Label(value="yes"), Label(value="no")]
    criteria = [
        Choice(name="first", title="First", labels=labels),
        Choice(name="second", title="Second", labels=labels, when={"criterion": "first", "values": ["yes"]}),
        Choice(name="third", title="Third", labels=labels),
    ]
    step = tiny_protocol().steps[0].model_copy(update={"criteria": ["first", "second", "third"]})
    protocol = tiny_protocol(criteria=criteria, steps=[step])
    assert protocol.asked_with(["second"]) == ["first", "second"]
    assert protocol.asked_with(["third"]) == ["third"]


def test_nothing_is_sent_in_a_closed_study_or_where_nothing_fell(database: Database) -> None:
    study = judged(database, "yy")
    with pytest.raises(InvalidInput, match="Of no item"):
        send(study)
    with pytest.raises(InvalidInput, match="Nothing has to be asked again of 'i00001'"):
        send(study, "i00001")
    revise(study, "i00001")
    set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
    with pytest.raises(Conflict, match="closed"):
        send(study)


def test_the_amendment_says_what_came_back_and_bars_are_no_work(database: Database) -> None:
    study = judged(database, "nn")
    revise(study, "i00001")
    send(study)
    last = amendments_of(database, study.researcher, study.study_id)[-1]
    assert (last.what, last.after, last.reason) == ("recheck", {"items": 1, "slots": 2}, "rewritten")
    with database.read() as session:
        barred = session.exec(select(Assignment.person_id).where(Assignment.kind == BARRED)).all()
    assert len(barred) == 3, "two annotators, and who revised it"
    assert len(my_work(database, study.annotators[0])) == 1


def test_a_higher_overlap_asks_one_more_of_rechecks_too(database: Database) -> None:
    study = judged(database, "nn", annotators=6)
    revise(study, "i00001")
    send(study)
    answer(study, 2, "yes"), answer(study, 3, "yes")
    amend_study(database, study.researcher, study.study_id, change=StudyChange(overlap=3), reason="more")
    [item] = study.work(4)["items"]
    assert item["units"] == {"right": ["item"], "clear": []}, "nobody is given the version that is gone"
    assert study.work(0)["items"] == []
    answer(study, 4, "no")
    assert states(study) == {"i00001": "disputed"}
    assert study_status(database, study.researcher, study.study_id)["finished"]


def test_nobody_is_given_the_earlier_version_once_the_later_one_is_asked(database: Database) -> None:
    study = judged(database, "nn", annotators=6)
    with database.write() as session:
        place = session.exec(select(StudyItem.id)).one()
        counts = Tallies(study.study_id)
        add_slot(session.connection(), session.get_one(Study, study.study_id), place or 0, counts)
        counts.write(session.connection())
    revise(study, "i00001")
    send(study)
    for who in (2, 3):
        [item] = study.work(who)["items"]
        assert item["units"]["clear"] == []
        answer(study, who, "yes")
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["states"]["open"]) == (True, 0)


def test_who_was_given_the_earlier_version_elsewhere_since_is_not_asked_again(database: Database) -> None:
    study = judged(database, "nn", "yy")
    names = tuple(actor.name for actor in study.annotators[2:])
    design = StudyDesign(name="another", annotators=names, overlap=1, order="given")
    about = (database, study.researcher, study.project_id)
    another = create_study(*about, protocol=accepting(), design=design)
    read_guidelines(database, another.study_id)
    revise(study, "i00001")
    send(study)
    [first, *_] = work(database, study.annotators[2], another.study_id)["items"]
    assert first["answer"] == "Answer of i00001.", "the other study keeps the version that it was frozen with"
    assert study.work(2)["items"] == []
    [item] = study.work(3)["items"]
    assert item["answer"] == "Better than before, i00001."
    counted = study_status(database, study.researcher, study.study_id)["states"]
    assert (counted["open"], counted["leased"]) == (1, 1)


def test_an_expired_recheck_does_not_come_back_to_who_was_given_the_earlier_version_meanwhile(
    database: Database,
) -> None:
    study = judged(database, "nn", "yy", annotators=5)
    design = StudyDesign(name="another", annotators=(study.annotators[2].name,), overlap=1, order="given")
    about = (database, study.researcher, study.project_id)
    another = create_study(*about, protocol=accepting(), design=design)
    read_guidelines(database, another.study_id)
    revise(study, "i00001")
    send(study)
    [lost] = study.work(2)["items"]
    end_leases(study, 2)
    [late] = study.work(3)["items"]
    end_leases(study, 3)
    assert len(study.work(4)["items"]) == 1, "the fifth has a slot, and the slots of the two others are open again"
    [first, *_] = work(database, study.annotators[2], another.study_id)["items"]
    assert first["answer"] == "Answer of i00001."
    assert study.work(2)["items"] == [], "of the earlier version they have seen the answer since"
    assert study.submit(2, lost, {"right": "yes"}).status == "surplus", "kept, beside the rest"
    with database.read() as session:
        query = select(Annotation.kind, Assignment.state).join(
            Assignment, col(Assignment.id) == Annotation.assignment_id
        )
        assert session.exec(query.where(Assignment.id == lost["assignment"])).all() == [("surplus", "surplus")]
    [again] = study.work(3)["items"]
    assert again["assignment"] == late["assignment"], "who met no earlier version has theirs back"
    answer(study, 3, "yes"), answer(study, 4, "yes")
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["states"]["submitted"], status["states"]["surplus"]) == (True, 6, 1)


def test_a_recheck_has_an_overlap_of_its_own(database: Database) -> None:
    study = judged(database, "nn", "yy", annotators=5)
    revise(study, "i00001")
    about = (database, study.researcher, study.study_id)
    with pytest.raises(InvalidInput, match="cannot be 0"):
        send_to_recheck(*about, overlap=0, reason="rewritten")
    with pytest.raises(InvalidInput, match=r"the overlap needs 4.*ask fewer annotators an item"):
        send_to_recheck(*about, overlap=4, reason="rewritten")
    send_to_recheck(*about, overlap=3, reason="rewritten")
    assert amendments_of(*about)[-1].after == {"items": 1, "slots": 3, "overlap": 3}
    answer(study, 2, "yes"), answer(study, 3, "yes")
    assert states(study)["i00001"] == "in_recheck"
    answer(study, 4, "yes")
    assert states(study)["i00001"] == "accepted"
    revise(study, "i00002")
    with pytest.raises(InvalidInput, match="the overlap needs 5"):
        send_to_recheck(*about, overlap=5, reason="rewritten")
    send_to_recheck(*about, overlap=1, reason="rewritten")
    answer(study, 2, "yes")
    assert states(study)["i00002"] == "accepted"
    status = study_status(*about)
    assert (status["finished"], status["states"]["submitted"]) == (True, 8)
    # A recheck with an overlap of its own keeps it, whatever becomes of the study's.
    for k in (3, 2):
        amend_study(*about, change=StudyChange(overlap=k), reason="more")
        assert states(study) == {"i00001": "accepted", "i00002": "accepted"}
        assert study_status(*about)["finished"] is True
