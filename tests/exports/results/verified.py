"""A study of QA verification with known shares: six items of two systems, three annotators, labels as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import NamedTuple

from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS, Protocol
from db.designing.making import create_study
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Evidence, Item, ItemVersion, Project, Question
from db.permissions import Actor
from tests.makers import make_member, make_person, make_project

AT = datetime(2026, 5, 4, 9, tzinfo=UTC)


class Made(NamedTuple):
    project: str
    study_id: int
    researcher: Actor


def labelled(
    db: Database,
    given: Mapping[str, Mapping[tuple[str, str], Sequence[object]]],
    *,
    protocol: str | Protocol = "qa_verification",
    systems: tuple[str, ...] = ("reference",),
    categories: tuple[str | None, ...] = (None,),
    used: tuple[bool | None, ...] = (),
    same_question: bool = False,
) -> Made:
    """A study with an overlap of three: item → (criterion, target) → what ada, ben and chloe said (None: nothing).

    Systems and categories go round; each item has a unit `evidence:eN` a flag of `used`. With `same_question` every
    item has the same question.
    """
    project_id, researcher = make_project(db), make_person(db)
    make_member(db, project_id, researcher, "researcher")
    protocol = PROTOCOLS.get(protocol) if isinstance(protocol, str) else protocol
    with db.write() as session:
        for number, name in enumerate(given):
            key = "q" if same_question else f"q-{name}"
            question = session.exec(select(Question).where(Question.key == key)).first()
            question = question or Question(project_id=project_id, key=key)
            session.add(question)
            session.flush()
            item = Item(
                project_id=project_id,
                external_id=name,
                question_id=question.id,
                system=systems[number % len(systems)],
            )
            session.add(item)
            session.flush()
            assert item.id is not None
            version = ItemVersion(
                item_id=item.id,
                question=f"What of {name}?",
                answer=f"That of {name}.",
                category=categories[number % len(categories)],
                content_hash=name,
            )
            session.add(version)
            session.flush()
            assert version.id is not None
            session.add_all(
                Evidence(item_version_id=version.id, key=f"e{place}", position=place, text="A passage.", used=flag)
                for place, flag in enumerate(used, 1)
            )
        project = session.get_one(Project, project_id).name
    people = tuple(make_person(db) for _ in range(3))
    for person in people:
        make_member(db, project_id, person, "annotator")
    names = tuple(person.name for person in people)
    design = StudyDesign(name="verified", annotators=names, overlap=3, order="given", keep_lacking=True)
    made = create_study(db, researcher, project_id, protocol=protocol, design=design)
    rows = [
        (item, who, criterion, target, str(value))
        for item, labels in given.items()
        for (criterion, target), values in labels.items()
        for who, value in zip(("ada", "ben", "chloe"), values, strict=True)
        if value is not None
    ]
    foreign = [
        ForeignLabel(number, item, who, criterion, target, value, AT)
        for number, (item, who, criterion, target, value) in enumerate(rows, 2)
    ]
    if foreign:
        import_labels(db, researcher, made.study_id, rows=foreign, source="labels.csv")
    return Made(project, made.study_id, researcher)
