from __future__ import annotations

import pytest

from annotators.criteria import Label
from annotators.criteria.base import Misfit
from annotators.criteria.choice import Choice
from annotators.errors import InvalidInput
from annotators.items.targets import Chosen, ChosenBy, TargetKind, Units, target_kind

UNITS = Units(
    evidence=("f1", "p3", "p1", "t1", "p2"),
    claims=("a1", "g1", "a2"),
    images=("q", "i1", "r"),
    answer="One.\n\n<PIC>\n\nTwo,\nstill two.",
    parts={
        "evidence:p1": ChosenBy(role="gold", rank=9),
        "evidence:p2": ChosenBy(role="retrieved", rank=1),
        "evidence:p3": ChosenBy(role="gold", rank=2),
        "evidence:t1": ChosenBy(kind="table", role="retrieved"),
        "evidence:f1": ChosenBy(kind="figure", role="distractor", rank=3),
        "claim:g1": ChosenBy("reference"),
        "image:q": ChosenBy("question"),
        "image:r": ChosenBy("reference"),
    },
)


@pytest.mark.parametrize(
    ("target", "kind"),
    [
        ("claim:c1|context", TargetKind.CLAIM_CONTEXT),
        ("claim:c1|answer", TargetKind.CLAIM_ANSWER),
        ("claim:c1|reference", TargetKind.CLAIM_REFERENCE),
        ("claim:context", TargetKind.CLAIM),
        ("block:1", TargetKind.BLOCK),
        ("block:999999", TargetKind.BLOCK),
        ("claim:c1|evidence:e:2", TargetKind.CLAIM_EVIDENCE),
    ],
)
def test_a_written_target_is_of_one_kind(target: str, kind: TargetKind) -> None:
    assert target_kind(target) == kind


@pytest.mark.parametrize(
    "target", ["claim:c1|question", "claim:c1|context|answer", "block:0", "block:x", "block:01", ""]
)
def test_what_is_no_target_is_refused_with_what_may_be_written(target: str) -> None:
    with pytest.raises(InvalidInput, match=r"Write item, evidence:K, claim:K, .*claim:K\|reference, block:N"):
        target_kind(target)


@pytest.mark.parametrize(
    ("kind", "chosen", "targets"),
    [
        (TargetKind.CLAIM, Chosen(), "claim:a1 claim:g1 claim:a2"),
        (TargetKind.CLAIM, Chosen(of="reference"), "claim:g1"),
        (TargetKind.CLAIM_CONTEXT, Chosen(of="answer"), "claim:a1|context claim:a2|context"),
        (TargetKind.CLAIM_ANSWER, Chosen(of="reference"), "claim:g1|answer"),
        (TargetKind.CLAIM_REFERENCE, Chosen(of="answer"), "claim:a1|reference claim:a2|reference"),
        (TargetKind.IMAGE, Chosen(of="question"), "image:q"),
        (TargetKind.IMAGE, Chosen(of="answer"), "image:i1"),
        (TargetKind.IMAGE, Chosen(), "image:q image:i1 image:r"),
        (TargetKind.BLOCK, Chosen(), "block:1 block:2"),
        (TargetKind.EVIDENCE, Chosen(kinds=("table", "figure")), "evidence:f1 evidence:t1"),
        (TargetKind.EVIDENCE, Chosen(roles=("gold",)), "evidence:p3 evidence:p1"),
        # Text by rank: p2, p3, p1, and t1 without one; images: f1. In the order in which they are shown.
        (TargetKind.EVIDENCE, Chosen(per_modality=1), "evidence:f1 evidence:p2"),
        (TargetKind.EVIDENCE, Chosen(per_modality=2), "evidence:f1 evidence:p3 evidence:p2"),
        (TargetKind.EVIDENCE, Chosen(roles=("gold",), per_modality=9), "evidence:p3 evidence:p1"),
        (TargetKind.CLAIM_EVIDENCE, Chosen("reference", roles=("distractor",)), "claim:g1|evidence:f1"),
    ],
)  # fmt: skip
def test_the_targets_of_an_item_that_are_chosen(kind: TargetKind, chosen: Chosen, targets: str) -> None:
    found = UNITS.targets(kind, chosen=chosen)
    assert found == targets.split()
    assert {target_kind(target) for target in found} == {kind}


def test_units_of_equal_rank_are_chosen_in_the_order_of_the_item_whatever_order_they_are_shown_in() -> None:
    parts = {f"evidence:{key}": ChosenBy() for key in "abc"}
    for shown in (("a", "b", "c"), ("c", "b", "a")):
        found = Units(evidence=shown, parts=parts).targets(TargetKind.EVIDENCE, chosen=Chosen(per_modality=2))
        assert sorted(found) == ["evidence:a", "evidence:b"]


def criterion(**fields: object) -> Choice:
    return Choice.model_validate({"name": "right", "title": "Right", "labels": [Label(value="yes")], **fields})


def test_a_claim_is_held_against_the_text_of_the_other_side() -> None:
    assert criterion(target="claim_answer").targets(UNITS) == ["claim:g1|answer"]
    assert criterion(target="claim_reference").targets(UNITS) == ["claim:a1|reference", "claim:a2|reference"]
    assert len(criterion(target="claim_context").targets(UNITS)) == 3


def test_which_parts_are_meant_is_stored_only_where_it_is_said_and_the_units_not_sent() -> None:
    stored = criterion(target="claim_evidence", of="answer", only={"roles": ["gold"], "per_modality": 3})
    assert stored.model_dump(mode="json")["only"] == {"roles": ["gold"], "per_modality": 3}
    assert "only" not in stored.for_browser()
    assert not {"of", "only"} & set(criterion().model_dump(mode="json"))


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"of": "answer"}, "`of` is 'answer'; the target item has no sides; leave it out"),
        ({"target": "claim", "of": "question"}, "`of` is 'question'; it may be answer or reference"),
        ({"target": "claim_answer", "of": "answer"}, "`of` is 'answer'; it may be reference"),
        ({"target": "image", "of": "context"}, "`of` is 'context'; it may be answer or reference or question"),
        ({"target": "claim", "only": {"per_modality": 3}}, "`only` chooses evidence, which the target claim is not"),
    ],
)
def test_parts_that_the_target_does_not_have_cannot_be_chosen(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match="criterion 'right'") as caught:
        criterion(**fields)
    [error] = caught.value.errors()  # type: ignore[attr-defined]
    assert isinstance(error["ctx"]["error"], Misfit)
    assert message in str(caught.value)
