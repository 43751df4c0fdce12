"""Criteria about some parts of an item: what is asked, what is sent and seen, and what comes back, on the wire."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlmodel import select

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.errors import InvalidInput, NotFound
from annotators.items.parsed import ForeignLabel
from annotators.items.targets import target_kind
from annotators.protocols import Material, Protocol, Step
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item
from db.annotating.disclosure import may_see_page, reading
from db.elsewhere.labels import import_labels
from db.engine import Database
from db.models import Claim, Document, Image, ItemVersion, StoredLabel, StudyItem
from db.studies.ratings import ratings
from tests.makers import StudyInUse, make_member, make_person, tiny_protocol

LABELS = [Label(value="yes"), Label(value="no")]


def protocol_of(*steps: tuple[list[Material], dict[str, dict[str, Any]]]) -> Protocol:
    """Steps of what they show and, by name, the fields of the criteria that they ask."""
    return tiny_protocol(
        criteria=[
            Choice.model_validate({"name": name, "title": name.capitalize(), "labels": LABELS, **fields})
            for _, criteria in steps
            for name, fields in criteria.items()
        ],
        steps=[
            Step(name=f"s{number}", title=f"Step {number}", shows=shows, criteria=list(criteria))
            for number, (shows, criteria) in enumerate(steps, 1)
        ],
    )


def add_parts(db: Database) -> None:
    with db.write() as session:
        version = session.exec(select(ItemVersion)).one()
        document = session.exec(select(Document.id)).first()
        for position, (key, side) in enumerate([("said-1", "answer"), ("gold-1", "reference"), ("said-2", "answer")]):
            session.add(Claim(item_version_id=version.id, key=key, position=position, of=side, text=f"{side} {key}"))
        for position, side in enumerate(["answer", "question"]):
            extra = {} if side == "answer" else {"of": side}
            about = {"document_id": document, "page": 5, "caption": f"of the {side}", "extra": extra}
            session.add(Image(item_version_id=version.id, key=f"i{position}", position=position, **about))


def in_use(db: Database, protocol: Protocol, *, annotators: int = 1) -> StudyInUse:
    """One item with four units (gold-1 on page 4, distractor-2 on 3, gold-3 on 2, distractor-4 on 1), and parts."""
    made = {"items": 1, "annotators": annotators, "overlap": annotators, "n_evidence": 4}
    return StudyInUse(db, **made, protocol=protocol, prepare=add_parts)


EVIDENCE = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE]
CLAIMS = [Material.QUESTION, Material.ANSWER, Material.CLAIMS]


def seen_pages(study: StudyInUse) -> set[int]:
    with study.db.read() as session:
        document = session.exec(select(Document.id)).first()
    pages = set()
    for page in range(1, 6):
        try:
            may_see_page(study.db, study.annotators[0], document_id=document or 0, page=page)
        except NotFound:
            continue
        pages.add(page)
    return pages


def test_evidence_that_nothing_is_asked_about_by_its_role_is_not_shown_before_the_roles_are(database: Database) -> None:
    required = {"target": "evidence", "only": {"roles": ["gold"]}}
    protocol = protocol_of((EVIDENCE, {"required": required}), ([Material.ROLES], {"sure": {}}))
    study = in_use(database, protocol)
    work = study.work(0)
    [item] = work["items"]
    assert "gold" not in json.dumps(work)
    assert "distractor" not in json.dumps(work)
    assert [unit["text"] for unit in item["evidence"]] == ["Passage 3", "Passage 1"]
    assert item["units"] == {"required": ["evidence:E1", "evidence:E2"]}
    assert [document["pages"] for document in item["documents"]] == [[2, 4]]
    assert seen_pages(study) == {2, 4}
    shown = reading(database, study.annotators[0], study.study_id, assignment_id=item["assignment"])
    assert [passage.evidence for passage in shown.passages] == ["E1", "E2"]
    assert [document.pages for document in shown.documents] == [(2, 4)]
    after = study.submit(0, item, {"required": "yes"}).item
    assert after is not None
    assert [unit["role"] for unit in after["evidence"]] == ["gold", "distractor", "gold", "distractor"]
    assert [label["target"] for label in after["committed"]] == ["evidence:E3", "evidence:E1"]
    assert seen_pages(study) == {1, 2, 3, 4}
    study.submit(0, after, {"sure": "yes"})
    with database.read() as session:
        targets = session.exec(select(StoredLabel.target).where(StoredLabel.criterion == "required")).all()
    assert set(targets) == {"evidence:gold-1", "evidence:gold-3"}


def test_a_label_of_evidence_that_was_not_chosen_is_refused(database: Database) -> None:
    study = in_use(database, protocol_of((EVIDENCE, {"required": {"target": "evidence", "only": {"per_modality": 2}}})))
    [item] = study.work(0)["items"]
    assert len(item["evidence"]) == 2
    item["units"]["required"] = [*item["units"]["required"], "evidence:E3"]
    with pytest.raises(InvalidInput, match="no 'evidence:E3'"):
        study.submit(0, item, {"required": "yes"})


def test_all_evidence_is_shown_where_one_criterion_is_about_all_of_it(database: Database) -> None:
    some = {"target": "evidence", "only": {"kinds": ["passage"], "per_modality": 1}}
    study = in_use(database, protocol_of((EVIDENCE, {"first": some, "each": {"target": "evidence"}})))
    [item] = study.work(0)["items"]
    assert len(item["evidence"]) == 4
    assert [len(item["units"][name]) for name in ("first", "each")] == [1, 4]
    [first] = item["units"]["first"]
    assert {unit["key"]: unit["text"] for unit in item["evidence"]}[first.split(":")[1]] == "Passage 1"
    item["units"]["first"] = [target for target in item["units"]["each"] if target != first]
    with pytest.raises(InvalidInput, match=r"'First' has a label for 'E\d', which this item does not have or"):
        study.submit(0, item, {"first": "yes", "each": "no"})


def test_claims_of_one_side_are_asked_about_and_shown_without_the_text_of_theirs(database: Database) -> None:
    study = in_use(database, protocol_of((CLAIMS, {"recall": {"target": "claim_answer"}})))
    [item] = study.work(0)["items"]
    assert item["units"] == {"recall": ["claim:C1|answer"]}
    assert [claim["text"] for claim in item["claims"]] == ["reference gold-1"]
    assert "said" not in json.dumps(item), "claims that nothing is asked about are not shown, and not sent"
    assert "references" not in item
    assert study.submit(0, item, {"recall": "yes"}).status == "done"
    with database.read() as session:
        assert session.exec(select(StoredLabel.target)).all() == ["claim:gold-1|answer"]


def test_claims_of_the_reference_are_not_shown_where_only_those_of_the_answer_are_asked_about(
    database: Database,
) -> None:
    shows = [*CLAIMS, Material.EVIDENCE]
    study = in_use(database, protocol_of((shows, {"label": {"target": "claim_context", "of": "answer"}})))
    [item] = study.work(0)["items"]
    assert item["units"] == {"label": ["claim:C1|context", "claim:C2|context"]}
    assert "reference" not in json.dumps(item)
    missing = {**item, "units": {"label": ["claim:C1|context"]}}
    with pytest.raises(InvalidInput, match="'Label' for C2 × the context has no label"):
        study.submit(0, missing, {"label": "yes"})


def test_paragraphs_of_the_answer(database: Database) -> None:
    study = in_use(database, protocol_of(([Material.ANSWER], {"fits": {"target": "block"}})))
    with database.read() as session:
        answer = session.exec(select(ItemVersion.answer)).one()
    [item] = study.work(0)["items"]
    assert answer == item["answer"]
    assert item["units"] == {"fits": ["block:1"]}
    with pytest.raises(InvalidInput, match="'Fits' has a label for 'block:2', which this item does not have"):
        study.submit(0, {**item, "units": {"fits": ["block:1", "block:2"]}}, {"fits": "yes"})
    assert study.submit(0, item, {"fits": "yes"}).status == "done"


def test_images_of_the_question_come_with_it(database: Database) -> None:
    first = ([Material.QUESTION, Material.IMAGES], {"clear": {"target": "image", "of": "question"}})
    study = in_use(database, protocol_of(first, ([Material.ANSWER], {"fits": {"target": "image", "of": "answer"}})))
    [item] = study.work(0)["items"]
    assert [(image["caption"], image["of"]) for image in item["images"]] == [("of the question", "question")]
    assert item["units"] == {"clear": ["image:I1"]}
    after = study.submit(0, item, {"clear": "yes"}).item
    assert after is not None
    assert after["units"] == {"fits": ["image:I2"]}
    assert [image["key"] for image in after["images"] if image.get("of") == "question"] == ["I1"]


def test_the_new_targets_are_settled_decided_and_measured(database: Database) -> None:
    shows = [*CLAIMS, Material.EVIDENCE]
    criteria = {
        "label": {"target": "claim_context", "of": "answer"},
        "needed": {"target": "evidence", "only": {"roles": ["gold"]}},
        "fits": {"target": "block"},
    }
    study = in_use(database, protocol_of((shows, criteria)), annotators=2)
    for who, value in enumerate(["yes", "no"]):
        [item] = study.work(who)["items"]
        study.submit(who, item, {"label": value, "needed": value, "fits": "yes"})
    # Labels that were made elsewhere may be of units that are not shown; they can be decided all the same.
    rows = [ForeignLabel(2, "i00001", "eve", "needed", "evidence:distractor-2", "no", None, None)]
    import_labels(database, study.researcher, study.study_id, rows=rows, source="table.csv")
    judge = make_person(database)
    make_member(database, study.project_id, judge, "adjudicator")
    with database.read() as session:
        study_item = session.exec(select(StudyItem.id)).one()
    assert study_item is not None
    found = disputed_item(database, judge, study_item)
    named = {(unit.criterion, unit.target) for unit in found.units}
    assert named == {
        ("label", "claim:C1|context"), ("label", "claim:C2|context"), ("fits", "block:1"),
        ("needed", "evidence:E1"), ("needed", "evidence:E2"), ("needed", "evidence:E4"),
    }  # fmt: skip
    decisions = [UnitDecision(unit.criterion, unit.target, "yes") for unit in found.units if unit.needs_decision]
    adjudicate(database, judge, study_item, uid="d1", decisions=decisions, reason="Read again.", from_browser=True)
    measured = ratings(database, study.researcher, study.study_id).criteria
    assert [len(column.targets) for column in measured] == [2, 3, 1]
    assert [len({target_kind(target) for target in column.targets}) for column in measured] == [1, 1, 1]


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("claim:said-1", "target 'claim:said-1' is no claim_context, which 'label' is about. Write claim:K|context."),
        ("claim:said-1|question", "'claim:said-1|question' is not a target. Write item,"),
    ],
)
def test_an_imported_label_of_another_kind_of_target_is_refused(database: Database, target: str, reason: str) -> None:
    study = in_use(database, protocol_of(([*CLAIMS, Material.EVIDENCE], {"label": {"target": "claim_context"}})))
    row = ForeignLabel(7, "i00001", "eve", "label", target, "yes", None, None)
    with pytest.raises(InvalidInput) as caught:
        import_labels(database, study.researcher, study.study_id, rows=[row], source="table.csv")
    assert str(caught.value).startswith(f"table.csv, line 7: {reason}")
