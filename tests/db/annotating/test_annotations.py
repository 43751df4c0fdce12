"""Committing steps: idempotent, staged, superseding, nothing hidden on the wire."""

from __future__ import annotations

import json
import threading

import pytest
from sqlalchemy import event, func
from sqlmodel import col, select

from annotators.criteria.material import PAIR_MARKS
from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from db.annotating.annotations import reopen, save_draft
from db.annotating.assignments import skip
from db.annotating.disclosure import may_see_page
from db.engine import Database
from db.models import Annotation, Document, Draft, StoredLabel, Submission
from tests.makers import StudyInUse, make_person

STEP_1 = {"self_contained": "true", "human_like": "true"}
STEP_2 = {
    "question_factual": "factual",
    "answer_factual": "not_factual",
    "complete": "complete",
    "grounding": "required",
}


def n(db: Database, table: type) -> int:
    with db.read() as session:
        return int(session.execute(select(func.count()).select_from(table)).scalar_one())


def test_a_second_submit_changes_nothing(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    first = study.submit(0, item, {"right": "yes"}, uid="once")
    second = study.submit(0, item, {"right": "no"}, uid="once")
    assert (first.status, second.status) == ("done", "duplicate")
    assert second.saved_at == first.saved_at
    assert (n(database, Submission), n(database, Annotation), n(database, StoredLabel)) == (1, 1, 1)


def test_the_same_submission_from_ten_threads_at_once_is_stored_once(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    statuses: list[str] = []
    threads = [
        threading.Thread(target=lambda: statuses.append(study.submit(0, item, {"right": "yes"}, uid="u").status))
        for _ in range(10)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(statuses) == ["done", *["duplicate"] * 9]
    assert n(database, Annotation) == 1


def test_the_time_of_an_annotation_is_that_of_all_its_steps(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    item = study.submit(0, study.work(0)["items"][0], STEP_1, seconds=5.0).item
    assert item is not None
    study.submit(0, item, STEP_2, seconds=7.0)
    with database.read() as session:
        assert session.exec(select(Annotation.seconds)).one() == 12.0


def test_a_submission_id_that_was_used_for_another_item_is_a_conflict(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    first, second = study.work(0)["items"]
    study.submit(0, first, {"right": "yes"}, uid="once")
    with pytest.raises(Conflict, match="used for something else"):
        study.submit(0, second, {"right": "no"}, uid="once")
    assert n(database, Submission) == 1


def test_a_submission_id_of_somebody_else_is_refused(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"}, uid="u")
    with pytest.raises(Conflict, match="'u'"):
        study.submit(1, study.work(1)["items"][0], {"right": "yes"}, uid="u")


def test_what_another_window_submitted_is_refused_in_words_about_the_item(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    item, skipped, *_ = study.work(0)["items"]
    second = study.submit(0, item, STEP_1).item
    assert second is not None
    titles = [step["title"] for step in study.work(0)["study"]["protocol"]["steps"]]
    with pytest.raises(Conflict) as refused:
        study.submit(0, item, STEP_1)
    assert str(refused.value) == (
        f"The step “{titles[0]}” of this item was submitted already, probably in another window. What you sent now is "
        "not stored. Return to the item: it shows what is stored, and you can correct it there."
    )
    study.submit(0, second, STEP_2)
    with pytest.raises(Conflict, match=r"^This item was submitted already, probably in another window"):
        study.submit(0, second, STEP_2)
    with pytest.raises(Conflict, match=rf"The step “{titles[0]}” of this item comes first"):
        study.submit(0, {**second, "sitting": 2}, STEP_2)
    about = {"assignment_id": skipped["assignment"], "reason": "unreadable"}
    skip(database, study.annotators[0], study.study_id, **about)
    with pytest.raises(Conflict, match=r"^You skipped this item.* not stored\. Go on with the next item\.$"):
        study.submit(0, skipped, STEP_1)


def test_missing_labels_are_refused_and_nothing_is_stored(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    with pytest.raises(InvalidInput, match="Right"):
        study.submit(0, item, {})
    with pytest.raises(InvalidInput, match="perhaps"):
        study.submit(0, item, {"right": "perhaps"})
    assert (n(database, Submission), n(database, StoredLabel)) == (0, 0)


def test_a_later_step_is_not_on_the_wire_before_the_earlier_is_committed(database: Database) -> None:
    study = StudyInUse(database, items=6, annotators=1, overlap=1, n_evidence=2, protocol="qa_verification")
    items = study.work(0)["items"]
    sent = json.dumps(items)
    assert len(items) == 4
    for hidden in ("Answer of", "Passage", "gold", "distractor", ".pdf", "page-images", "evidence:E", '"s0"', "i0000"):
        assert hidden not in sent.replace("Question of i0000", ""), hidden
    answer = study.submit(0, items[0], STEP_1)
    assert answer.status == "step"
    assert answer.item is not None
    assert answer.item["answer"] == "Answer of i00001."
    shown = json.dumps(answer.item)
    assert "gold" not in shown
    assert "distractor" not in shown
    assert "Answer of i00002" not in json.dumps(answer.items)


def test_evidence_is_sent_in_an_order_and_under_names_that_hide_its_role(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=2, protocol="qa_verification")
    item = study.submit(0, study.work(0)["items"][0], STEP_1).item
    assert item is not None
    assert [(evidence["key"], evidence["pages"]) for evidence in item["evidence"]] == [("E1", [1]), ("E2", [2])]
    assert item["units"]["grounding"] == ["evidence:E1", "evidence:E2"]
    study.submit(0, item, STEP_2)
    with database.read() as session:
        targets = (
            session.execute(select(StoredLabel.target).where(StoredLabel.criterion == "grounding")).scalars().all()
        )
    assert sorted(targets) == ["evidence:distractor-2", "evidence:gold-1"]


def test_page_images_are_refused_until_the_step_that_shows_them(database: Database) -> None:
    study = StudyInUse(database, items=5, annotators=2, overlap=1, n_evidence=1, protocol="qa_verification")
    items = study.work(0)["items"]
    with database.read() as session:
        documents = dict(session.execute(select(Document.key, Document.id)).all())
    first, second = documents["i00001.pdf"], documents["i00002.pdf"]
    actor = study.annotators[0]
    for document in (first, second):
        with pytest.raises(NotFound):
            may_see_page(database, actor, document_id=document, page=1)
    study.submit(0, items[0], STEP_1)
    assert may_see_page(database, actor, document_id=first, page=4).key == "i00001.pdf"
    for other, document in ((actor, second), (study.annotators[1], first), (make_person(database), first)):
        with pytest.raises(NotFound):
            may_see_page(database, other, document_id=document, page=1)
    assert may_see_page(database, study.researcher, document_id=second, page=1).document_id == second


def test_a_step_cannot_be_changed_in_the_same_sitting(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    item = study.work(0)["items"][0]
    study.submit(0, item, STEP_1)
    with pytest.raises(Conflict, match="“Question alone” of this item was submitted already"):
        study.submit(0, item, {**STEP_1, "human_like": "false"})


def test_a_correction_supersedes_and_keeps_what_was_submitted(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    second = study.submit(0, study.work(0)["items"][0], STEP_1).item
    assert second is not None
    study.submit(0, second, STEP_2)
    again = reopen(database, study.annotators[0], study.study_id)
    assert (again["sitting"], again["step"]) == (2, 0)
    assert {label["criterion"]: label["value"] for label in again["previous"]} == STEP_1
    following = study.submit(0, again, {**STEP_1, "human_like": "false"}).item
    assert following is not None
    assert {label["criterion"] for label in following["previous"]} == set(STEP_2)
    study.submit(0, following, STEP_2)
    with database.read() as session:
        rows = session.exec(select(Annotation).order_by(col(Annotation.id))).all()
    assert [row.supersedes_id for row in rows] == [None, rows[0].id]
    assert n(database, StoredLabel) == 12
    assert study.work(0)["progress"]["done"] == 1


def test_a_correction_that_is_given_up_half_way_leaves_the_annotation_standing(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    second = study.submit(0, study.work(0)["items"][0], STEP_1).item
    assert second is not None
    study.submit(0, second, STEP_2)
    study.submit(0, reopen(database, study.annotators[0], study.study_id), STEP_1)
    assert n(database, Annotation) == 1
    again = reopen(database, study.annotators[0], study.study_id)
    assert (again["sitting"], again["step"]) == (2, 1)
    assert study.work(0)["items"][0]["question"] == "Question of i00002?"


def test_a_draft_is_kept_and_comes_back_with_the_item(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    save = {"assignment_id": item["assignment"], "sitting": 1, "step": 0}
    for text in ("half", "half filled"):
        save_draft(database, study.annotators[0], study.study_id, **save, content={"comment": text}, seconds=7)
    assert study.work(0)["items"][0]["draft"] == {"content": {"comment": "half filled"}, "seconds": 7}
    study.submit(0, item, {"right": "yes"})
    assert n(database, Draft) == 0
    save_draft(database, study.annotators[0], study.study_id, **save, content={"comment": "too late"})
    assert n(database, Draft) == 0


def test_a_late_draft_does_not_undo_a_newer_one(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    save = {"assignment_id": item["assignment"], "sitting": 1, "step": 0}

    def keep(text: str, revision: object) -> None:
        content = {"comment": text, "revision": revision}
        save_draft(database, study.annotators[0], study.study_id, **save, content=content)

    keep("third change", 3)
    for revision in (2, 0, None, "9"):
        with pytest.raises(Conflict, match="newer draft"):
            keep("on its way for long", revision)
    assert study.work(0)["items"][0]["draft"]["content"]["comment"] == "third change"
    keep("third change, sent again", 3)
    keep("fourth change", 4)
    assert study.work(0)["items"][0]["draft"]["content"]["comment"] == "fourth change"


def test_a_draft_of_somebody_else_is_refused(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    item = study.work(0)["items"][0]
    with pytest.raises(NotAllowed):
        save_draft(
            database,
            study.annotators[1],
            study.study_id,
            assignment_id=item["assignment"],
            sitting=1,
            step=0,
            content={},
        )


def test_items_the_browser_has_already_come_as_stubs(database: Database) -> None:
    study = StudyInUse(database, items=9, annotators=1, overlap=1)
    items = study.work(0)["items"]
    have = [item["assignment"] for item in items[1:]]
    from db.annotating.annotations import work

    fresh = work(database, study.annotators[0], study.study_id, have=have)["items"]
    assert [item.get("kept", False) for item in fresh] == [False, True, True, True]


def test_what_was_shown_and_how_long_it_took_is_recorded(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"}, seconds=12.5, comment="hm", flag="look")
    with database.read() as session:
        row = session.exec(select(Submission)).one()
    assert (row.shown, row.seconds, row.comment, row.flag) == (["answer", "question"], 12.5, "hm", "look")
    assert study.work(0)["progress"]["seconds_today"] == 12


def test_what_a_page_cannot_switch_on_is_no_part_of_what_was_shown(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    for aid in (PAIR_MARKS, "scores"):
        with pytest.raises(InvalidInput, match=f"'aids' has '{aid}', which this page has none of"):
            study.submit(0, item, {"right": "yes"}, aids=(aid,))
    assert study.work(0)["items"][0] == item


def test_a_person_who_is_not_in_the_study_gets_no_work(database: Database) -> None:
    study = StudyInUse(database, items=1)
    stranger = make_person(database, role="annotator")
    from db.annotating.annotations import work

    with pytest.raises(NotAllowed, match="not an annotator of this study"):
        work(database, stranger, study.study_id)


def test_a_submit_reads_no_growing_table_from_end_to_end(database: Database) -> None:
    """Every query of a submit is answered by an index, however many labels there are."""
    if not database.is_sqlite:
        pytest.skip("PostgreSQL plans by how many rows there are: with few it reads them all")
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    asked: list[tuple[str, tuple[object, ...]]] = []

    def note(_connection: object, _cursor: object, sql: str, parameters: tuple[object, ...], *_: object) -> None:
        if sql.lstrip().startswith("SELECT"):
            asked.append((sql, parameters))

    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    item = study.work(1)["items"][0]
    event.listen(database.engine, "before_cursor_execute", note)
    study.submit(1, item, {"right": "no"})
    event.remove(database.engine, "before_cursor_execute", note)
    with database.read() as session:
        connection = session.connection()
        plans = {
            str(step[3])
            for sql, parameters in asked
            for step in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", parameters)
        }
    growing = ("annotation", "submission", "label", "assignment", "settlement", "item_version", "study_item")
    assert any(step.startswith("SEARCH annotation") for step in plans)
    assert [step for step in plans if step.startswith("SCAN") and step.split()[1] in growing] == []
