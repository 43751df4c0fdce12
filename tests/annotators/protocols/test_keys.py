"""How many keys an item takes with each protocol: what docs/protocols.md says is counted here."""

from __future__ import annotations

import re

import pytest

from annotators.criteria import Criterion
from annotators.items.targets import TargetKind
from annotators.protocols import PROTOCOLS, Protocol
from tests.conftest import ROOT

UNITS = 3
MOST_OF_AN_ITEM = (TargetKind.ITEM, TargetKind.EVIDENCE)


def counted(protocol: Protocol) -> tuple[int, int] | None:
    """(fewest, most) keys of an item with three units; None where something else is asked, or not by one key."""
    one_key = [criterion.for_the_rest or criterion.scale == "text" for criterion in protocol.criteria]
    if not all(one_key) or any(criterion.target not in MOST_OF_AN_ITEM for criterion in protocol.criteria):
        return None
    fewest = most = len(protocol.steps)
    for criterion in protocol.criteria:
        units = UNITS if criterion.target == TargetKind.EVIDENCE else 1
        most += units
        fewest += 0 if criterion.when is not None else _fewest(criterion, units)
    return fewest, most


def _fewest(criterion: Criterion, units: int) -> int:
    return 1 if criterion.rest is not None else units


def described() -> dict[str, tuple[int, int]]:
    text = (ROOT / "docs" / "protocols.md").read_text()
    part = text[text.index("## Keys an item takes") : text.index("## Kinds of criterion")]
    return {row[1]: (int(row[2]), int(row[3])) for row in re.finditer(r"^\| `(\w+)` \| (\d+) \| (\d+) \|$", part, re.M)}


@pytest.mark.parametrize("protocol", list(PROTOCOLS), ids=lambda protocol: protocol.name)
def test_the_documentation_says_how_many_keys_an_item_takes(protocol: Protocol) -> None:
    assert described().get(protocol.name) == counted(protocol)


def test_a_grade_is_its_digit_and_ten_is_t() -> None:
    [grade] = PROTOCOLS.get("answer_grading").criteria
    assert {label.value: label.key for label in grade.label_list()} == {
        **{number: str(number) for number in range(10)},
        10: "t",
    }
