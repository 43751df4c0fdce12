"""What an act would do is said before it is done, and nothing is done by saying it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import text

from annotators.items.parsed import ForeignLabel
from db.annotating.amendments import StudyChange, amend_study
from db.batches import withdraw_batch
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.quality.omissions import leave_out, restore
from db.releasing.consequences import if_amended, if_left_out, if_restored, if_withdrawn
from db.releasing.releases import make_release
from tests.db.releasing.test_states import label, states, two_by
from tests.makers import StudyInUse


def stored(study: StudyInUse) -> list[Any]:
    """Everything that an act may change."""
    with study.db.read() as session:
        tables = ("settlement", "assignment", "set_aside", "amendment", "withdrawal", "tally", "event", "study_member")
        return [sorted(map(str, session.execute(text(f"SELECT * FROM {table}")))) for table in tables]


def test_what_leaving_out_would_do_is_what_it_does_and_restoring_undoes_it(database: Database) -> None:
    study = two_by(database, 3)
    about = (database, study.researcher, study.study_id)
    label(study, "yy", "nn", "ny")
    make_release(database, study.researcher, study.project_id, name="v1")
    before, who = stored(study), study.annotators[0].name
    since = datetime.now(UTC) - timedelta(hours=1)
    found = if_left_out(*about, annotator=who, since=since)
    assert stored(study) == before
    assert found.return_to_the_study == ["i00001", "i00002", "i00003"]
    assert (found.lose_acceptance, found.releases) == (["i00001"], {"v1": 1})
    assert found.sentences() == [
        "3 items return to the study: i00001, i00002, i00003.",
        "1 item loses acceptance: i00001.",
        "Release 'v1' holds 1 of those that lose acceptance.",
    ]
    leave_out(*about, annotator=who, since=since, reason="odd")
    assert set(states(study).values()) == {"in_study"}
    back = if_restored(*about, annotator=who)
    assert back.become_accepted == ["i00001"]
    restore(*about, annotator=who, reason="fine")
    assert if_amended(*about, change=StudyChange(quota=9)).sentences() == ["No item changes its state."]


def test_what_a_withdrawal_and_an_overlap_would_do(database: Database) -> None:
    study = two_by(database, 2)
    about = (database, study.researcher, study.study_id)
    rows = [
        ForeignLabel(number, item, name, criterion, "item", "yes")
        for number, (item, name, criterion) in enumerate(
            ((item, name, criterion) for item in ("i00001", "i00002") for name in ("Zoe", "Yan")
             for criterion in ("right", "clear")), 2,
        )
    ]  # fmt: skip
    batch = import_labels(*about, rows=rows, source="labels.csv").batch
    assert set(states(study).values()) == {"accepted"}
    found = if_withdrawn(database, study.researcher, study.project_id, batch)
    assert found.lose_acceptance == ["i00001", "i00002"]
    withdraw_batch(database, study.researcher, study.project_id, batch, reason="wrong file")
    assert set(states(study).values()) == {"in_study"}
    assert if_amended(*about, change=StudyChange(overlap=1)).moves == {}
    amend_study(*about, change=StudyChange(overlap=1), reason="few")
