"""Revisions that imports propose: stored once, accepted by the operation that revises, declined, or all at once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest
from sqlmodel import select

from annotators.errors import Conflict, InvalidInput, NotFound
from db.designing.making import create_study
from db.engine import Database
from db.items.read import item_details
from db.models import ProposalAnswer, Revision
from db.permissions import Actor
from db.releasing.proposals import answer_proposal, count_proposals, list_proposals, plan_proposal
from db.releasing.states import item_states
from db.studies.design import StudyDesign
from db.studies.revisions import revise_item
from exports.importing.items import import_paths
from tests.db.releasing.test_states import accepting
from tests.makers import make_member, make_person, make_project


class Place:
    """A project of two items, and files that say otherwise of them."""

    def __init__(self, db: Database, folder: Path) -> None:
        self.db, self.folder = db, folder
        self.project_id, self.actor = make_project(db), make_person(db, "rosa")
        make_member(db, self.project_id, self.actor, "researcher")
        self.take({"a": "Right.", "b": "Right."})

    def take(self, answers: dict[str, str], more: dict[str, Any] | None = None, **options: Any) -> Any:
        rows = [
            {"id": item, "question_key": item, "question": f"{item}?", "answer": answer, **(more or {})}
            for item, answer in answers.items()
        ]
        path = self.folder / "items.jsonl"
        path.write_bytes(b"\n".join(map(orjson.dumps, rows)))
        return import_paths(self.db, self.actor, self.project_id, paths=[path], **options)

    def open(self) -> list[Any]:
        return list_proposals(self.db, self.actor, self.project_id)

    def answer(self, proposal_id: int, *, accept: bool, reason: str = "it is so") -> Any:
        return answer_proposal(
            self.db, self.actor, self.project_id, proposal_id=proposal_id, accept=accept, reason=reason
        )

    def stored(self, item: str) -> tuple[str, int]:
        found = item_details(self.db, self.actor, self.project_id, external_id=item).item
        return found.content.answer, found.number


@pytest.fixture
def place(database: Database, tmp_path: Path) -> Place:
    return Place(database, tmp_path)


def test_verdicts_of_the_file_come_with_its_claims(place: Place) -> None:
    def file(text: str, label: str) -> dict[str, Any]:
        said = {"claim": "c1", "against": "context", "label": label, "source": "people"}
        return {"claims": [{"key": "c1", "text": text}], "verdicts": [said]}

    def verdicts() -> list[str]:
        found = item_details(place.db, place.actor, place.project_id, external_id="c").item.content
        return [verdict["label"] for verdict in found.metadata.get("verdicts", ())]

    place.take({"c": "Right."}, file("It is right.", "neutral"))
    place.take({"c": "Right."}, file("It is so.", "neutral"))
    [row] = place.open()
    assert list(row.fields) == ["claims"], "the verdict is the same"
    plan = plan_proposal(place.db, place.actor, place.project_id, proposal_id=row.proposal_id)
    assert (place.answer(row.proposal_id, accept=True), plan.verdicts) == (plan, 0)
    assert verdicts() == ["neutral"]
    place.take({"c": "Right."}, file("It is true.", "entailment"))
    [row] = place.open()
    place.answer(row.proposal_id, accept=True)
    assert verdicts() == ["entailment"]
    assert place.take({"c": "Right."}, file("It is true.", "entailment")).revisions == []


def test_what_differs_is_proposed_once_and_accepted_as_a_revision(place: Place) -> None:
    design = StudyDesign(name="study", annotators=(place.actor.name,), overlap=1)
    create_study(place.db, place.actor, place.project_id, protocol=accepting(), design=design)
    report = place.take({"a": "Better.", "b": "Right."})
    assert (report.batch, len(report.revisions), report.revised) == (None, 1, None)
    place.take({"a": "Better."}, {"category": "new"})
    place.take({"a": "Better.", "b": "Right."})
    rows = place.open()
    assert [(row.external_id, row.fields, row.line) for row in rows] == [
        ("a", {"answer": "Better."}, 1), ("a", {"answer": "Better.", "category": "new"}, 1),
    ]  # fmt: skip
    assert place.stored("a") == ("Right.", 1)
    plan = plan_proposal(place.db, place.actor, place.project_id, proposal_id=rows[0].proposal_id)
    assert [(effect.study, effect.falls) for effect in plan.effects] == [("study", ["right"])]
    assert place.answer(rows[0].proposal_id, accept=True) == plan
    assert place.stored("a") == ("Better.", 2)
    assert item_states(place.db, place.actor, place.project_id, item_ids=[rows[0].item_id]) == {
        rows[0].item_id: "in_recheck"
    }
    assert place.answer(rows[1].proposal_id, accept=False, reason=" no categories ") is None
    assert (place.open(), count_proposals(place.db, place.actor, place.project_id)) == ([], 0)
    with place.db.read() as session:
        [revision] = session.execute(select(Revision)).scalars()
        answers = session.execute(select(ProposalAnswer).order_by(ProposalAnswer.proposal_id)).scalars().all()
    assert revision.reason == "it is so"
    assert [(row.revision_id, row.reason) for row in answers] == [(revision.id, "it is so"), (None, "no categories")]
    place.take({"a": "Better."}, {"category": "new"})  # declined, and not proposed again
    assert place.open() == []


def test_an_answer_is_given_once_with_a_reason(place: Place) -> None:
    place.take({"a": "Better."})
    [row] = place.open()
    with pytest.raises(InvalidInput, match="Say why"):
        place.answer(row.proposal_id, accept=True, reason=" ")
    place.answer(row.proposal_id, accept=False)
    with pytest.raises(Conflict, match="answered this proposal"):
        place.answer(row.proposal_id, accept=True)
    with pytest.raises(NotFound, match="no proposed revision 99"):
        place.answer(99, accept=True)
    assert place.stored("a") == ("Right.", 1)


def test_what_changed_since_stays_but_for_the_proposed_fields(place: Place) -> None:
    place.take({"a": "Better."})
    revise_item(
        place.db, place.actor, place.project_id, external_id="a", fields={"question": "Which?"}, reason="unclear"
    )
    [row] = place.open()
    plan = place.answer(row.proposal_id, accept=True)
    assert (plan.edited, plan.from_version, plan.version) == (("answer",), 2, 3)
    found = item_details(place.db, place.actor, place.project_id, external_id="a").item.content
    assert (found.question, found.answer) == ("Which?", "Better.")


def test_an_import_revises_at_once_and_says_what_it_could_not(place: Place) -> None:
    report = place.take({"a": "Better.", "b": "Right.", "c": "New."}, accept_revisions=True)
    assert (report.added, report.revised, report.not_revised) == (1, 1, [])
    assert report.to_json()["revised"] == 1
    assert place.stored("a") == ("Better.", 2)
    assert place.open() == []
    preview = place.take({"a": "Best.", "b": "Best."}, dry_run=True, accept_revisions=True)
    assert (preview.revised, place.stored("a")) == (2, ("Better.", 2))
    report = place.take({"a": "Best."}, {"system": "other"}, accept_revisions=True)
    assert report.revised == 0
    [(item, why)] = report.not_revised
    assert item == "a" and "`system` is what the item is known by" in why
    assert [row.external_id for row in place.open()] == ["a"]
    assert report.to_json()["not_revised"] == [{"item": "a", "reason": why}]


def test_bad_rows_keep_everything_as_it_was(place: Place) -> None:
    path = place.folder / "bad.jsonl"
    path.write_text('{"id": "a", "question_key": "a", "question": "a?", "answer": "Better."}\n{"id": "x"}\n')
    report = import_paths(place.db, place.actor, place.project_id, paths=[path], accept_revisions=True)
    assert len(report.rejected) == 1 and report.revised is None
    assert (place.open(), place.stored("a")) == ([], ("Right.", 1))


def test_nobody_else_sees_proposals(place: Place) -> None:
    other = make_person(place.db)
    project = make_project(place.db)
    make_member(place.db, project, other, "researcher")
    place.take({"a": "Better."})
    [row] = place.open()
    with pytest.raises(NotFound):
        answer_proposal(place.db, other, project, proposal_id=row.proposal_id, accept=True, reason="x")
    assert isinstance(other, Actor) and place.stored("a") == ("Right.", 1)
