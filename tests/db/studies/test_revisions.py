"""Items in new versions: what is stored, what stays as it was, and what labels fall."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from db.designing.making import create_study
from db.engine import Database
from db.items.read import item_counts, item_details
from db.models import Event, Revision
from db.people.accounts import set_member
from db.permissions import Actor, Role
from db.studies.revisions import plan_revision, revise_item, why_not_revise
from db.studies.unclaimed import next_without_claims
from tests.makers import StudyInUse, make_item, make_member, make_person, make_project, tiny_protocol


@pytest.fixture
def place(database: Database) -> tuple[Database, Actor, int]:
    project_id, actor = make_project(database), make_person(database)
    make_member(database, project_id, actor, "researcher")
    make_item(database, project_id, "i1", n_evidence=2, category="a")
    return database, actor, project_id


def revise(place: tuple[Database, Actor, int], reason: str = "unclear", **fields: Any) -> Any:
    db, actor, project_id = place
    from_version = fields.pop("from_version", None)
    return revise_item(db, actor, project_id, external_id="i1", fields=fields, reason=reason, from_version=from_version)


def test_a_revision_is_a_version_of_its_own_with_who_and_why(place: tuple[Database, Actor, int]) -> None:
    db, actor, project_id = place
    assert item_counts(db, actor, project_id).by_category() == {"a": 1}
    made = revise(place, " unclear ", answer="Better.", category="b", claims=[{"text": "It is better."}])
    assert made.to_json() == {
        "item": "i1", "from": 1, "to": 2, "changed": ["answer", "category", "claims"], "invalidated": [], "kept": [],
        "fallen_verdicts": 0,
    }  # fmt: skip
    found = item_details(db, actor, project_id, external_id="i1")
    content = found.item.content
    assert (content.answer, content.category, [claim.key for claim in content.claims]) == ("Better.", "b", ["c1"])
    assert [unit.key for unit in content.evidence] == ["gold-1", "distractor-2"]
    assert content.documents == ("i1.pdf",)
    assert [(row.number, row.person_id, row.reason) for row in found.versions] == [
        (1, None, None), (2, actor.person_id, "unclear"),
    ]  # fmt: skip
    assert item_counts(db, actor, project_id).by_category() == {"b": 1}
    with db.read() as session:
        event = session.exec(select(Event).where(Event.kind == "item revised")).one()
        assert event.details["changed"] == ["answer", "category", "claims"]


def test_a_plan_says_the_same_and_stores_nothing(place: tuple[Database, Actor, int]) -> None:
    db, actor, project_id = place
    plan = plan_revision(db, actor, project_id, external_id="i1", fields={"answer": "Better."})
    assert plan == revise(place, answer="Better.")
    assert item_details(db, actor, project_id, external_id="i1").item.number == 2


def test_a_study_keeps_its_version_and_is_named_with_the_labels_that_fall(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2, protocol="qa_verification", n_evidence=1)
    first = {"self_contained": "true", "human_like": "true"}
    second = {
        "question_factual": "factual",
        "answer_factual": "factual",
        "complete": "complete",
        "grounding": "required",
    }
    for values in (first, second):
        study.submit(0, study.work(0)["items"][0], values)
    made = revise_item(
        database, study.researcher, study.project_id, external_id="i00001", fields={"answer": "New."}, reason="wrong"
    )
    falls, stays = ["answer_factual", "complete", "grounding"], ["self_contained", "human_like", "question_factual"]
    assert made.to_json()["invalidated"] == [{"study": "study", "annotations": 1, "criteria": falls}]
    assert made.to_json()["kept"] == [{"study": "study", "annotations": 1, "criteria": stays}]
    with database.read() as session:
        row = session.exec(select(Revision)).one()
        assert row.invalidates == [{"study": study.study_id, "criteria": falls}]
    study.submit(1, study.work(1)["items"][0], first)
    assert study.work(1)["items"][0]["answer"] == "Answer of i00001."


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"reason": "  ", "answer": "x"}, "Say why"),
        ({"documents": ["other.pdf"]}, "no document 'other.pdf'"),
        ({"evidence": [{"key": "e", "document": "i1.pdf", "pages": [6]}]}, "has 5 pages, so that there is no page 6"),
        ({"images": [{"key": "m", "document": "i1.pdf", "page": 9}]}, "images 'm': document 'i1.pdf' has 5 pages"),
        ({"answer": "Answer of i1."}, "nothing changes"),
    ],
)
def test_what_cannot_be_stored_leaves_nothing(
    place: tuple[Database, Actor, int], fields: dict[str, Any], words: str
) -> None:
    db, actor, project_id = place
    with pytest.raises(InvalidInput, match=words):
        revise(place, **fields)
    assert item_details(db, actor, project_id, external_id="i1").item.number == 1


def test_of_two_who_began_from_one_version_the_second_is_told(place: tuple[Database, Actor, int]) -> None:
    revise(place, answer="First.", from_version=1)
    with pytest.raises(Conflict, match="it is in version 2, and you began from version 1"):
        revise(place, answer="Second.", from_version=1)
    assert revise(place, answer="Second.", from_version=2).version == 3


def test_an_item_that_is_not_there_cannot_be_revised(place: tuple[Database, Actor, int]) -> None:
    db, actor, project_id = place
    with pytest.raises(NotFound, match="no item 'i2'"):
        revise_item(db, actor, project_id, external_id="i2", fields={"answer": "x"}, reason="y")


def test_items_whose_claims_are_to_be_written_come_one_after_the_other(place: tuple[Database, Actor, int]) -> None:
    db, actor, project_id = place
    make_item(db, project_id, "i2", references=["A reference."])
    make_item(db, project_id, "i3", answer="")
    waiting = next_without_claims(db, actor, project_id, side="answer")
    assert (waiting.n, waiting.external_id) == (2, "i1")
    after = next_without_claims(db, actor, project_id, side="answer", after=waiting.item_id or 0)
    assert (after.n, after.external_id) == (2, "i2")
    assert next_without_claims(db, actor, project_id, side="answer", after=after.item_id or 0).external_id == "i1"
    assert next_without_claims(db, actor, project_id, side="reference").external_id == "i2"
    revise(place, claims=[{"text": "A claim."}])
    assert next_without_claims(db, actor, project_id, side="answer").external_id == "i2"
    with pytest.raises(InvalidInput, match="answer, reference"):
        next_without_claims(db, actor, project_id, side="question")


def test_who_judged_decided_or_wrote_does_not_revise_where_a_study_asks_so(database: Database) -> None:
    def team(study: StudyInUse) -> None:
        for actor in study.annotators[:2]:
            set_member(database, study.researcher, study.project_id, name=actor.name, role=Role.RESEARCHER)

    study = StudyInUse(database, items=1, annotators=3, overlap=2, separate_revisers=True)
    team(study)
    first, second, _ = study.annotators
    assert why_not_revise(database, first, study.project_id, external_id="i00001") is None
    study.submit(0, study.work(0)["items"][0], {"right": "no"})
    words = why_not_revise(database, first, study.project_id, external_id="i00001") or ""
    assert words.startswith("You judged it in the study 'study', and the study 'study' wants items revised by others")
    assert study.researcher.name in words and second.name in words and first.name not in words
    edit = {"external_id": "i00001", "fields": {"answer": "Better."}}
    for refused in (
        lambda: plan_revision(database, first, study.project_id, **edit),
        lambda: revise_item(database, first, study.project_id, **edit, reason="x"),
    ):
        with pytest.raises(NotAllowed, match="You judged it"):
            refused()
    revise_item(database, second, study.project_id, **edit, reason="x")
    edit["fields"] = {"answer": "Best."}
    with pytest.raises(NotAllowed, match="You revised it before"):
        revise_item(database, second, study.project_id, **edit, reason="x")
    revise_item(database, study.researcher, study.project_id, **edit, reason="x")
    assert "Nobody who may revise has not" in (
        why_not_revise(database, study.researcher, study.project_id, external_id="i00001") or ""
    )
    loose = StudyInUse(database, items=1, annotators=2, overlap=1)
    team(loose)
    loose.label_all(0)
    assert why_not_revise(database, loose.annotators[0], loose.project_id, external_id="i00001") is None


def test_a_study_whose_annotators_are_all_who_may_revise_is_refused(database: Database) -> None:
    project_id, only = make_project(database), make_person(database, "rosa")
    make_member(database, project_id, only, "researcher")
    make_item(database, project_id)
    design = StudyDesign(name="s", annotators=("rosa",), overlap=1, separate_revisers=True)
    with pytest.raises(InvalidInput, match=r"Nobody could revise its items.*\(rosa\).*make somebody else a researcher"):
        create_study(database, only, project_id, protocol=tiny_protocol(), design=design)
    make_member(database, project_id, make_person(database, "ben"), "researcher")
    create_study(database, only, project_id, protocol=tiny_protocol(), design=design)
