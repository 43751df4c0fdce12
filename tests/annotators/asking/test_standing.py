"""Where an item stands, by its votes, what was decided, and what the study plans."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.asking.inferred_protocols import planned_overlap
from annotators.asking.settling import Contested, ItemLabels, Wanted, settle_item, where_it_stands
from annotators.criteria import Condition, Label
from annotators.criteria.choice import Choice
from annotators.protocols import Protocol
from tests.makers import tiny_protocol

RIGHT, CLEAR, WHY = ("right", "item"), ("clear", "item"), ("why", "item")


def protocol() -> Protocol:
    labels = [Label(value="yes"), Label(value="no")]
    made = tiny_protocol()
    criteria = [
        Choice(name="right", title="Right", labels=labels),
        Choice(name="clear", title="Clear", labels=labels),
        Choice(name="why", title="Why", labels=labels, when=Condition(criterion="right", values=["no"])),
    ]
    step = made.steps[0].model_copy(update={"criteria": ["right", "clear", "why"]})
    return tiny_protocol(criteria=criteria, steps=[step])


def labels(n: int, *, asked: tuple[Any, ...] = (), **votes: str) -> ItemLabels:
    """`right="yyn"` are the votes of three; a dash cannot judge."""
    found = ItemLabels(n_annotations=n, n_whole=n, asked=asked)
    for name, given in votes.items():
        for vote in given:
            if vote == "-":
                found.cannot[name, "item"] += 1
            else:
                found.values[name, "item"].append({"y": "yes", "n": "no"}[vote])
    return found


def stands(given: ItemLabels, decided: dict[Any, Any] | None = None, *, overlap: int = 3, **wanted: Any) -> Any:
    units = list(settle_item(protocol(), given, wanted.pop("rule", "unanimous")))
    found = where_it_stands(protocol(), units, decided or {}, given.n_annotations, Wanted(overlap, **wanted))
    return found.state, [name for name, *_ in found.disputed]


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (labels(3, right="yyy", clear="yyy"), ("agreed", [])),
        (labels(2, right="yy", clear="yy"), ("pending", [])),
        (labels(2, right="yn", clear="yy"), ("pending", ["right"])),
        (labels(3, right="yyn", clear="yyy", why="y"), ("disputed", ["right"])),
        (labels(3, right="nnn", clear="yyy", why="yyn"), ("disputed", ["why"])),
        (labels(3, right="yyy", clear="---"), ("disputed", ["clear"])),
        (labels(3, right="yyy", clear="y--"), ("disputed", ["clear"])),
        (labels(3, right="nnn", clear="yyy", why="---"), ("disputed", ["why"])),
        # labels made elsewhere that lack what the protocol asks
        (labels(3, right="yyy", asked=(RIGHT, CLEAR, WHY)), ("disputed", ["clear"])),
        (labels(3, right="nnn", clear="yyy", asked=(RIGHT, CLEAR, WHY)), ("disputed", ["why"])),
        (labels(0), ("pending", [])),
    ],
)
def test_what_is_missing_never_passes(given: ItemLabels, expected: tuple[str, list[str]]) -> None:
    assert stands(given) == expected


def test_a_majority_settles_where_the_study_says_so() -> None:
    assert stands(labels(3, right="yyn", clear="yyy", why="y"), rule="majority") == ("agreed", [])
    assert stands(labels(3, right="nny", clear="yyy", why="yn"), rule="majority") == ("disputed", ["why"])


def test_what_was_decided_stays_and_the_rest_needs_its_votes() -> None:
    decided = {RIGHT: "yes"}
    assert stands(labels(3, right="yyn", clear="yyy", why="y"), decided) == ("adjudicated", [])
    assert stands(labels(2, right="yn", clear="yy", why="y"), decided) == ("pending", [])
    assert stands(labels(4, right="yynn", clear="yyyn", why="yy"), decided) == ("disputed", ["clear"])
    whole = decided | {CLEAR: "yes"}
    assert stands(labels(1, right="n", clear="y", why="y"), whole) == ("adjudicated", [])
    assert stands(labels(0, asked=(RIGHT, CLEAR)), whole) == ("adjudicated", [])


def test_a_decision_can_make_something_asked_that_few_were_asked() -> None:
    given = labels(3, right="yyn", clear="yyy", why="y")
    assert stands(given, {RIGHT: "no"}) == ("disputed", ["why"])
    assert stands(given, {RIGHT: "no", WHY: "yes"}) == ("adjudicated", [])


def test_what_two_adjudicators_contest_is_open_unless_it_is_what_the_votes_say() -> None:
    given = labels(3, right="yyy", clear="yyy")
    assert stands(given, {RIGHT: Contested(("no",), ()), CLEAR: "yes"}) == ("disputed", ["right"])
    assert stands(given, {RIGHT: Contested(("yes",), ()), CLEAR: "yes"}) == ("adjudicated", [])
    assert stands(given, {RIGHT: Contested(("yes",), ("no",)), CLEAR: "yes"}) == ("disputed", ["right"])


def test_what_is_returned_waits_unless_it_was_decided_and_what_is_reviewed_is_looked_at_once() -> None:
    given = labels(3, right="yyy", clear="yyy")
    assert stands(given, returned=True)[0] == "pending"
    assert stands(given, {RIGHT: "yes"}, returned=True)[0] == "adjudicated"
    assert stands(given, reviewed=True) == ("disputed", ["right", "clear"])
    assert stands(given, {RIGHT: "yes"}, reviewed=True)[0] == "adjudicated"


def test_more_annotations_are_waited_for_only_while_people_disagree() -> None:
    assert stands(labels(3, right="yyn", clear="yyy", why="y"), where_disputed=4)[0] == "pending"
    assert stands(labels(3, right="yyy", clear="yyy"), where_disputed=4)[0] == "agreed"


@pytest.mark.parametrize(
    ("annotators", "plan"),
    [([3, 3, 3, 1], 3), ([1, 1, 3], 2), ([1, 1, 1], 1), ([3, 1], 3), ([5, 4, 4, 5], 5), ([], 1), ([2], 2)],
)
def test_a_study_of_labels_plans_what_most_items_have_and_one_label_settles_none(
    annotators: list[int], plan: int
) -> None:
    assert planned_overlap(annotators) == plan
