"""The two exceptions to append-only: redaction keeps a digest, a deleted project leaves nothing but an event."""

from __future__ import annotations

import hashlib

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import select

from annotators.errors import InvalidInput, NotAllowed, NotFound
from db.annotations import save_draft
from db.engine import Database
from db.maintenance import delete_project, redact_text
from db.models import Event, GivenLabel, Submission, Table
from tests.db.test_guards import one_of_each
from tests.makers import StudyInUse, make_person


def test_a_redacted_text_leaves_its_digest_and_the_rest_stands(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=1, overlap=1)
    for comment in ("Jo Field says it is wrong", "it is wrong"):
        study.submit(0, study.work(0)["items"][0], {"right": "no"}, comment=comment)
    item = study.work(0)["items"][0]
    place = {"assignment_id": item["assignment"], "sitting": 1, "step": 0}
    save_draft(database, study.annotators[0], study.study_id, **place, content={"comment": "ask Jo Field"})
    done = redact_text(database, study.researcher, study.study_id, containing="Jo Field", reason="a name")
    digest = hashlib.sha256(b"Jo Field says it is wrong").hexdigest()
    assert (done.texts, done.digests) == (1, [digest])
    with database.read() as session:
        comments = session.execute(select(Submission.comment).order_by(text("id"))).scalars().all()
        assert comments == [f"[redacted, SHA-256 {digest}]", "it is wrong"]
        details = [event.details for event in session.exec(select(Event).where(Event.kind == "text redacted"))]
        assert "Jo" not in str(details)
    assert study.work(0)["items"][0]["draft"] is None
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text("DELETE FROM submission"))


def test_a_label_that_is_a_text_can_be_redacted(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, protocol="ambiguity")
    study.submit(0, study.work(0)["items"][0], {"ambiguity": "ambiguous", "reason": "Jo Field or Flo Field?"})
    redact_text(database, study.researcher, study.study_id, containing="Flo Field", reason="a name")
    with database.read() as session:
        values = session.execute(select(GivenLabel.value).where(GivenLabel.criterion == "reason")).scalars().all()
    assert len(values) == 1
    assert values[0].startswith("[redacted, SHA-256 ")


def test_redacting_needs_words_that_are_there_and_a_reason(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    for containing, reason, error in (
        ("x", "r", InvalidInput),
        ("Jo Field", " ", InvalidInput),
        ("Jo", "r", InvalidInput),
    ):
        with pytest.raises(error):
            redact_text(database, study.researcher, study.study_id, containing=containing, reason=reason)
    with pytest.raises(NotFound):
        redact_text(database, study.researcher, study.study_id, containing="Jo Field", reason="r")


def test_a_deleted_project_is_gone_and_others_stand(database: Database) -> None:
    one_of_each(database)
    with database.read() as session:
        project_id, name = session.execute(text("SELECT id, name FROM project")).one()
        alone = counts(session)
    other = StudyInUse(database, items=2, annotators=1, overlap=1, n_evidence=1)
    other.label_all(0)
    with database.read() as session:
        together = counts(session)
    admin = make_person(database, admin=True)
    with pytest.raises(InvalidInput, match="not the name"):
        delete_project(database, admin, project_id, name="something else")
    with pytest.raises(NotAllowed):
        delete_project(database, other.researcher, other.project_id, name="x")
    deleted = delete_project(database, admin, project_id, name=name)
    assert deleted.rows["label"] >= 1
    with database.read() as session:
        after = counts(session)
        kinds = session.execute(select(Event.kind).order_by(text("id DESC"))).scalars().first()
    kept = {"person", "account", "event"}
    assert {table: n for table, n in after.items() if table not in kept} == {
        table: n - alone[table] for table, n in together.items() if table not in kept
    }
    assert kinds == "project deleted"
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text("DELETE FROM label"))


def counts(session: object) -> dict[str, int]:
    names = Table.metadata.tables
    return {name: session.execute(text(f"SELECT COUNT(*) FROM {name}")).scalar_one() for name in names}  # type: ignore[attr-defined]
