"""Qualification: items with feedback before the study's own, a mark, tries, and somebody let in all the same."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from db.annotating.amendments import StudyChange, amend_study, amendments_of
from db.annotating.annotations import my_work, reopen
from db.annotating.assignments import skip
from db.annotating.status import study_status
from db.engine import Database
from db.models import Annotation, Event
from db.quality.gold import GoldRow, gold_given
from db.quality.qualification import QualificationSet, let_in, qualifications, set_qualification
from db.studies import tallies
from db.studies.ratings import ratings
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_item


def qualify(study: StudyInUse, n: int = 3, **asked: Any) -> QualificationSet:
    """Give the study qualification items `q0` and so on, whose right label is `yes`, with an explanation."""
    names = [f"q{number}" for number in range(n)]
    for name in names:
        make_item(study.db, study.project_id, name)
    rows = [GoldRow(line, name, "right", "item", "yes", f"{name} says so.") for line, name in enumerate(names, 2)]
    return set_qualification(study.db, study.researcher, study.study_id, rows=rows, reason="to see who reads", **asked)


def try_with(study: StudyInUse, *values: str, who: int = 0) -> list[dict[str, Any]]:
    """The feedback on items that are given these labels one after the other."""
    found = []
    for value in values:
        answer = study.submit(who, study.work(who)["items"][0], {"right": value})
        assert answer.feedback is not None
        found.append(answer.feedback)
    return found


def standing(study: StudyInUse, who: int = 0) -> dict[str, Any]:
    rows = {row.person_id: row for row in qualifications(study.db, study.researcher, study.study_id)}
    return rows[study.annotators[who].person_id].to_json()


def test_items_come_after_the_qualification_only_and_it_counts_nowhere(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    assert qualify(study).to_json() == {"added": 3, "labels": 3, "mark": 0.8, "tries": 2, "items": 3}
    items = study.work(0)["items"]
    assert [item["qualifying"] for item in items] == [
        {"number": number, "of": 3, "try": 1, "tries": 2} for number in (1, 2, 3)
    ]
    first, _, last = try_with(study, "yes", "yes", "yes")
    assert first == {
        "units": [
            {"title": "Right", "target": "", "given": "Yes", "right": "Yes", "is_right": True,
             "explanation": "q0 says so."}
        ],
        "result": None,
    }  # fmt: skip
    assert last["result"] == {"ended": "passed", "right": 3, "labels": 3, "mark": 0.8}
    assert standing(study) == {"state": "passed", "tries": 1, "right": 3, "labels": 3}
    item = study.work(0)["items"][0]
    assert "qualifying" not in item
    answer = study.submit(0, item, {"right": "no"})
    assert answer.feedback is None
    assert answer.progress["done"] == 1, "the qualification is no progress in the study"
    counted = ratings(database, study.researcher, study.study_id)
    assert len(counted.annotations.person) == 1
    assert len(counted.items.study_item) == 2
    assert gold_given(database, study.researcher, study.study_id) == []
    assert study_status(database, study.researcher, study.study_id)["annotators"][0]["submitted"] == 1
    with database.read() as session:
        assert {state: n for state, n in tallies.counts(session, study.study_id).items() if n} == recount(
            session, study.study_id
        )
        kinds = session.exec(select(Annotation.kind).where(Annotation.study_id == study.study_id)).all()
    assert sorted(kinds) == ["qualification"] * 3 + ["regular"]
    assert [row.what for row in amendments_of(database, study.researcher, study.study_id)] == ["qualification"]
    assert study.work(1)["items"][0]["qualifying"]["number"] == 1, "everybody has to"


def test_who_fails_the_last_try_is_told_and_can_be_let_in(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    qualify(study, mark=0.6, tries=2)
    *_, last = try_with(study, "yes", "no", "no")
    assert last["result"] == {"ended": "again", "right": 1, "labels": 3, "mark": 0.6}
    assert last["units"][0]["given"] == "No"
    assert study.work(0)["items"][0]["qualifying"] == {"number": 1, "of": 3, "try": 2, "tries": 2}
    *_, last = try_with(study, "no", "yes", "no")
    assert last["result"]["ended"] == "failed"
    found = study.work(0)
    assert (found["items"], found["finished"]) == ([], False)
    assert found["halted"].startswith("Thank you for trying. In your last try 1 of 3 labels were right; the study asks")
    assert standing(study) == {"state": "failed", "tries": 2, "right": 1, "labels": 3}
    name = study.annotators[0].name
    with pytest.raises(InvalidInput, match="Say why"):
        let_in(database, study.researcher, study.study_id, annotator=name, reason=" ")
    with pytest.raises(NotFound, match="no annotator of the study"):
        let_in(database, study.researcher, study.study_id, annotator="eve", reason="x")
    with pytest.raises(NotAllowed):
        let_in(database, study.annotators[0], study.study_id, annotator=name, reason="x")
    let_in(database, study.researcher, study.study_id, annotator=name, reason="they asked")
    assert study.label_all(0) == 2
    found = standing(study)
    assert {key: found[key] for key in ("state", "tries", "right")} == {"state": "let_in", "tries": 2, "right": 1}
    assert (found["let_in"]["by"], found["let_in"]["reason"]) == (study.researcher.name, "they asked")
    [row] = qualifications(database, study.researcher, study.study_id)
    assert row.in_words() == f"let in by {study.researcher.name}: they asked (1 of 3 right, 2 tries)"
    with pytest.raises(Conflict, match="gets the study's items already"):
        let_in(database, study.researcher, study.study_id, annotator=name, reason="again")
    with database.read() as session:
        [event] = session.exec(select(Event).where(Event.kind == "annotator let in")).all()
    assert event.details["reason"] == "they asked"


def test_what_was_answered_stays_and_nothing_is_skipped(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    qualify(study)
    actor = study.annotators[0]
    first, second, _ = study.work(0)["items"]
    answer = study.submit(0, first, {"right": "no"}, uid="a")
    assert study.submit(0, first, {"right": "no"}, uid="a").feedback == answer.feedback, "the answer got lost"
    with pytest.raises(Conflict, match="stays as it is"):
        study.submit(0, {**first, "sitting": 2}, {"right": "yes"})
    with pytest.raises(Conflict, match="cannot be opened again"):
        reopen(sqlite_database, actor, study.study_id, assignment_id=first["assignment"])
    with pytest.raises(NotFound, match="not submitted anything"):
        reopen(sqlite_database, actor, study.study_id)
    with pytest.raises(Conflict, match="cannot be skipped"):
        skip(sqlite_database, actor, study.study_id, assignment_id=second["assignment"], reason="dull")
    assert my_work(sqlite_database, actor) == []


def test_who_left_and_comes_back_goes_on_with_their_try(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    qualify(study)
    try_with(study, "yes")
    change = StudyChange(remove=(study.annotators[0].name,))
    amend_study(database, study.researcher, study.study_id, change=change, reason="on leave")
    change = StudyChange(add=(study.annotators[0].name,))
    amend_study(database, study.researcher, study.study_id, change=change, reason="is back")
    *_, last = try_with(study, "yes", "yes")
    assert last["result"]["ended"] == "passed"


def test_with_a_mark_of_nothing_the_items_are_practice(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    qualify(study, mark=0.0)
    *_, last = try_with(study, "no", "no", "no")
    assert last["result"]["ended"] == "passed"


def test_what_cannot_be_is_refused_and_nothing_is_stored(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    with pytest.raises(InvalidInput, match="has no qualification items"):
        set_qualification(sqlite_database, study.researcher, study.study_id, mark=0.5, reason="x")
    with pytest.raises(InvalidInput, match="A mark of 80"):
        qualify(study, mark=80)
    with pytest.raises(InvalidInput, match=r"line 2.*is in the study's sample"):
        rows = [GoldRow(2, "i00001", "right", "item", "yes")]
        set_qualification(sqlite_database, study.researcher, study.study_id, rows=rows, reason="x")
    assert qualifications(sqlite_database, study.researcher, study.study_id) == []
    assert study.label_all(0) == 1


def test_what_was_said_of_known_items_leaves_only_when_asked_for_and_verifies(
    database: Database, tmp_path: Path
) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    qualify(study, 2, mark=1.0)
    try_with(study, "yes", "no")
    asked = tmp_path / "asked"
    manifest = export_project(
        database, study.researcher, study.project_id, to=asked, study_id=study.study_id, formats=("labels", "known")
    )
    assert manifest.counts == {"labels": 0, "known": 2}
    rows = list(csv.DictReader((asked / "known.csv").open()))
    names = ("annotator", "kind", "try", "item", "value", "right_value", "is_right", "current")
    assert [tuple(row[name] for name in names) for row in rows] == [
        ("A1", "qualification", "1", "q0", "yes", "yes", "true", "true"),
        ("A1", "qualification", "1", "q1", "no", "yes", "false", "true"),
    ]
    try_with(study, "yes", "yes")
    report = verify_against(database, study.researcher, asked)
    assert report.ok, report
