"""A project in which somebody has labelled answers in an `abstention` study, for tests of what follows from it."""

from __future__ import annotations

import uuid
from typing import Any

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from app.worker.jobs import work
from db.annotating import annotations
from db.designing.making import create_study
from db.engine import Database
from db.jobs import job_facts, latest_job, queue_job
from db.scores.training_sets import REVIEW, proposed_examples
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

DECLINES, STATES = "Copper melts in a blue kiln.", "The rope was sold in autumn."
"""What the people of these tests take the first for is unusual on purpose: the classifier takes it for a statement."""


class Labelled:
    """A project whose study `abstention` has two items: the first labelled abstention, the second statement."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.project_id, self.rosa, annotator = make_project(db), make_person(db, "rosa"), make_person(db, "ana")
        make_member(db, self.project_id, self.rosa, "researcher")
        make_member(db, self.project_id, annotator, "annotator")
        for external_id, answer in (("i1", DECLINES), ("i2", STATES)):
            make_item(db, self.project_id, external_id, answer=answer)
        protocol = tiny_protocol(
            name="abstention",
            criteria=[Choice(name="kind", title="It is", labels=[Label(value="statement"), Label(value="abstention")])],
            steps=[{"name": "all", "title": "All", "shows": ["question", "answer"], "criteria": ["kind"]}],
        )
        design = StudyDesign(name="study", annotators=("ana",), overlap=1, order="given")
        study_id = create_study(db, self.rosa, self.project_id, protocol=protocol, design=design).study_id
        for value in ("abstention", "statement"):
            item = annotations.work(db, annotator, study_id)["items"][0]
            step = annotations.StepSubmission(
                uuid.uuid4().hex,
                item["assignment"],
                item["sitting"],
                0,
                (GivenLabel("kind", "item", value),),
                seconds=1.0,
            )
            annotations.submit(db, annotator, study_id, step=step)

    def queue(self, *, only: str | None = None) -> int:
        """Queue the comparison of what is proposed; the job."""
        examples = [
            {
                "text": example.text,
                "label": example.label,
                "origin": example.origin,
                "item_version_id": example.item_version_id,
            }
            for example in proposed_examples(self.db, self.rosa, self.project_id)
            if only in (None, example.label)
        ]
        return queue_job(self.db, self.rosa, self.project_id, kind=REVIEW, parameters={"examples": examples}).job_id

    def review(self, *, only: str | None = None) -> int:
        """The same, carried out."""
        job = self.queue(only=only)
        assert work(self.db, "one") == 1
        return job

    def result(self, job_id: int) -> dict[str, Any]:
        job = job_facts(self.db, self.rosa, self.project_id, job_id=job_id)
        assert job.state == "done", job.message
        assert job.result is not None
        return job.result

    def last_job(self) -> int:
        """The newest review."""
        job = latest_job(self.db, self.rosa, self.project_id, kind=REVIEW)
        assert job is not None
        return job.job_id
