"""That somebody has read a study's guidelines: one event, whoever says it how often, and asked for until then."""

from __future__ import annotations

import threading

import pytest
from sqlmodel import col, select

from annotators.errors import Conflict, NotAllowed
from db.annotating.guidelines import READ, guidelines_read
from db.annotating.status import study_status
from db.engine import Database
from db.events import project_events
from db.models import Event, Study
from tests.makers import StudyInUse, make_member, make_person, read_guidelines


def events(db: Database) -> list[Event]:
    with db.read() as session:
        return list(session.exec(select(Event).where(Event.kind == READ).order_by(col(Event.id))))


def said(study: StudyInUse, who: int) -> bool:
    found: bool = study.work(who)["study"]["guidelines_read"]
    return found


def test_it_is_an_event_that_names_person_study_and_protocol(database: Database) -> None:
    study = StudyInUse(database)
    assert [said(study, who) for who in (0, 1)] == [False, False]
    hash_ = study.work(0)["study"]["protocol_hash"]
    at = guidelines_read(database, study.annotators[0], study.study_id, protocol_hash=hash_)
    assert [said(study, who) for who in (0, 1)] == [True, False]
    [event] = events(database)
    assert (event.person_id, event.thing, event.thing_id) == (study.annotators[0].person_id, "study", study.study_id)
    assert (event.at, event.project_id) == (at, study.project_id)
    assert event.details == {"protocol": "tiny", "version": 1, "protocol_hash": study.made.protocol_hash}
    [shown] = project_events(database, study.researcher, study.project_id, kind=READ)
    assert shown.who == study.annotators[0].name


def test_said_twice_and_from_many_windows_at_once_it_is_one_event(database: Database) -> None:
    study = StudyInUse(database)
    hash_ = study.made.protocol_hash
    first = guidelines_read(database, study.annotators[0], study.study_id, protocol_hash=hash_)
    assert guidelines_read(database, study.annotators[0], study.study_id, protocol_hash=hash_) == first

    def say() -> None:
        guidelines_read(database, study.annotators[1], study.study_id, protocol_hash=hash_)

    windows = [threading.Thread(target=say) for _ in range(8)]
    for window in windows:
        window.start()
    for window in windows:
        window.join()
    assert [event.person_id for event in events(database)] == [actor.person_id for actor in study.annotators[:2]]


def test_each_study_and_each_protocol_asks_anew(database: Database) -> None:
    study, other = StudyInUse(database), StudyInUse(database)
    make_member(database, other.project_id, study.annotators[0], "annotator")
    read_guidelines(database, study.study_id)
    assert said(study, 0)
    assert not said(other, 0)
    with database.write() as session:  # as when a study goes over to another version of its protocol
        session.get_one(Study, study.study_id).protocol_hash = "another"
    assert not said(study, 0)
    with pytest.raises(Conflict, match="not the guidelines of this study any more"):
        guidelines_read(database, study.annotators[0], study.study_id, protocol_hash=study.made.protocol_hash)
    guidelines_read(database, study.annotators[0], study.study_id, protocol_hash="another")
    assert said(study, 0)
    assert len(events(database)) == 4


def test_only_an_annotator_of_the_study_says_it(database: Database) -> None:
    study = StudyInUse(database)
    with pytest.raises(NotAllowed, match="not an annotator of this study"):
        guidelines_read(database, study.researcher, study.study_id, protocol_hash=study.made.protocol_hash)
    stranger = make_person(database, role="annotator")
    with pytest.raises(NotAllowed, match="not an annotator of this study"):
        guidelines_read(database, stranger, study.study_id, protocol_hash=study.made.protocol_hash)
    assert events(database) == []


def test_labels_are_taken_without_it(database: Database) -> None:
    study = StudyInUse(database)
    assert study.submit(0, study.work(0)["items"][0], {"right": "yes"}).status == "done"
    assert events(database) == []


def test_the_status_of_a_study_says_who_has_read_them(database: Database) -> None:
    study = StudyInUse(database)
    at = guidelines_read(database, study.annotators[1], study.study_id, protocol_hash=study.made.protocol_hash)
    status = study_status(database, study.researcher, study.study_id)
    assert [annotator["guidelines_read"] for annotator in status["annotators"]] == [None, at.isoformat(), None]
