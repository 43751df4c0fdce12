"""What is drawn ahead: the first page of what people have at hand and of what they get next, and nothing else."""

from __future__ import annotations

from typing import Any

from sqlmodel import select

from db.annotating.queued_pages import queued_pages
from db.engine import Database
from db.models import Assignment, Document, Study
from tests.makers import StudyInUse


def supply(db: Database) -> None:
    """As if every document's bytes were there; its hash is its key."""
    with db.write() as session:
        for document in session.exec(select(Document)):
            document.sha256, document.media_type = document.key, "application/pdf"
            session.add(document)


def test_each_of_those_who_have_not_begun_gets_slots_of_their_own(database: Database) -> None:
    study = StudyInUse(database, items=20, annotators=2, overlap=1, n_evidence=2, protocol="qa_verification")
    supply(database)
    pages = queued_pages(database)
    named = [page.sha256 for page in pages.values() if page]
    assert named == [f"i{number:05}.pdf" for number in range(1, 9)]
    study.work(0)
    study.work(1)
    more = queued_pages(database, known=pages)
    assert [page.sha256 for page in more.values() if page] == [f"i{number:05}.pdf" for number in range(9, 13)]


def test_it_is_the_page_that_the_browser_opens(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=3, protocol="qa_verification")
    supply(database)
    (page,) = queued_pages(database).values()
    first = study.work(0)["items"][0]
    item = study.submit(0, first, {"self_contained": "true", "human_like": "true"}).item
    assert item is not None
    assert page is not None
    assert page.page == item["evidence"][0]["pages"][0]


def test_an_item_without_bytes_has_no_page_and_what_is_known_is_not_read_again(database: Database) -> None:
    StudyInUse(database, items=3, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    found = queued_pages(database)
    assert list(found.values()) == [None, None, None]
    assert queued_pages(database, known=found) == {}


def test_a_study_that_is_finished_or_shows_no_pages_has_none(database: Database) -> None:
    StudyInUse(database, items=2, annotators=1, overlap=1, n_evidence=1)  # question and answer
    done = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol="qa_verification")
    with database.write() as session:
        assert session.get_one(Study, done.study_id).evidence_step == 1
    item = done.submit(0, done.work(0)["items"][0], {"self_contained": "true", "human_like": "true"}).item
    assert item is not None
    step = {"question_factual": "factual", "answer_factual": "factual", "complete": "complete", "grounding": "required"}
    done.submit(0, item, step)
    assert queued_pages(database) == {}


def test_where_everybody_has_an_order_of_their_own_the_next_turns_are_drawn(database: Database) -> None:
    study = StudyInUse(
        database, items=40, annotators=2, overlap=2, n_evidence=2, protocol="qa_verification", order="own"
    )
    supply(database)
    drawn = set(queued_pages(database))
    given = {(study.study_id, slot_item(study, item)) for who in (0, 1) for item in study.work(who)["items"]}
    assert drawn == given


def slot_item(study: StudyInUse, item: dict[str, Any]) -> int:
    with study.db.read() as session:
        return session.get_one(Assignment, item["assignment"]).study_item_id
