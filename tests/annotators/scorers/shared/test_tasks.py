from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import pytest

from annotators.errors import InvalidInput, NotFound
from annotators.items.records import item_view
from annotators.scorers.base import ClaimView, EvidenceView, ImageView, ItemView, VerdictView
from annotators.scorers.shared.resources import provide_resource, resource
from annotators.scorers.shared.tasks import scoring_task
from tests.annotators.scorers.records import score_records

RECORD: dict[str, Any] = {
    "id": "q1:alpha",
    "question": "Which metals?",
    "answer": "Copper.",
    "system": "alpha",
    "category": "Tables",
    "references": ["copper and tin", ["copper", "tin"]],
    "documents": ["statue.pdf"],
    "evidence": [{"key": "e1", "kind": "figure", "role": "gold", "document": "statue.pdf", "pages": [4], "rank": 1}],
    "claims": [{"key": "c1", "text": "It is copper."}, {"key": "g1", "text": "It is tin.", "of": "reference"}],
    "images": [{"key": "i1", "document": "a.png", "metadata": {"of": "reference"}, "box": [0, 0, 1, 0.5]}],
    "verdicts": [{"claim": "c1", "evidence": "e1", "label": "Entailment", "source": "people"}],
    "metadata": {"verdicts": [{"claim": "g1", "against": "answer", "label": "neutral"}], "year": 2024},
    "colour": "unknown fields are passed over",
}


def test_a_native_record_is_what_a_scorer_sees() -> None:
    assert item_view(RECORD, 7) == ItemView(
        version_id=7,
        question="Which metals?",
        answer="Copper.",
        references=["copper and tin", ["copper", "tin"]],
        hops=[],
        system="alpha",
        category="Tables",
        evidence=(EvidenceView("e1", "figure", "gold", "statue.pdf", (4,), rank=1),),
        claims=(ClaimView("c1", "It is copper."), ClaimView("g1", "It is tin.", "reference")),
        images=(ImageView("i1", "a.png", of="reference", box=(0.0, 0.0, 1.0, 0.5)),),
        documents=("statue.pdf",),
        verdicts=(
            VerdictView("c1", "evidence:e1", "entailment", "people"),
            VerdictView("g1", "answer", "neutral"),
        ),
        metadata=RECORD["metadata"],
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"answer": 5}, "Field 'answer' is 5. It has to be a text."),
        ({"evidence": "e1"}, "Field 'evidence' is 'e1'. It has to be a list."),
        ({"claims": ["c1"]}, "Field 'claims' has 'c1'. It has to be a list of objects."),
        ({"references": [3]}, "3 is not a reference answer. Give a text, or a list of required phrases."),
    ],
)
def test_a_field_of_the_wrong_kind_is_named(change: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        item_view({**RECORD, **change})
    assert str(caught.value) == message


def test_a_task_and_its_items_can_be_sent_to_another_process() -> None:
    task = scoring_task("phrase_recall", ["mode=paper"])
    copy = pickle.loads(pickle.dumps(task))
    assert copy == task
    view = item_view(RECORD)
    assert pickle.loads(pickle.dumps(view)) == view
    assert score_records(copy, [RECORD, RECORD]) == task.score([view, view])
    assert [one.value for one in score_records(copy, [RECORD])[0]] == [0.5]


def test_a_task_has_all_parameters() -> None:
    assert scoring_task("rouge_l", {"stemming": True}).parameters == {"tokens": "unicode", "stemming": True}


def test_another_version_of_the_scorer_is_refused() -> None:
    task = replace(scoring_task("phrase_recall"), version="0")
    with pytest.raises(InvalidInput, match=r"is version 1 here, but version 0 is asked for\. Install the same version"):
        score_records(task, [RECORD])


def test_a_resource_is_known_by_its_hash() -> None:
    digest = provide_resource(b"some examples")
    assert resource(digest) == b"some examples"
    assert provide_resource(b"some examples") == digest
    with pytest.raises(NotFound, match="no resource with the hash ffffffffffff"):
        resource("f" * 64)
