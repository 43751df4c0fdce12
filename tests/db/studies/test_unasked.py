"""What a study would ask of nothing is said before it is made: counted by name, refused where a whole step is left."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.order import Order
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
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


def claims_by_reference(place: Place, **design: Any) -> StudyPlan:
    """The plan of claim correctness over items whose claims are those of the answer."""
    asked = PROTOCOLS.get("claim_correctness")
    wanted = place.design.model_copy(update=design)
    return plan_study(place.db, place.actor, place.project, protocol=asked, design=wanted)


def add_claimed(place: Place, name: str, **fields: Any) -> None:
    version = make_item(place.db, place.project, name, **fields)
    with place.db.write() as session:
        session.add(Claim(item_version_id=version, key="c", position=0, text="It ran."))


BY_REFERENCE = "by which “The reference and the claim” is judged"


def test_items_without_what_they_are_judged_by_are_left_out_and_counted(database: Database) -> None:
    place = Place(database)
    add_claimed(place, "judged", references=["It ran."])
    plan = claims_by_reference(place)
    assert (plan.n_items, plan.reasons) == (1, {"unasked": 2, "lacking": 1})
    assert f"1 item has no reference answer (full), {BY_REFERENCE}. Left out." in plan.notes
    made = create_study(
        database, place.actor, place.project, protocol=PROTOCOLS.get("claim_correctness"), design=place.design
    )
    assert (made.n_items, made.reasons) == (1, {"unasked": 2, "lacking": 1})


def test_items_that_lack_what_they_are_judged_by_may_be_kept(database: Database) -> None:
    place = Place(database)
    add_claimed(place, "judged", references=["It ran."])
    plan = claims_by_reference(place, keep_lacking=True)
    assert (plan.n_items, plan.reasons) == (2, {"unasked": 2})
    assert f"1 item has no reference answer (full), {BY_REFERENCE}: annotators read that it is missing." in plan.notes


def test_a_study_of_which_no_item_has_what_is_judged_by_is_refused_with_the_remedy(database: Database) -> None:
    with pytest.raises(InvalidInput) as caught:
        claims_by_reference(Place(database))
    assert str(caught.value) == (
        f"The only item has no reference answer, {BY_REFERENCE}. Import items that have it, take another "
        "protocol, or keep such items with `keep_lacking` (--keep-lacking): annotators then read that it is missing."
    )
    assert caught.value.problems[0].path == ("keep_lacking",)


def test_what_no_item_has_leaves_none_out_while_another_criterion_can_be_judged(database: Database) -> None:
    """A benchmark without its documents: questions and answers are judged, and what is missing is said."""
    place = Place(database)
    of_claims: dict[str, Any] = {"target": "claim", "of": "answer", "shows": [Material.CLAIMS, Material.REFERENCES]}
    add_claimed(place, "other")
    plan = place.plan(**of_claims, judged_by=["references"])
    said = "2 items have no reference answer (full, other), by which “This part” is judged"
    assert f"{said}: annotators read that it is missing." in plan.notes
    assert (plan.n_items, plan.reasons) == (4, {})
    with pytest.raises(InvalidInput, match="None of the 2 items has a reference answer"):
        place.plan(**of_claims, judged_by=["references"], ask=False)
    add_claimed(place, "judged", references=["It ran."])
    plan = place.plan(**of_claims, judged_by=["references"])
    assert f"{said}. Left out." in plan.notes, "where one has it, it is asked of those that have it"
    assert (plan.n_items, plan.reasons) == (3, {"lacking": 2})


@pytest.mark.parametrize(
    ("material", "note"),
    [
        ("references", "4 items have no reference answer (full, bare, none …)"),
        ("hops", "4 items have no steps of a multi-hop question (full, bare, none …)"),
        ("evidence", "3 items have no evidence (bare, none, unanswered)"),
        ("documents", "3 items have no document (bare, none, unanswered)"),
        ("images", "3 items have no image (bare, none, unanswered)"),  # the first has one of its question
        ("answer", "1 item has no answer (unanswered)"),
    ],
)
def test_a_criterion_of_the_item_says_what_it_is_judged_by(database: Database, material: str, note: str) -> None:
    place = Place(database)
    make_item(database, place.project, "unanswered", answer="")
    rich = make_item(database, place.project, "rich", n_evidence=1, references=["R"], hops=[{"key": "h1"}])
    with database.write() as session:
        session.add(Image(item_version_id=rich, key="i", position=0))
    shows = [Material.QUESTION, Material.REFERENCES, Material.HOPS, *SHOWS]
    plan = place.plan(shows=list(dict.fromkeys(shows)), ask=False, judged_by=[material])
    assert f"{note}, by which “This part” is judged. Left out." in plan.notes
    assert plan.n_items == 5 - int(note.split(maxsplit=1)[0])


@pytest.mark.parametrize("target", ["evidence", "claim_evidence", "claim_context"])
def test_evidence_that_shows_nothing_is_nothing_to_judge_by(database: Database, target: str) -> None:
    """A text or a page of a document that was supplied will do, of one unit among several; another kind's does not."""
    place = Place(database)
    figures = {
        "half": ["passage", "passage"], "nothing": ["passage", "passage"], "pages": ["figure"], "seen": ["figure"]
    }  # fmt: skip
    with database.write() as session:
        scan = Document(project_id=place.project, key="scan.pdf", sha256="0" * 64, n_pages=3)
        gone = Document(project_id=place.project, key="gone.pdf", n_pages=3)
        session.add_all([scan, gone])
        session.flush()
        documents = {"nothing": gone.id, "pages": scan.id}
    for name, kinds in figures.items():
        version = make_item(database, place.project, name)
        with database.write() as session:
            session.add(Claim(item_version_id=version, key="c", position=0, text="It ran."))
            for number, kind in enumerate(kinds):
                text = {"half": ["It ran.", None][number], "nothing": ["", None][number]}.get(name)
                session.add(
                    Evidence(
                        item_version_id=version, key=f"e{number}", position=number, kind=kind, text=text,
                        document_id=documents.get(name), pages=[2] if name in documents else [],
                    )
                )  # fmt: skip
    plan = place.plan(target=target, shows=SHOWS)
    judged = "by which “This part” is judged"
    note = f"2 items have no evidence with a text or a page that can be shown (nothing, seen), {judged}"
    assert f"{note}. Left out." in plan.notes
    assert plan.reasons == {"lacking": 2}
    kept = plan_study(
        database, place.actor, place.project, protocol=place.of(SHOWS, {"target": target}, ask=True),
        design=StudyDesign(**{**vars(place.design), "keep_lacking": True}),
    )  # fmt: skip
    assert f"{note}: annotators read that it is missing." in kept.notes
    if target != "claim_context":  # which is about all of the evidence
        of_figures = " ".join(place.plan(target=target, shows=SHOWS, only={"kinds": ["figure"]}).notes)
        assert "can be shown (seen), by which" in of_figures


def test_of_several_materials_one_will_do(database: Database) -> None:
    plan = Place(database).plan(ask=False, judged_by=["claims", "evidence"])
    assert plan.n_items == 1
    assert "2 items have no claim or evidence (bare, none), by which “This part” is judged. Left out." in plan.notes


def test_an_order_of_no_images_is_said_not_to_be_asked(database: Database) -> None:
    place = Place(database)
    two = make_item(database, place.project, "two")
    with database.write() as session:
        for number in (1, 2):
            session.add(Image(item_version_id=two, key=f"i{number}", position=number))
    fields = {"kind": "order", "name": "sorted", "title": "Sorted"}
    protocol = Place.of(SHOWS, {}, ask=True)
    order = Order.model_validate(fields)
    step = protocol.steps[0].model_copy(update={"criteria": ["sorted", "whole"]})
    protocol = protocol.model_copy(update={"criteria": [order, protocol.criteria[1]], "steps": [step]})
    plan = plan_study(database, place.actor, place.project, protocol=protocol, design=place.design)
    assert "3 items have no images to put in order (full, bare, none): “Sorted” is not asked of them." in plan.notes
    assert plan.n_items == 4
    alone = protocol.model_copy(
        update={"criteria": [order], "steps": [step.model_copy(update={"criteria": ["sorted"]})]}
    )
    plan = plan_study(database, place.actor, place.project, protocol=alone, design=place.design)
    assert (plan.n_items, plan.reasons) == (1, {"unasked": 3})
