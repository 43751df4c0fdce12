"""Items by state: the list behind every number of a study, and of the project."""

from __future__ import annotations

import pytest

from db.annotating.amendments import set_state
from db.engine import Database
from db.models import StudyState
from db.releasing import listed
from db.releasing.counts import study_stages
from db.releasing.endings import end_item
from db.releasing.listed import items_in_state
from db.releasing.states import State
from db.studies.revisions import revise_item
from tests.db.releasing.test_states import decide, label, states, two_by
from tests.makers import StudyInUse


def ids(study: StudyInUse, state: State, **about: object) -> list[str]:
    found = items_in_state(study.db, study.researcher, study.project_id, state=state, **about)  # type: ignore[arg-type]
    assert found.after is None
    return [row.external_id for row in found.rows]


def test_every_state_lists_the_items_that_are_in_it_and_as_many_as_the_study_counts(database: Database) -> None:
    study = two_by(database, 10)
    label(study, "yy", "nn", "ny", "ny", "nn", "yy", "yy")
    about = (database, study.researcher, study.project_id)
    decide(study, "i00004", "no")
    revise_item(*about, external_id="i00005", fields={"answer": "Better."}, reason="wrong")
    end_item(*about, external_id="i00006", state="rejected", reason="no")
    end_item(*about, external_id="i00007", state="withdrawn", reason="no")
    end_item(*about, external_id="i00008", state="accepted", reason="yes")
    known = states(study)
    for closed in (False, True):
        if closed:
            set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
            known = states(study)
        counts = study_stages(database, study.researcher, study.study_id).states
        for state in State:
            assert ids(study, state) == sorted(item for item, is_in in known.items() if is_in == state), state
            if state is not State.NO_STUDY:
                assert len(ids(study, state, study_id=study.study_id)) == counts[state], state


def test_a_list_is_read_a_page_at_a_time_and_goes_on_where_few_are_among_many(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = two_by(database, 6)
    label(study, "yy", "yy", "yy", "yy", "nn", "yy")
    about = (database, study.researcher, study.project_id)
    first = items_in_state(*about, state=State.ACCEPTED, limit=2)
    assert ([row.external_id for row in first.rows], first.after) == (["i00001", "i00002"], "i00002")
    second = items_in_state(*about, state=State.ACCEPTED, after=first.after, system="s0")
    assert [row.external_id for row in second.rows] == ["i00003"]
    monkeypatch.setattr(listed, "BLOCK", 1)
    monkeypatch.setattr(listed, "LOOKED", 2)
    found = items_in_state(*about, state=State.ACCEPTED, search="i0000")
    assert ([row.external_id for row in found.rows], found.after) == (["i00001", "i00002"], "i00002")
    found = items_in_state(*about, state=State.ACCEPTED, after="i00004")
    assert ([row.external_id for row in found.rows], found.after) == (["i00006"], "i00006")
    assert items_in_state(*about, state=State.ACCEPTED, after="i00006").after is None
