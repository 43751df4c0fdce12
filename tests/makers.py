"""Small makers: persons, projects, items and studies for tests, through the operations where those are tested."""

from __future__ import annotations

import itertools
import uuid
from typing import Any

from sqlmodel import select

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from db.annotating.annotations import Submitted, submit, work
from db.annotating.committing import StepSubmission
from db.annotating.guidelines import guidelines_read
from db.designing.making import create_study
from db.engine import Database
from db.models import (
    Account,
    Document,
    Evidence,
    Item,
    ItemDocument,
    ItemVersion,
    Membership,
    Person,
    Project,
    Question,
    Study,
    StudyMember,
)
from db.people.accounts import begin_administration
from db.permissions import Actor, actor_of
from db.studies.design import StudyMade

_numbers = itertools.count(1)


def make_person(db: Database, name: str = "", *, admin: bool = False, role: str | None = None) -> Actor:
    name = name or f"person{next(_numbers):05}"
    with db.write() as session:
        person = Person(is_admin=admin, default_role=role)
        session.add(person)
        session.flush()
        assert person.id is not None
        session.add(Account(person_id=person.id, name=name))
    return Actor(person.id, name, admin, role)


def first_administrator(db: Database, **given: Any) -> Actor:
    """The administrator that `assay init` makes; when there is one already, the first of them."""
    return begin_administration(db, **given)[0]


def make_project(db: Database, name: str = "") -> int:
    with db.write() as session:
        project = Project(name=name or f"project{next(_numbers)}")
        session.add(project)
        session.flush()
        assert project.id is not None
        return project.id


def make_member(db: Database, project_id: int, actor: Actor, role: str) -> None:
    with db.write() as session:
        session.add(Membership(project_id=project_id, person_id=actor.person_id, role=role))


def make_item(
    db: Database,
    project_id: int,
    external_id: str = "",
    *,
    system: str = "reference",
    category: str | None = None,
    n_evidence: int = 0,
    roles: tuple[str, ...] = ("gold", "distractor"),
    **fields: Any,
) -> int:
    """An item with one version, and `n_evidence` units on a document of its own; the id of the version."""
    external_id = external_id or f"item{next(_numbers)}"
    with db.write() as session:
        question = Question(project_id=project_id, key=f"q-{external_id}")
        session.add(question)
        session.flush()
        item = Item(project_id=project_id, external_id=external_id, question_id=question.id, system=system)
        session.add(item)
        session.flush()
        content = {"question": f"Question of {external_id}?", "answer": f"Answer of {external_id}.", **fields}
        version = ItemVersion(item_id=item.id, category=category, content_hash=f"hash of {external_id}", **content)
        session.add(version)
        session.flush()
        assert version.id is not None
        if n_evidence:
            document = Document(project_id=project_id, key=f"{external_id}.pdf", n_pages=5)
            session.add(document)
            session.flush()
            session.add(ItemDocument(item_version_id=version.id, document_id=document.id))
            for number in range(n_evidence):
                role = roles[number % len(roles)]
                session.add(
                    Evidence(
                        item_version_id=version.id,
                        key=f"{role}-{number + 1}",
                        position=number,
                        role=role,
                        document_id=document.id,
                        pages=[n_evidence - number],
                        text=f"Passage {number + 1}",
                    )
                )
        return version.id


def tiny_protocol(**changes: Any) -> Protocol:
    """One step, one criterion: is the answer right?"""
    fields: dict[str, Any] = {
        "name": "tiny",
        "title": "Tiny",
        "guidelines": "Say whether the answer is right.",
        "criteria": [Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")])],
        "steps": [
            Step(name="all", title="All", shows=[Material.QUESTION, Material.ANSWER], criteria=["right"]),
        ],
    }
    return Protocol(**{**fields, **changes})


def read_guidelines(db: Database, study_id: int) -> None:
    """All annotators of a study have read its guidelines, so that its page shows them the first item at once."""
    with db.read() as session:
        members = session.exec(select(StudyMember.person_id).where(StudyMember.study_id == study_id)).all()
        actors = [actor_of(session, person_id, "web") for person_id in members]
        protocol_hash = session.get_one(Study, study_id).protocol_hash
    for actor in actors:
        guidelines_read(db, actor, study_id, protocol_hash=protocol_hash)


class StudyInUse:
    """A study with its people, for tests that label; `prepare` adds to its items before it is made.

    Its items take turns at two systems, and at `categories`; they stay in whatever they lack.
    """

    def __init__(self, db: Database, *, items: int = 3, annotators: int = 3, overlap: int = 3, **changes: Any) -> None:
        self.db = db
        self.project_id = make_project(db)
        self.researcher = make_person(db, role=None)
        make_member(db, self.project_id, self.researcher, "researcher")
        self.annotators = [make_person(db) for _ in range(annotators)]
        for actor in self.annotators:
            make_member(db, self.project_id, actor, "annotator")
        n_evidence = changes.pop("n_evidence", 0)
        protocol = changes.pop("protocol", None) or tiny_protocol()
        protocol = PROTOCOLS.get(protocol) if isinstance(protocol, str) else protocol
        categories = changes.pop("categories", (None,))
        for number in range(items):
            about = {"system": f"s{number % 2}", "category": categories[number % len(categories)]}
            make_item(db, self.project_id, f"i{number + 1:05}", n_evidence=n_evidence, **about)
        if prepare := changes.pop("prepare", None):
            prepare(db)
        design = StudyDesign(
            name="study",
            annotators=tuple(actor.name for actor in self.annotators),
            overlap=overlap,
            **{"order": "given", "keep_lacking": True, **changes},
        )
        made: StudyMade = create_study(db, self.researcher, self.project_id, protocol=protocol, design=design)
        self.study_id = made.study_id
        self.made = made

    def work(self, who: int) -> dict[str, Any]:
        return work(self.db, self.annotators[who], self.study_id)

    def submit(self, who: int, item: dict[str, Any], values: dict[str, Any], uid: str = "", **fields: Any) -> Submitted:
        """Commit a step with `values` by criterion (for every target it has); `beside`: what is said beside them."""
        beside = fields.pop("beside", {})
        labels = tuple(
            GivenLabel(criterion, target, value, **beside)
            for criterion, value in values.items()
            for target in item["units"][criterion]
        )
        step = StepSubmission(
            uid or uuid.uuid4().hex,
            item["assignment"],
            item["sitting"],
            item["step"],
            labels,
            **{"seconds": 2.0, **fields},
        )
        return submit(self.db, self.annotators[who], self.study_id, step=step)

    def label_all(self, who: int, value: str = "yes") -> int:
        """Submit everything there is for this annotator with the tiny protocol; how many."""
        done = 0
        while items := self.work(who)["items"]:
            self.submit(who, items[0], {"right": value})
            done += 1
        return done
