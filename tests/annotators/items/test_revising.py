"""Other words for an item: what may change, what the edit touched, and claims that keep their keys."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.normal import read_item, to_json
from annotators.items.revising import OF_A_VERSION, claims_of, edited, proposed_claims, revised
from annotators.protocols import PROTOCOLS


def item(**fields: Any) -> ItemContent:
    return read_item({
        "id": "i1", "question": "How many?", "answer": "Two. One is red.", "references": ["Two."],
        "evidence": [{"key": "e1", "text": "There are two.", "role": "gold"}, {"key": "e2", "text": "Other."}],
        "claims": [
            {"key": "c1", "text": "There are two.", "metadata": {"said": 1}},
            {"key": "c2", "text": "A", "of": "reference"},
        ],
        "metadata": {"from": "a file"}, **fields,
    })  # fmt: skip


def test_only_what_is_named_changes_and_the_identity_stays() -> None:
    after = revised(item(), {"answer": "Three.", "category": "counting"})
    assert (after.answer, after.category) == ("Three.", "counting")
    assert after._replace(answer="Two. One is red.", category=None) == item()


def test_null_empties_a_field() -> None:
    assert revised(item(), {"claims": None, "metadata": None}) == item(claims=[], metadata={})


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"id": "i2"}, "`id` is what the item is known by"),
        ({"system": "other"}, "`system` is what the item is known by"),
        ({"scores": []}, "'scores' is no field"),
        ({"anwser": "Two."}, "'anwser' is no field of an item. Fields: question, answer"),
        ({"question": ""}, "`question` is missing or empty"),
        ({"question": None}, "`question` is missing or empty"),
        ({"evidence": [{"key": "e1", "kind": "video"}]}, "video"),
        ({"answer": "Two. One is red."}, "nothing changes"),
        ({}, "nothing changes"),
    ],
)
def test_what_cannot_be_is_refused_with_what_can(fields: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        revised(item(), fields)


def test_an_edit_of_evidence_says_whether_it_is_of_the_units_or_of_their_roles() -> None:
    units = to_json(item())["evidence"]
    roles = [{**units[0], "role": "distractor"}, units[1]]
    assert edited(item(), revised(item(), {"evidence": roles})) == ("roles",)
    assert edited(item(), revised(item(), {"evidence": [*roles, {"key": "e3"}]})) == ("evidence", "roles")
    assert edited(item(), revised(item(), {"evidence": [{**units[0], "text": "Two."}, units[1]]})) == ("evidence",)
    assert set(OF_A_VERSION) >= set(edited(item(), revised(item(), {"answer": "x", "references": ["y"]})))


def test_which_labels_fall_is_what_the_protocol_says() -> None:
    protocol = PROTOCOLS.get("qa_verification")
    assert protocol.fallen(("answer",)) == ["answer_factual", "complete", "grounding"]
    assert protocol.fallen(("question", "answer")) == [criterion.name for criterion in protocol.criteria]
    assert protocol.fallen(("language",)) == []


def test_a_claim_whose_text_stays_is_the_same_one_and_a_new_text_is_a_new_one() -> None:
    rows = claims_of(item(), "answer", ["One is red.", "There are two."])
    assert rows == [
        {"key": "c3", "text": "One is red."},
        {"key": "c1", "text": "There are two.", "metadata": {"said": 1}},
        {"key": "c2", "text": "A", "of": "reference"},
    ]
    assert [row["key"] for row in claims_of(item(), "reference", ["B", "B"])] == ["c1", "c3", "c4"]
    assert claims_of(item(claims=[]), "answer", []) == []


def test_claims_begin_as_the_sentences_of_the_text() -> None:
    assert proposed_claims(item(), "answer") == ["There are two."]
    assert proposed_claims(item(claims=[]), "answer") == ["Two.", "One is red."]
    listed = "## Results\n\n- It rose. ![a plot](p1)\n- 4 % fell.\n\n***\n<PIC>\n2.5 is the mean."
    found = ["Results", "It rose.", "4 % fell.", "2.5 is the mean."]
    assert proposed_claims(item(claims=[], answer=listed), "answer") == found
    assert proposed_claims(item(claims=[], references=["A b. C d.", ["phrase"]]), "reference") == ["A b.", "C d."]
