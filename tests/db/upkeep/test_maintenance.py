"""The two exceptions to append-only: redaction keeps a digest, a deleted project leaves nothing but an event."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime

import pytest
from sqlalchemy import text
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session, col, select

from annotators.asking.submissions import GivenLabel as GivenWith
from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from annotators.items.parsed import ForeignLabel
from annotators.judges.prompts import Example, Prompt, prompt_to_yaml
from annotators.judges.trust.trials import Trial
from db import guards
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.annotating.amendments import set_state
from db.annotating.annotations import save_draft, submit
from db.annotating.assignments import return_to_annotator
from db.annotating.committing import StepSubmission
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.jobs import queue_job
from db.judging.examples import prompt_with_examples
from db.judging.judges import JudgeSettings
from db.judging.library import add_prompt, list_prompts
from db.judging.run import run_judge
from db.judging.trying import try_judge
from db.models import (
    Batch,
    Document,
    Draft,
    Event,
    JobState,
    StoredLabel,
    StudyItem,
    StudyState,
    Submission,
    Table,
    UnsavedText,
)
from db.people.unsaved import keep_unsaved
from db.quality.gold import GoldRow, set_gold
from db.quality.omissions import leave_out
from db.releasing.endings import end_item
from db.studies.revisions import revise_item
from db.upkeep.maintenance import delete_project, redact_text
from db.upkeep.soundness import wrong_hashes
from tests.db.test_guards import one_of_each
from tests.judging.scripted import ScriptedServer
from tests.makers import StudyInUse, make_item, make_person, make_project


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


def test_the_name_of_a_file_that_labels_came_from_is_redacted(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    rows = [ForeignLabel(2, "i00001", "ann", "right", "item", "yes")]
    import_labels(database, study.researcher, study.study_id, rows=rows, source="labels of Jo Field.csv")
    done = redact_text(database, study.researcher, study.study_id, containing="Jo Field", reason="a name")
    assert done.texts == 2  # of the batch, and of its event
    with database.read() as session:
        sources = session.execute(select(Batch.source)).scalars().all()
    assert not any("Jo" in source for source in sources)
    assert f"[redacted, SHA-256 {done.digests[0]}]" in sources


def test_a_label_that_is_a_text_can_be_redacted(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, protocol="ambiguity")
    study.submit(0, study.work(0)["items"][0], {"ambiguity": "ambiguous", "reason": "Jo Field or Flo Field?"})
    redact_text(database, study.researcher, study.study_id, containing="Flo Field", reason="a name")
    with database.read() as session:
        values = session.execute(select(StoredLabel.value).where(StoredLabel.criterion == "reason")).scalars().all()
    assert len(values) == 1
    assert values[0].startswith("[redacted, SHA-256 ")


def test_words_go_from_rationales_decisions_and_the_audit_log_too(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    words = "Jo Field"
    for who, value in enumerate(("yes", "no")):
        item = study.work(who)["items"][0]
        label = GivenWith("right", "item", value, comment=f"{words} again")
        place = {"assignment_id": item["assignment"], "sitting": 1, "step": 0}
        step = StepSubmission(f"u{who}", **place, labels=(label,), seconds=1.0)
        submit(database, study.annotators[who], study.study_id, step=step)
    with database.write() as session, guards.lifted(session.connection()):
        for row in session.exec(select(StoredLabel)):
            row.rationale = [{"of": "answer", "start": 0, "end": 6, "text": words}]
            session.add(row)
        assignment = session.exec(select(Submission.assignment_id)).first()
        study_item = session.exec(select(StudyItem.id)).first()
    assert assignment is not None
    assert study_item is not None
    return_to_annotator(database, study.researcher, assignment, reason=f"ask {words}")
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    decision = UnitDecision("right", "item", "yes", f"{words} is right")
    adjudicate(database, study.researcher, study_item, uid="a1", decisions=[decision], reason=f"as {words} says")
    redact_text(database, study.researcher, study.study_id, containing=words, reason="a name")
    with database.read() as session:
        for table in ("label", "submission", "assignment", "adjudication", "adjudicated_label", "event", "draft"):
            assert words not in told(session, table), table
        rationales = session.execute(select(StoredLabel.rationale).order_by(col(StoredLabel.id))).scalars().all()
    assert rationales[0] is not None
    assert rationales[0][0]["text"].startswith("[redacted")
    assert rationales[0][0]["start"] == 0


def test_words_go_from_reasons_of_changes_of_the_study_and_of_its_items(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=1)
    study.label_all(0)
    words, who = "Jo Field", study.researcher
    set_state(database, who, study.study_id, state=StudyState.PAUSED, reason=f"{words} wrote to us")
    since = datetime(2026, 1, 1, tzinfo=UTC)
    leave_out(database, who, study.study_id, annotator=study.annotators[0].name, since=since, reason=f"{words} cheated")
    about = (database, who, study.project_id)
    revise_item(*about, external_id="i00001", fields={"answer": "Better."}, reason=f"as {words} said")
    end_item(*about, external_id="i00002", state="rejected", reason=f"{words} wrote it")
    make_item(database, study.project_id, "known")
    gold = GoldRow(2, "known", "right", "item", "yes", f"{words} explains it")
    set_gold(database, who, study.study_id, rows=[gold], reason="to see how it goes")
    redact_text(database, who, study.study_id, containing=words, reason="a name")
    with database.read() as session:
        for table in ("amendment", "omission", "revision", "item_ending", "gold_label", "event"):
            assert "[redacted" in told(session, table), table
            assert words not in told(session, table), table


def test_words_go_from_the_examples_of_prompts_and_every_copy_of_them(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    words, project = "Jo Field", (database, study.researcher, study.project_id)
    for who, value in enumerate(("yes", "no")):
        study.submit(who, study.work(who)["items"][0], {"right": value})
    with database.read() as session:
        first = session.exec(select(StudyItem.id).order_by(col(StudyItem.position))).first()
    assert first is not None
    decision = UnitDecision("right", "item", "yes", f"{words} is right")
    adjudicate(database, study.researcher, first, uid="a1", decisions=[decision], reason="")
    about = {"prompt": Prompt(name="ex"), "criterion": "right", "items": ["i00001"]}
    prompt = prompt_with_examples(database, study.researcher, study.study_id, **about)
    assert prompt.examples[0].why == f"{words} is right"
    add_prompt(*project, prompt=prompt)
    keep_unsaved(*project, page="prompts", name="new", text=prompt_to_yaml(prompt).replace(words, "Jo\n  Field"))
    keep_unsaved(*project, page="prompts", name="ex", text="name: ex")
    with ScriptedServer() as server:
        judge = JudgeSettings("tiny-judge", server.base_url, prompt, pictures=0)
        job = queue_job(*project, kind="judge", parameters={"study_id": study.study_id, "judge": judge.to_json()})
        found = run_judge(database, study.researcher, study.study_id, judge=judge, job_id=job.job_id)
        trials = [Trial("prompt", prompt)]
        try_judge(database, study.researcher, study.study_id, judge=found["judge"], trials=trials)
        gone = {"containing": words, "reason": "a name"}
        _let_job_be(database, JobState.RUNNING)
        with pytest.raises(Conflict, match=f"job {job.job_id} asks a judge. Cancel it"):
            redact_text(database, study.researcher, study.study_id, **gone)
        _let_job_be(database, JobState.DONE)
        kept = ("prompt_version", "judge", "run", "job", "event", "adjudicated_label")
        with database.read() as session:
            assert [table for table in kept if words not in told(session, table)] == []

        before = list(wrong_hashes(database))  # the makers give items none that is right
        redact_text(database, study.researcher, study.study_id, **gone)
        with database.read() as session:
            for table in Table.metadata.tables:
                assert words not in told(session, table), table
            assert session.execute(select(UnsavedText.name)).scalars().all() == ["ex"]
            events = session.exec(select(Event).where(Event.kind == "text redacted")).all()
        [entry] = list_prompts(*project)
        assert isinstance(entry.kept, Prompt)
        assert entry.kept.examples[0].why.startswith("[redacted, SHA-256 ")
        assert [event.details["prompts"] for event in events] == [{prompt.hash: entry.hash}]
        assert (entry.hash, entry.used) == (entry.kept.hash, 1)
        assert list(wrong_hashes(database)) == before
        n = server.requests
        again = JudgeSettings("tiny-judge", server.base_url, entry.kept, pictures=0)
        same = run_judge(database, study.researcher, study.study_id, judge=again)
        assert (same["judge"], same["run"], server.requests) == (found["judge"], found["run"], n)
    with pytest.raises(NotFound):
        redact_text(database, study.researcher, study.study_id, **gone)
    with pytest.raises(DBAPIError, match="append-only"), database.write() as session:
        session.execute(text("DELETE FROM prompt_version"))


def told(session: Session, table: str) -> str:
    """All that a table has; rows as such show the ends of long texts alone."""
    return str([tuple(row) for row in session.execute(text(f'SELECT * FROM "{table}"'))])


def _let_job_be(database: Database, state: JobState) -> None:
    with database.write() as session:
        session.execute(text("UPDATE job SET state = :state"), {"state": state.value})


def test_a_prompt_that_was_left_behind_is_redacted_alone(database: Database) -> None:
    """One of before examples were looked at: nothing else of the study has the words any more."""
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    project = (database, study.researcher, study.project_id)
    kinds = {"why": "as Jo Field says", "item": "i00001"}
    example = Example(criterion="right", shown="Jo Field's house.", label="yes", **kinds)
    add_prompt(*project, prompt=Prompt(name="ex", system="Judge as Jo Field does.", examples=[example]))
    before = list(wrong_hashes(database))
    assert redact_text(database, study.researcher, study.study_id, containing="Jo Field", reason="a name").texts == 1
    [entry] = list_prompts(*project)
    assert isinstance(entry.kept, Prompt)
    assert entry.kept.system == "Judge as Jo Field does.", "what researchers and items say stays"
    assert entry.kept.examples[0].shown == "Jo Field's house."
    assert list(wrong_hashes(database)) == before


def test_words_that_only_a_draft_has_are_deleted_with_it(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    items = study.work(0)["items"]
    for item, comment in zip(items, ('a "100%" name', "a name"), strict=False):
        place = {"assignment_id": item["assignment"], "sitting": 1, "step": 0}
        save_draft(database, study.annotators[0], study.study_id, **place, content={"comment": comment})
    redact_text(database, study.researcher, study.study_id, containing='"100%"', reason="a name")
    with database.read() as session:
        assert session.execute(select(Draft.content)).scalars().all() == [{"comment": "a name"}]


def test_what_is_said_in_another_study_stays(database: Database) -> None:
    erased, other = (StudyInUse(database, items=1, annotators=1, overlap=1) for _ in range(2))
    for study in (erased, other):
        item = study.work(0)["items"][0]
        label = GivenWith("right", "item", "no", comment="Jo Field again", rationale=None)
        place = {"assignment_id": item["assignment"], "sitting": 1, "step": 0}
        step = StepSubmission(f"u{study.study_id}", **place, labels=(label,), comment="Jo Field", flag="ask Jo Field")
        submit(database, study.annotators[0], study.study_id, step=step)
        return_to_annotator(database, study.researcher, item["assignment"], reason="as Jo Field says")
    draft = other.work(0)["items"][0]
    place = {"assignment_id": draft["assignment"], "sitting": draft["sitting"], "step": 0}
    save_draft(database, other.annotators[0], other.study_id, **place, content={"comment": "Jo Field"})

    def said(study: StudyInUse) -> list[str]:
        where = {"id": study.study_id}
        of_study = "assignment_id IN (SELECT id FROM assignment WHERE study_id = :id)"
        queries = [
            f"SELECT comment, flag FROM submission WHERE {of_study}",
            f"SELECT comment FROM label WHERE {of_study}",
            f"SELECT CAST(content AS TEXT) FROM draft WHERE {of_study}",
            "SELECT reason FROM assignment WHERE study_id = :id",
            "SELECT CAST(details AS TEXT) FROM event WHERE thing = 'assignment' AND thing_id IN "
            "(SELECT id FROM assignment WHERE study_id = :id)",
        ]
        with database.read() as session:
            return [str(session.execute(text(query), where).all()) for query in queries]

    before = said(other)
    assert all("Jo Field" in file for file in before)
    redact_text(database, erased.researcher, erased.study_id, containing="Jo Field", reason="a name")
    assert not any("Jo Field" in row for row in said(erased))
    assert said(other) == before


def test_redacting_needs_words_that_are_there_and_a_reason(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    for containing, reason, error in (
        ("x", "r", InvalidInput),
        ("Jo Field", " ", InvalidInput),
        ("Jo", "r", InvalidInput),
        ("Jo Field", "Jo Field asked", InvalidInput),
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


def test_the_bytes_of_a_document_that_another_project_holds_are_not_unused(database: Database) -> None:
    admin, gone, kept = make_person(database, admin=True), make_project(database, "gone"), make_project(database)
    with database.write() as session:
        for project_id, digest in ((gone, "a" * 64), (gone, "b" * 64), (kept, "b" * 64)):
            session.add(Document(project_id=project_id, key=digest[0], sha256=digest))
    deleted = delete_project(database, admin, gone, name="gone")
    assert (deleted.rows["document"], deleted.unused_documents) == (2, ["a" * 64])
