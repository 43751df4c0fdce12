"""What the browser is sent of an item: units that follow the documents, although they are kept between requests."""

from __future__ import annotations

import uuid

import pytest
from sqlalchemy import func, text
from sqlmodel import select

from annotators.asking.asked_units import units_asked
from annotators.asking.submissions import GivenLabel
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.errors import InvalidInput
from annotators.protocols import PROTOCOLS, Material, Step
from db.annotating.annotations import submit
from db.annotating.committing import StepSubmission
from db.annotating.presentations import units_at
from db.engine import Database
from db.models import Claim, Image, Project, Study, StudyItem
from tests.makers import StudyInUse, make_item, tiny_protocol


def of_each_page() -> object:
    criterion = Choice(name="evidence", title="Evidence", target="page", labels=[Label(value="yes"), Label(value="no")])
    shows = [Material.QUESTION, Material.DOCUMENTS]
    return tiny_protocol(
        criteria=[criterion], steps=[Step(name="all", title="All", shows=shows, criteria=["evidence"])]
    )


def test_pages_that_are_counted_after_the_item_was_shown_can_be_labelled(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol=of_each_page())
    item = study.work(0)["items"][0]
    assert len(item["units"]["evidence"]) == 5
    with database.write() as session:
        session.execute(text("UPDATE document SET n_pages = 6"))
    pages = [*item["units"]["evidence"], item["units"]["evidence"][0].rpartition(":")[0] + ":6"]

    def send(targets: list[str]) -> str:
        labels = tuple(GivenLabel("evidence", target, "no") for target in targets)
        step = StepSubmission(uuid.uuid4().hex, item["assignment"], item["sitting"], item["step"], labels)
        return submit(database, study.annotators[0], study.study_id, step=step).status

    with pytest.raises(InvalidInput, match="7"):
        send([*pages, pages[0].rpartition(":")[0] + ":7"])
    assert send(pages) == "done"


def test_evidence_keeps_its_neutral_name_from_one_request_to_the_next(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=4, protocol="qa_verification")
    first, again = (study.work(0)["items"][0] for _ in range(2))
    done = study.submit(0, first, dict.fromkeys(first["units"], "true"))
    assert first["units"] == again["units"]
    assert done.item is not None
    names = [(evidence["key"], evidence["text"]) for evidence in done.item["evidence"]]
    assert [key for key, _ in names] == ["E1", "E2", "E3", "E4"]
    shown = study.work(0)["items"][0]["evidence"]
    assert [(evidence["key"], evidence["text"]) for evidence in shown] == names


def test_the_page_is_not_told_which_labels_let_an_item_pass(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, protocol="qa_verification")
    assert any(criterion.accept for criterion in PROTOCOLS.get("qa_verification").criteria)
    for criterion in study.work(0)["study"]["protocol"]["criteria"]:
        assert not {"accept", "tolerance", "score"} & set(criterion)


def test_an_image_says_by_what_name_the_answer_has_it_and_keeps_its_own_to_itself(database: Database) -> None:
    """Two places of one picture are two images, the second with a key of its own and the name in its metadata."""

    def add(db: Database) -> None:
        project = in_project(db)
        answer = "First ![a](p.png), then ![b](p.png), and [not this](secret-key)x."
        version = make_item(db, project, answer=answer)
        with db.write() as session:
            metadata = {"p.png": {}, "p.png-2": {"name": "p.png"}, "secret": {}, "q": {"of": "question"}}
            for position, (key, extra) in enumerate(metadata.items()):
                session.add(Image(item_version_id=version, key=key, position=position, extra=extra))

    shown = tiny_protocol(
        steps=[Step(name="all", title="All", shows=["question", "answer", "images"], criteria=["right"])]
    )
    study = StudyInUse(database, items=0, annotators=1, overlap=1, protocol=shown, prepare=add)
    images = study.work(0)["items"][0]["images"]
    assert [(image["key"], image.get("address")) for image in images] == [
        ("I1", "p.png"), ("I2", "p.png"), ("I3", None), ("I4", None),
    ]  # fmt: skip


def in_project(db: Database) -> int:
    with db.read() as session:
        return session.exec(select(func.max(Project.id))).one() or 0


def test_what_an_item_lacks_is_named_with_the_criteria_that_are_judged_by_it(database: Database) -> None:
    def add(db: Database) -> None:
        for name, fields in (("with", {"references": ["It ran."]}), ("without", {})):
            version = make_item(db, in_project(db), name, **fields)
            with db.write() as session:
                session.add(Claim(item_version_id=version, key="c", position=0, text="It ran."))

    study = StudyInUse(database, items=0, annotators=1, overlap=1, prepare=add, protocol="claim_correctness")
    whole, lacking = study.work(0)["items"]
    assert "missing" not in whole
    assert lacking["missing"] == {"references": ["The reference and the claim"]}
    assert lacking["units"] == {"correctness": ["claim:C1|reference"]}  # who keeps it has it asked


def test_a_text_that_is_shown_and_not_there_is_named_whatever_is_judged_by_it(database: Database) -> None:
    shows = [Material.QUESTION, Material.ANSWER, Material.REFERENCES, Material.HOPS]
    shown = tiny_protocol(steps=[Step(name="all", title="All", shows=shows, criteria=["right"])])
    study = StudyInUse(database, items=1, annotators=1, overlap=1, protocol=shown)
    assert study.work(0)["items"][0]["missing"] == {"references": []}


def test_of_several_materials_one_that_is_there_will_do(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, n_evidence=1, protocol="completeness")
    assert "missing" not in study.work(0)["items"][0]
    study = StudyInUse(database, items=1, annotators=1, overlap=1, protocol="completeness")
    title = "Answer is complete"
    assert study.work(0)["items"][0]["missing"] == {"evidence": [title], "documents": [title]}


def test_a_criterion_about_some_evidence_says_of_how_many_units(database: Database) -> None:
    def add(db: Database) -> None:
        version = make_item(db, in_project(db), "a", n_evidence=5, roles=("retrieved", "gold"))
        with db.write() as session:
            session.add(Claim(item_version_id=version, key="c", position=0, text="It ran."))

    def shown(**only: object) -> dict[str, object]:
        criterion = Choice(
            name="right", title="Right", target="evidence", only=only, labels=[Label(value="yes"), Label(value="no")]
        )
        steps = [Step(name="all", title="All", shows=[Material.EVIDENCE], criteria=["right"])]
        asked = tiny_protocol(criteria=[criterion], steps=steps)
        study = StudyInUse(database, items=0, annotators=1, overlap=1, prepare=add, protocol=asked)
        item: dict[str, object] = study.work(0)["items"][0]
        return item

    assert shown(per_modality=2)["left_out"] == {"right": [2, 5]}
    assert "left_out" not in shown(per_modality=5)
    # That there are units of other roles would say something of the roles of those that are shown.
    assert shown(per_modality=2, roles=["retrieved"])["left_out"] == {"right": [2, 3]}
    assert "left_out" not in shown(roles=["retrieved"])


def test_what_is_presented_step_by_step_is_what_the_protocol_asks(database: Database) -> None:
    def add(db: Database) -> None:
        version = make_item(db, in_project(db), "a", n_evidence=5, references=["It ran."])
        with db.write() as session:
            session.add(Claim(item_version_id=version, key="c", position=0, text="It ran."))
            session.add(Claim(item_version_id=version, key="r", position=1, of="reference", text="It flew."))

    protocol = PROTOCOLS.get("claim_verification")
    study = StudyInUse(database, items=0, annotators=1, overlap=1, prepare=add, protocol=protocol)
    item = study.work(0)["items"][0]
    with database.read() as session:
        row = session.get_one(Study, study.study_id)
        wire, units = units_at(session, row, session.exec(select(StudyItem.id)).one() or 0, 0)
    asked = [(unit.criterion.name, wire.out(unit.target)) for unit in units_asked(protocol, units)]
    assert asked == [(name, target) for name, targets in item["units"].items() for target in targets]
    assert len(asked) == 4
