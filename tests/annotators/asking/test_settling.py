"""When the labels of several annotators settle a unit: worked by hand, rule by rule."""

from __future__ import annotations

from typing import Any

import pytest

from annotators.asking.settling import Outcome, Settled, settle
from annotators.criteria import Criterion, Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.number import Number
from annotators.criteria.order import Order
from annotators.criteria.several import Several

CHOICE = Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")])


def grade(tolerance: float = 0) -> Criterion:
    labels = [Label(value=number) for number in range(1, 10)]
    return Grade(name="grade", title="Grade", labels=labels, tolerance=tolerance)


def number(tolerance: float) -> Criterion:
    return Number(name="score", title="Score", minimum=0, maximum=1, step=0.25, tolerance=tolerance)


def outcome(criterion: Criterion, values: list[Any], n: int | None = None, rule: str = "unanimity") -> tuple[str, Any]:
    found = settle(criterion, values, len(values) if n is None else n, rule)
    return found.outcome.value, found.value


@pytest.mark.parametrize(
    ("values", "tolerance", "settled"),
    [
        ([3, 4], 1, ("unanimous", 3)),  # equal to the tolerance
        ([3, 4], 2, ("unanimous", 3)),  # below it
        ([3, 5], 1, ("open", None)),  # above it
        ([3, 4, 5], 1, ("open", None)),  # the farthest two count, not neighbours
        ([4, 4], 0, ("unanimous", 4)),
        ([3, 4], 0, ("open", None)),
    ],
)
def test_an_ordered_scale_agrees_within_its_tolerance(
    values: list[int], tolerance: int, settled: tuple[str, Any]
) -> None:
    assert outcome(grade(tolerance), values) == settled


def test_an_interval_agrees_within_its_tolerance_too() -> None:
    assert outcome(number(0.25), [0.25, 0.5]) == ("unanimous", 0.25)
    assert outcome(number(0.25), [0.25, 0.75]) == ("open", None)


@pytest.mark.parametrize(
    ("values", "median"), [([5, 4], 4), ([6, 4, 5, 5], 5), ([4, 5, 5, 6, 6, 6], 5), ([6, 5, 4], 5)]
)
def test_of_values_within_the_tolerance_the_lower_median_is_taken(values: list[int], median: int) -> None:
    assert outcome(grade(2), values) == ("unanimous", median)


@pytest.mark.parametrize(
    ("n", "settled"), [(2, ("unanimous", "yes")), (3, ("unanimous", "yes")), (4, ("open", None)), (5, ("open", None))]
)
def test_those_who_agree_must_be_more_than_half_of_the_annotators(n: int, settled: tuple[str, Any]) -> None:
    """The others could not judge."""
    assert outcome(CHOICE, ["yes", "yes"], n) == settled
    assert outcome(CHOICE, ["yes", "yes"], n, "majority") == settled


@pytest.mark.parametrize(
    ("values", "n", "settled"),
    [
        (["yes", "yes", "no"], 3, ("majority", "yes")),
        (["yes", "yes", "no"], 4, ("open", None)),  # half of all annotations is not more than half
        (["yes", "yes", "no", "no"], 4, ("open", None)),
        (["no", "yes", "yes", "yes"], 5, ("majority", "yes")),
    ],
)
def test_a_majority_is_more_than_half_of_all_annotations(values: list[str], n: int, settled: tuple[str, Any]) -> None:
    assert outcome(CHOICE, values, n, "majority") == settled
    assert outcome(CHOICE, values, n)[0] == "open"


def test_what_the_votes_say_is_told_whatever_the_rule() -> None:
    assert settle(CHOICE, ["no", "yes", "no", "no"], 4, "unanimity") == Settled(
        Outcome.OPEN, None, {"no": 3, "yes": 1}, 0.25, "no"
    )
    assert settle(CHOICE, ["no", "yes"], 2, "majority") == Settled(Outcome.OPEN, None, {"no": 1, "yes": 1}, 0.5, None)


def test_nobody_who_could_judge_settles_nothing() -> None:
    for rule in ("unanimity", "majority"):
        assert settle(CHOICE, [], 3, rule) == Settled(Outcome.OPEN, None, {}, 0.0, None)


def test_values_are_counted_under_keys_that_tell_them_apart() -> None:
    assert [CHOICE.vote(value) for value in ("yes", 1, 0.5, ["a", "b"], True)] == [
        "yes",
        "1",
        "0.5",
        '["a", "b"]',
        "true",
    ]


SEVERAL = Several(name="problems", title="Problems", labels=[Label(value=value) for value in "abc"])
ORDER = Order(name="order", title="Order")


@pytest.mark.parametrize(
    ("values", "n", "settled"),
    [
        ([["a", "b"], ["a"], ["b"]], 3, ("majority", ["a", "b"])),  # a 2 of 3, b 2 of 3: a set that only one gave
        ([["a"], ["b"], ["c"]], 3, ("majority", [])),  # each label is out by 2 of 3
        ([["a"], ["a", "b"]], 2, ("open", None)),  # b is in and out by half
        ([["a"], ["a"], ["b"], ["b"]], 4, ("open", None)),
        ([["a"], ["a"], ["a", "b"]], 4, ("open", None)),  # a fourth could not judge: b is out by 2 of 4
        ([["a"], ["a"]], 3, ("unanimous", ["a"])),
        ([["a"]], 3, ("open", None)),
    ],
)
def test_labels_of_a_set_settle_one_by_one_by_majority(
    values: list[list[str]], n: int, settled: tuple[str, Any]
) -> None:
    assert outcome(SEVERAL, values, n, "majority") == settled
    if settled[0] == "majority":
        assert outcome(SEVERAL, values, n) == ("open", None)


@pytest.mark.parametrize(
    ("values", "n", "settled"),
    [
        (["abc", "acb", "bac"], 3, ("majority", "abc")),  # medians 0, 1, 2
        (["abcd", "abdc", "bacd"], 3, ("majority", "abcd")),
        (["abc", "bca", "cab"], 3, ("open", None)),  # each has the median 1
        (["abc", "acb"], 2, ("open", None)),  # b and c have the median 1.5
        (["abc", "cab", "cab"], 3, ("majority", "cab")),
        (["abc", "abc", "cba"], 6, ("open", None)),  # half of six judged
        (["abc", "abd", "abc"], 3, ("open", None)),  # other images
    ],
)
def test_an_order_settles_by_the_median_ranks_and_a_tie_is_disputed(
    values: list[str], n: int, settled: tuple[str, str | None]
) -> None:
    how, order = settled
    orders = [list(value) for value in values]
    assert outcome(ORDER, orders, n, "majority") == (how, order and list(order))
    assert outcome(ORDER, orders, n) == ("open", None)


def test_what_settles_part_by_part_is_the_majority_that_a_decision_goes_against() -> None:
    found = settle(SEVERAL, [["a", "b"], ["a"], ["b"]], 3, "majority")
    assert (found.majority, found.dispute) == (["a", "b"], pytest.approx(2 / 3))
    assert settle(SEVERAL, [["a", "b"], ["a"], ["b"]], 3, "unanimity").majority is None
    assert settle(SEVERAL, [["a"], ["a"], ["b"]], 3, "unanimity").majority == ["a"]
