from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from annotators.errors import InvalidInput, NotFound
from annotators.items.item import ItemClaim, ItemContent, ItemEvidence, ItemImage
from annotators.items.normal import read_item
from annotators.scorers.shared.resources import provide_resource, resource
from annotators.scorers.shared.tasks import scoring_task
from tests.annotators.scorers.records import score_records

ROW: dict[str, Any] = {
    "id": "q1:alpha",
    "question_key": "q1",
    "question": "Which metals?",
    "answer": "Copper.",
    "system": "alpha",
    "category": "Tables",
    "references": ["copper and tin", ["copper", "tin"]],
    "documents": ["statue.pdf"],
    "evidence": [{"key": "e1", "kind": "figure", "role": "gold", "document": "statue.pdf", "pages": [4], "rank": 1}],
    "claims": [{"key": "c1", "text": "It is copper."}, {"key": "g1", "text": "It is tin.", "of": "reference"}],
    "images": [{"key": "i1", "document": "a.png", "metadata": {"of": "reference"}, "box": [0, 0, 1, 0.5]}],
    "metadata": {"year": 2024},
    "colour": "unknown fields are kept",
}


def test_a_row_is_what_a_scorer_sees() -> None:
    item = read_item(ROW)
    assert item == ItemContent(
        id="q1:alpha",
        question_key="q1",
        question="Which metals?",
        answer="Copper.",
        system="alpha",
        category="Tables",
        references=("copper and tin", ["copper", "tin"]),
        documents=("statue.pdf",),
        evidence=(ItemEvidence("e1", "figure", "gold", "statue.pdf", (4,), rank=1),),
        claims=(ItemClaim("c1", "It is copper."), ItemClaim("g1", "It is tin.", "reference")),
        images=(ItemImage("i1", "a.png", box=(0.0, 0.0, 1.0, 0.5), metadata={"of": "reference"}),),
        metadata={"colour": "unknown fields are kept", "year": 2024},
    )
    assert item.images[0].of == "reference"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": 5}, "`answer` is 5, not a text. Put it in quotes."),
        ({"evidence": "e1"}, "`evidence` is 'e1', not a list of objects."),
        ({"claims": ["c1"]}, "`claims` holds 'c1', not an object."),
        ({"references": [3]}, "`references` holds 3. Each is a text or a list of required phrases."),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        score_records(scoring_task("phrase_recall"), [{**ROW, **change}])
    assert str(caught.value) == message


def test_a_task_and_its_items_can_be_sent_to_another_process() -> None:
    task = scoring_task("phrase_recall", ["mode=paper"])
    copy = pickle.loads(pickle.dumps(task))
    assert copy == task
    item = read_item(ROW)
    assert pickle.loads(pickle.dumps(item)) == item
    assert score_records(copy, [ROW, ROW]) == task.score([item, item])
    assert [score.value for score in score_records(copy, [ROW])[0]] == [0.5]


def test_a_task_has_all_parameters() -> None:
    assert scoring_task("rouge_l", {"stemming": True}).parameters == {"tokens": "unicode", "stemming": True}


def test_another_version_of_the_scorer_is_refused() -> None:
    task = replace(scoring_task("phrase_recall"), version="0")
    with pytest.raises(InvalidInput, match=r"is version 1 here, but version 0 is asked for\. Install the same version"):
        score_records(task, [ROW])


def test_a_resource_is_known_by_its_hash() -> None:
    digest = provide_resource(b"some examples")
    assert resource(digest) == b"some examples"
    assert provide_resource(b"some examples") == digest
    with pytest.raises(NotFound, match="no resource with the hash ffffffffffff"):
        resource("f" * 64)
