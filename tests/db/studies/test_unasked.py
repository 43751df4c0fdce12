"""What a study would ask of nothing is said before it is made: counted by name, refused where a whole step is left."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import Material, Protocol, Step
from db.designing.making import create_study, plan_study
from db.engine import Database
from db.models import Claim, Document, Evidence, Image, ItemVersion
from db.permissions import Actor
from db.studies.design import StudyPlan
from tests.makers import make_item, make_member, make_person, make_project, tiny_protocol

SHOWS = [Material.QUESTION, Material.ANSWER, Material.CLAIMS, Material.EVIDENCE, Material.IMAGES, Material.DOCUMENTS]


class Place:
    """Three items: the first has every part, the second a claim of the reference, the third nothing."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.project = make_project(db)
        self.actor: Actor = make_person(db)
        make_member(db, self.project, self.actor, "researcher")
        full = make_item(db, self.project, "full", n_evidence=2)
        bare = make_item(db, self.project, "bare")
        make_item(db, self.project, "none", answer="<PIC>")
        with db.write() as session:
            session.add(Claim(item_version_id=full, key="c", position=0, text="It ran."))
            session.add(Claim(item_version_id=bare, key="g", position=0, of="reference", text="It ran."))
            session.add(Image(item_version_id=full, key="i", position=0, extra={"of": "question"}))

    def plan(self, *, shows: list[Material] | None = None, ask: bool = True, **fields: Any) -> StudyPlan:
        """The plan for a criterion with these fields, with one about the item beside it (`ask`)."""
        protocol, design = self.of(shows or SHOWS, fields, ask=ask), self.design
        return plan_study(self.db, self.actor, self.project, protocol=protocol, design=design)

    def notes(self, **fields: Any) -> list[str]:
        """What the plan says of units; that no document of these items can be opened is said as well."""
        return [note for note in self.plan(**fields).notes if " asked" in note]

    @staticmethod
    def of(shows: list[Material], fields: dict[str, Any], *, ask: bool) -> Protocol:
        labels = [Label(value="yes"), Label(value="no")]
        part = Choice.model_validate({"name": "part", "title": "This part", "labels": labels, **fields})
        whole = [Choice(name="whole", title="All of it", labels=labels)] if ask else []
        names = [criterion.name for criterion in [part, *whole]]
        step = Step(name="all", title="All", shows=shows, criteria=names)
        return tiny_protocol(criteria=[part, *whole], steps=[step])

    @property
    def design(self) -> StudyDesign:
        return StudyDesign(name="study", annotators=(self.actor.name,), overlap=1, order="given")


@pytest.mark.parametrize(
    ("fields", "note"),
    [
        ({"target": "claim", "of": "answer"}, "2 items have no claim of the answer (bare, none): "),
        ({"target": "claim_answer"}, "2 items have no claim of the reference (full, none): "),
        ({"target": "claim"}, "2 items have no claim (bare, none): "),  # those of the reference are not shown
        ({"target": "evidence"}, "2 items have no evidence (bare, none): "),
        ({"target": "claim_evidence"}, "2 items have no claim and evidence (bare, none): "),
        ({"target": "evidence", "only": {"roles": ["gold"]}}, "2 items have no evidence (gold) (bare, none): "),
        ({"target": "image", "of": "question"}, "2 items have no image of the question (bare, none): "),
        ({"target": "page"}, "2 items have no page that is known (bare, none): "),
        ({"target": "block"}, "1 item has no paragraph (none): "),
    ],
)
def test_items_without_a_unit_of_a_criterion_are_counted_by_name(
    database: Database, fields: dict[str, Any], note: str
) -> None:
    assert Place(database).notes(**fields) == [f"{note}“This part” is not asked of them."]


def test_a_criterion_that_no_item_has_a_unit_of_is_said_and_a_step_without_any_is_refused(database: Database) -> None:
    place = Place(database)
    tables = {"target": "evidence", "only": {"kinds": ["table"]}}
    assert place.notes(**tables) == ["None of the 3 items has evidence (table): “This part” is never asked."]
    with pytest.raises(InvalidInput) as caught:
        place.plan(ask=False, **tables)
    assert str(caught.value) == (
        "Nothing would be asked in step 'All': none of the 3 items has evidence (table), which criterion 'part' is "
        "about. Import items that have it, or take another protocol."
    )
    protocol = Place.of(SHOWS, tables, ask=False)
    with pytest.raises(InvalidInput, match="Nothing would be asked"):
        create_study(database, place.actor, place.project, protocol=protocol, design=place.design)


def test_texts_that_the_protocol_shows_and_items_lack_are_said(database: Database) -> None:
    place = Place(database)
    make_item(database, place.project, "unanswered", answer="", references=["A reference."])

    def said(*shows: Material, **fields: Any) -> list[str]:
        plan = place.plan(shows=[Material.QUESTION, *shows], **fields)
        return [note for note in plan.notes if "annotators see none" in note]

    none = "annotators see none where the protocol shows it."
    assert said(Material.ANSWER) == [f"1 item has no answer (unanswered): {none}"]
    assert said(Material.REFERENCES) == [f"3 items have no reference answer (full, bare, none): {none}"]
    assert said(Material.HOPS) == [f"None of the 4 items has steps of a multi-hop question: {none}"]
    assert said(Material.EVIDENCE) == [f"3 items have no evidence (bare, none, unanswered): {none}"]
    assert said(Material.EVIDENCE, target="evidence") == []  # said otherwise
    assert said() == []


def test_nothing_is_said_where_every_item_has_what_is_asked_about(database: Database) -> None:
    place = Place(database)
    with database.write() as session:
        document = session.exec(select(Document.id)).first()
        for version in session.exec(select(ItemVersion.id)).all():
            if not session.exec(select(Evidence.id).where(Evidence.item_version_id == version)).first():
                session.add(Evidence(item_version_id=version, key="e", position=0, document_id=document, pages=[1]))
    assert place.notes(target="evidence") == []
    assert place.notes(target="page") == []


def test_items_about_which_nothing_would_be_asked_are_left_out_and_counted(database: Database) -> None:
    place = Place(database)
    plan = place.plan(ask=False, target="claim", of="answer")
    assert (plan.n_items, plan.reasons) == (1, {"unasked": 2})
    assert "2 items have no claim of the answer, so that nothing would be asked about them. Left out." in plan.notes
    assert not [note for note in plan.notes if "not asked" in note]


def test_criteria_that_miss_the_same_are_named_together(database: Database) -> None:
    place = Place(database)
    protocol = Place.of(SHOWS, {"target": "claim", "of": "answer"}, ask=True)
    [part, whole] = protocol.criteria
    again = part.model_copy(update={"name": "again", "title": "That part"})
    step = protocol.steps[0].model_copy(update={"criteria": ["part", "again", "whole"]})
    both = protocol.model_copy(update={"criteria": [part, again, whole], "steps": [step]})
    notes = plan_study(database, place.actor, place.project, protocol=both, design=place.design).notes
    assert [note for note in notes if " asked" in note] == [
        "2 items have no claim of the answer (bare, none): “This part” and “That part” are not asked of them."
    ]
