"""Open slots follow from what an item still wants, whichever way its annotations came."""

from __future__ import annotations

from datetime import datetime

import pytest
from sqlmodel import col, select

from annotators.errors import InvalidInput
from annotators.items.parsed import ForeignLabel
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.annotating.amendments import StudyChange, amend_study
from db.annotating.annotations import reopen
from db.annotating.status import study_status
from db.batches import withdraw_batch
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.items.as_of import look_back, marks
from db.models import Annotation, Assignment, SetAside
from db.quality.omissions import leave_out, restore
from db.releasing.recheck import send_to_recheck
from db.studies.ratings import ratings_stamp, set_aside_stamp
from db.studies.revisions import revise_item
from tests.db.releasing.test_states import accepting, label, states
from tests.makers import StudyInUse, make_member, make_person

CRITERIA = ("right", "clear")


def bring(study: StudyInUse, **values: str) -> int:
    """Import labels of items by one person each: `i1=ada:yes` as NAME_ITEM; the batch."""
    rows = [
        ForeignLabel(2 * place + number, f"i0000{item[-1]}", name, criterion, "item", value if number == 0 else "no")
        for place, (about, value) in enumerate(values.items(), 1)
        for name, _, item in (about.rpartition("_"),)
        for number, criterion in enumerate(CRITERIA)
    ]
    return import_labels(study.db, study.researcher, study.study_id, rows=rows, source="labels.csv").batch


def open_now(study: StudyInUse) -> int:
    status = study_status(study.db, study.researcher, study.study_id)
    return int(status["states"]["open"])


def test_a_study_that_was_labelled_elsewhere_is_finished_and_given_to_nobody(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=3, overlap=3, protocol=accepting())
    ada, ben, chloe = (actor.name for actor in study.annotators)
    bring(study, **{f"{name}_{item}": "yes" for name in (ada, ben) for item in (1, 2)})
    assert open_now(study) == 2  # one annotation of each is left
    assert study.work(0)["items"] == []
    bring(study, **{f"{chloe}_{item}": "no" if item == 2 else "yes" for item in (1, 2)})
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["states"]["open"], status["states"]["submitted"]) == (True, 0, 6)
    assert states(study) == {"i00001": "accepted", "i00002": "disputed"}
    newcomer = make_person(database)
    make_member(database, study.project_id, newcomer, "annotator")
    amend_study(database, study.researcher, study.study_id, change=StudyChange(add=(newcomer.name,)), reason="more")
    study.annotators.append(newcomer)
    assert study.work(3)["items"] == []


def test_what_somebody_has_before_them_ends_where_their_labels_of_it_come_in(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=accepting())
    [item] = study.work(0)["items"]
    bring(study, **{f"{study.annotators[0].name}_1": "yes"})
    assert study.work(0)["items"] == []
    assert open_now(study) == 1
    late = study.submit(0, item, {"right": "no", "clear": "no"})  # it was on its way
    assert late.status == "surplus"
    label(study, "y", who=(1,))
    assert states(study) == {"i00001": "accepted"}


def test_a_withdrawn_import_gives_its_slots_back_also_to_those_whose_labels_it_had(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=accepting())
    batch = bring(study, **{f"{actor.name}_1": "yes" for actor in study.annotators})
    assert (open_now(study), states(study)) == (0, {"i00001": "accepted"})
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="of another run")
    assert (open_now(study), states(study)) == (2, {"i00001": "in_study"})
    assert len(study.work(0)["items"]) == 1
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="no", reinstates=True)
    assert (open_now(study), states(study)) == (0, {"i00001": "accepted"})
    assert study.work(0)["items"] == []


def test_rechecks_come_before_items_that_nobody_has_judged(database: Database) -> None:
    study = StudyInUse(database, items=6, annotators=3, overlap=1, protocol=accepting())
    first = study.work(0)["items"][0]
    study.submit(0, first, {"right": "yes", "clear": "yes"})
    revise_item(
        database, study.researcher, study.project_id, external_id="i00001", fields={"answer": "B."}, reason="wrong"
    )
    at_hand = [item["assignment"] for item in study.work(1)["items"]]
    send_to_recheck(database, study.researcher, study.study_id, reason="rewritten")
    fresh = [item for item in study.work(2)["items"] if item["assignment"] not in at_hand]
    assert fresh[0]["answer"] == "B."


def test_what_is_decided_whole_is_given_to_nobody_until_a_higher_overlap_asks_for_more(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=4, overlap=2, protocol=accepting())
    label(study, "ny")
    with database.read() as session:
        [place] = session.exec(select(Assignment.study_item_id).distinct()).all()
    decisions = [UnitDecision(name, "item", "yes", "so it is") for name in CRITERIA]
    adjudicate(database, study.researcher, place, uid="a", decisions=decisions)
    about = (database, study.researcher, study.study_id)
    with database.read() as session:
        since = session.exec(select(Annotation.created_at).order_by(col(Annotation.id))).first()
    assert since is not None
    leave_out(*about, annotator=study.annotators[0].name, since=since, reason="odd")
    assert (open_now(study), states(study)) == (0, {"i00001": "accepted"})
    restore(*about, annotator=study.annotators[0].name, reason="fine")
    amend_study(*about, change=StudyChange(overlap=3), reason="agreement of three")
    assert (open_now(study), states(study)) == (1, {"i00001": "accepted"})


def test_a_decision_on_a_part_does_not_carry_the_rest_when_labels_of_it_are_left_out(database: Database) -> None:
    """Two criteria, two items, two rounds: what was decided stays, what was unanimous waits, and comes back."""
    study = StudyInUse(database, items=2, annotators=3, overlap=2, protocol=accepting())
    label(study, "ny", "nn")
    with database.read() as session:
        places = session.exec(select(Assignment.study_item_id).distinct().order_by(Assignment.study_item_id)).all()
    decision = UnitDecision("right", "item", "yes", "so it is")
    for place in places[:1]:
        adjudicate(database, study.researcher, place, uid=f"{place}", decisions=[decision])
    assert states(study) == {"i00001": "accepted", "i00002": "in_revision"}
    about = (database, study.researcher, study.study_id)
    with database.read() as session:
        since = session.exec(select(Annotation.created_at).order_by(col(Annotation.id))).first()
    assert since is not None
    leave_out(*about, annotator=study.annotators[0].name, since=since, reason="odd")
    assert states(study) == {"i00001": "in_study", "i00002": "in_study"}
    assert open_now(study) == 2
    label(study, "yn", "nn", who=(2,))
    assert states(study) == {"i00001": "accepted", "i00002": "in_revision"}
    restore(*about, annotator=study.annotators[0].name, reason="fine")
    assert states(study) == {"i00001": "accepted", "i00002": "in_revision"}
    assert open_now(study) == 0


def test_what_loses_labels_of_an_earlier_version_is_accepted_no_more_and_says_what_to_do(
    database: Database,
) -> None:
    study = StudyInUse(database, items=1, annotators=4, overlap=1, protocol=accepting())
    about = (database, study.researcher, study.study_id)
    label(study, "y", who=(0,))
    revise_item(
        database, study.researcher, study.project_id, external_id="i00001", fields={"answer": "B."}, reason="wrong"
    )
    send_to_recheck(*about, reason="rewritten")
    who = next(who for who in (1, 2, 3) if study.work(who)["items"])
    study.submit(who, study.work(who)["items"][0], {"right": "yes"})
    assert states(study) == {"i00001": "accepted"}
    with database.read() as session:
        since = session.exec(select(Annotation.created_at).order_by(col(Annotation.id))).first()
    assert since is not None
    leave_out(*about, annotator=study.annotators[0].name, since=since, reason="odd")
    assert states(study) == {"i00001": "in_recheck"}
    with pytest.raises(InvalidInput, match="Restore them, revise it, or end it by hand"):
        send_to_recheck(*about, items=["i00001"], reason="its label is left out")
    restore(*about, annotator=study.annotators[0].name, reason="fine")
    assert states(study) == {"i00001": "accepted"}


# What is surplus ------------------------------------------------------------------------------------------------------


def aside(study: StudyInUse) -> list[str]:
    with study.db.read() as session:
        return list(session.exec(select(SetAside.kind)).all())


def to(study: StudyInUse, overlap: int) -> None:
    amend_study(study.db, study.researcher, study.study_id, change=StudyChange(overlap=overlap), reason="of so many")


def test_restored_labels_that_found_no_slot_count_when_the_overlap_rises_again(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=3, overlap=3, protocol=accepting())
    about = (database, study.researcher, study.study_id)
    label(study, "yyy", "nyy", who=(0, 1, 2))
    since = at_first(study)
    leave_out(*about, annotator=study.annotators[0].name, since=since, reason="odd")
    to(study, 2)
    assert restore(*about, annotator=study.annotators[0].name, reason="fine").surplus == 2
    assert (aside(study), states(study)) == (["surplus"] * 2, {"i00001": "accepted", "i00002": "accepted"})
    with database.read() as session:
        past, stamps = marks(session), (ratings_stamp(*about), set_aside_stamp(*about))
    to(study, 3)
    # All three have judged both: a slot that is open now would be nobody's.
    assert (aside(study), open_now(study)) == ([], 0)
    assert states(study) == {"i00001": "accepted", "i00002": "disputed"}
    status = study_status(*about)
    assert (status["states"]["submitted"], status["states"]["surplus"]) == (6, 0)
    assert stamps[0] != ratings_stamp(*about) and stamps[1] != set_aside_stamp(*about)
    with database.read() as session:
        look_back(session, past)
        assert list(session.exec(select(SetAside.kind)).all()) == ["surplus"] * 2, "an export of then is made again"
    leave_out(*about, annotator=study.annotators[0].name, since=since, reason="odd")
    assert (aside(study), open_now(study)) == (["left_out"] * 2, 2)
    restore(*about, annotator=study.annotators[0].name, reason="fine")
    with database.read() as session:
        past = marks(session)
    assert (aside(study), open_now(study)) == ([], 0)
    with database.read() as session:
        look_back(session, past)
        assert list(session.exec(select(SetAside.kind)).all()) == []


def test_what_came_late_counts_when_the_item_wants_it_the_earliest_first(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=4, overlap=4, protocol=accepting())
    about = (database, study.researcher, study.study_id)
    windows = [study.work(who)["items"][0] for who in range(4)]
    names = [actor.name for actor in study.annotators]
    for name in names[:2]:
        amend_study(*about, change=StudyChange(overlap=2, remove=(name,)), reason="on leave")
    for who in (2, 3):
        assert study.submit(who, windows[who], {"right": "yes", "clear": "yes"}).status == "done"
    for who, value in ((1, "no"), (0, "yes")):
        assert study.submit(who, windows[who], {"right": value, "clear": value}).status == "surplus"
    assert (aside(study), states(study)) == (["surplus"] * 2, {"i00001": "accepted"})
    with database.read() as session:
        past = marks(session)
    amend_study(*about, change=StudyChange(add=(names[0],)), reason="back")
    to(study, 3)
    assert (aside(study), open_now(study), states(study)) == (["surplus"], 0, {"i00001": "disputed"})
    leave_out(*about, annotator=names[2], since=at_first(study), reason="odd")
    assert (aside(study).count("surplus"), open_now(study)) == (0, 0), "the last of four takes the place of the first"
    with database.read() as session:
        look_back(session, past)
        assert list(session.exec(select(SetAside.kind)).all()) == ["surplus"] * 2


def test_a_correction_of_what_is_surplus_is_surplus_and_counts_in_its_place(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol=accepting())
    about = (database, study.researcher, study.study_id)
    label(study, "yy")
    leave_out(*about, annotator=study.annotators[0].name, since=at_first(study), reason="odd")
    to(study, 1)
    restore(*about, annotator=study.annotators[0].name, reason="fine")
    again = reopen(database, study.annotators[0], study.study_id)
    assert study.submit(0, again, {"right": "no", "clear": "yes"}).status == "surplus"
    assert (aside(study), states(study)) == (["surplus"] * 2, {"i00001": "accepted"})
    to(study, 2)
    assert (aside(study), states(study)) == ([], {"i00001": "disputed"})


def at_first(study: StudyInUse) -> datetime:
    with study.db.read() as session:
        since = session.exec(select(Annotation.created_at).order_by(col(Annotation.id))).first()
    assert since is not None
    return since
