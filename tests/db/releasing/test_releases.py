"""Releases: what is frozen, that its hash follows from that alone, and what differs between two."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import col, select

from annotators.errors import Conflict, InvalidInput, NotFound
from db.engine import Database
from db.models import Event, Release, ReleaseItem, ReleaseLabel
from db.releasing.comparing import compare_releases
from db.releasing.endings import end_item
from db.releasing.releases import find_release, list_releases, make_release, plan_release
from db.studies.revisions import revise_item
from tests.db.releasing.test_states import decide, label, two_by
from tests.makers import StudyInUse, make_project


def release(study: StudyInUse, name: str = "v1", **options: Any) -> Any:
    return make_release(study.db, study.researcher, study.project_id, name=name, **options)


def compared(study: StudyInUse, first: str = "v1", second: str = "v2") -> dict[str, Any]:
    return compare_releases(study.db, study.researcher, study.project_id, first=first, second=second).to_json()


def three(db: Database) -> StudyInUse:
    """One accepted, one decided and accepted, one in revision, one without labels."""
    study = two_by(db, 4)
    label(study, "yy", "ny", "nn")
    decide(study, "i00002", "yes")
    return study


def test_a_release_has_the_accepted_items_with_their_final_labels(database: Database) -> None:
    study = three(database)
    made = release(study, " v1 ")
    assert (made.name, made.items, made.labels, made.study) == ("v1", 2, 4, None)
    assert made.states == {"accepted": 2, "in_revision": 1, "in_study": 1}
    with database.read() as session:
        labels = session.execute(select(ReleaseLabel).order_by(col(ReleaseLabel.item_version_id))).scalars().all()
        right = [(row.value, row.how, row.votes, row.version) for row in labels if row.criterion == "right"]
        assert right == [("yes", "unanimous", {"yes": 2}, 1), ("yes", "adjudicated", {"no": 1, "yes": 1}, 1)]
        [event] = session.execute(select(Event).where(col(Event.kind) == "release made")).scalars()
        assert event.details["sha256"] == made.sha256
        assert len(session.execute(select(ReleaseItem)).all()) == 2
    assert find_release(database, study.researcher, study.project_id, name="v1") == made
    assert list_releases(database, study.researcher, study.project_id) == [made]


def test_the_same_content_has_the_same_hash_on_both_databases(
    sqlite_database: Database, postgresql_database: Database
) -> None:
    hashes = set()
    for db in (sqlite_database, postgresql_database):
        for _ in range(2):
            if not db.is_sqlite:
                make_project(db)  # other ids
        study = three(db)
        hashes |= {release(study, "v1").sha256, release(study, "v2").sha256}
        end_item(db, study.researcher, study.project_id, external_id="i00001", state="rejected", reason="x")
        assert release(study, "v3").sha256 not in hashes
    assert len(hashes) == 1


def test_a_name_is_used_once_and_nothing_accepted_is_refused(database: Database) -> None:
    study = two_by(database, 1)
    with pytest.raises(Conflict, match="1 in study"):
        release(study)
    label(study, "yy")
    release(study)
    with pytest.raises(Conflict, match="has a release 'v1'"):
        release(study)
    with pytest.raises(InvalidInput, match="does not fit: it needs 1 to 200 visible characters"):
        release(study, "  ")
    with pytest.raises(NotFound, match="no study 99"):
        release(study, "v2", study_id=99)
    with pytest.raises(NotFound, match="Known: v1"):
        compared(study)
    with database.read() as session:
        assert [row.name for row in session.execute(select(Release)).scalars()] == ["v1"]


def test_a_label_that_stands_is_carried_over_and_says_from_which_version(database: Database) -> None:
    study = two_by(database, 1)
    label(study, "yy")
    first = release(study)
    about = (database, study.researcher, study.project_id)
    revise_item(*about, external_id="i00001", fields={"category": "a"}, reason="sorted")
    second = release(study, "v2", study_id=study.study_id)
    assert (second.labels, second.study) == (2, "study")
    assert first.sha256 != second.sha256
    with database.read() as session:
        assert set(session.execute(select(ReleaseLabel.version)).scalars()) == {1}
    assert compared(study) == {
        "from": "v1", "to": "v2", "same": False, "in_both": 1, "added": [], "removed": [], "labels": [],
        "changed": [{"item": "i00001", "from": 1, "to": 2, "fields": ["category"]}],
        "pairs_in_both": 0, "pairs_added": [], "pairs_removed": [],
    }  # fmt: skip


def test_a_comparison_has_what_came_and_went_and_the_labels_that_are_others(database: Database) -> None:
    study = two_by(database, 3)
    about = (database, study.researcher, study.project_id)
    label(study, "yy", "nn", "ny")
    for item in ("i00002", "i00003"):
        end_item(*about, external_id=item, state="accepted", reason="all the same")
    release(study, keep=["open"])
    decide(study, "i00003", "no")
    end_item(*about, external_id="i00001", state="rejected", reason="x")
    end_item(*about, external_id="i00002", state=None, reason="x")
    release(study, "v2")
    label_of = {"item": "i00003", "study": "study", "criterion": "right", "target": "item"}
    assert compared(study) == {
        "from": "v1", "to": "v2", "same": False, "in_both": 1, "added": [], "removed": ["i00001", "i00002"],
        "changed": [],
        "labels": [{**label_of, "before": None, "after": "no", "how_before": None, "how_after": "adjudicated"}],
        "pairs_in_both": 0, "pairs_added": [], "pairs_removed": [],
    }  # fmt: skip
    back = compared(study, "v2", "v1")
    assert back["added"] == ["i00001", "i00002"] and back["labels"][0]["before"] == "no"
    assert compared(study, "v1", "v1")["same"]


def test_what_lacks_a_final_label_is_named_and_left_out_unless_it_is_asked_for(database: Database) -> None:
    study = two_by(database, 4)
    about = (database, study.researcher, study.project_id)
    label(study, "yy", "nn", "ny", "yy")
    for item in ("i00002", "i00003", "i00004"):
        if item == "i00004":  # its label of `right` falls, that of `clear` stands
            revise_item(*about, external_id=item, fields={"answer": "Better."}, reason="wrong")
        end_item(*about, external_id=item, state="accepted", reason="all the same")
    plan = plan_release(*about)
    assert plan.left_out == {"open": ["i00003"], "no_label": ["i00004"]}
    assert (plan.items, plan.holds) == (2, {})
    made = release(study, keep=["open"])
    assert made.left_out == {"no_label": ["i00004"]}
    assert made.holds == {"open": ["i00003"]}
    whole = release(study, "v2", keep=["open", "no_label"])
    assert (whole.items, whole.left_out) == (4, {})
    assert whole.holds == {"open": ["i00003"], "no_label": ["i00004"], "earlier_version": ["i00004"]}
    with pytest.raises(InvalidInput, match="'earlier'"):
        release(study, "v3", keep=["earlier"])
