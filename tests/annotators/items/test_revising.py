"""Other words for an item: what may change, what the edit touched, and claims that keep their keys."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.errors import InvalidInput
from annotators.items.item import ItemContent
from annotators.items.normal import read_item, to_json
from annotators.items.revising import OF_A_VERSION, claims_of, edited, fallen_verdicts, proposed_claims, revised
from annotators.protocols import PROTOCOLS, Protocol
from annotators.scorers.shared.verdicts import by_source


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


POINTING = Protocol.model_validate({
    "name": "pointing", "title": "Pointing", "guidelines": "Look.",
    "criteria": [
        {"name": "tone", "title": "Tone", "labels": [{"value": "kind"}, {"value": "rude"}]},
        {"name": "helps", "title": "Helps", "target": "evidence", "labels": [{"value": "yes"}, {"value": "no"}]},
        {"name": "holds", "title": "Holds", "target": "claim", "labels": [{"value": "yes"}, {"value": "no"}]},
        {"name": "backed", "title": "Backed", "target": "claim_evidence", "labels": [{"value": 1}, {"value": 2}]},
        {"name": "padding", "title": "Padding", "kind": "spans", "labels": [{"value": "empty"}]},
        {"name": "block", "title": "Block", "target": "block", "labels": [{"value": "yes"}, {"value": "no"}]},
        {"name": "fits", "title": "Fits", "target": "image", "labels": [{"value": "yes"}, {"value": "no"}]},
        {"name": "right", "title": "Order", "kind": "order", "of": "answer"},
        {"name": "after", "title": "After", "kind": "place"},
        {"name": "shows_it", "title": "Shows it", "target": "page", "labels": [{"value": "yes"}, {"value": "no"}]},
    ],
    "steps": [{
        "name": "all", "title": "All",
        "shows": ["question", "answer", "evidence", "claims", "images", "documents"],
        "criteria": [
            "tone", "helps", "holds", "backed", "padding", "block", "fits", "right", "after", "shows_it",
        ],
    }],
})  # fmt: skip
"""A protocol that does not say what falls."""


RATED = [{"place": "model1", "other_system": "beta", "ratings": [{"rater": 1}, {"rater": 2}]}, {"place": "model2"}]


@pytest.mark.parametrize(
    ("fields", "n"),
    [
        ({"answer": "Three."}, 2),
        ({"question": "How many are red?"}, 2),
        ({"references": ["Three."]}, 2),
        ({"category": "counting", "evidence": None}, 0),
        ({"answer": "Three.", "metadata": {"pairs": [{**RATED[0], "ratings": [{"rater": 1}]}]}}, 1),
        ({"answer": "Three.", "metadata": {"pairs": "none"}}, 2),
    ],
)
def test_ratings_of_a_pair_fall_with_what_the_raters_read(fields: dict[str, Any], n: int) -> None:
    before = item(metadata={"from": "a file", "pairs": RATED})
    after = revised(before, fields)
    assert fallen_verdicts(before, after) == n
    if "metadata" not in fields:
        bare = [{name: value for name, value in pair.items() if name != "ratings"} for pair in RATED]
        assert after.metadata == {"from": "a file", "pairs": bare if n else RATED}


@pytest.mark.parametrize("pairs", ["text", 3, [1, {"ratings": 4}], [], None])
def test_pairs_of_another_form_stay_as_they_are(pairs: Any) -> None:
    before = item(metadata={"pairs": pairs})
    after = revised(before, {"answer": "Three."})
    assert (after.metadata, fallen_verdicts(before, after)) == (before.metadata, 0)


@pytest.mark.parametrize(
    ("fields", "falls"),
    [
        ({"question": "How many are there?", "category": "counting"}, []),
        ({"evidence": [{"key": "e1", "text": "There are three.", "role": "distractor"}, {"key": "e2"}]}, []),
        ({"evidence": [{"key": "e2"}, {"key": "e1"}, {"key": "e3", "text": "More."}]}, []),
        ({"evidence": [{"key": "e1"}]}, ["helps", "backed"]),
        ({"claims": [{"key": "c1", "text": "There are three."}]}, ["holds", "backed"]),
        ({"answer": "Two. One is blue."}, ["padding", "block", "after"]),
        ({"images": [{"key": "m1"}, {"key": "m3", "metadata": {"of": "question"}}]}, ["fits", "right", "after"]),
        ({"images": [{"key": "m1"}, {"key": "m2"}]}, ["fits", "after"]),
        ({"images": [{"key": "m2"}, {"key": "m1"}, {"key": "m3", "metadata": {"of": "question"}}]}, []),
        (
            {"images": [{"key": key} for key in ("m1", "m2", "m4")] + [{"key": "m3", "metadata": {"of": "question"}}]},
            ["right"],
        ),
        ({"documents": ["a.pdf", "c.pdf"]}, ["shows_it"]),
    ],
)
def test_labels_about_parts_that_are_gone_fall_whatever_the_protocol_says(
    fields: dict[str, Any], falls: list[str]
) -> None:
    images = [{"key": "m1"}, {"key": "m2"}, {"key": "m3", "metadata": {"of": "question"}}]
    before = item(images=images, documents=["a.pdf", "b.pdf"])
    after = revised(before, fields)
    assert POINTING.fallen(edited(before, after), before.units(), after.units()) == falls


def test_a_claim_whose_text_stays_is_the_same_one_and_a_new_text_is_a_new_one() -> None:
    rows = claims_of(item(), "answer", ["One is red.", "There are two."])
    assert rows == [
        {"key": "c3", "text": "One is red."},
        {"key": "c1", "text": "There are two.", "metadata": {"said": 1}},
        {"key": "c2", "text": "A", "of": "reference"},
    ]
    assert [row["key"] for row in claims_of(item(), "reference", ["B", "B"])] == ["c1", "c3", "c4"]
    assert claims_of(item(claims=[]), "answer", []) == []


# Verdicts -------------------------------------------------------------------------------------------------------------


def verdict(claim: str, against: str, **changes: Any) -> dict[str, Any]:
    kind, _, unit = against.partition(":")
    place = {"evidence": unit} if unit else {"against": kind}
    return {"claim": claim, **place, "label": "entailment", "source": "people", **changes}


VERDICTS = {
    f"{claim} {against}": verdict(claim, against)
    for claim, against in (
        ("c1", "evidence:e1"), ("c1", "evidence:e2"), ("c1", "context"), ("c1", "reference"), ("c2", "evidence:e1"),
        ("c2", "answer"),
    )
}  # fmt: skip
OF_CONTEXT = ["c1 context"]
OF_EVIDENCE = ["c1 evidence:e1", "c1 evidence:e2", "c1 context", "c2 evidence:e1"]
OF_C1 = [name for name in VERDICTS if name.startswith("c1")]


def with_verdicts(**fields: Any) -> ItemContent:
    return item(metadata={"from": "a file", "verdicts": list(VERDICTS.values())}, **fields)


def fallen(fields: dict[str, Any]) -> list[str]:
    """Which of the verdicts a revision leaves to the earlier version."""
    after = revised(with_verdicts(), fields)
    kept = after.metadata.get("verdicts", [])
    gone = [name for name, row in VERDICTS.items() if row not in kept]
    assert fallen_verdicts(with_verdicts(), after) == len(gone)
    assert ("metadata" in edited(with_verdicts(), after)) == bool(gone)
    assert after.metadata["from"] == "a file"
    return gone


C1, C2 = to_json(item())["claims"]
E1, E2 = to_json(item())["evidence"]


@pytest.mark.parametrize(
    ("fields", "gone"),
    [
        ({"claims": [{**C1, "text": "There are three."}, C2]}, OF_C1),
        ({"claims": [C2]}, OF_C1),
        ({"claims": [C2, {"key": "c3", "text": "There are three."}]}, OF_C1),
        ({"claims": [{**C1, "of": "reference"}, C2]}, OF_C1),
        ({"claims": None}, list(VERDICTS)),
        ({"claims": [C2, {**C1, "metadata": {"said": 2}}, {"key": "c3", "text": "More."}]}, []),
        ({"evidence": [{**E1, "text": "There are three."}, E2]}, OF_EVIDENCE),
        ({"evidence": [E2, {**E1, "role": "distractor"}]}, []),
        ({"evidence": [E1, E2, {"key": "e3", "text": "More."}]}, OF_EVIDENCE),
        ({"evidence": [E1]}, ["c1 evidence:e2", *OF_CONTEXT]),
        ({"answer": "Two, of which one is red."}, ["c2 answer"]),
        ({"references": ["Two.", "2"]}, ["c1 reference"]),
        ({"question": "How many are there?", "category": "counting"}, []),
    ],
)
def test_a_verdict_falls_where_its_claim_or_what_that_was_held_against_changes(
    fields: dict[str, Any], gone: list[str]
) -> None:
    assert fallen(fields) == gone


def test_what_a_claim_is_to_some_of_its_evidence_is_not_taken_for_what_it_is_to_all() -> None:
    """The unit that entails the claim is edited: by the other one alone it would be neutral."""
    said = [verdict("c1", "evidence:e1"), verdict("c1", "evidence:e2", label="neutral")]
    before = item(metadata={"verdicts": said})
    assert by_source(before)["people"].label("c1") == "entailment"
    assert by_source(revised(before, {"evidence": [{**E1, "text": "There are 2."}, E2]})) == {}
    assert by_source(revised(before, {"evidence": [E1]}))["people"].label("c1") == "entailment"
    assert by_source(revised(before, {"evidence": [E2]}))["people"].label("c1") == "neutral"


def test_verdicts_that_fall_leave_nothing_behind_and_do_not_come_back_with_their_key() -> None:
    bare = item(metadata={"verdicts": [verdict("c1", "context")]})
    gone = revised(bare, {"claims": [C2]})
    assert gone.metadata == {}
    was_left = gone._replace(metadata=bare.metadata)  # as a revision left it before verdicts fell
    again = revised(was_left, {"claims": [C2, {"key": "c1", "text": "Another one."}]})
    assert again.metadata == {}


def test_a_verdict_that_is_written_anew_stays_with_the_edit_and_one_that_is_only_carried_along_does_not() -> None:
    said_anew = verdict("c1", "context", label="neutral")
    rows = [*VERDICTS.values(), said_anew]
    metadata = {"from": "a file", "note": "x", "verdicts": rows}
    after = revised(with_verdicts(), {"claims": [{**C1, "text": "There are three."}, C2], "metadata": metadata})
    assert after.metadata["verdicts"] == [VERDICTS["c2 evidence:e1"], VERDICTS["c2 answer"], said_anew]
    assert after.metadata["note"] == "x"
    assert fallen_verdicts(with_verdicts(), after) == len(OF_C1)


def test_verdicts_that_are_of_the_values_themselves_stay() -> None:
    fields = {"claims": [{**C1, "text": "There are three."}, C2], "evidence": [{**E1, "text": "Three."}, E2]}
    after = revised(with_verdicts(), fields, own_verdicts=True)
    assert after.metadata == with_verdicts().metadata
    assert fallen_verdicts(with_verdicts(), after) == 0


@pytest.mark.parametrize("kept", ["none", 3, [1, "c1", None], {"c1": "neutral"}])
def test_what_is_called_verdicts_and_is_none_stays_as_it_is(kept: Any) -> None:
    after = revised(item(metadata={"verdicts": kept}), {"claims": None, "answer": "Three."})
    assert after.metadata == {"verdicts": kept}


def test_claims_begin_as_the_sentences_of_the_text() -> None:
    assert proposed_claims(item(), "answer") == ["There are two."]
    assert proposed_claims(item(claims=[]), "answer") == ["Two.", "One is red."]
    listed = "## Results\n\n- It rose. ![a plot](p1)\n- 4 % fell.\n\n***\n<PIC>\n2.5 is the mean."
    found = ["Results", "It rose.", "4 % fell.", "2.5 is the mean."]
    assert proposed_claims(item(claims=[], answer=listed), "answer") == found
    assert proposed_claims(item(claims=[], references=["A b. C d.", ["phrase"]]), "reference") == ["A b.", "C d."]
