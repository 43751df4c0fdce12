"""Surprisingly popular labels, by hand."""

from __future__ import annotations

import pytest

from annotators.agreement.popular import popular


def test_what_fewer_say_than_most_wins_where_more_say_it_than_was_expected() -> None:
    # Is Philadelphia the capital of Pennsylvania? 2 of 3 say yes, and expect all to; who says no expects 3 of 10 to.
    # yes: 2/3 - (1 + 1 + .7) / 3 = -.2333; no: 1/3 - (0 + 0 + .3) / 3 = +.2333.
    found = popular(["yes", "yes", "no"], [1.0, 1.0, 0.3], ["yes", "no"])
    assert (found.most, found.surprising) == ("yes", "no")
    assert found.excess == pytest.approx({"yes": -0.7 / 3, "no": 0.7 / 3})


def test_the_majority_stands_where_it_is_larger_than_was_expected() -> None:
    # yes: 2/3 - (.5 + .5 + .4) / 3 = +.2; no: 1/3 - (.5 + .5 + .6) / 3 = -.2.
    found = popular(["yes", "yes", "no"], [0.5, 0.5, 0.6], ["yes", "no"])
    assert (found.most, found.surprising) == ("yes", "yes")
    assert found.excess == pytest.approx({"yes": 0.2, "no": -0.2})


def test_of_three_labels_the_rest_is_shared_out_equally() -> None:
    # a: 1/2 - (.8 + .2) / 2 = 0; b: 1/2 - (.1 + .6) / 2 = .15; c: 0 - (.1 + .2) / 2 = -.15.
    found = popular(["a", "b"], [0.8, 0.6], ["a", "b", "c"])
    assert (found.most, found.surprising) == (None, "b")
    assert found.excess == pytest.approx({"a": 0.0, "b": 0.15, "c": -0.15})


def test_what_ties_is_neither_and_what_does_not_fit_is_refused() -> None:
    assert popular(["a", "b"], [0.5, 0.5], ["a", "b"]).surprising is None
    for votes, same, labels in (
        ([], [], ["a", "b"]),
        (["a"], [], ["a", "b"]),
        (["a"], [1], ["a"]),
        (["x"], [1], ["a", "b"]),
    ):
        with pytest.raises(ValueError, match="give one a vote"):
            popular(votes, same, labels)
