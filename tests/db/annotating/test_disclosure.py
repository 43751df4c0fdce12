"""Which pages and which texts an assignment discloses at which step: to its annotator, to others, and by role."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import NotAllowed, NotFound
from annotators.protocols import Material, Protocol, Step
from db.annotating.annotations import submit, work
from db.annotating.assignments import skip
from db.annotating.committing import StepSubmission
from db.annotating.disclosure import may_see_page, reading, visible_document
from db.designing.making import create_study
from db.engine import Database
from db.models import Document
from tests.makers import StudyInUse, make_item, make_member, make_person, make_project, tiny_protocol


def document_id(db: Database, key: str) -> int:
    with db.read() as session:
        found = session.execute(select(Document.id).where(Document.key == key)).scalar_one()
    assert found is not None
    return found


def two_steps(*, second: tuple[Material, ...]) -> Protocol:
    """First the question alone, then `second`."""
    yes_no = [Label(value="yes"), Label(value="no")]
    fields: dict[str, Any] = {
        "criteria": [
            Choice(name="clear", title="Clear", labels=yes_no),
            Choice(name="right", title="Right", labels=yes_no),
        ],
        "steps": [
            Step(name="ask", title="Ask", shows=[Material.QUESTION], criteria=["clear"]),
            Step(name="judge", title="Judge", shows=list(second), criteria=["right"]),
        ],
    }
    return tiny_protocol(**fields)


def test_nothing_is_read_before_the_step_that_shows_it(database: Database) -> None:
    shown = (Material.ANSWER, Material.EVIDENCE)
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=2, protocol=two_steps(second=shown))
    actor, item = study.annotators[0], study.work(0)["items"][0]
    before = reading(database, actor, study.study_id, assignment_id=item["assignment"])
    assert (before.answer, before.references, before.documents, before.passages) == ("", (), (), ())
    study.submit(0, item, {"clear": "yes"})
    after = reading(database, actor, study.study_id, assignment_id=item["assignment"])
    assert after.answer == "Answer of i00001."
    assert [passage.evidence for passage in after.passages] == ["E1", "E2"]
    assert [document.pages for document in after.documents] == [(1, 2)]
    assert after.references == ()  # no step shows them


def test_references_are_read_at_the_step_that_shows_them(database: Database) -> None:
    project_id = make_project(database)
    researcher, annotator = (make_person(database) for _ in range(2))
    make_member(database, project_id, researcher, "researcher")
    make_member(database, project_id, annotator, "annotator")
    make_item(database, project_id, references=[["On Corrie."]])
    protocol = two_steps(second=(Material.ANSWER, Material.REFERENCES))
    design = StudyDesign(name="references", annotators=(annotator.name,), overlap=1, order="given")
    study_id = create_study(database, researcher, project_id, protocol=protocol, design=design).study_id
    item = work(database, annotator, study_id)["items"][0]
    assert reading(database, annotator, study_id, assignment_id=item["assignment"]).references == ()
    step = StepSubmission("u", item["assignment"], 1, 0, (GivenLabel("clear", "item", "yes"),), seconds=1.0)
    submit(database, annotator, study_id, step=step)
    assert reading(database, annotator, study_id, assignment_id=item["assignment"]).references == (["On Corrie."],)


def test_what_was_given_up_is_not_read_any_more(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    actor, item = study.annotators[0], study.work(0)["items"][0]
    assert reading(database, actor, study.study_id, assignment_id=item["assignment"]).answer
    skip(database, actor, study.study_id, assignment_id=item["assignment"], reason="not for me")
    with pytest.raises(NotFound):
        reading(database, actor, study.study_id, assignment_id=item["assignment"])


def test_passages_have_the_names_that_the_browser_knows(database: Database) -> None:
    shown = (Material.ANSWER, Material.EVIDENCE)
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=4, protocol=two_steps(second=shown))
    item = study.submit(0, study.work(0)["items"][0], {"clear": "yes"}).item
    assert item is not None
    given = reading(database, study.annotators[0], study.study_id, assignment_id=item["assignment"])
    assert [(passage.evidence, passage.text) for passage in given.passages] == [
        (e["key"], e["text"]) for e in item["evidence"]
    ]


def test_cited_pages_are_seen_and_no_others(database: Database) -> None:
    shown = (Material.EVIDENCE,)
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=2, protocol=two_steps(second=shown))
    actor, document = study.annotators[0], document_id(database, "i00001.pdf")
    item = study.work(0)["items"][0]
    with pytest.raises(NotFound):
        visible_document(database, actor, document_id=document)
    study.submit(0, item, {"clear": "yes"})
    visible = visible_document(database, actor, document_id=document)
    assert visible.pages == (1, 2)
    for page in range(1, 6):
        if page in visible.pages:
            assert may_see_page(database, actor, document_id=document, page=page).document_id == document
        else:
            with pytest.raises(NotFound):
                may_see_page(database, actor, document_id=document, page=page)


def test_a_step_that_shows_documents_shows_all_their_pages(database: Database) -> None:
    shown = (Material.EVIDENCE, Material.DOCUMENTS)
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=2, protocol=two_steps(second=shown))
    actor, document = study.annotators[0], document_id(database, "i00001.pdf")
    item = study.work(0)["items"][0]
    study.submit(0, item, {"clear": "yes"})
    assert visible_document(database, actor, document_id=document).pages == (1, 2, 3, 4, 5)
    given = reading(database, actor, study.study_id, assignment_id=item["assignment"])
    assert [document.pages for document in given.documents] == [(1, 2, 3, 4, 5)]


def test_nobody_reads_an_assignment_of_somebody_else_but_by_role(database: Database) -> None:
    shown = (Material.ANSWER, Material.EVIDENCE)
    study = StudyInUse(database, items=1, annotators=2, overlap=2, n_evidence=1, protocol=two_steps(second=shown))
    mine = study.work(0)["items"][0]["assignment"]
    with pytest.raises(NotFound):
        reading(database, study.annotators[1], study.study_id, assignment_id=mine)
    with pytest.raises((NotFound, NotAllowed)):
        reading(database, make_person(database), study.study_id, assignment_id=mine)
    for role in ("adjudicator", "researcher", "viewer"):
        actor = make_person(database)
        make_member(database, study.project_id, actor, role)
        assert reading(database, actor, study.study_id, assignment_id=mine).answer == "Answer of i00001."
    with pytest.raises(NotFound):
        reading(database, study.researcher, study.study_id, assignment_id=987_654)


def test_a_researcher_who_annotates_is_not_told_before_judging(database: Database) -> None:
    shown = (Material.ANSWER, Material.EVIDENCE)
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol=two_steps(second=shown))
    actor = study.annotators[0]
    item = study.work(0)["items"][0]
    with database.write() as session:
        from db.models import Membership

        membership = session.get_one(Membership, (study.project_id, actor.person_id))
        membership.role = "researcher"
    assert reading(database, actor, study.study_id, assignment_id=item["assignment"]).answer == ""


def test_an_assignment_of_another_study_is_not_there(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    other = StudyInUse(database, items=1, annotators=1, overlap=1)
    mine = study.work(0)["items"][0]["assignment"]
    with pytest.raises(NotFound):
        reading(database, other.researcher, other.study_id, assignment_id=mine)


def test_a_role_sees_a_document_that_no_assignment_shows(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1)
    document = document_id(database, "i00001.pdf")
    assert visible_document(database, study.researcher, document_id=document).pages == (1, 2, 3, 4, 5)
    for actor in (study.annotators[0], make_person(database)):
        with pytest.raises(NotFound):
            visible_document(database, actor, document_id=document)
    with pytest.raises(NotFound):
        visible_document(database, study.researcher, document_id=987_654)


def test_answers_of_hops_come_with_the_answer_and_not_before(database: Database) -> None:
    project_id = make_project(database)
    people = [make_person(database) for _ in range(2)]
    for actor, role in zip(people, ("researcher", "annotator"), strict=True):
        make_member(database, project_id, actor, role)
    make_item(database, project_id, hops=[{"key": "h1", "question": "Where first?", "answer": "On Corrie."}])
    protocol = two_steps(second=(Material.ANSWER, Material.HOPS))
    steps = [protocol.steps[0].model_copy(update={"shows": [Material.QUESTION, Material.HOPS]}), protocol.steps[1]]
    design = StudyDesign(name="hops", annotators=(people[1].name,), overlap=1, order="given")
    protocol = protocol.model_copy(update={"steps": steps})
    made = create_study(database, people[0], project_id, protocol=protocol, design=design)
    item = work(database, people[1], made.study_id)["items"][0]
    assert item["hops"] == [{"key": "h1", "question": "Where first?"}]
    assert "On Corrie" not in str(item)
    step = StepSubmission("u", item["assignment"], 1, 0, (GivenLabel("clear", "item", "yes"),), seconds=1.0)
    after = submit(database, people[1], made.study_id, step=step).item
    assert after is not None
    assert after["hops"] == [{"key": "h1", "question": "Where first?", "answer": "On Corrie."}]
