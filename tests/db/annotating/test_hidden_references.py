"""Claims and images are known only as far as the text that they belong to is shown, at every step of every protocol."""

from __future__ import annotations

import json
from typing import Any

import pytest
from sqlmodel import select

from annotators.criteria import Criterion, Label
from annotators.criteria.choice import Choice
from annotators.errors import InvalidInput, NotFound
from annotators.items.targets import OF_CLAIMS
from annotators.protocols import PROTOCOLS, Material, Protocol, Step
from db.annotating.annotations import work
from db.annotating.disclosure import may_see_page, reading
from db.engine import Database
from db.models import Claim, Document, Image, ItemVersion, StoredLabel
from tests.makers import StudyInUse, tiny_protocol

SECRET = "Gold statement"


def add_parts(db: Database) -> int:
    """Claims and images of answer and reference, mixed, on a document that is cited by them alone; its id."""
    with db.write() as session:
        project = session.exec(select(Document.project_id)).first()
        version = session.exec(select(ItemVersion.id)).first()
        document = Document(project_id=project or 1, key="pictures.pdf", n_pages=9)
        session.add(document)
        session.flush()
        for position, (key, side) in enumerate(
            [("gold-1", "reference"), ("said-1", "answer"), ("gold-2", "reference")]
        ):
            text = f"{SECRET} {key}" if side == "reference" else "The answer says so."
            session.add(Claim(item_version_id=version, key=key, position=position, of=side, text=text))
            extra = {"of": side} if side == "reference" else {}
            about = {"document_id": document.id, "page": position + 4, "caption": text}
            session.add(Image(item_version_id=version, key=key, position=position, extra=extra, **about))
        assert document.id is not None
        return document.id


def two_steps(first: list[Material], second: list[Material]) -> Protocol:
    labels = [Label(value="yes"), Label(value="no")]
    criteria = [
        Choice(name="claims", title="Claim", target="claim", labels=labels),
        Choice(name="images", title="Image", target="image", labels=labels),
        Choice(name="later", title="Claim later", target="claim", labels=labels),
    ]
    common = [Material.QUESTION, Material.CLAIMS, Material.IMAGES]
    return tiny_protocol(
        criteria=criteria,
        steps=[
            Step(name="one", title="One", shows=[*common, *first], criteria=["claims", "images"]),
            Step(name="two", title="Two", shows=second, criteria=["later"]),
        ],
    )


def in_use(db: Database, protocol: Protocol | str) -> tuple[StudyInUse, int]:
    made: list[int] = []
    study = StudyInUse(
        db, items=1, annotators=1, overlap=1, n_evidence=1, protocol=protocol,
        prepare=lambda db: made.append(add_parts(db)),
    )  # fmt: skip
    return study, made[0]


def seen_pages(study: StudyInUse, document: int) -> set[int]:
    pages = set()
    for page in range(1, 10):
        try:
            may_see_page(study.db, study.annotators[0], document_id=document, page=page)
        except NotFound:
            continue
        pages.add(page)
    return pages


def test_what_belongs_to_the_references_comes_with_them(database: Database) -> None:
    study, document = in_use(database, two_steps([Material.ANSWER], [Material.REFERENCES]))
    [item] = study.work(0)["items"]
    assert SECRET not in json.dumps(item)
    assert "reference" not in json.dumps(item)
    assert [claim["key"] for claim in item["claims"]] == ["C1"]
    assert [(image["key"], image["page"]) for image in item["images"]] == [("I1", 5)]
    assert item["units"] == {"claims": ["claim:C1"], "images": ["image:I1"]}
    assert [document["pages"] for document in item["documents"]] == [[5]]
    assert seen_pages(study, document) == {5}
    shown = reading(database, study.annotators[0], study.study_id, assignment_id=item["assignment"])
    assert [document.pages for document in shown.documents] == [(5,)]
    after = study.submit(0, item, {"claims": "yes", "images": "no"}).item
    assert after is not None
    assert [(claim["key"], claim["of"]) for claim in after["claims"]] == [
        ("C1", "answer"), ("C2", "reference"), ("C3", "reference"),
    ]  # fmt: skip
    assert {label["target"] for label in after["committed"]} == {"claim:C1", "image:I1"}
    assert seen_pages(study, document) == {4, 5, 6}
    assert study.submit(0, after, {"later": "yes"}).status == "done"
    with database.read() as session:
        targets = set(session.exec(select(StoredLabel.target).where(StoredLabel.criterion == "later")))
    assert targets == {"claim:said-1", "claim:gold-1", "claim:gold-2"}


def test_what_belongs_to_the_answer_comes_with_the_answer(database: Database) -> None:
    study, document = in_use(database, two_steps([Material.REFERENCES], [Material.ANSWER]))
    [item] = study.work(0)["items"]
    assert [claim["of"] for claim in item["claims"]] == ["reference", "reference"]
    assert [claim["key"] for claim in item["claims"]] == ["C1", "C2"]
    assert seen_pages(study, document) == {4, 6}


@pytest.mark.parametrize("target", ["claim:C2", "claim:gold-1", "claim:said-2", "image:I2", "image:gold-1"])
def test_a_label_of_something_hidden_is_refused(database: Database, target: str) -> None:
    study, _ = in_use(database, two_steps([Material.ANSWER], [Material.REFERENCES]))
    [item] = study.work(0)["items"]
    name = "claims" if target.startswith("claim") else "images"
    item["units"][name] = [*item["units"][name], target]
    with pytest.raises(InvalidInput, match=f"no '{target}'"):
        study.submit(0, item, {"claims": "yes", "images": "yes"})


def test_labels_that_were_given_of_what_is_hidden_now_do_not_bring_its_name_back(database: Database) -> None:
    study, _ = in_use(database, two_steps([Material.ANSWER], [Material.REFERENCES]))
    [item] = study.work(0)["items"]
    study.submit(0, item, {"claims": "yes", "images": "no"})
    with database.write() as session:
        label = session.exec(select(StoredLabel).where(StoredLabel.criterion == "claims")).one()
        fields = {"submission_id": label.submission_id, "assignment_id": label.assignment_id, "criterion": "claims"}
        session.add(StoredLabel(**fields, target="claim:gone", value="yes"))
    [item] = study.work(0)["items"]
    assert "gone" not in json.dumps(item)


def a_value(criterion: Criterion, item: dict[str, Any]) -> Any:
    """A value that a criterion of any kind takes on this item."""
    if criterion.scale in ("set", "spans"):
        return []
    if criterion.scale == "text":
        return "Nothing."
    if criterion.scale == "interval":
        return 1
    if criterion.scale == "ranking":
        return [image["key"] for image in item["images"] if criterion.of in (None, image.get("of", "answer"))]
    return criterion.label_list()[0].value


@pytest.mark.parametrize(
    "protocol",
    [protocol for protocol in PROTOCOLS if all(criterion.target != "pair" for criterion in protocol.criteria)],
    ids=lambda protocol: protocol.name,
)
def test_no_built_in_protocol_sends_them_while_the_references_are_hidden(
    sqlite_database: Database, protocol: Protocol
) -> None:
    """With claims and images added to what the protocol shows, so that there is something to hide."""
    steps: list[Any] = [
        protocol.steps[0].model_copy(update={"shows": [*protocol.steps[0].shows, Material.CLAIMS, Material.IMAGES]})
    ]
    changed = Protocol.model_validate({
        **protocol.model_dump(),
        "steps": [*(step.model_dump() for step in steps), *(step.model_dump() for step in protocol.steps[1:])],
        "about_scores": False,
        "criteria": [{**criterion.model_dump(), "score": []} for criterion in protocol.criteria],
    })  # fmt: skip
    study, _ = in_use(sqlite_database, changed)
    with sqlite_database.read() as session:
        assert session.exec(select(Claim.id)).first()
    for step in range(len(changed.steps)):
        [item] = work(sqlite_database, study.annotators[0], study.study_id)["items"]
        shown = changed.shown_at(step)
        assert item["step"] == step
        # A criterion that is about the claims of one side is asked with them, though the text itself may be hidden.
        asked = {
            criterion.of
            for number in range(step + 1)
            for criterion in changed.step_criteria(number)
            if criterion.target in OF_CLAIMS
        }
        assert (SECRET in json.dumps(item)) == (Material.REFERENCES in shown or "reference" in asked)
        assert ("The answer says so" in json.dumps(item)) == (Material.ANSWER in shown or "answer" in asked)
        values = {}
        for criterion in changed.step_criteria(step):
            if criterion.when is None:
                values[criterion.name] = a_value(criterion, item)
        study.submit(0, item, values)
