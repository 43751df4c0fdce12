"""`place`: which block of the answer an image belongs after, or nowhere."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pydantic import ValidationError

from annotators.asking.protocol_files import protocol_from_yaml, protocol_to_yaml
from annotators.asking.settling import Outcome, settle
from annotators.asking.submissions import GivenLabel, check_step
from annotators.criteria.place import NOWHERE, Place
from annotators.errors import InvalidInput
from annotators.items.blocks import blocks_of
from annotators.items.targets import TargetKind, Units
from annotators.protocols import Material, Protocol
from tests.conftest import ROOT

CASES = json.loads((ROOT / "tests" / "data" / "blocks.json").read_text())
PLACE = Place(name="place", title="Its place")
ANSWER = "The pier.\n\nThe mill.\n\nThe dam."
UNITS = Units(images=("p", "m"), answer=ANSWER)


def protocol(**changes: Any) -> Protocol:
    fields = {
        "name": "placing",
        "title": "Placing",
        "guidelines": "Where does it belong?",
        "criteria": [{"name": "place", "kind": "place", "title": "Its place"}],
        "steps": [{"name": "one", "title": "One", "shows": ["answer", "images"], "criteria": ["place"]}],
    }
    return Protocol.model_validate(fields | changes)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["why"])
def test_an_answer_has_the_same_blocks_as_in_the_browser(case: dict[str, Any]) -> None:
    """tests/js/place.test.js holds app/widgets/criteria/place.js to the same cases."""
    assert blocks_of(case["answer"]) == case["blocks"]


@pytest.mark.parametrize("value", ["nowhere", "block:1", "block:3", "block:17"])
def test_a_value_is_a_block_by_its_number_or_nowhere(value: str) -> None:
    assert PLACE.check(value) == PLACE.parse(value) == value


@pytest.mark.parametrize("value", ["block:0", "block:03", "block:", "block:1 ", "block:١", "3", 3, "Nowhere", None, []])
def test_anything_else_is_refused(value: object) -> None:
    with pytest.raises(InvalidInput, match=r"Allowed: nowhere, or block:1, block:2 … by the number"):
        PLACE.check(value)


def test_with_the_item_at_hand_the_answer_has_to_have_the_block() -> None:
    assert [PLACE.check(value, UNITS) for value in ("block:3", NOWHERE)] == ["block:3", NOWHERE]
    with pytest.raises(InvalidInput, match="the answer has 3 paragraphs, so that there is no 'block:4'"):
        PLACE.check("block:4", UNITS)
    with pytest.raises(InvalidInput, match="has 0 paragraphs"):
        PLACE.check("block:1", Units(images=("p",)))
    assert PLACE.check(NOWHERE, Units(images=("p",))) == NOWHERE


def test_a_step_takes_places_of_every_image_and_names_what_does_not_fit_by_neutral_keys() -> None:
    given = [GivenLabel("place", "image:p", "block:2"), GivenLabel("place", "image:m", "nowhere")]
    assert check_step(protocol(), 0, UNITS, given) == given
    with pytest.raises(InvalidInput, match="'Its place' for I2: the answer has 3 paragraphs"):
        check_step(protocol(), 0, UNITS, [given[0], GivenLabel("place", "image:m", "block:9")])


def test_it_is_of_an_image_and_needs_the_answer() -> None:
    assert PLACE.target == TargetKind.IMAGE
    assert PLACE.needs() == {Material.IMAGES, Material.ANSWER}
    with pytest.raises(ValidationError, match="a place is that of an image, not of the target evidence"):
        Place(name="place", title="Place", target=TargetKind.EVIDENCE)
    with pytest.raises(ValidationError, match="needs answer, but step 'one' does not show it"):
        protocol(steps=[{"name": "one", "title": "One", "shows": ["references", "images"], "criteria": ["place"]}])


def test_a_protocol_with_it_is_written_and_read_back() -> None:
    found = protocol(criteria=[{"name": "place", "kind": "place", "title": "Its place", "accept": ["nowhere"]}])
    assert protocol_from_yaml(protocol_to_yaml(found)) == found
    assert "target" not in protocol_to_yaml(found)


def test_nowhere_is_a_vote_like_any_other() -> None:
    agreed = settle(PLACE, ["block:2", "block:2"], 2, "unanimity")
    assert (agreed.outcome, agreed.value) == (Outcome.UNANIMOUS, "block:2")
    most = settle(PLACE, ["nowhere", "block:1", "nowhere"], 3, "majority")
    assert (most.outcome, most.value, most.votes) == (Outcome.MAJORITY, NOWHERE, {"nowhere": 2, "block:1": 1})
    # Blocks have no order: the next one is as far away as any other, whatever the tolerance.
    near = Place(name="place", title="Place", tolerance=1)
    assert settle(near, ["block:1", "block:2"], 2, "unanimity").outcome is Outcome.OPEN


def test_it_is_compared_as_words_and_never_set_against_a_number() -> None:
    assert PLACE.measured_scale == "nominal"
    assert PLACE.stored_labels() == []
    assert PLACE.as_numbers().reason == "places in an answer cannot be set against a number"
    assert PLACE.as_numbers().number("block:2") is None
