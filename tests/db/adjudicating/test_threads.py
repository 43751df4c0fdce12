"""Threads: who sees them and when, what is said, and labels before and after."""

from __future__ import annotations

import pytest
from sqlmodel import select

from annotators.asking.submissions import GivenLabel
from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from annotators.intervals.bootstrap import Resampling
from db.adjudicating.adjudications import UnitDecision, adjudicate, settlement_counts
from db.adjudicating.threads import LONGEST, before_and_after, my_threads, thread, what_waits, write_message
from db.annotating.annotations import reopen, submit
from db.annotating.assignments import return_to_annotator
from db.annotating.committing import StepSubmission
from db.engine import Database
from db.models import Message
from db.permissions import Actor
from exports.results.base import REPORTS
from exports.results.labels import StudyLabels
from tests.db.adjudicating.test_adjudications import adjudicator, final, study_item, voted
from tests.makers import StudyInUse, make_member, make_person

HOSTILE = "<script>alert(1)</script> [x](javascript:alert(1)) \u202e"


def talking(
    database: Database, *votes: tuple[str, ...], talk: str = "disputed", review_agreed: float = 0
) -> StudyInUse:
    return voted(database, *votes, talk=talk, review_agreed=review_agreed)


def correct(study: StudyInUse, who: int, value: str) -> None:
    """The person changes their label of the first item."""
    mine = thread(study.db, study.annotators[who], study_item(study)).mine
    study.submit(who, reopen(study.db, study.annotators[who], study.study_id, assignment_id=mine), {"right": value})


def waits(study: StudyInUse) -> list[list[bool]]:
    return [[row.waits for row in my_threads(study.db, actor)] for actor in study.annotators]


def test_two_who_differ_see_each_others_labels_and_talk_and_resolve_it(database: Database) -> None:
    study = talking(database, ("yes", "no"), ("yes", "yes"))
    ada, ben = study.annotators
    item = study_item(study)
    assert waits(study) == [[True], [True]]
    seen = thread(database, ada, item)
    assert (seen.open, seen.said) == (True, [])
    votes = {vote.rater: vote.value for vote in seen.units[0].votes}
    assert (sorted(votes), votes[seen.me], len({*votes.values()})) == (["R1", "R2"], "yes", 2)
    write_message(database, ada, item, uid="m1", text=f"  {HOSTILE}  ")
    write_message(database, ada, item, uid="m1", text="again")
    assert waits(study) == [[False], [True]]
    [said] = thread(database, ben, item).said
    assert (said.by, said.text) == (seen.me, HOSTILE.strip())
    assert thread(database, ada, item).said[0].by is None
    write_message(database, ben, item, uid="m2", text="You are right.")
    assert waits(study) == [[True], [False]]
    correct(study, 1, "yes")
    assert final(study) == [("i00001", "unanimous", "yes"), ("i00002", "unanimous", "yes")]
    assert waits(study) == [[False], [False]]
    with pytest.raises(Conflict, match="is settled"):
        write_message(database, ada, item, uid="m3", text="Thanks")
    assert [row.text for row in thread(database, ada, item).said] == [HOSTILE.strip(), "You are right."]


def test_nobody_else_sees_it_and_nobody_before_all_have_labelled(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=3, overlap=2, talk="disputed")
    ada, ben, chloe = study.annotators
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    item = study_item(study)

    def refused(actor: Actor) -> None:
        with pytest.raises(NotFound):
            thread(database, actor, item)
        with pytest.raises(NotFound):
            write_message(database, actor, item, uid="x", text="x")
        assert my_threads(database, actor) == []

    refused(ada)
    mine = my_assignment(study)
    return_to_annotator(database, study.researcher, mine, reason="look again")
    refused(ada)  # sent back before the other has labelled it
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    study.submit(1, study.work(1)["items"][0], {"right": "no"})
    assert thread(database, ada, item).open
    assert thread(database, ben, item).open
    for other in (chloe, study.researcher, adjudicator(study)):
        refused(other)
    viewer = make_person(database)
    make_member(database, study.project_id, viewer, "viewer")
    with pytest.raises(NotAllowed):
        thread(database, viewer, item)


def my_assignment(study: StudyInUse) -> int:
    from db.annotating.annotations import my_work

    return my_work(study.db, study.annotators[0])[0].assignment_id


def test_units_stand_in_an_order_that_tells_nothing_of_the_keys(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, n_evidence=12, protocol="grounding", talk="disputed")
    for who, value in enumerate(("required", "not_required")):
        item = study.work(who)["items"][0]
        labels = tuple(GivenLabel("grounding", f"evidence:E{n}", value) for n in range(1, 13))
        step = StepSubmission(f"u{who}", item["assignment"], 1, 0, labels, seconds=1.0)
        submit(database, study.annotators[who], study.study_id, step=step)
    units = thread(database, study.annotators[0], study_item(study)).units
    assert [unit.target for unit in units] == [f"evidence:E{n}" for n in range(1, 13)]


def test_without_talk_there_is_no_thread_and_an_agreed_item_has_none(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    with pytest.raises(NotFound):
        thread(database, study.annotators[0], study_item(study))
    agreed = talking(database, ("yes", "yes"))
    assert my_threads(database, agreed.annotators[0]) == []
    with pytest.raises(NotFound):
        thread(database, agreed.annotators[0], study_item(agreed))
    with pytest.raises(InvalidInput, match="'often' says not about what annotators talk"):
        voted(database, ("yes", "no"), talk="often")


def test_an_adjudication_ends_it_and_what_is_no_message_is_refused(database: Database) -> None:
    study = talking(database, ("yes", "no"))
    ada, ben = study.annotators
    item = study_item(study)
    for text, words in ((" \n", "is empty"), ("x" * (LONGEST + 1), "4,001 characters")):
        with pytest.raises(InvalidInput, match=words):
            write_message(database, ada, item, uid="m", text=text)
    write_message(database, ada, item, uid="m", text="Why?")
    with pytest.raises(Conflict, match="used for something else"):
        write_message(database, ben, item, uid="m", text="Because.")
    adjudicate(database, adjudicator(study), item, uid="a", decisions=[UnitDecision("right", "item", "no")])
    assert (waits(study), thread(database, ada, item).open) == ([[False], [False]], False)
    with pytest.raises(Conflict, match="is settled"):
        write_message(database, ben, item, uid="n", text="Because.")
    with database.read() as session:
        assert [row.text for row in session.exec(select(Message))] == ["Why?"]


def test_norming_talks_about_every_item_and_both_rounds_are_measured(database: Database) -> None:
    votes = [("yes", "yes"), ("no", "no"), ("yes", "no"), ("no", "yes"), ("yes", "yes"), ("no", "no")]
    study = talking(database, *votes, talk="all")
    assert [len(my_threads(database, actor)) for actor in study.annotators] == [6, 6]
    for row in my_threads(database, study.annotators[1]):
        seen = thread(database, study.annotators[1], row.study_item_id)
        labels = {vote.rater: vote.value for vote in seen.units[0].votes}
        [others] = [value for rater, value in labels.items() if rater != seen.me]
        if labels[seen.me] != others:
            again = reopen(database, study.annotators[1], study.study_id, assignment_id=seen.mine)
            study.submit(1, again, {"right": others})
    times = before_and_after(database, study.researcher, study.study_id)
    assert len(times) == 12
    assert sum(row.before != row.after for row in times) == 2
    labels = StudyLabels.of(database, study.researcher, study.study_id)
    found = REPORTS.get("talk").make(labels, Resampling(resamples=200))
    figures = {figure.name: figure for figure in found.figures}
    # Six of each label in twelve, two of six units differ: α = 1 - (1/3) / (72 / 132).
    before, after = figures["before_krippendorff_alpha_nominal"], figures["after_krippendorff_alpha_nominal"]
    assert before.value == pytest.approx(1 - (1 / 3) / (72 / 132))
    assert (after.value, before.n, after.n) == (pytest.approx(1.0), 6, 6)
    assert figures["changed_labels"].value == pytest.approx(2 / 12)
    assert figures["changed_labels"].low is not None


def test_a_slip_that_one_corrects_before_anybody_sees_counts_as_before(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, talk="all")
    study.submit(0, study.work(0)["items"][0], {"right": "no"})
    again = reopen(database, study.annotators[0], study.study_id, assignment_id=my_assignment(study))
    study.submit(0, again, {"right": "yes"})
    study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    times = before_and_after(database, study.researcher, study.study_id)
    assert [(row.before, row.after) for row in times] == [("yes", "yes"), ("yes", "yes")]


def test_an_item_that_adjudicators_look_at_though_all_agree_is_no_disagreement(database: Database) -> None:
    """It counts as disputed until it is decided, and nobody has anything to resolve about it."""
    study = talking(database, ("yes", "yes"), ("yes", "no"), review_agreed=1)
    ada = study.annotators[0]
    assert settlement_counts(database, study.researcher, study.study_id)["disputed"] == 2
    agreed, differing = study_item(study), study_item(study) + 1
    assert [(row.study_item_id, row.waits) for row in my_threads(database, ada)] == [(differing, True)]
    assert what_waits(database, study.researcher, study.study_id)["together"] == 1
    with pytest.raises(NotFound):
        thread(database, ada, agreed)
    adjudicate(database, adjudicator(study), agreed, uid="a", decisions=[UnitDecision("right", "item", "yes")])
    assert [row.study_item_id for row in my_threads(database, ada)] == [differing]
    norming = talking(database, ("yes", "yes"), ("yes", "no"), talk="all", review_agreed=1)
    assert [[row.waits for row in my_threads(database, actor)] for actor in norming.annotators] == [[True, False]] * 2


def test_a_thread_shows_the_item_as_the_annotators_saw_it_last(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, n_evidence=3, protocol="grounding", talk="disputed")
    for who, value in enumerate(("required", "not_required")):
        item = study.work(who)["items"][0]
        labels = tuple(GivenLabel("grounding", f"evidence:E{n}", value) for n in range(1, 4))
        step = StepSubmission(f"u{who}", item["assignment"], 1, 0, labels, seconds=1.0)
        submit(database, study.annotators[who], study.study_id, step=step)
    shown = thread(database, study.annotators[0], study_item(study)).shown
    assert [unit["key"] for unit in shown["evidence"]] == ["E1", "E2", "E3"]
    assert not {"role", "used"} & set(shown["evidence"][0])
    assert shown["question"]
    assert shown["committed"] == []
