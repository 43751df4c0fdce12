"""What was rejected or withdrawn by hand is given to nobody, and comes back with the item."""

from __future__ import annotations

from pathlib import Path

from db.annotating.amendments import StudyChange, amend_study
from db.annotating.annotations import work
from db.annotating.assignments import skip
from db.engine import Database
from db.releasing.endings import end_item
from db.studies.tallies import counts
from tests.db.releasing.test_pairs import HARBOUR, Duel
from tests.db.studies.recount import recount
from tests.makers import StudyInUse


def end(study: StudyInUse, item: str, state: str | None) -> None:
    end_item(study.db, study.researcher, study.project_id, external_id=item, state=state, reason="read again")


def given(study: StudyInUse, who: int, ahead: int = 5) -> list[int]:
    """The assignments of a person, who asks for work."""
    return [item["assignment"] for item in work(study.db, study.annotators[who], study.study_id, ahead=ahead)["items"]]


def labelled(study: StudyInUse, who: int) -> int:
    """How many items a person is given and labels until there are none."""
    n = 0
    while items := study.work(who)["items"]:
        study.submit(who, items[0], {"right": "yes"})
        n += 1
    return n


def test_a_rejected_item_is_in_nobodys_queue_until_that_is_taken_back(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=3, overlap=3)
    assert len(given(study, 0)) == 3
    end(study, "i00001", "rejected")
    end(study, "i00002", "withdrawn")
    assert len(given(study, 1)) == 1
    end(study, "i00001", None)
    end(study, "i00002", "accepted")
    assert labelled(study, 1) == labelled(study, 2) == 3


def test_what_is_skipped_or_wanted_more_often_does_not_bring_a_rejected_item_back(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=3, overlap=1)
    [held] = given(study, 0)
    end(study, "i00001", "rejected")
    skip(database, study.annotators[0], study.study_id, assignment_id=held, reason="unreadable")
    amend_study(database, study.researcher, study.study_id, change=StudyChange(overlap=2), reason="more")
    assert given(study, 1) == given(study, 2) == []
    end(study, "i00001", None)
    assert len(given(study, 1)) == len(given(study, 2)) == 1


def test_the_kept_counts_of_slots_are_those_of_the_table(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    given(study, 0, ahead=0)
    for state, n_open in (("rejected", 3), (None, 5), ("withdrawn", 3)):
        end(study, "i00002", state)
        with database.read() as session:
            kept = {name: n for name, n in counts(session, study.study_id).items() if n}
            assert kept == recount(session, study.study_id)
            assert kept["open"] == n_open


def test_a_pair_of_which_one_item_is_rejected_is_given_to_nobody(database: Database, tmp_path: Path) -> None:
    duel = Duel(database, tmp_path, "harbour", "lantern")
    assert duel.gets(0) == [True]
    about = {"external_id": HARBOUR, "reason": "read again"}
    end_item(database, duel.admin, duel.project_id, state="rejected", **about)
    assert duel.gets(1, 2) == [False, False]
    end_item(database, duel.admin, duel.project_id, state=None, **about)
    assert duel.gets(1, 2) == [True, False]
