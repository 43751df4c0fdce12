"""Which units a protocol asks of an item: those of its parts that a step shows, and of which something can be said."""

from __future__ import annotations

from dataclasses import replace

import pytest

from annotators.asking.asked_units import units_asked
from annotators.asking.submissions import GivenLabel
from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.criteria.order import Order
from annotators.criteria.place import Place
from annotators.criteria.spans import Spans
from annotators.items.item import ItemClaim, ItemContent, ItemEvidence, ItemImage
from annotators.items.targets import TargetKind, Units
from annotators.protocols import PROTOCOLS, Material, Protocol, Step

YES_NO = [Label(value="yes"), Label(value="no")]
ITEM = ItemContent(
    "a",
    "q",
    "Which?",
    "It ran.\n\nThen it stood.",
    evidence=(ItemEvidence("e1"), ItemEvidence("e2", role="gold")),
    claims=(ItemClaim("c1", "It ran."), ItemClaim("r1", "It flew.", of="reference")),
    images=(ItemImage("i1"), ItemImage("i2"), ItemImage("q1", metadata={"of": "question"})),
)


def asked(protocol: Protocol, units: Units, **decided: str) -> list[tuple[str, str]]:
    """The units by name; with labels of the item, those that these leave."""
    given = {(name, "item"): GivenLabel(name, "item", value) for name, value in decided.items()}
    return [unit.name for unit in units_asked(protocol, units, given if decided else None)]


def two_steps() -> Protocol:
    """Claims with the answer first, and with the references as well."""
    return Protocol(
        name="two",
        title="Two",
        guidelines="Read.",
        criteria=[
            Choice(name="early", title="Early", target=TargetKind.CLAIM, labels=YES_NO),
            Choice(name="late", title="Late", target=TargetKind.CLAIM, labels=YES_NO),
            Choice(name="why", title="Why", labels=YES_NO, when=Condition(criterion="whole", values=["no"])),
            Choice(name="whole", title="Whole", labels=YES_NO),
        ],
        steps=[
            Step(name="one", title="One", shows=[Material.ANSWER, Material.CLAIMS], criteria=["early", "whole", "why"]),
            Step(name="two", title="Two", shows=[Material.REFERENCES], criteria=["late"]),
        ],
    )


def test_a_claim_is_asked_about_from_the_step_that_shows_its_text() -> None:
    assert asked(two_steps(), ITEM.units()) == [
        ("early", "claim:c1"),
        ("whole", "item"),
        ("why", "item"),
        ("late", "claim:c1"),
        ("late", "claim:r1"),
    ]


@pytest.mark.parametrize(("label", "there"), [("no", True), ("yes", False)])
def test_a_unit_with_a_condition_is_asked_where_the_labels_meet_it(label: str, there: bool) -> None:
    assert (("why", "item") in asked(two_steps(), ITEM.units(), whole=label)) is there


def test_a_unit_whose_condition_is_open_is_not_asked() -> None:
    assert ("why", "item") not in asked(two_steps(), ITEM.units(), other="no")


def test_of_a_recheck_only_its_criteria_are_asked() -> None:
    units = replace(ITEM.units(), asks=frozenset({"whole"}))
    assert asked(two_steps(), units) == [("whole", "item")]


def test_what_has_no_target_is_not_asked() -> None:
    protocol = PROTOCOLS.get("multimodal_answer")
    bare = ITEM._replace(images=())
    assert asked(protocol, bare.units()) == [("overall", "item")]
    names = {name for name, _ in asked(protocol, ITEM.units())}
    assert names == {"relevance", "effectiveness", "placed_well", "place", "image_order", "overall"}


@pytest.mark.parametrize(
    ("criterion", "item", "is_asked"),
    [
        (Order(name="c", title="C"), ITEM, True),
        (Order(name="c", title="C"), ITEM._replace(images=()), False),
        (Order(name="c", title="C"), ITEM._replace(images=(ItemImage("i1"), ITEM.images[2])), False),
        (Order(name="c", title="C", of="question"), ITEM, False),
        (Spans(name="c", title="C", labels=YES_NO), ITEM, True),
        (Spans(name="c", title="C", labels=YES_NO), ITEM._replace(answer=" \n"), False),
        (Place(name="c", title="C", of="answer"), ITEM, True),
        (Place(name="c", title="C", of="answer"), ITEM._replace(answer="<PIC>"), False),
        (Choice(name="c", title="C", target=TargetKind.BLOCK, labels=YES_NO), ITEM._replace(answer=""), False),
        (Choice(name="c", title="C", labels=YES_NO), ITEM._replace(answer=""), True),
    ],
)
def test_nothing_is_asked_of_which_no_value_could_be_made(
    criterion: Order | Spans | Place | Choice, item: ItemContent, is_asked: bool
) -> None:
    shows = [Material.QUESTION, Material.ANSWER, Material.IMAGES]
    protocol = Protocol(
        name="one",
        title="One",
        guidelines="Read.",
        criteria=[criterion],
        steps=[Step(name="one", title="One", shows=shows, criteria=["c"])],
    )
    assert bool(asked(protocol, item.units())) is is_asked


def test_of_evidence_those_are_asked_that_the_criterion_chooses() -> None:
    units = ITEM._replace(evidence=tuple(ItemEvidence(f"e{n}", rank=9 - n) for n in range(5))).units()
    verdicts = [target for name, target in asked(PROTOCOLS.get("claim_verification"), units) if name == "verdict"]
    assert verdicts == [f"claim:c1|evidence:e{n}" for n in (2, 3, 4)]  # the three first by rank
