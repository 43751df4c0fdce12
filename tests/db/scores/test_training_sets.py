"""Training sets: what people labelled is proposed, compared in a job, and accepted as it was compared."""

from __future__ import annotations

import pytest
from sqlmodel import select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from annotators.scorers.shared.abstaining.training_sets import TrainingSet, starting_set
from annotators.scorers.shared.resources import resource
from app.worker.jobs import work
from db.engine import Database
from db.jobs import job_facts, queue_job
from db.models import Event, TrainingExample
from db.scores.training_sets import (
    REVIEW,
    accept_training_set,
    list_training_sets,
    present_training_set,
    proposed_examples,
    read_answers,
)
from db.scores.write import plan_scoring, run_scorer
from tests.abstention_study import DECLINES, Labelled
from tests.makers import make_item, make_member, make_person


@pytest.fixture
def labelled(database: Database) -> Labelled:
    return Labelled(database)


@pytest.fixture
def on_sqlite(sqlite_database: Database) -> Labelled:
    return Labelled(sqlite_database)


def test_settled_labels_of_abstention_studies_are_proposed(labelled: Labelled) -> None:
    first, second = proposed_examples(labelled.db, labelled.rosa, labelled.project_id)
    assert (first.answer, first.text, first.label) == (DECLINES, DECLINES, "abstention")
    assert (first.external_id, first.present) == ("i1", None)
    assert (second.label, second.votes) == ("statement", {"statement": 1})
    assert first.origin == "study study, item i1, unanimous"


def test_a_project_begins_with_the_set_that_ships(labelled: Labelled) -> None:
    [shipped] = list_training_sets(labelled.db, labelled.rosa, labelled.project_id)
    assert (shipped.number, shipped.content_hash, shipped.who) == (0, starting_set().hash, None)
    assert min(shipped.counts.values()) >= 120
    parameters, _ = plan_scoring(labelled.db, labelled.rosa, labelled.project_id, scorer="abstention")
    assert parameters["training_set"] == starting_set().hash


def test_answers_are_read_in_order_with_their_correctness(labelled: Labelled) -> None:
    make_item(labelled.db, labelled.project_id, "empty", answer="")
    make_item(labelled.db, labelled.project_id, "known", answer="copper", references=[["copper"]])
    found = read_answers(labelled.db, labelled.rosa, labelled.project_id, limit=2)
    found += read_answers(labelled.db, labelled.rosa, labelled.project_id, after=found[-1].version_id)
    assert [(example.external_id, example.correctness) for example in found] == [
        ("i1", None),
        ("i2", None),
        ("known", 1.0),
    ]


@pytest.mark.slow
def test_a_review_shows_accuracy_confusion_and_every_change(on_sqlite: Labelled) -> None:
    make_item(on_sqlite.db, on_sqlite.project_id, "flagged", answer=DECLINES, references=[["tin"]])
    result = on_sqlite.result(on_sqlite.review())
    assert result["base"] == starting_set().hash
    assert result["hash"] != result["base"]
    n = len(starting_set().examples)
    assert (result["before"]["n"], result["after"]["n"], result["n_new"], result["n_answers"]) == (n, n + 2, 2, 3)
    for side in ("before", "after"):
        told = result[side]
        assert told["low"] < told["accuracy"] <= told["high"]
        counted = sum(sum(row.values()) for row in told["confusion"].values())
        assert counted == told["n"]
    changed = {change["item"]: change for change in result["changes"]}
    assert result["n_labels"] == len(changed) >= 2
    # It was a statement without the wanted phrase, so a hallucination; with the new example it is an abstention.
    assert (changed["flagged"]["old"], changed["flagged"]["new"]) == ("statement", "abstention")
    assert (changed["flagged"]["old_flag"], changed["flagged"]["new_flag"]) == (True, False)
    assert result["changes"][0]["item"] == "flagged"
    assert result["n_flags"] == 1


@pytest.mark.slow
def test_what_is_accepted_is_what_was_reviewed_and_is_scored_with(on_sqlite: Labelled) -> None:
    run_scorer(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, scorer="abstention")
    job = on_sqlite.review()
    row = accept_training_set(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, job_id=job, reason="two clear cases")
    assert (row.number, row.content_hash, row.reason) == (1, on_sqlite.result(job)["hash"], "two clear cases")
    listed = list_training_sets(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id)
    assert [training_set.number for training_set in listed] == [1, 0]
    assert listed[0].report["after"]["n"] == len(starting_set().examples) + 2
    assert "changes" not in listed[0].report
    assert present_training_set(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id).hash == row.content_hash
    assert proposed_examples(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id) == []
    parameters, to_do = plan_scoring(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, scorer="abstention")
    assert (parameters["training_set"], to_do) == (row.content_hash, True)
    assert TrainingSet.from_bytes(resource(row.content_hash)).hash == row.content_hash
    summary = run_scorer(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, scorer="abstention")
    assert (summary.added, summary.mean) == (2, 0.5)  # before, both were statements
    with on_sqlite.db.read() as session:
        new = session.exec(select(TrainingExample).where(TrainingExample.text == DECLINES)).one()
        events = session.exec(select(Event).where(Event.kind == "training set accepted")).all()
    assert (new.label, new.origin) == ("abstention", "study study, item i1, unanimous")
    assert new.item_version_id is not None
    assert [event.details["number"] for event in events] == [1]


@pytest.mark.slow
def test_an_earlier_set_can_still_be_scored_with(on_sqlite: Labelled) -> None:
    accept_training_set(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, job_id=on_sqlite.review())
    given = [f"training_set={starting_set().hash}"]
    parameters, _ = plan_scoring(
        on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, scorer="abstention", parameters=given
    )
    assert parameters["training_set"] == starting_set().hash


@pytest.mark.slow
def test_a_review_of_a_set_that_has_changed_since_is_not_accepted(on_sqlite: Labelled) -> None:
    first, second = on_sqlite.review(only="abstention"), on_sqlite.review(only="statement")
    accept_training_set(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, job_id=first)
    with pytest.raises(Conflict, match="has changed since this review"):
        accept_training_set(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, job_id=second)


def test_only_a_finished_review_is_accepted(labelled: Labelled) -> None:
    waiting = queue_job(labelled.db, labelled.rosa, labelled.project_id, kind=REVIEW, parameters={"examples": []})
    with pytest.raises(Conflict, match="is waiting"):
        accept_training_set(labelled.db, labelled.rosa, labelled.project_id, job_id=waiting.job_id)
    other = queue_job(labelled.db, labelled.rosa, labelled.project_id, kind="score", parameters={})
    with pytest.raises(NotFound, match="no review"):
        accept_training_set(labelled.db, labelled.rosa, labelled.project_id, job_id=other.job_id)


def test_labels_that_are_none_fail_the_review(on_sqlite: Labelled) -> None:
    bad = [{"text": "Hm.", "label": "perhaps", "origin": "me"}]
    job = queue_job(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, kind=REVIEW, parameters={"examples": bad})
    work(on_sqlite.db, "one")
    facts = job_facts(on_sqlite.db, on_sqlite.rosa, on_sqlite.project_id, job_id=job.job_id)
    assert facts.state == "failed"
    assert "Allowed: statement, abstention" in (facts.message or "")
    with pytest.raises(InvalidInput):
        from db.scores.training_sets import extension

        extension(starting_set(), [])


def test_only_researchers_extend_the_examples(labelled: Labelled) -> None:
    somebody = make_person(labelled.db)
    make_member(labelled.db, labelled.project_id, somebody, "adjudicator")
    with pytest.raises(NotAllowed):
        accept_training_set(labelled.db, somebody, labelled.project_id, job_id=1)
